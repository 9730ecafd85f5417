import { expect, test } from 'vitest';
import {
  draftOf,
  listChange,
  readDraft,
  type Setting,
  showSetting,
  splitList,
  takesUnits,
  unitOf,
} from './setting-values.ts';

const setting = (kind: Setting['kind'], value: unknown, rest: Partial<Setting> = {}) => ({
  ...{ kind, value, nullable: false, defaultValue: value },
  ...rest,
});

test.each<[unknown, string, string]>([
  [null, 'tls.cert_file', 'none'],
  [true, 'api.tls_enabled', 'on'],
  [26_214_400, 'api.max_message_bytes', '25.0 MiB'],
  [8025, 'api.port', '8025'],
  [[25, 587], 'listener.ports', '25, 587'],
  [[], 'listener.ports', 'none'],
  [1, 'retention.content_days', '1 day'],
  [75, 'api.keep_alive_seconds', '75 seconds'],
  [5, 'listener.greet_delay_ms', '5 ms'],
  [1000, 'api.rate_limit_per_key', '1,000 a minute'],
  [1_000_000, 'limits.max_queued_per_key', '1,000,000'],
  [500, 'api.min_body_bytes_per_second', '500 bytes/s'],
  [[{ name: 'printer', cidr: '10.0.0.0/8' }], 'listener.sources', 'printer'],
  ['', 'database.url', 'empty'],
])('%j of %s is shown as %s', (value, key, shown) => {
  expect(showSetting(value, key)).toBe(shown);
});

test('where there is no value, what holds instead is shown', () => {
  expect(showSetting(null, 'limits.max_queued_bytes', 'half of the free disk')).toBe('half of the free disk');
  expect(showSetting(1_048_576, 'limits.max_queued_bytes', 'half of the free disk')).toBe('1.0 MiB');
});

test.each([
  [setting('integer', 8025), '0', { value: 0 }],
  [setting('integer', 8025), ' 12 ', { value: 12 }],
  [setting('integer', 8025), 'many', { fault: 'A whole number is needed.' }],
  [setting('integer', 8025), null, { fault: 'A value is needed.' }],
  [setting('integer', 8025, { nullable: true }), null, { value: null }],
  [setting('boolean', true), false, { value: false }],
  [setting('list', [25]), '2525, 587', { value: [2525, 587] }],
  [setting('list', [], { defaultValue: [25] }), ['465', 'x'], { value: [465, 'x'] }],
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
  const setting = { kind: 'integer', nullable: false, value: 1, defaultValue: 1 } as const;
  expect(readDraft(setting, ' 500GiB ')).toEqual({ value: '500GiB' });
  expect(readDraft(setting, '1.5h')).toEqual({ fault: 'A whole number is needed.' });
  expect(['api.max_message_bytes', 'api.min_body_bytes_per_second', 'api.port'].map(takesUnits)).toEqual([
    true,
    false,
    false,
  ]);
});

test('units are told by the ends of keys', () => {
  expect(unitOf('retention.content_max_bytes')).toBe('bytes');
  expect(unitOf('listener.max_connections_per_source')).toBeNull();
  expect(unitOf('listener.rate_limit_per_source')).toBe('/min');
});
