import { describe, expect, test } from 'vitest';
import {
  afterAttempt,
  type Breaker,
  CLOSED,
  type HopNews,
  LANE_POLICY,
  paceOf,
  RELAY_POLICY,
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

test('all destinations of a relay together open only when hardly any can be reached', () => {
  expect(stateOf(heardAll(times(39, 'ill'), RELAY_POLICY), 39_000)).toBe('closed');
  expect(stateOf(heardAll(times(40, 'ill'), RELAY_POLICY), 39_500)).toBe('open');
  expect(stateOf(heardAll([...times(3, 'well'), ...times(40, 'ill')], RELAY_POLICY), 42_500)).toBe('closed');
});
