import { expect, test } from 'vitest';
import { rangeOf } from './page.tsx';

test.each([
  [60, 60, 'hour'],
  [3_600, 24, 'day'],
  [3_600, 168, 'week'],
  [86_400, 30, 'month'],
])('steps of %i s, %i of them, are the range %s', (stepSeconds, count, value) => {
  const received = Array.from({ length: count }, () => 0);
  expect(rangeOf({ stepSeconds, counts: { received } }).value).toBe(value);
});
