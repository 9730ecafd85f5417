/** The model of what more cores would do. */
import { expect, test } from 'vitest';
import { forecast, MEASURED } from '../../bench/cores.ts';

const ALONE = { ...MEASURED, outside: 0 };
const rate = (cores: number, threads: number) => forecast(ALONE, { cores, threads, sessions: 200 }).perSecond;

test.each([
  [1, 4_300],
  [2, 5_180],
])('with %i threads on two cores it gives what was measured, but for a tenth', (threads, measured) => {
  const { perSecond } = forecast(MEASURED, { cores: 2, threads, sessions: 20 });
  expect(perSecond / measured).toBeGreaterThan(0.9);
  expect(perSecond / measured).toBeLessThan(1.1);
});

test('one thread for everything is as fast on any number of cores from four on', () => {
  expect(forecast(ALONE, { cores: 4, threads: 1, sessions: 200 }).delivering).toBeGreaterThan(0.99);
  expect(rate(32, 1) / rate(4, 1)).toBeCloseTo(1, 1);
});

test('threads that take mail bring more where there are cores for them, until the one that delivers is busy', () => {
  expect(rate(8, 2) / rate(8, 1)).toBeGreaterThan(1.5);
  expect(rate(8, 8) / rate(8, 2)).toBeCloseTo(1, 1);
  expect(forecast(ALONE, { cores: 32, threads: 8, sessions: 200 }).delivering).toBeGreaterThan(0.99);
});

test('it says the same each time', () => {
  const plan = { cores: 4, threads: 2, sessions: 20 };
  expect(forecast(MEASURED, plan)).toEqual(forecast(MEASURED, plan));
});
