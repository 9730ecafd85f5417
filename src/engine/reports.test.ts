import { expect, test } from 'vitest';
import { ReportRate } from './reports.ts';

const HOUR_MS = 3_600_000;

function rateAt() {
  const clock = { now: 0, mono: () => clock.now };
  return { clock, rate: new ReportRate(clock) };
}

test('an address gets so many reports in any hour, and no more', () => {
  const { clock, rate } = rateAt();
  const taken = (at: number) => {
    clock.now = at;
    return rate.take('a@x.test', 2);
  };
  expect([0, 1_000, 2_000, HOUR_MS - 1].map(taken)).toEqual([true, true, false, false]);
  // The first is an hour old now, the second is not.
  expect([HOUR_MS, HOUR_MS + 1, HOUR_MS + 1_000].map(taken)).toEqual([true, false, true]);
});

test('the letter case of an address makes no difference, and each address counts for itself', () => {
  const { rate } = rateAt();
  expect(rate.take('A@x.test', 1)).toBe(true);
  expect(rate.take('a@X.test', 1)).toBe(false);
  expect(rate.take('b@x.test', 1)).toBe(true);
});

test('what did not go does not count', () => {
  const { rate } = rateAt();
  rate.take('a@x.test', 1);
  rate.giveBack('a@x.test');
  rate.giveBack('a@x.test');
  expect([rate.take('a@x.test', 1), rate.take('a@x.test', 1)]).toEqual([true, false]);
});

test('none may be the limit', () => {
  expect(rateAt().rate.take('a@x.test', 0)).toBe(false);
});

test('of very many addresses those longest without a report are forgotten, and memory stays bounded', () => {
  const { rate } = rateAt();
  rate.take('first@x.test', 1);
  for (let n = 0; n < 49_999; n++) rate.take(`a${n}@x.test`, 1);
  expect(rate.take('a0@x.test', 1), 'within the bound').toBe(false);
  rate.take('one-more@x.test', 1);
  expect(rate.take('first@x.test', 1), 'beyond it').toBe(true);
  expect(rate.take('a49998@x.test', 1)).toBe(false);
});
