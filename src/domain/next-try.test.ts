import { describe, expect, test } from 'vitest';
import { firstTry, type LaneOutlook, type NextTry, nextTry, type Wait, waitOf } from './next-try.ts';

const NOW = 1_000_000;
const TIMES = { now: NOW, expiresAt: NOW + 100_000 };
const WELL: LaneOutlook = { keptBy: null, breaker: 'closed', restsUntil: null, spentUntil: null };

const waiting = (state: Wait['state'], dueAt: number): Wait => ({ lane: 'out', state, dueAt });
const FRESH = waiting('queued', NOW);
const LATER = waiting('retrying', NOW + 30_000);

describe('the next try is the later of the due time and', () => {
  test.each<[string, Wait, Partial<LaneOutlook>, NextTry['at'], NextTry['waitingFor']]>([
    ['nothing, where it is due', FRESH, {}, NOW, 'turn'],
    ['nothing, where it has been due for long', waiting('retrying', NOW - 9), {}, NOW - 9, 'turn'],
    ['nothing, after an attempt', LATER, {}, NOW + 30_000, 'backoff'],
    ['nothing, where its sender wants it later', waiting('queued', NOW + 5), {}, NOW + 5, 'scheduled'],
    ['the rest of its lane', FRESH, { breaker: 'open', restsUntil: NOW + 7 }, NOW + 7, 'relay_resting'],
    ['a rest that ends before', LATER, { breaker: 'open', restsUntil: NOW + 7 }, NOW + 30_000, 'backoff'],
    ['a rest after it', LATER, { breaker: 'open', restsUntil: NOW + 50_000 }, NOW + 50_000, 'relay_resting'],
    ['a rest that is over', waiting('retrying', NOW - 9), { restsUntil: NOW - 1 }, NOW - 9, 'turn'],
    ['a hop that is being tried', FRESH, { breaker: 'half_open' }, NOW, 'relay_probing'],
    ['the end of the day', FRESH, { spentUntil: NOW + 60_000 }, NOW + 60_000, 'relay_spent'],
    [
      'the last of all of them',
      FRESH,
      { breaker: 'open', restsUntil: NOW + 8, spentUntil: NOW + 9 },
      NOW + 9,
      'relay_spent',
    ],
  ])('%s', (_what, wait, lane, at, waitingFor) => {
    expect(nextTry(wait, { ...WELL, ...lane }, TIMES)).toEqual({ at, waitingFor });
  });
});

test.each(['relay_missing', 'relay_disabled', 'relay_paused'] as const)(
  'what has no end has no time: %s',
  (keptBy) => {
    const lane: LaneOutlook = { ...WELL, keptBy, restsUntil: NOW + 7 };
    expect(nextTry(LATER, lane, TIMES)).toEqual({ at: null, waitingFor: keptBy });
  },
);

test('mail without a route has no time', () => {
  expect(nextTry({ ...LATER, lane: null }, null, TIMES)).toEqual({ at: null, waitingFor: 'no_route' });
});

test('what expires before its lane may send has no next try', () => {
  const lane: LaneOutlook = { ...WELL, breaker: 'open', restsUntil: TIMES.expiresAt + 1 };
  expect(nextTry(FRESH, lane, TIMES)).toEqual({ at: null, waitingFor: 'relay_resting' });
});

test('of several recipients the one is told that is next, and one without a time only where all are', () => {
  const paused: NextTry = { at: null, waitingFor: 'relay_paused' };
  const lost: NextTry = { at: null, waitingFor: 'no_route' };
  const resting: NextTry = { at: NOW + 9, waitingFor: 'relay_resting' };
  const backoff: NextTry = { at: NOW + 3, waitingFor: 'backoff' };
  expect(firstTry([paused, resting, backoff])).toBe(backoff);
  expect(firstTry([resting, paused])).toBe(resting);
  expect(firstTry([paused, lost])).toBe(paused);
  expect(firstTry([])).toBeNull();
});

test('only what is queued or retrying waits', () => {
  expect(waitOf({ lane: 'out', state: 'queued', dueAt: NOW })).toEqual(FRESH);
  expect(waitOf({ lane: 'out', state: 'processing', dueAt: null })).toBeNull();
  expect(waitOf({ lane: 'out', state: 'failed', dueAt: null })).toBeNull();
});
