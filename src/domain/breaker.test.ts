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
  restedUntil,
  stateOf,
} from './breaker.ts';

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
      breaker = afterProbe(breaker, true, now, 0);
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
    let breaker = afterProbe(afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0), true, 1_000, 0);
    for (let answer = 0; answer < 20; answer++)
      breaker = afterAttempt(breaker, 'of_no_use', LANE_POLICY, 1_000 + answer, 0);
    expect(breaker.until).toBe(3_019);
  });
  test('of one that is not, the rest is as long as of one that fails', () => {
    const open = afterAttempt(CLOSED, 'ill', LANE_POLICY, 0, 0);
    expect(afterProbe(open, false, 1_000, 0).until).toBe(3_000);
  });
});

test('all destinations of a relay together open only when hardly any can be reached', () => {
  expect(stateOf(heardAll(times(39, 'ill'), RELAY_POLICY), 39_000)).toBe('closed');
  expect(stateOf(heardAll(times(40, 'ill'), RELAY_POLICY), 39_500)).toBe('open');
  expect(stateOf(heardAll([...times(3, 'well'), ...times(40, 'ill')], RELAY_POLICY), 42_500)).toBe('closed');
});
