import { expect, test } from 'vitest';
import { NewestMap } from './newest-map.ts';

function filled(...keys: readonly string[]): NewestMap<string, number> {
  const map = new NewestMap<string, number>(3);
  for (const [place, key] of keys.entries()) map.set(key, place);
  return map;
}

test('of more than it may hold the oldest makes room', () => {
  expect([...filled('a', 'b', 'c')]).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ]);
  expect([...filled('a', 'b', 'c', 'd', 'e').keys()]).toEqual(['c', 'd', 'e']);
});

test('what is set again is the newest, and takes no second place', () => {
  expect([...filled('a', 'b', 'c', 'a')]).toEqual([
    ['b', 1],
    ['c', 2],
    ['a', 3],
  ]);
  expect([...filled('a', 'b', 'c', 'a', 'd').keys()]).toEqual(['c', 'a', 'd']);
});

test('reading makes nothing newer', () => {
  const map = filled('a', 'b', 'c');
  map.get('a');
  expect([...map.set('d', 3).keys()]).toEqual(['b', 'c', 'd']);
});
