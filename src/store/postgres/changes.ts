import type { TransitionCause } from '../../domain/delivery.ts';
import type { LastError } from '../../domain/message.ts';
import { AMBIGUOUS_RULE } from '../../domain/route.ts';
import { keepsRelay, type Transition } from '../../domain/settle.ts';
import type { Suppression } from '../../domain/suppression.ts';
import { CANCELLED, expired, fromGroup, type LastReply, lastErrorOf, suppressed } from '../columns.ts';
import type { UnitRef } from '../leased.ts';
import type { OpenDelivery } from './ledger.ts';
import type { Work } from './work.ts';

/** The transitions of deliveries: the only place that changes a delivery's state. In memory; `Work.write` writes. */

/** Whether a delivery waits. */
export function isWaiting({ row }: OpenDelivery): boolean {
  return row.state === 'queued' || row.state === 'retrying';
}

/** Attempts since it was accepted, or last retried by hand. */
export function attemptsOf({ row }: OpenDelivery): number {
  return row.attempts - row.attemptsBefore;
}

/** The loaded deliveries of a unit; null if any of them is not leased under its lane and fence. */
export function leasedOf({ ledger }: Work, unit: UnitRef): OpenDelivery[] | null {
  const found: OpenDelivery[] = [];
  for (const index of unit.indexes) {
    const delivery = ledger.delivery(unit.messageId, index);
    if (delivery?.row.state !== 'processing') return null;
    if (delivery.row.fence !== unit.fence || delivery.row.lane !== unit.lane) return null;
    found.push(delivery);
  }
  return found.length === 0 ? null : found;
}

/** Leases a waiting delivery under the fence of its lane. */
export function lease({ ledger, at }: Work, delivery: OpenDelivery, fence: number): void {
  ledger.move(delivery, 'processing', 'claim', at);
  delivery.row.dueAt = null;
  delivery.row.fence = fence;
}

/** Writes an attempt's outcome for a delivery in processing. */
export function settleDelivery(
  work: Work,
  delivery: OpenDelivery,
  transition: Transition,
  kind: LastError['class'],
  cause: 'settle' | 'reclaim',
): void {
  delivery.row.attempts++;
  change(work, delivery, transition, kind, cause, delivery.message.attempts + 1);
}

/** Fails a waiting delivery as expired. */
export function expireDelivery(work: Work, delivery: OpenDelivery): void {
  const { lastCode, lastEnhanced, lastReply } = delivery.row;
  const last: LastReply | null = lastReply === null ? null : [lastCode, lastEnhanced, lastReply];
  change(work, delivery, expired(last), 'permanent', 'expire');
}

/** Fails a waiting delivery as cancelled. */
export function cancelDelivery(work: Work, delivery: OpenDelivery): void {
  change(work, delivery, CANCELLED, 'permanent', 'cancel');
}

/** Fails a leased delivery, which an entry of the suppression list stops before its attempt. */
export function suppressDelivery(work: Work, delivery: OpenDelivery, { id, reason }: Suppression): void {
  const transition = suppressed(delivery.row.address, reason);
  change(work, delivery, transition, 'permanent', 'suppress', null, id);
  work.list.stopped(delivery.row.message, delivery.row.index, id);
}

/** Fails a delivered delivery as bounced. */
export function bounceDelivery(work: Work, delivery: OpenDelivery, { reply }: Transition): void {
  const { message, row } = delivery;
  work.ledger.move(delivery, 'failed', 'bounce', work.at);
  row.outcome = 'bounced';
  row.lastCode = reply.code;
  row.lastEnhanced = reply.enhanced;
  row.lastReply = reply.text;
  message.lastError = lastErrorOf(reply, 'permanent', row.address);
  if (row.relay !== null) work.tallies.count('relay_failed', work.at, 1, row.relay);
}

/** Marks a delivery in processing, so that it ends as cancelled unless its attempt succeeds; or removes the mark. */
export function markCancelled({ ledger, at }: Work, delivery: OpenDelivery, requested: boolean): void {
  delivery.message.touched = at;
  delivery.row.cancelRequested = requested;
  ledger.touch(delivery);
}

/**
 * Gives a leased delivery back, due at once: to `queued`, or `retrying` if it was tried before. A requested
 * cancellation takes effect.
 */
export function giveBack(work: Work, delivery: OpenDelivery, cause: 'release' | 'reclaim'): void {
  const { row } = delivery;
  work.ledger.move(delivery, attemptsOf(delivery) > 0 ? 'retrying' : 'queued', cause, work.at);
  row.dueAt = work.at.now;
  row.fence = null;
  row.begunAt = null;
  if (row.cancelRequested) cancelDelivery(work, delivery);
}

/** Makes a failed or retrying delivery due (wall ms), as if it had never been tried. */
export function requeue(
  { ledger, at }: Work,
  delivery: OpenDelivery,
  state: 'queued' | 'retrying',
  dueAt: number,
  expiresAt: number,
): void {
  const { row, message } = delivery;
  message.touched = at;
  if (row.state !== state) ledger.move(delivery, state, 'retry', at);
  row.outcome = null;
  row.dueAt = dueAt;
  row.expiresAt = expiresAt;
  row.cancelRequested = false;
  row.delayReported = false;
  row.attemptsBefore = row.attempts;
  ledger.touch(delivery);
}

/** Moves the due time (wall ms) of a delivery that waits. */
export function reschedule({ ledger }: Work, delivery: OpenDelivery, dueAt: number, expiresAt: number): void {
  delivery.row.dueAt = dueAt;
  delivery.row.expiresAt = expiresAt;
  ledger.touch(delivery);
}

function change(
  work: Work,
  delivery: OpenDelivery,
  transition: Transition,
  kind: LastError['class'],
  cause: TransitionCause,
  attempt: number | null = null,
  entry: string | null = null,
): void {
  const { message, row } = delivery;
  const { reply, next, outcome, state } = transition;
  const { relay } = row;
  work.ledger.move(delivery, state, cause, work.at, next === null ? row.lane : next.lane);
  work.events.moved(message.row.id, row.index, attempt, transition, relay, work.at.now, entry);
  row.relay = next === null ? relay : next.relay;
  row.outcome = outcome;
  row.dueAt = transition.nextAttemptAt;
  row.fence = null;
  row.begunAt = null;
  row.providerMessageId = transition.providerMessageId;
  row.lastCode = reply.code;
  row.lastEnhanced = reply.enhanced;
  row.lastReply = reply.text;
  if (keepsRelay(transition)) {
    row.routeRule = AMBIGUOUS_RULE;
    row.routeGroup = row.relay;
  }
  if (next?.group !== undefined) row.routeGroup = fromGroup(next.group);
  if (state === 'delivered') {
    message.deliveredAt ??= work.at.now;
    // Captured mail says nothing of an address.
    if (outcome !== 'captured') work.list.delivered(row.address, row.message);
  } else message.lastError = lastErrorOf(reply, kind, row.address);
  if (transition.possibleDuplicate && !message.possibleDuplicate) {
    message.possibleDuplicate = true;
    work.tallies.gauge('possible_duplicates', 1);
  }
  // A cancellation says nothing about the relay, nor does the suppression list.
  if (relay === null || state === 'retrying' || outcome === 'cancelled' || outcome === 'suppressed') return;
  work.tallies.count(state === 'delivered' ? 'relay_delivered' : 'relay_failed', work.at, 1, relay);
}
