import { expect, test } from 'vitest';
import { MinuteRate } from './lanes.ts';

test('counts about the last minute, and forgets what is older', () => {
  const rate = new MinuteRate();
  for (let second = 0; second < 60; second++) rate.add(second * 1000);
  expect(rate.perMinute(59_999)).toBe(60);
  expect(rate.perMinute(70_000)).toBe(40);
  expect(rate.perMinute(119_999)).toBe(0);
  rate.add(1_000_000);
  expect(rate.perMinute(1_000_000)).toBe(1);
});
