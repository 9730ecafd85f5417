import { expect, test } from 'vitest';
import { changesBetween } from './entry-drawer.tsx';

test('what is the same is left out', () => {
  expect(changesBetween({ host: 'a', port: 25 }, { host: 'b', port: 25 })).toEqual([
    { path: 'host', before: 'a', after: 'b' },
  ]);
});

test('what was made or removed has one side', () => {
  expect(changesBetween(null, { name: 'ses', tags: ['a', 'b'] })).toEqual([
    { path: 'name', before: null, after: 'ses' },
    { path: 'tags', before: null, after: '["a","b"]' },
  ]);
  expect(changesBetween({ name: 'ses' }, null)).toEqual([{ path: 'name', before: 'ses', after: null }]);
});

test('objects within lists are told apart by their places', () => {
  expect(
    changesBetween(
      { rules: [{ via: ['a'] }, { via: ['b'] }] },
      { rules: [{ via: ['a'] }, { via: ['c', 'd'] }] },
    ),
  ).toEqual([{ path: 'rules.1.via', before: '["b"]', after: '["c","d"]' }]);
});

test('a value that turned into an object is shown whole', () => {
  expect(changesBetween({ limit: 5 }, { limit: { day: 5 } })).toEqual([
    { path: 'limit', before: '5', after: '{"day":5}' },
  ]);
});

test('false is a value, null where nothing was is none', () => {
  expect(changesBetween({ revokedAt: null, on: false }, { revokedAt: '2026', on: true, note: null })).toEqual(
    [
      { path: 'revokedAt', before: 'null', after: '2026' },
      { path: 'on', before: 'false', after: 'true' },
    ],
  );
  expect(changesBetween(null, null)).toEqual([]);
  expect(changesBetween('a', 'b')).toEqual([{ path: '', before: 'a', after: 'b' }]);
});

test('a huge difference is cut', () => {
  const huge = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key${at}`, at]));
  expect(changesBetween({}, huge)).toHaveLength(200);
});
