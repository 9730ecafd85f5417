import { expect, test } from 'vitest';
import { draftWith, pendingOf, placeOfFault, requestOf } from './changes.ts';
import type { Setting } from './setting-values.ts';

const setting = (key: string, rest: Partial<Setting> = {}): Setting => ({
  key,
  label: key,
  group: 'server',
  seldom: false,
  meaning: '',
  kind: 'integer',
  choices: [],
  items: null,
  unit: null,
  examples: null,
  nullable: false,
  none: null,
  value: 5,
  defaultValue: 5,
  origin: 'default',
  source: 'default',
  locked: null,
  applies: 'live',
  ...rest,
});

const TABLE = [
  setting('api.a'),
  setting('api.b', { origin: 'stored', value: 7 }),
  setting('api.c', { afterRestart: 9, applies: 'restart', origin: 'stored' }),
];

test('only what changes something is pending', () => {
  const changes = {
    'api.a': { draft: '5' },
    'api.b': { draft: '8' },
    'api.c': { draft: '9' },
    'api.gone': { draft: '1' },
  };
  const pending = pendingOf(TABLE, changes);
  expect(pending.map(({ setting: { key } }) => key)).toEqual(['api.b']);
  expect(requestOf(pending)).toEqual({ values: { 'api.b': 8 }, unset: [] });
});

test('back to the default takes the stored value away', () => {
  const pending = pendingOf(TABLE, { 'api.a': 'default', 'api.b': 'default' });
  expect(requestOf(pending)).toEqual({ values: {}, unset: ['api.b'] });
  expect(pending[0]?.reading).toEqual({ value: 5 });
});

test('going back to what holds now is a change where a restart would bring another', () => {
  expect(requestOf(pendingOf(TABLE, { 'api.c': { draft: '5' } })).values).toEqual({ 'api.c': 5 });
});

test('no value is a value, and not back to the default', () => {
  const port = setting('api.port', { nullable: true });
  const pending = pendingOf([port], { 'api.port': { draft: null } });
  expect(requestOf(pending)).toEqual({ values: { 'api.port': null }, unset: [] });
});

test('what cannot be read is pending, and told', () => {
  const [pending] = pendingOf(TABLE, { 'api.a': { draft: 'x' } });
  expect(pending?.reading).toEqual({ fault: 'A whole number is needed.' });
});

test('a form shows what was written, else what holds', () => {
  const [, b = setting('api.b')] = TABLE;
  expect(draftWith(b, undefined)).toBe('7');
  expect(draftWith(b, { draft: '1' })).toBe('1');
  expect(draftWith(b, 'default')).toBe('5');
});

test.each([
  [['values', 'api.bind', '0'], 'api.bind'],
  [['api', 'bind', '0'], 'api.bind'],
  [['listener', 'sources', '1', 'cidr'], 'listener.sources'],
])('a fault at %j is of %s', (path, key) => {
  expect(placeOfFault(path)).toBe(key);
});
