import { expect, test } from 'vitest';
import { whenCancelled, whenRetried } from './acts.ts';
import { mayTransition } from './delivery.ts';

test.each([
  ['queued', 'fails', null],
  ['processing', 'is_marked', null],
  ['retrying', 'fails', 'retrying'],
  ['delivered', 'stays', null],
  ['failed', 'stays', 'queued'],
] as const)('what is %s %s when cancelled, and when retried becomes %s', (state, cancelled, retried) => {
  expect(whenCancelled(state)).toBe(cancelled);
  expect(whenRetried(state)).toBe(retried);
  if (cancelled === 'fails') expect(mayTransition(state, 'failed', 'cancel')).toBe(true);
  if (retried === 'queued') expect(mayTransition(state, retried, 'retry')).toBe(true);
});
