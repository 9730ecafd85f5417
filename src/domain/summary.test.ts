import { expect, test } from 'vitest';
import type { OutcomeName } from './outcome.ts';
import { summarizeRecipients } from './summary.ts';

function outcomeOf(...outcomes: readonly (OutcomeName | null)[]) {
  const waiting = { relay: null, providerMessageId: null, nextAttemptAt: null } as const;
  return summarizeRecipients(
    outcomes.map((outcome, place) => ({
      ...waiting,
      address: `r${place}@example.net`,
      kind: 'to',
      state: outcome === null ? 'retrying' : 'failed',
      outcome,
    })),
  ).outcome;
}

test.each([
  [[null], null],
  [['accepted', null], null],
  [['accepted', 'accepted'], 'accepted'],
  [['accepted', 'rejected'], 'partial'],
  [['rejected', null, 'expired'], null],
  [['unknown'], 'unknown'],
] as const)('recipients that ended as %j give %s', (outcomes, whole) => {
  expect(outcomeOf(...outcomes)).toBe(whole);
});
