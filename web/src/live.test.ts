import { expect, test } from 'vitest';
import { gatherMs } from './live.ts';

test('where hints never end, fetches grow apart up to a bound', () => {
  const paces: number[] = [];
  let pace = 0;
  for (let fetches = 0; fetches < 12; fetches++) {
    pace = gatherMs(pace, pace);
    paces.push(pace);
  }
  expect(paces.slice(0, 3)).toEqual([1000, 1500, 2250]);
  expect(paces.every((ms, at) => ms >= (paces[at - 1] ?? 0))).toBe(true);
  expect(paces.at(-1)).toBe(8000);
});

test('after a quiet time they are close again', () => {
  expect(gatherMs(8000, 16_001)).toBe(1000);
  expect(gatherMs(8000, 15_999)).toBe(8000);
});
