import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  advised,
  afterFailure,
  askAgainMs,
  endsSoon,
  FRESH_STATE,
  type OrderFault,
  orderTime,
  type RenewalWindow,
  renewalTime,
} from './certificate.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.UTC(2026, 10, 28);
const LIFE = { notBefore: T0, notAfter: T0 + 90 * DAY };
const WINDOW: RenewalWindow = { start: T0 + 60 * DAY, end: T0 + 62 * DAY, explanation: null };

function fault(at = T0): OrderFault {
  return { at, code: 'authority_away', message: 'it does not answer' };
}

describe('when a certificate is renewed', () => {
  test('without advice once that share of its life is left', () => {
    expect(renewalTime(LIFE, 33, null)).toBe(T0 + 90 * DAY * 0.67);
    expect(renewalTime({ notBefore: T0, notAfter: T0 + 6 * DAY }, 50, null)).toBe(T0 + 3 * DAY);
  });

  test('with advice at the time that was drawn in its window', () => {
    const advice = advised(null, WINDOW, null, T0, () => 0.25);
    expect(advice).toEqual({ window: WINDOW, drawnAt: T0 + 60.5 * DAY, askAgainAt: T0 + 6 * HOUR });
    expect(renewalTime(LIFE, 33, advice)).toBe(T0 + 60.5 * DAY);
  });

  test('the drawn time stays while the window does, and is drawn anew with a new one', () => {
    const first = advised(null, WINDOW, null, T0, () => 0.9);
    expect(advised(first, { ...WINDOW, explanation: 'https://ca.example' }, null, T0, () => 0).drawnAt).toBe(
      first.drawnAt,
    );
    const past = { ...WINDOW, start: T0 - 2 * DAY, end: T0 - DAY };
    const second = advised(first, past, null, T0, () => 0);
    expect(orderTime(renewalTime(LIFE, 33, second), FRESH_STATE, T0)).toBeLessThanOrEqual(T0);
  });

  test('a window after the end leaves time for retries', () => {
    const late = { ...WINDOW, start: LIFE.notAfter, end: LIFE.notAfter + DAY };
    expect(
      renewalTime(
        LIFE,
        33,
        advised(null, late, null, T0, () => 0),
      ),
    ).toBe(LIFE.notAfter - 4.5 * DAY);
  });

  test('the draw is always in the window', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (drawn) => {
        const { drawnAt } = advised(null, WINDOW, null, T0, () => drawn);
        return drawnAt >= WINDOW.start && drawnAt <= WINDOW.end;
      }),
    );
  });

  test('the authority says how often it wants to be asked, within reason', () => {
    expect([null, 0, 2 * HOUR, 400 * DAY].map(askAgainMs)).toEqual([6 * HOUR, 60_000, 2 * HOUR, DAY]);
  });
});

describe('after a failure', () => {
  test('retries get rarer, up to twice a day', () => {
    let state = FRESH_STATE;
    const waits = Array.from({ length: 8 }, () => {
      state = afterFailure(state, fault(), null, () => 0);
      return ((state.notBefore ?? 0) - T0) / 60_000;
    });
    expect(waits).toEqual([5, 15, 45, 135, 405, 720, 720, 720]);
    expect(state.failures).toBe(8);
  });

  test('a retry is up to a tenth earlier', () => {
    expect(afterFailure(FRESH_STATE, fault(), null, () => 0.999999).notBefore).toBeGreaterThan(T0 + 269_000);
  });

  test('the authority’s wish to be left alone holds, for a week at most', () => {
    const wait = (ms: number) => (afterFailure(FRESH_STATE, fault(), ms, () => 0).notBefore ?? 0) - T0;
    expect([1000, 3 * HOUR, 90 * DAY].map(wait)).toEqual([300_000, 3 * HOUR, 7 * DAY]);
  });

  test('nothing is ordered before a retry, however urgent', () => {
    const state = afterFailure(FRESH_STATE, fault(), null, () => 0);
    expect(orderTime(null, state, T0)).toBe(T0 + 300_000);
    expect(orderTime(T0 + DAY, state, T0)).toBe(T0 + DAY);
    expect(orderTime(null, FRESH_STATE, T0)).toBe(T0);
  });
});

test.each<[what: string, daysLeft: number, lifeDays: number, failures: number | null, expected: boolean]>([
  ['has weeks left', 14, 90, 0, false],
  ['has days left', 13, 90, 0, true],
  ['is meant to last six days', 3, 6, 0, false],
  ['is as short, and its renewal fails', 3, 6, 1, true],
  ['is as short, and has ended', -1, 6, 0, true],
  ['is as short, and was uploaded', 3, 6, null, true],
])('whether to warn of the end of a certificate that %s', (_what, daysLeft, lifeDays, failures, expected) => {
  const life = { notBefore: T0, notAfter: T0 + lifeDays * DAY };
  const renewal = failures === null ? null : { ...FRESH_STATE, failures };
  expect(endsSoon(life, renewal, life.notAfter - daysLeft * DAY)).toBe(expected);
});
