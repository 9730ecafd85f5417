import { whenCancelled, whenRetried } from '../../domain/acts.ts';
import type { CancelAnswer, RequeueAnswer, RequeueRequest } from '../acting.ts';
import { cancelDelivery, markCancelled, requeue as requeueDelivery } from './changes.ts';
import type { Work } from './work.ts';

/** The verb `cancel`. */
export async function cancel(work: Work, ids: readonly string[]): Promise<CancelAnswer[]> {
  await work.ledger.openWhole(ids);
  return ids.map((id) => cancelMessage(work, id));
}

function cancelMessage(work: Work, id: string): CancelAnswer {
  const message = work.ledger.message(id);
  if (message === null) return 'not_found';
  let cancelled = false;
  for (const delivery of work.ledger.deliveriesOf(message)) {
    const verdict = whenCancelled(delivery.row.state);
    if (verdict === 'fails') cancelDelivery(work, delivery);
    if (verdict === 'is_marked') markCancelled(work, delivery, true);
    cancelled ||= verdict !== 'stays';
  }
  return cancelled ? 'cancelled' : 'final';
}

/** The verb `requeue`. */
export async function requeue(work: Work, requests: readonly RequeueRequest[]): Promise<RequeueAnswer[]> {
  await work.ledger.openWhole(requests.map(({ id }) => id));
  return requests.map((request) => requeueMessage(work, request));
}

function requeueMessage(work: Work, { id, expiresAt }: RequeueRequest): RequeueAnswer {
  const message = work.ledger.message(id);
  if (message === null) return { kind: 'not_found' };
  const { failed, retrying } = message.counts;
  if (failed + retrying > 0 && message.row.length === null) return { kind: 'content_expired' };
  // What was cancelled before its time keeps its time, and as long a life from then on.
  const dueAt = Math.max(work.at.now, message.row.notBefore ?? 0);
  const endsAt = expiresAt + dueAt - work.at.now;
  const lanes = new Set<string>();
  let changed = false;
  for (const delivery of work.ledger.deliveriesOf(message)) {
    const verdict = whenRetried(delivery.row);
    changed ||= verdict !== 'stays';
    if (verdict === 'goes_on') markCancelled(work, delivery, false);
    if (verdict !== 'queued' && verdict !== 'retrying') continue;
    requeueDelivery(work, delivery, verdict, dueAt, endsAt);
    if (delivery.row.lane !== null) lanes.add(delivery.row.lane);
    message.expiresAt = Math.max(message.expiresAt, endsAt);
  }
  return changed ? { kind: 'requeued', lanes: [...lanes] } : { kind: 'nothing_to_retry' };
}
