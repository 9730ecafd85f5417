import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PRIORITIES } from './message.ts';
import { allowanceOf, dayOf, endOfDay, QUOTA_ALERT, shareOf } from './quota.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 10, 21);
const FIRST = dayOf(MIDNIGHT);

describe('the day', () => {
  test('is UTC', () => {
    expect(dayOf(0)).toBe(0);
    expect(dayOf(MIDNIGHT - 1)).toBe(FIRST - 1);
    expect(dayOf(MIDNIGHT)).toBe(FIRST);
    expect(dayOf(MIDNIGHT + DAY_MS - 1)).toBe(FIRST);
  });
  test('ends when the next begins, for every time', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e14, max: 1e14 }), (wall) => {
        const end = endOfDay(dayOf(wall));
        expect(dayOf(end)).toBe(dayOf(wall) + 1);
        expect(dayOf(end - 1)).toBe(dayOf(wall));
        expect(end).toBeGreaterThan(wall);
        expect(end - wall).toBeLessThanOrEqual(DAY_MS);
      }),
    );
  });
});

describe('the allowance of a day', () => {
  const warmUp = { startDay: FIRST, perDay: [50, 100, 500] };
  const allowances = (maxPerDay: number, perDay: readonly number[] | null, days: readonly number[]) =>
    days.map((day) => allowanceOf({ maxPerDay, warmUp: perDay && { startDay: FIRST, perDay } }, FIRST + day));
  test.each([
    ['nothing is set', 0, null, [null, null, null, null, null]],
    ['a quota', 200, null, [200, 200, 200, 200, 200]],
    [
      'a warm-up: nothing before its first day, no limit after its last',
      0,
      warmUp.perDay,
      [0, 50, 100, 500, null],
    ],
    [
      'both: the lower one, and the quota alone after the last step',
      200,
      warmUp.perDay,
      [0, 50, 100, 200, 200],
    ],
  ])('%s', (_, maxPerDay, perDay, expected) => {
    expect(allowances(maxPerDay, perDay, [-1, 0, 1, 2, 3])).toEqual(expected);
  });
  test('is nothing long before the first day, and the quota long after the last', () => {
    expect(allowances(7, [1], [-10_000, 10_000])).toEqual([0, 7]);
  });
  test('is never more than the quota nor than the step, whole and not negative', () => {
    const perDay = fc.array(fc.integer({ min: 1, max: 1e6 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.nat(1e6), perDay, fc.integer({ min: -50, max: 120 }), (maxPerDay, steps, day) => {
        const [allowance] = allowances(maxPerDay, steps, [day]);
        const step = day < 0 ? 0 : steps[day];
        if (allowance === null || allowance === undefined) {
          expect(maxPerDay).toBe(0);
          expect(step).toBeUndefined();
          return;
        }
        expect(Number.isInteger(allowance)).toBe(true);
        expect(allowance).toBeGreaterThanOrEqual(0);
        if (maxPerDay > 0) expect(allowance).toBeLessThanOrEqual(maxPerDay);
        if (step !== undefined) expect(allowance).toBeLessThanOrEqual(step);
      }),
    );
  });
});

describe('the share of a priority', () => {
  test.each([
    [100, 0, 100, 100],
    [100, 20, 100, 80],
    [100, 100, 100, 0],
    // What is kept is rounded down: a reserve never takes more than its percents.
    [3, 50, 3, 2],
    [1, 99, 1, 1],
    [0, 20, 0, 0],
  ])('of %i with %i percent kept: %i for high, %i for the rest', (allowance, reserve, high, rest) => {
    expect(PRIORITIES.map((priority) => shareOf(allowance, reserve, priority))).toEqual([high, rest, rest]);
  });
  test('is whole, within the allowance, and keeps what was asked for', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 0, max: 100 }), (allowance, reserve) => {
        const rest = shareOf(allowance, reserve, 'bulk');
        expect(shareOf(allowance, reserve, 'normal')).toBe(rest);
        expect(Number.isInteger(rest)).toBe(true);
        expect(rest).toBeGreaterThanOrEqual(0);
        expect(rest).toBeLessThanOrEqual(allowance);
        expect(Math.abs(allowance - rest - (allowance * reserve) / 100)).toBeLessThan(1);
      }),
    );
  });
});

test('an operator is told before the allowance is used up', () => {
  expect(QUOTA_ALERT).toBeGreaterThan(0.5);
  expect(QUOTA_ALERT).toBeLessThan(1);
});
