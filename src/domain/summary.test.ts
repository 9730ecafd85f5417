import { expect, test } from 'vitest';
import type { OutcomeName } from './outcome.ts';
import { summarizeRecipients } from './summary.ts';

function outcomeOf(...outcomes: readonly (OutcomeName | null)[]) {
  const waiting = { relay: null, providerMessageId: null, lane: null, dueAt: null } as const;
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

test('of recipients that wait in one lane the one counts that comes due first', () => {
  const wait = (lane: string | null, dueAt: number | null) => ({
    address: 'a@example.net',
    kind: 'to' as const,
    relay: 'out',
    providerMessageId: null,
    outcome: null,
    state: dueAt === null ? ('processing' as const) : ('retrying' as const),
    lane,
    dueAt,
  });
  const { waits } = summarizeRecipients([wait('out', 9), wait('out', 7), wait(null, 5), wait('spare', null)]);
  expect(waits).toEqual([
    { lane: 'out', state: 'retrying', dueAt: 7 },
    { lane: null, state: 'retrying', dueAt: 5 },
  ]);
});
