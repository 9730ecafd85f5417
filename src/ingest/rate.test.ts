import { expect, test } from 'vitest';
import { RateLimiter } from './rate.ts';

/** Takes `count` units at `nowMs` and tells how many were allowed. */
function burst(limiter: RateLimiter, count: number, limit: number, nowMs: number, key = 'k'): number {
  let allowed = 0;
  for (let i = 0; i < count; i++) if (limiter.take(key, 'send', limit, nowMs)?.allowed) allowed++;
  return allowed;
}

const limiterOf = (maxWindows = 100) => new RateLimiter({ maxWindows });

test('exactly the limit is let through, and the next is refused', () => {
  const limiter = limiterOf();
  expect(burst(limiter, 5, 5, 10_000)).toBe(5);
  expect(limiter.take('k', 'send', 5, 10_000)).toMatchObject({
    allowed: false,
    remaining: 0,
    resetSeconds: 60,
  });
});

test('remaining counts down by one each time', () => {
  const limiter = limiterOf();
  const remaining = [1, 2, 3].map(() => limiter.take('k', 'send', 3, 0)?.remaining);
  expect(remaining).toEqual([2, 1, 0]);
});

test.each([
  // units at second 0, at second 30; asked at ms; allowed, reset
  [3, 2, 59_999, false, 1],
  [3, 2, 60_000, true, 30],
  [3, 2, 30_000, false, 30],
  [3, 2, 30_500, false, 30],
  [3, 2, 31_000, false, 29],
  [0, 5, 60_000, false, 30],
  [0, 5, 90_000, true, 60],
])(
  'with %i units at 0 s and %i at 30 s, %i ms: allowed %s, reset %i s',
  (early, late, at, allowed, reset) => {
    const limiter = limiterOf();
    burst(limiter, early, 5, 0);
    burst(limiter, late, 5, 30_000);
    expect(limiter.take('k', 'send', 5, at)).toMatchObject({ allowed, resetSeconds: reset });
  },
);

test('Retry-After is real: refused until then, let through then', () => {
  for (const at of [200, 999, 1000, 17_345, 59_999]) {
    const limiter = limiterOf();
    burst(limiter, 4, 4, 200);
    const refused = limiter.take('k', 'send', 4, at);
    expect(refused?.allowed).toBe(false);
    const seconds = refused?.resetSeconds ?? 0;
    expect(limiter.take('k', 'send', 4, at + (seconds - 1) * 1000)?.allowed).toBe(false);
    expect(limiter.take('k', 'send', 4, at + seconds * 1000)?.allowed).toBe(true);
  }
});

test('what the limit refuses takes no unit', () => {
  const limiter = limiterOf();
  burst(limiter, 5, 5, 0);
  burst(limiter, 50, 5, 30_000);
  expect(burst(limiter, 9, 5, 60_000)).toBe(5);
});

test('never more than the limit within any 59 seconds, whatever the pace', () => {
  const limiter = limiterOf();
  const admitted: number[] = [];
  for (let at = 0; at < 300_000; at += 137) if (limiter.take('k', 'send', 20, at)?.allowed) admitted.push(at);
  for (const start of admitted)
    expect(admitted.filter((at) => at >= start && at < start + 59_000).length).toBeLessThanOrEqual(20);
});

test('sends and reads have windows of their own', () => {
  const limiter = limiterOf();
  burst(limiter, 5, 5, 0);
  expect(limiter.take('k', 'send', 5, 0)?.allowed).toBe(false);
  expect(limiter.take('k', 'read', 5, 0)).toMatchObject({ allowed: true, remaining: 4 });
});

test('keys do not share a window', () => {
  const limiter = limiterOf();
  burst(limiter, 5, 5, 0, 'a');
  expect(limiter.take('b', 'send', 5, 0)?.allowed).toBe(true);
});

test('several units are taken together or not at all', () => {
  const limiter = limiterOf();
  const take = (units: number, nowMs: number) => limiter.take('k', 'batch', 10, nowMs, units);
  expect(take(6, 0)).toMatchObject({ allowed: true, remaining: 4 });
  expect(take(5, 20_000)).toMatchObject({ allowed: false, remaining: 4, resetSeconds: 40 });
  expect(take(4, 20_000)).toMatchObject({ allowed: true, remaining: 0 });
  expect(take(7, 60_000)).toMatchObject({ allowed: false, remaining: 6, resetSeconds: 20 });
  expect(take(7, 80_000)).toMatchObject({ allowed: true, remaining: 3 });
  expect(take(11, 1_000_000)).toMatchObject({ allowed: false, remaining: 10, resetSeconds: 60 });
});

test('a limit of 0 is no limit', () => {
  expect(limiterOf().take('k', 'send', 0, 0)).toBeNull();
});

test('a limit that was lowered holds at once, and Retry-After waits for enough to leave', () => {
  const limiter = limiterOf();
  burst(limiter, 3, 10, 0);
  burst(limiter, 3, 10, 20_000);
  expect(limiter.take('k', 'send', 2, 20_000)).toMatchObject({
    allowed: false,
    remaining: 0,
    resetSeconds: 60,
  });
});

test('a long silence empties the window', () => {
  const limiter = limiterOf();
  burst(limiter, 5, 5, 0);
  expect(burst(limiter, 9, 5, 10_000_000)).toBe(5);
});

test('one window past the bound, the longest unused one is forgotten', () => {
  const limiter = limiterOf(2);
  burst(limiter, 5, 5, 0, 'a');
  burst(limiter, 5, 5, 0, 'b');
  expect(limiter.take('a', 'send', 5, 1)?.allowed).toBe(false);
  limiter.take('c', 'send', 5, 2);
  expect(limiter.take('a', 'send', 5, 3)?.allowed).toBe(false);
  expect(limiter.take('b', 'send', 5, 4)?.allowed).toBe(true);
});

/** What others let through of the sends of a key. */
const heard = (second: number, units: number, keyId = 'k') =>
  ({ keyId, window: 'send', second, units }) as const;

test('what others let through counts, once, however often it is heard', () => {
  const limiter = limiterOf();
  burst(limiter, 2, 5, 0);
  for (let again = 0; again < 3; again++) limiter.hear([heard(1000, 2)], 1000, 400);
  expect(limiter.take('k', 'send', 5, 500)).toMatchObject({ allowed: true, remaining: 0 });
  limiter.hear([heard(1000, 3)], 1001, 1000);
  expect(limiter.take('k', 'send', 6, 1000)?.allowed).toBe(false);
  expect(limiter.take('k', 'send', 7, 1000)).toMatchObject({ allowed: true, remaining: 0 });
  expect(limiter.take('other', 'send', 1, 1000)?.allowed).toBe(true);
});

test('what others let through leaves the window no earlier than it would with them, and two seconds later at most', () => {
  for (const phase of [0, 1, 250, 500, 999]) {
    for (const delay of [0, 400, 1_000, 30_000]) {
      const limiter = limiterOf();
      // Let through at 100,900 of our time, in a second of theirs that began `phase` ms earlier or later than ours.
      const at = 100_900;
      const theirs = (nowMs: number) => Math.floor((nowMs + 7_000_000 - phase) / 1000);
      limiter.hear([heard(theirs(at), 5)], theirs(at + delay), at + delay);
      const free = (nowMs: number) => limiter.take('k', 'send', 5, nowMs)?.remaining === 4;
      expect(free(at + 59_000), `${phase} ${delay}`).toBe(false);
      expect(free(at + 62_000), `${phase} ${delay}`).toBe(true);
    }
  }
});

test('what is heard too late, or of seconds to come, does no harm', () => {
  const limiter = limiterOf();
  limiter.hear([heard(1_000, 5), heard(1_061, 2), heard(1_063, 1)], 1_061, 200_000);
  expect(limiter.take('k', 'send', 5, 200_000)).toMatchObject({ allowed: true, remaining: 1 });
  expect(limiter.take('k', 'send', 5, 261_999)).toMatchObject({ allowed: true, remaining: 4 });
});

test('what was taken is told once, in portions, and again where it could not be', () => {
  const limiter = new RateLimiter({ maxWindows: 100, isShared: true });
  burst(limiter, 4, 3, 0, 'a');
  limiter.take('a', 'batch', 100, 0, 7);
  limiter.take('b', 'read', 5, 0);
  expect(limiter.untold(2)).toEqual([
    { keyId: 'a', window: 'send', units: 3 },
    { keyId: 'a', window: 'batch', units: 7 },
  ]);
  const rest = limiter.untold(2);
  expect(rest).toEqual([{ keyId: 'b', window: 'read', units: 1 }]);
  expect(limiter.untold(2)).toEqual([]);
  limiter.take('b', 'read', 5, 1_000);
  limiter.notTold(rest);
  expect(limiter.untold(2)).toEqual([{ keyId: 'b', window: 'read', units: 2 }]);
  limiter.hear([heard(1, 3, 'c')], 1, 0);
  expect(limiter.untold(2), 'what others did is theirs to tell').toEqual([]);
});

test('no more waits to be told than there are windows', () => {
  const limiter = new RateLimiter({ maxWindows: 3, isShared: true });
  for (const key of ['a', 'b', 'c', 'd', 'e']) limiter.take(key, 'send', 5, 0);
  expect(limiter.untold(10).map(({ keyId }) => keyId)).toEqual(['c', 'd', 'e']);
  limiter.hear(
    ['a', 'b', 'c', 'd'].map((key) => heard(1, 5, key)),
    1,
    0,
  );
  expect(limiter.take('b', 'send', 5, 0)?.allowed).toBe(false);
  expect(limiter.take('a', 'send', 5, 0)?.allowed, 'three are known').toBe(true);
});
