import { describe, expect, test } from 'vitest';
import {
  afterAttempt,
  afterProbe,
  type Breaker,
  CLOSED,
  type HopNews,
  LANE_POLICY,
  paceOf,
  RELAY_POLICY,
  refusesUs,
  restedUntil,
  stateOf,
} from './breaker.ts';
import { localReply } from './outcome.ts';

/** The breaker of a lane after this news, told at one-second steps from 0 on. */
function heardAll(news: readonly HopNews[], policy = LANE_POLICY, stepMs = 1_000): Breaker {
  return news.reduce<Breaker>((breaker, one, i) => afterAttempt(breaker, one, policy, i * stepMs, 0), CLOSED);
}

const times = (count: number, news: HopNews) => Array.from({ length: count }, () => news);

describe('a lane', () => {
  test('opens at once when its hop is ill, and is half open when the rest is over', () => {
    const breaker = afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0);
    expect([0, 999, 1_000].map((now) => stateOf(breaker, now))).toEqual(['open', 'open', 'half_open']);
    expect([0, 999, 1_000].map((now) => paceOf(breaker, now, 20))).toEqual([0, 0, 1]);
  });
  test('rests twice as long after each failed test, to half a minute', () => {
    let breaker = CLOSED;
    const rests: number[] = [];
    for (let now = 0; rests.length < 7; now = breaker.until) {
      breaker = afterAttempt(breaker, 'ill', LANE_POLICY, now, 0);
      rests.push(breaker.until - now);
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });
  test('dice shorten a rest by up to a fifth', () => {
    expect(afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 1).until).toBe(800);
  });
  test('closes at the first sign of health, also from an attempt that was under way when it opened', () => {
    const open = afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0);
    expect(afterAttempt(open, 'well', LANE_POLICY, 500, 0)).toEqual(CLOSED);
    expect(afterAttempt(open, 'well', LANE_POLICY, 1_500, 0)).toEqual(CLOSED);
  });
  test('what fails together counts as one failure', () => {
    const open = afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0);
    expect(afterAttempt(open, 'ill', LANE_POLICY, 999, 0)).toBe(open);
  });
  test('opens when four of five answers are of no use, but not before there are twenty', () => {
    expect(stateOf(heardAll(times(19, 'of_no_use')), 19_000)).toBe('closed');
    expect(stateOf(heardAll(times(20, 'of_no_use')), 19_500)).toBe('open');
    expect(stateOf(heardAll([...times(4, 'well'), ...times(16, 'of_no_use')]), 19_500)).toBe('open');
    expect(stateOf(heardAll([...times(6, 'well'), ...times(16, 'of_no_use')]), 21_500)).toBe('closed');
  });
  test('answers older than a minute do not count', () => {
    expect(stateOf(heardAll(times(40, 'of_no_use'), LANE_POLICY, 4_000), 160_000)).toBe('closed');
  });
});

describe('a rest that its hop asked for', () => {
  test('is not ended by what began before it and ends well', () => {
    const resting = restedUntil(CLOSED, 60_000);
    const after = afterAttempt(resting, 'well', LANE_POLICY, 50, 0);
    expect([50, 59_999, 60_000].map((now) => stateOf(after, now))).toEqual(['open', 'open', 'half_open']);
  });
  test('ends with the first attempt after it that goes well', () => {
    const resting = restedUntil(CLOSED, 60_000);
    expect(afterAttempt(resting, 'well', LANE_POLICY, 60_001, 0)).toEqual(CLOSED);
  });
  test('is not cut short by another that is shorter, or by what fails meanwhile', () => {
    const resting = restedUntil(restedUntil(CLOSED, 60_000), 10_000);
    expect(resting.until).toBe(60_000);
    expect(afterAttempt(resting, 'ill', LANE_POLICY, 5_000, 0)).toBe(resting);
  });
});

describe('a hop that says that it is well, and takes no mail', () => {
  /** How long it rests, time after time: asked at the end of each rest, it says that it is well. */
  function rests(count: number, taken: readonly number[] = []): number[] {
    let breaker = CLOSED;
    let now = 0;
    return Array.from({ length: count }, (_, round) => {
      if (taken.includes(round)) breaker = afterAttempt(breaker, 'well', LANE_POLICY, now, 0);
      breaker = afterAttempt(breaker, 'ill', LANE_POLICY, now, 0);
      const ms = breaker.until - now;
      now = breaker.until;
      breaker = afterProbe(breaker, 'well', now, 0);
      expect(stateOf(breaker, now)).toBe('closed');
      return ms;
    });
  }

  test('rests longer each time, to half a minute', () => {
    expect(rests(7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });
  test('begins anew once it took some', () => {
    expect(rests(6, [3])).toEqual([1_000, 2_000, 4_000, 1_000, 2_000, 4_000]);
  });
  test('rests longer too where it is of no use, not ill', () => {
    let breaker = afterProbe(afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0), 'well', 1_000, 0);
    for (let answer = 0; answer < 20; answer++)
      breaker = afterAttempt(breaker, 'of_no_use', LANE_POLICY, 1_000 + answer, 0);
    expect(breaker.until).toBe(3_019);
  });
  test('of one that is not, the rest is as long as of one that fails', () => {
    const open = afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0);
    expect(afterProbe(open, 'ill', 1_000, 0).until).toBe(3_000);
  });
});

test('all destinations of a relay together open only when hardly any can be reached', () => {
  expect(stateOf(heardAll(times(39, 'ill'), RELAY_POLICY), 39_000)).toBe('closed');
  expect(stateOf(heardAll(times(40, 'ill'), RELAY_POLICY), 39_500)).toBe('open');
  expect(stateOf(heardAll([...times(3, 'well'), ...times(40, 'ill')], RELAY_POLICY), 42_500)).toBe('closed');
});

describe('a hop that refuses us', () => {
  const MINUTE = 60_000;
  const refused = (breaker: Breaker, now: number) => afterAttempt(breaker, 'refuses_us', LANE_POLICY, now, 0);

  test('rests for two minutes, doubling to four hours', () => {
    let breaker = CLOSED;
    const rests: number[] = [];
    for (let now = 0; rests.length < 9; now = breaker.until) {
      breaker = rests.length % 2 === 0 ? refused(breaker, now) : afterProbe(breaker, 'refuses_us', now, 0);
      rests.push((breaker.until - now) / MINUTE);
    }
    expect(rests).toEqual([2, 4, 8, 16, 32, 64, 128, 240, 240]);
  });
  test('rests so though it was ill in another way a moment ago, and once for what fails together', () => {
    const breaker = refused(afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0), 10);
    expect(breaker.until).toBe(10 + 2 * MINUTE);
    expect(refused(breaker, 20)).toBe(breaker);
    expect(afterAttempt(breaker, 'ill', LANE_POLICY, 20, 0)).toBe(breaker);
  });
  test('is not believed for a session that was open before', () => {
    const breaker = refused(CLOSED, 0);
    expect(afterAttempt(breaker, 'well', LANE_POLICY, 10, 0)).toBe(breaker);
  });
  test('rests longer each time where a session without mail is let in', () => {
    const asked = afterProbe(refused(CLOSED, 0), 'well', 2 * MINUTE, 0);
    expect(refused(asked, 2 * MINUTE).until).toBe(6 * MINUTE);
    expect(refused(afterAttempt(asked, 'well', LANE_POLICY, 2 * MINUTE, 0), 3 * MINUTE).until).toBe(
      5 * MINUTE,
    );
  });
  test.each([
    ['auth_failed', 535, true],
    ['auth_failed', 534, true],
    ['auth_failed', 550, true],
    ['auth_failed', 454, false],
    ['auth_failed', null, false],
    ['token_refused', 400, true],
    ['token_refused', 401, true],
    ['token_refused', 535, true],
    ['token_refused', null, true],
    ['token_refused', 503, false],
    ['token_refused', 429, false],
    ['greeting_refused', 554, true],
    ['greeting_refused', 421, false],
    ['smtp_reply', 530, true],
    ['smtp_reply', 421, false],
    ['connect_refused', null, false],
  ])('%s %s is of us: %s', (cause, code, isOfUs) => {
    expect(refusesUs({ ...localReply(cause, '5.7.8', ''), code })).toBe(isOfUs);
  });
});
