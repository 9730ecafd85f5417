import { describe, expect, test } from 'vitest';
import { type Suspicion, SuspicionBook, Throttle } from './guessing.ts';

const HERE = '192.0.2.1';
const THERE = '198.51.100.9';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Tries as often as it is let, at `now`; how often that was. */
function hammer(throttle: Throttle, account: string, source: string, now: number, times: number): number {
  let tried = 0;
  for (let i = 0; i < times; i++) if (throttle.begin('password', account, source, now).ok) tried++;
  return tried;
}

test('five tries are free, then each waits twice as long, up to a quarter of an hour', () => {
  const throttle = new Throttle();
  expect(hammer(throttle, 'ann', HERE, 0, 100)).toBe(5);
  let now = 0;
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const answer = throttle.begin('password', 'ann', HERE, now);
    const waitMs = answer.ok ? 0 : answer.waitMs;
    expect(throttle.begin('password', 'ann', HERE, now + waitMs - 1).ok).toBe(false);
    now += waitMs;
    expect(throttle.begin('password', 'ann', HERE, now).ok).toBe(true);
    waits.push(waitMs / 1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('what must wait is not counted: whoever keeps on asking waits no longer', () => {
  const throttle = new Throttle();
  hammer(throttle, 'ann', HERE, 0, 5);
  hammer(throttle, 'ann', HERE, 500, 1000);
  expect(throttle.begin('password', 'ann', HERE, 1000).ok).toBe(true);
});

test('tries that come at the same moment count before any has failed', () => {
  const throttle = new Throttle();
  const answers = Array.from({ length: 8 }, () => throttle.begin('password', 'ann', HERE, 0).ok);
  expect(answers.filter(Boolean)).toHaveLength(5);
});

test('a stranger who hammers an account keeps its owner from nowhere else out', () => {
  const throttle = new Throttle();
  for (let now = 0; now < 10 * HOUR; now += MINUTE) hammer(throttle, 'ann', HERE, now, 20);
  expect(throttle.begin('password', 'ann', THERE, 10 * HOUR).ok).toBe(true);
});

test('thousands of sources leave an owner at least one try, and more after a moment', () => {
  const throttle = new Throttle();
  for (let i = 0; i < 5000; i++) hammer(throttle, 'ann', `10.1.${i >> 8}.${i & 255}`, 0, 5);
  expect(throttle.begin('password', 'ann', THERE, 0).ok).toBe(true);
  expect(throttle.begin('password', 'ann', THERE, 0)).toEqual({ ok: false, waitMs: 1000 });
  expect(throttle.begin('password', 'ann', THERE, 1000).ok).toBe(true);
});

test('a source that tries at many accounts is slowed at all of them, for a minute at most', () => {
  const throttle = new Throttle();
  const tried = Array.from({ length: 200 }, (_, i) => hammer(throttle, `user${i}`, HERE, 0, 1));
  expect(tried.filter((count) => count === 1)).toHaveLength(30);
  expect(throttle.begin('password', 'another', HERE, MINUTE).ok).toBe(true);
  expect(throttle.begin('password', 'ann', THERE, 0).ok).toBe(true);
});

test('addresses of one IPv6 /64 are one source', () => {
  const throttle = new Throttle();
  const tried = Array.from({ length: 50 }, (_, i) => hammer(throttle, 'ann', `2001:db8::${i + 1}`, 0, 1));
  expect(tried.filter((count) => count === 1)).toHaveLength(5);
});

test('success forgets what its source had failed, and only that', () => {
  const throttle = new Throttle();
  hammer(throttle, 'ann', HERE, 0, 4);
  hammer(throttle, 'ann', THERE, 0, 5);
  const answer = throttle.begin('password', 'ann', HERE, 0);
  if (answer.ok) throttle.succeeded(answer.attempt);
  expect(hammer(throttle, 'ann', HERE, 0, 9)).toBe(5);
  expect(hammer(throttle, 'ann', THERE, 0, 9)).toBe(0);
});

test('an hour’s rest forgives, and so does a new password', () => {
  const throttle = new Throttle();
  hammer(throttle, 'ann', HERE, 0, 5);
  expect(hammer(throttle, 'ann', HERE, HOUR, 9)).toBe(5);
  throttle.pardon('ann');
  expect(hammer(throttle, 'ann', HERE, HOUR, 9)).toBe(5);
});

test('codes of a second factor are guessed no more than a hundred times an hour by all sources together', () => {
  const throttle = new Throttle();
  const source = (i: number) => `10.2.${i >> 8}.${i & 255}`;
  const tries = (now: number) =>
    Array.from({ length: 500 }, (_, i) => throttle.begin('code', 'ann', source(i), now).ok).filter(Boolean);
  expect(tries(0)).toHaveLength(100);
  expect(throttle.begin('code', 'ann', THERE, HOUR - 1).ok).toBe(false);
  // Nobody can be kept out by that: a recovery code is too long to be guessed.
  expect(throttle.begin('recovery', 'ann', THERE, 0).ok).toBe(true);
  expect(throttle.begin('password', 'ann', THERE, 0).ok).toBe(true);
  expect(throttle.begin('code', 'ann', THERE, HOUR).ok).toBe(true);
});

test('the tables are bounded: what was longest quiet makes room', () => {
  const throttle = new Throttle(10);
  hammer(throttle, 'ann', HERE, 0, 5);
  for (let i = 0; i < 9; i++) hammer(throttle, `user${i}`, `10.3.0.${i}`, 1, 5);
  expect(hammer(throttle, 'ann', HERE, 2, 5)).toBe(0);
  for (let i = 0; i < 10; i++) hammer(throttle, `other${i}`, `10.3.1.${i}`, 3, 5);
  expect(hammer(throttle, 'ann', HERE, 4, 5)).toBe(5);
});

describe('suspicion book', () => {
  const MINUTE = 60_000;
  const FAILED = { action: 'signInFailed', guess: 'password' } as const;

  function open() {
    const noted: Suspicion[] = [];
    const book = new SuspicionBook(async (suspicion) => void noted.push(suspicion));
    return { book, noted };
  }

  test('a user and source is noted at once, then once in ten minutes with a count', async () => {
    const { book, noted } = open();
    const what = { ...FAILED, user: 'ann', source: '192.0.2.7' };
    for (let i = 0; i < 20; i++) await book.add(what, i);
    await book.settle(9 * MINUTE);
    expect(noted.map(({ tries }) => tries)).toEqual([1]);
    await book.settle(10 * MINUTE);
    expect(noted.slice(1)).toEqual([{ ...what, tries: 19 }]);
    await book.add(what, 19 * MINUTE);
    expect(noted).toHaveLength(2);
    // Nothing is lost at a stop, and what was quiet begins anew.
    await book.settle(19 * MINUTE, true);
    await book.settle(29 * MINUTE);
    await book.add(what, 29 * MINUTE);
    expect(noted.map(({ tries }) => tries)).toEqual([1, 19, 1, 1]);
  });

  test('names that nobody has are one, from wherever', async () => {
    const { book, noted } = open();
    for (let i = 0; i < 1000; i++) await book.add({ ...FAILED, user: null, source: `10.0.0.${i}` }, i);
    await book.settle(10 * MINUTE);
    expect(noted).toEqual([
      { ...FAILED, user: null, source: '10.0.0.0', tries: 1 },
      { ...FAILED, user: null, source: null, tries: 999 },
    ]);
  });

  test('a thousand sources at a user make some thirty entries in ten minutes, and none is left uncounted', async () => {
    const { book, noted } = open();
    for (let i = 0; i < 1000; i++) await book.add({ ...FAILED, user: 'ann', source: `10.0.0.${i}` }, i);
    expect(noted).toHaveLength(31);
    await book.settle(11 * MINUTE);
    expect(noted).toHaveLength(32);
    expect(noted.at(-1)).toEqual({ ...FAILED, user: 'ann', source: null, tries: 969 });
    expect(noted.reduce((sum, { tries }) => sum + tries, 0)).toBe(1000);
  });
});
