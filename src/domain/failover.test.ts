import { describe, expect, test } from 'vitest';
import { chooseRelay, type Fitness, nextWay, type RelayFitness, roundsOf } from './failover.ts';

/** Every relay is usable but these. */
function fitness(others: Readonly<Record<string, RelayFitness>> = {}): Fitness {
  return (relay) => others[relay] ?? 'usable';
}

describe('a fresh delivery goes', () => {
  test.each<[string, Readonly<Record<string, RelayFitness>>, string | null]>([
    ['to the first of its group', {}, 'a'],
    ['past one that rests', { a: 'resting' }, 'b'],
    ['past one that is paused, disabled, draining or missing', { a: 'paused', b: 'missing' }, 'c'],
    ['to one that rests when none is usable', { a: 'paused', b: 'resting', c: 'disabled' }, 'b'],
    ['to one that is paused before one that is disabled', { a: 'disabled', b: 'paused', c: 'missing' }, 'b'],
    ['nowhere when all drain or are gone', { a: 'draining', b: 'missing', c: 'draining' }, null],
  ])('%s', (_rule, others, expected) => {
    expect(chooseRelay(['a', 'b', 'c'], fitness(others))).toBe(expected);
  });
});

describe('what was not taken goes', () => {
  const group = ['a', 'b', 'c'];
  test('to the next that is usable, at once', () => {
    expect(nextWay(group, 'a', fitness())).toEqual({ relay: 'b', atOnce: true });
    expect(nextWay(group, 'a', fitness({ b: 'resting' }))).toEqual({ relay: 'c', atOnce: true });
  });
  test('from the last to the first that is usable, after a delay', () => {
    expect(nextWay(group, 'c', fitness())).toEqual({ relay: 'a', atOnce: false });
    expect(nextWay(group, 'c', fitness({ a: 'resting' }))).toEqual({ relay: 'b', atOnce: false });
  });
  test('nowhere when none is usable', () => {
    const none = fitness({ a: 'resting', b: 'paused', c: 'missing' });
    expect(nextWay(group, 'b', none)).toEqual({ relay: 'b', atOnce: false });
  });
  test('from a relay that is no member to the first member, at once', () => {
    expect(nextWay(group, 'old', fitness())).toEqual({ relay: 'a', atOnce: true });
  });
});

test('the delay grows with rounds through the group', () => {
  expect([1, 2, 3, 4, 6, 7].map((attempts) => roundsOf(attempts, 3))).toEqual([1, 1, 1, 2, 2, 3]);
  expect(roundsOf(5, 0)).toBe(5);
});
