import { expect, test } from 'vitest';
import { LONGEST_TIME_MS, TIME_BUCKETS, timeBucketOf, timeWithin } from './delivery-times.ts';

function countsOf(...times: readonly number[]): number[] {
  const counts = Array.from({ length: TIME_BUCKETS }, () => 0);
  for (const ms of times) counts[timeBucketOf(ms)] = (counts[timeBucketOf(ms)] ?? 0) + 1;
  return counts;
}

test('a time counts in the first bucket that it fits into', () => {
  expect([-5, 0, 100, 101, 43_200_000, 43_200_001, 1e12].map(timeBucketOf)).toEqual([0, 0, 0, 1, 15, 16, 16]);
});

test('a quantile lies in the bucket of its delivery', () => {
  const times = countsOf(
    ...Array.from({ length: 95 }, () => 1_500),
    ...Array.from({ length: 5 }, () => 400_000),
  );
  expect(timeWithin(0.5, times)).toBe(1_526);
  expect(timeWithin(0.95, times)).toBe(2_000);
  expect(timeWithin(0.99, times)).toBe(780_000);
});

test('sums of counts give what counting together gives', () => {
  const [one, other] = [countsOf(50, 700), countsOf(9_000, 20_000)];
  const sum = one.map((count, place) => count + (other[place] ?? 0));
  expect(timeWithin(0.5, sum)).toBe(timeWithin(0.5, countsOf(50, 700, 9_000, 20_000)));
});

test('there is no time of nothing, and none beyond the last end', () => {
  expect(timeWithin(0.5, countsOf())).toBeNull();
  expect(timeWithin(0.5, countsOf(1e12))).toBe(LONGEST_TIME_MS);
});
