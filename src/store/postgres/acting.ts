import { whenCancelled, whenRescheduled, whenRetried } from '../../domain/delivery.ts';
import type {
  CancelAnswer,
  RequeueAnswer,
  RequeueRequest,
  RescheduleAnswer,
  RescheduleRequest,
} from '../acting.ts';
import {
  cancelDelivery,
  markCancelled,
  requeue as requeueDelivery,
  reschedule as rescheduleDelivery,
} from './changes.ts';
import { OPEN_MESSAGE } from './tables.ts';
import type { Work } from './work.ts';

/** What people and programs do to single messages. */

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
  // A delivery cancelled before its send time keeps that time, and its full lifetime from then on.
  const dueAt = Math.max(work.at.now, message.notBefore ?? 0);
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

/** The verb `reschedule`. */
export async function reschedule(
  work: Work,
  requests: readonly RescheduleRequest[],
): Promise<RescheduleAnswer[]> {
  await work.ledger.openWhole(requests.map(({ id }) => id));
  return requests.map((request) => rescheduleMessage(work, request));
}

function rescheduleMessage(work: Work, { id, sendAt, expiresAt }: RescheduleRequest): RescheduleAnswer {
  const message = work.ledger.message(id);
  if (message === null) return { kind: 'not_found' };
  const { now } = work.at;
  const verdict = whenRescheduled(message, now);
  if (verdict !== 'moves') return { kind: verdict };
  const dueAt = Math.max(now, sendAt);
  const endsAt = expiresAt + dueAt - now;
  const waiting = work.ledger.deliveriesOf(message).filter(({ row }) => row.state === 'queued');
  for (const delivery of waiting) rescheduleDelivery(work, delivery, dueAt, endsAt);
  message.touched = work.at;
  message.notBefore = sendAt;
  message.expiresAt = endsAt;
  work.db.send(SET_SEND_AT, [id, sendAt]);
  return { kind: 'rescheduled', lanes: [...new Set(waiting.flatMap(({ row }) => row.lane ?? []))], dueAt };
}

const SET_SEND_AT = `UPDATE messages SET not_before = $2::bigint WHERE id = $1 AND ${OPEN_MESSAGE}`;
