import { describe, expect, test } from 'vitest';
import {
  deriveStatus,
  isFinal,
  MESSAGE_STATUSES,
  mayTransition,
  type StateCounts,
  type TransitionCause,
  whenCancelled,
  whenRetried,
} from './delivery.ts';

const CAUSES: readonly TransitionCause[] = [
  'claim',
  'settle',
  'expire',
  'cancel',
  'no_route',
  'release',
  'reclaim',
  'retry',
  'bounce',
];

/** Contract §4, written out by hand: every transition that exists. */
const ALLOWED = new Set([
  'queued>processing:claim',
  'queued>failed:cancel',
  'queued>failed:expire',
  'queued>failed:no_route',
  'processing>delivered:settle',
  'processing>retrying:settle',
  'processing>failed:settle',
  'processing>queued:release',
  'processing>retrying:release',
  'processing>queued:reclaim',
  'processing>retrying:reclaim',
  'processing>failed:reclaim',
  'retrying>processing:claim',
  'retrying>failed:cancel',
  'retrying>failed:expire',
  'retrying>failed:no_route',
  'failed>queued:retry',
  'delivered>failed:bounce',
]);

describe('transitions', () => {
  for (const from of MESSAGE_STATUSES)
    for (const to of MESSAGE_STATUSES)
      for (const cause of CAUSES) {
        const name = `${from}>${to}:${cause}`;
        test(`${name} is ${ALLOWED.has(name) ? 'allowed' : 'refused'}`, () => {
          expect(mayTransition(from, to, cause)).toBe(ALLOWED.has(name));
        });
      }
});

describe('status of a message', () => {
  const counts = (partial: Partial<StateCounts>): StateCounts => ({
    queued: 0,
    processing: 0,
    delivered: 0,
    retrying: 0,
    failed: 0,
    ...partial,
  });
  test.each([
    [{ queued: 1 }, 'queued'],
    [{ processing: 1, retrying: 1, queued: 1, delivered: 1, failed: 1 }, 'processing'],
    [{ retrying: 1, queued: 1, delivered: 1, failed: 1 }, 'retrying'],
    [{ queued: 1, delivered: 1, failed: 1 }, 'queued'],
    [{ delivered: 3 }, 'delivered'],
    [{ delivered: 2, failed: 1 }, 'failed'],
    [{ failed: 2 }, 'failed'],
  ] as const)('%o is %s', (partial, status) => {
    expect(deriveStatus(counts(partial))).toBe(status);
  });

  test('only delivered and failed are final', () => {
    expect(MESSAGE_STATUSES.filter(isFinal)).toEqual(['delivered', 'failed']);
  });
});

test.each([
  ['queued', 'fails', 'stays'],
  ['processing', 'is_marked', 'stays'],
  ['retrying', 'fails', 'retrying'],
  ['delivered', 'stays', 'stays'],
  ['failed', 'stays', 'queued'],
] as const)('what is %s %s when cancelled, and %s when retried', (state, cancelled, retried) => {
  expect(whenCancelled(state)).toBe(cancelled);
  expect(whenRetried({ state, cancelRequested: false })).toBe(retried);
  // The mark means something in processing only; an attempt that ended leaves it behind.
  const marked = state === 'processing' ? 'goes_on' : retried;
  expect(whenRetried({ state, cancelRequested: true })).toBe(marked);
  if (cancelled === 'fails') expect(mayTransition(state, 'failed', 'cancel')).toBe(true);
  if (retried === 'queued') expect(mayTransition(state, retried, 'retry')).toBe(true);
});
