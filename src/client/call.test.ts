import { describe, expect, test } from 'vitest';
import { isPassing, isUnsure, readRetryAfter, waitBefore } from './call.ts';

describe('waiting before the next try', () => {
  const dice = (value: number) => ({ random: () => value });

  test('is anything up to a bound that doubles from half a second to ten', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7].map((tries) => waitBefore(tries, null, dice(1)));
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(waitBefore(3, null, dice(0.25))).toBe(500);
    expect(waitBefore(3, null, dice(0))).toBe(0);
  });

  test('comes on top of what the server asked for', () => {
    expect(waitBefore(1, 7000, dice(0.5))).toBe(7250);
  });
});

test.for<[string | null, number | null]>([
  [null, null],
  ['0', 0],
  ['7', 7000],
  ['Fri, 01 Jan 2027 00:00:09 GMT', 9000],
  ['Thu, 31 Dec 2026 23:59:59 GMT', 0],
  ['soon', null],
  ['', null],
])('Retry-After: %s is %s ms', ([text, ms]) => {
  expect(readRetryAfter(text, Date.UTC(2027, 0, 1))).toBe(ms);
});

test('what may pass is tried again: overload, time-outs, restarts, a first try still under way', () => {
  const statuses = [400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504];
  expect(statuses.filter((status) => isPassing(status, null))).toEqual([408, 429, 502, 503, 504]);
  expect(isPassing(409, 'idempotency_in_progress')).toBe(true);
  expect(isPassing(409, 'idempotency_mismatch')).toBe(false);
});

test('a refusal by the API says that nothing was done; other answers leave it open', () => {
  const statuses = [400, 404, 408, 409, 429, 500, 502, 503, 504];
  expect(statuses.filter((status) => isUnsure(status, 'code'))).toEqual([408, 500, 502, 504]);
  expect(statuses.filter((status) => isUnsure(status, null))).toEqual([408, 500, 502, 503, 504]);
  expect(isUnsure(409, 'idempotency_in_progress')).toBe(true);
});
