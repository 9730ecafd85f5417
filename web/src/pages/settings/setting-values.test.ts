import { expect, test } from 'vitest';
import { draftOf, listChange, readDraft, type Setting, showSetting, splitList } from './setting-values.ts';

const setting = (kind: Setting['kind'], value: unknown, rest: Partial<Setting> = {}) => ({
  kind,
  value,
  nullable: false,
  items: null,
  ...rest,
});

test.each<[unknown, string, string | null, string]>([
  [null, 'tls.cert_file', null, 'none'],
  [true, 'api.tls_enabled', null, 'on'],
  [26_214_400, 'api.max_message_bytes', 'bytes', '25.0 MiB'],
  [8025, 'api.port', null, '8025'],
  [[25, 587], 'listener.ports', null, '25, 587'],
  [[], 'listener.ports', null, 'none'],
  [1, 'retention.content_days', 'days', '1 day'],
  [75, 'api.keep_alive_seconds', 'seconds', '75 seconds'],
  [5, 'listener.greet_delay_ms', 'ms', '5 ms'],
  [1000, 'api.rate_limit_per_key', 'requests per minute', '1,000 a minute'],
  [1_000_000, 'limits.max_queued_per_key', null, '1,000,000'],
  [500, 'api.min_body_bytes_per_second', 'bytes per second', '500 bytes/s'],
  [25, 'retention.compact_below_percent', 'percent', '25 %'],
  [[{ name: 'printer', cidr: '10.0.0.0/8' }], 'listener.sources', null, 'printer'],
  ['', 'database.url', null, 'empty'],
])('%j of %s, in %s, is shown as %s', (value, key, unit, shown) => {
  expect(showSetting(value, { key, unit })).toBe(shown);
});

test('where there is no value, what holds instead is shown', () => {
  const shown = { key: 'limits.max_queued_bytes', unit: 'bytes', none: 'half of the free disk' };
  expect(showSetting(null, shown)).toBe('half of the free disk');
  expect(showSetting(1_048_576, shown)).toBe('1.0 MiB');
});

test.each([
  [setting('integer', 8025), '0', { value: 0 }],
  [setting('integer', 8025), ' 12 ', { value: 12 }],
  [setting('integer', 8025), 'many', { fault: 'A whole number is needed.' }],
  [setting('integer', 8025), null, { fault: 'A value is needed.' }],
  [setting('integer', 8025, { nullable: true }), null, { value: null }],
  [setting('boolean', true), false, { value: false }],
  [setting('list', [25], { items: 'integer' }), '2525, 587', { value: [2525, 587] }],
  [setting('list', [], { items: 'integer' }), ['465', 'x'], { value: [465, 'x'] }],
  [setting('list', [], { items: 'text' }), ['465'], { value: ['465'] }],
  [setting('list', ['::']), ['10.0.0.1'], { value: ['10.0.0.1'] }],
  [setting('text', 'a'), ' b ', { value: 'b' }],
  [setting('secret', '••••'), ' s ', { value: ' s ' }],
  [setting('json', []), '[{"a":1}]', { value: [{ a: 1 }] }],
])('reads %j, written as %j', (given, draft, reading) => {
  expect(readDraft(given, draft)).toEqual(reading);
});

test('what is not JSON is said to be none', () => {
  expect(readDraft(setting('json', []), '[1,')).toEqual({ fault: expect.stringContaining('not JSON') });
});

test('a form begins with the value, but never with a secret', () => {
  expect(draftOf({ kind: 'secret', value: 'postgres://u:p@h' })).toBe('');
  expect(draftOf({ kind: 'list', value: [25, 587] })).toEqual(['25', '587']);
  expect(draftOf({ kind: 'integer', value: null })).toBeNull();
  expect(draftOf({ kind: 'json', value: [] })).toBe('[]');
});

test('lists are split at lines, commas and blanks, and nothing stands twice', () => {
  expect(splitList('10.0.0.0/8,\n ::1  10.0.0.0/8\n')).toEqual(['10.0.0.0/8', '::1']);
});

test('what a change adds to a list and takes from it', () => {
  expect(listChange(['a', 'b'], ['b', 'c'])).toEqual({ added: ['c'], removed: ['a'] });
  expect(listChange('a', ['a'])).toBeNull();
});

test("a number with a unit is the server's to read", () => {
  const setting = { kind: 'integer', nullable: false, items: null } as const;
  expect(readDraft(setting, ' 500GiB ')).toEqual({ value: '500GiB' });
  expect(readDraft(setting, '1.5h')).toEqual({ fault: 'A whole number is needed.' });
});
