import { expect, test } from 'vitest';
import { whenCancelled, whenRetried } from './acts.ts';
import { mayTransition } from './delivery.ts';

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
