import { expect, test } from 'vitest';
import { linePath } from '../../parts/sparkline.tsx';
import { paceClass } from './live-flow.tsx';
import { newSince } from './live-rows.tsx';

test('new rows are those above the first that was there; all, where none is left', () => {
  expect(newSince(['b', 'a'], ['d', 'c', 'b', 'a'])).toBe(2);
  expect(newSince(['b', 'a'], ['b', 'a'])).toBe(0);
  // The first one was removed.
  expect(newSince(['b', 'a'], ['c', 'a'])).toBe(1);
  expect(newSince(['b', 'a'], ['e', 'd'])).toBe(2);
  expect(newSince([], ['a'])).toBe(1);
});

test('dots move as mail does, in few paces, and stand still without any', () => {
  expect([0, 1, 59, 60, 599, 600, 1e6].map(paceClass)).toEqual([
    '',
    'flow-slow',
    'flow-slow',
    'flow-brisk',
    'flow-brisk',
    'flow-fast',
    'flow-fast',
  ]);
});

test('a line spans its picture, from the foot to the largest value', () => {
  expect(linePath([0, 5, 10], 10)).toBe('M0 27L60 14.5L120 2');
  expect(linePath([0, 0], 0)).toBe('M0 27L120 27');
  expect(linePath([], 0)).toBe('');
});
