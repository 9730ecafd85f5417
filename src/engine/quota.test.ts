import { describe, expect, test } from 'vitest';
import { dayOf } from '../domain/quota.ts';
import { Quota, type QuotaLimits } from './quota.ts';

const DAY_MS = 86_400_000;
const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 20, 12);
const TODAY = dayOf(NOON);

function limits(change: Partial<QuotaLimits> = {}): QuotaLimits {
  return { maxPerDay: 20, reservePercent: 0, warmUp: null, ...change };
}

/** Lets a relay have so many recipients, one by one; what an operator heard of it, with how many were used then. */
function use(quota: Quota, count: number, now = NOON): unknown[] {
  const heard: unknown[] = [];
  for (let taken = 0; taken < count; taken++) {
    const request = quota.take('out', 1, 'high', now);
    if (request === null) continue;
    const news = quota.answered(request, 'begun', now);
    if (news !== null) heard.push([news, quota.state(now)?.used]);
  }
  return heard;
}

describe('a wall clock that goes ahead and comes back', () => {
  test('leaves no quota on a day to come', () => {
    const quota = new Quota(limits());
    use(quota, 5);
    use(quota, 20, NOON + 30 * DAY_MS);
    expect(quota.left('normal', NOON + 30 * DAY_MS)).toBe(0);
    quota.learn(TODAY, 5, quota.changes, NOON);
    expect(quota.left('normal', NOON)).toBe(15);
    expect(quota.take('out', 1, 'normal', NOON)?.day).toBe(TODAY);
  });

  test('does not end a warm-up', () => {
    const quota = new Quota(limits({ maxPerDay: 0, warmUp: { startDay: TODAY, perDay: [10, 20] } }));
    expect(quota.left('normal', NOON + 30 * DAY_MS)).toBe(Number.POSITIVE_INFINITY);
    expect(quota.left('normal', NOON)).toBe(10);
    expect(quota.take('out', 1, 'normal', NOON)).toMatchObject({ day: TODAY, limit: 10 });
  });

  test('lets nobody have more for what was asked before it went', () => {
    const quota = new Quota(limits());
    const request = quota.take('out', 5, 'normal', NOON);
    expect(quota.left('normal', NOON + DAY_MS)).toBe(20);
    expect(quota.left('normal', NOON)).toBe(20);
    if (request !== null) quota.answered(request, 'begun', NOON);
    expect(quota.left('normal', NOON)).toBe(15);
  });

  test('goes on with the new day where it is set by less than a minute at midnight', () => {
    const quota = new Quota(limits());
    const midnight = (TODAY + 1) * DAY_MS;
    use(quota, 5, midnight);
    expect(quota.left('normal', midnight - MINUTE)).toBe(15);
    expect(quota.take('out', 1, 'normal', midnight - 1)?.day).toBe(TODAY + 1);
    expect(quota.take('out', 1, 'normal', midnight - MINUTE - 1)?.day).toBe(TODAY);
  });
});

describe('what an operator hears of a quota', () => {
  test('goes by what normal mail may have', () => {
    expect(use(new Quota(limits({ maxPerDay: 40, reservePercent: 5 })), 40)).toEqual([
      ['low', 31],
      ['used_up', 38],
    ]);
    expect(use(new Quota(limits({ reservePercent: 50 })), 20)).toEqual([
      ['low', 8],
      ['used_up', 10],
    ]);
  });

  test('is said again when the limits are others, not when the relay is set up anew', () => {
    const quota = new Quota(limits());
    expect(use(quota, 17)).toEqual([['low', 16]]);
    quota.limit(limits());
    expect(use(quota, 1)).toEqual([]);
    quota.limit(limits({ maxPerDay: 21 }));
    expect(use(quota, 1)).toEqual([['low', 19]]);
    quota.limit(limits({ maxPerDay: 21 }));
    expect(use(quota, 2)).toEqual([['used_up', 21]]);
    quota.limit(limits({ maxPerDay: 21 }));
    expect(use(quota, 0)).toEqual([]);
  });

  test('is nothing of a relay that may have nothing at all', () => {
    const quota = new Quota(limits({ warmUp: { startDay: TODAY + 1, perDay: [10] } }));
    expect(use(quota, 1)).toEqual([]);
  });
});
