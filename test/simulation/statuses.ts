/**
 * The life of a recipient as customers were promised it (contract §4), written down a second time: what judges the
 * program must not ask the program. Nothing but names comes from `src`.
 */
import type { DeliveryState } from '../../src/domain/delivery.ts';
import type { OutcomeName } from '../../src/domain/outcome.ts';

/** What the checker found. */
export class InvariantBroken extends Error {}

/** What each store verb may make of a recipient, and with which outcome: nothing else. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  accept: ['queued > processing', 'queued > failed suppressed'],
  claim: ['queued > processing', 'retrying > processing'],
  settle: [
    'processing > delivered accepted',
    'processing > retrying',
    'processing > failed rejected',
    'processing > failed expired',
    'processing > failed cancelled',
    // Of a report that this accepts.
    'queued > failed suppressed',
  ],
  release: ['processing > queued', 'processing > retrying', 'processing > failed cancelled'],
  reclaim: [
    'processing > queued',
    'processing > retrying',
    'processing > failed expired',
    'processing > failed cancelled',
  ],
  expire: ['queued > failed expired', 'retrying > failed expired', 'queued > failed suppressed'],
  suppress: ['queued > failed suppressed', 'retrying > failed suppressed', 'processing > failed suppressed'],
  tell: ['delivered > failed bounced'],
  retell: ['delivered > failed bounced'],
  cancel: ['queued > failed cancelled', 'retrying > failed cancelled'],
  requeue: ['failed > queued'],
};

/** Whether the verb may do that; `outcome` as it is from then on. */
export function maySee(
  verb: string,
  from: DeliveryState,
  to: DeliveryState,
  outcome: OutcomeName | null,
): boolean {
  const isEnd = to === 'delivered' || to === 'failed';
  return STEPS[verb]?.includes(`${from} > ${to}${isEnd ? ` ${outcome}` : ''}`) ?? false;
}

/** A message's status, from the states of its recipients. */
export function statusOf(states: readonly DeliveryState[]): DeliveryState {
  for (const state of ['processing', 'retrying', 'queued', 'failed'] as const)
    if (states.includes(state)) return state;
  return 'delivered';
}

/** Whether nothing more happens unless somebody asks for it. */
export function isOver(state: DeliveryState): boolean {
  return state === 'delivered' || state === 'failed';
}
