import type { DeliveryState, TransitionCause } from '../../domain/delivery.ts';
import type { LastError } from '../../domain/message.ts';
import { AMBIGUOUS_RULE } from '../../domain/route.ts';
import { keepsRelay, type Transition } from '../../domain/settle.ts';
import type { Suppression } from '../../domain/suppression.ts';
import { CANCELLED, expired, fromGroup, type LastReply, lastErrorOf, suppressed } from '../columns.ts';
import type { UnitRef } from '../leased.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { OpenMessage } from './ledger.ts';

/** A delivery as a verb finds it. */
export interface FoundDelivery {
  readonly message: OpenMessage;
  readonly index: number;
  readonly state: DeliveryState;
  readonly lane: string | null;
  readonly relay: string | null;
  readonly fence: number | null;
  readonly begunAt: number | null;
  readonly cancelRequested: boolean;
  /** Attempts since it was accepted, or last retried by hand. */
  readonly attempts: number;
  readonly expiresAt: number;
  readonly address: string;
}

type FoundRow = [
  state: DeliveryState,
  lane: string | null,
  relay: string | null,
  fence: number | null,
  begunAt: number | null,
  cancelRequested: number,
  attempts: number,
  expiresAt: number,
  address: string,
];

const FOUND_COLUMNS = `state, lane, relay, fence, begun_at, cancel_requested, attempts - attempts_before, expires_at,
  address`;

function foundOf(message: OpenMessage, index: number, row: FoundRow): FoundDelivery {
  const [state, lane, relay, fence, begunAt, requested, attempts, expiresAt, address] = row;
  const cancelRequested = requested === 1;
  return {
    message,
    index,
    state,
    lane,
    relay,
    fence,
    begunAt,
    cancelRequested,
    attempts,
    expiresAt,
    address,
  };
}

/** Reads deliveries and writes their transitions; the only place that changes a delivery's state. */
export class Deliveries {
  readonly #books: Books;
  readonly #sql;

  constructor(books: Books) {
    this.#books = books;
    this.#sql = { ...prepareDeliveries(books), ...prepareLater(books) };
  }

  /** The deliveries of a unit; null if any of them is not leased under its lane and fence. */
  leased(unit: UnitRef): FoundDelivery[] | null {
    const message = this.#books.ledger.open(unit.messageId);
    if (message === null) return null;
    const found: FoundDelivery[] = [];
    for (const index of unit.indexes) {
      const delivery = this.find(message, index);
      if (delivery?.state !== 'processing') return null;
      if (delivery.fence !== unit.fence || delivery.lane !== unit.lane) return null;
      found.push(delivery);
    }
    return found;
  }

  /** Every delivery of an open message, in envelope order. */
  all(message: OpenMessage): FoundDelivery[] {
    return this.#sql.all.all(message.seq).map(([index, ...row]) => foundOf(message, index, row));
  }

  /** One delivery of an open message. */
  find(message: OpenMessage, index: number): FoundDelivery | null {
    const row = this.#sql.find.get(message.seq, index);
    return row === undefined ? null : foundOf(message, index, row);
  }

  /** Leases a waiting delivery of a lane. */
  lease(message: OpenMessage, index: number, state: DeliveryState, lane: string, fence: number): void {
    this.#books.ledger.move(message, lane, state, 'processing', 'claim');
    this.#sql.lease.run(fence, message.seq, index);
  }

  /**
   * Marks a whole unit as begun, or none of it. False: a part is no longer leased under the unit's fence, or was
   * cancelled meanwhile.
   */
  begin(unit: UnitRef, at: Stamp): boolean {
    // One statement checks and marks a single delivery; several are all checked before any is marked.
    if (unit.indexes.length > 1) {
      const found = this.leased(unit);
      if (found === null || found.some(({ cancelRequested }) => cancelRequested)) return false;
    }
    return unit.indexes.every(
      (index) => this.#sql.begin.run(at.now, unit.messageId, index, unit.lane, unit.fence) === 1,
    );
  }

  /** Writes an attempt's outcome for a delivery in processing. */
  settle(
    delivery: FoundDelivery,
    transition: Transition,
    kind: LastError['class'],
    cause: 'settle' | 'reclaim',
    at: Stamp,
  ): void {
    this.#write(delivery, transition, kind, cause, 1, at);
  }

  /** Fails a waiting delivery as expired. */
  expire(delivery: FoundDelivery, at: Stamp): void {
    const last = this.#sql.lastReply.get(delivery.message.seq, delivery.index);
    this.#write(delivery, expired(last ?? null), 'permanent', 'expire', 0, at);
  }

  /**
   * Gives a leased delivery back, due at once: to `queued`, or `retrying` if it was tried before. A requested
   * cancellation takes effect.
   */
  giveBack(delivery: FoundDelivery, cause: 'release' | 'reclaim', at: Stamp): void {
    const state = delivery.attempts > 0 ? 'retrying' : 'queued';
    this.#books.ledger.move(delivery.message, delivery.lane, delivery.state, state, cause);
    this.#sql.giveBack.run(state, at.now, delivery.message.seq, delivery.index);
    this.#books.depths.enter(delivery.lane, at.now);
    if (delivery.cancelRequested) this.cancel({ ...delivery, state }, at);
  }

  /** Fails a waiting delivery as cancelled. */
  cancel(delivery: FoundDelivery, at: Stamp): void {
    this.#write(delivery, CANCELLED, 'permanent', 'cancel', 0, at);
  }

  /** Fails a leased delivery, which an entry of the suppression list stops before its attempt. */
  suppress(delivery: FoundDelivery, { id, reason }: Suppression, at: Stamp): void {
    this.#write(delivery, suppressed(delivery.address, reason), 'permanent', 'suppress', 0, at, id);
    this.#sql.stoppedBy.run(delivery.message.id, delivery.index, id);
  }

  /** Fails a delivered delivery as bounced. */
  bounce(delivery: FoundDelivery, { reply }: Transition, at: Stamp): void {
    const { message, index, lane, state, relay, address } = delivery;
    this.#books.ledger.move(message, lane, state, 'failed', 'bounce');
    this.#sql.bounce.run(reply.code, reply.enhanced, reply.text, message.seq, index);
    message.lastError = lastErrorOf(reply, 'permanent', address);
    if (relay !== null) this.#books.tallies.count('relay_failed', at, 1, relay);
  }

  /** Marks a delivery in processing: unless its attempt succeeds, it ends as cancelled. */
  requestCancel(delivery: FoundDelivery): void {
    delivery.message.touched = true;
    this.#sql.setCancelRequested.run(1, delivery.message.seq, delivery.index);
  }

  /** Removes that mark: its attempt goes on, and others may follow. */
  forgetCancel(delivery: FoundDelivery): void {
    delivery.message.touched = true;
    this.#sql.setCancelRequested.run(0, delivery.message.seq, delivery.index);
  }

  /** Makes a failed or retrying delivery due (wall ms), as if it had never been tried. */
  requeue(delivery: FoundDelivery, state: 'queued' | 'retrying', dueAt: number, expiresAt: number): void {
    const { message, index, lane } = delivery;
    message.touched = true;
    if (delivery.state !== state) this.#books.ledger.move(message, lane, delivery.state, state, 'retry');
    else this.#books.depths.leave(lane);
    this.#sql.requeue.run(state, dueAt, expiresAt, message.seq, index);
    this.#books.depths.enter(lane, dueAt);
  }

  /** Moves the due time (wall ms) of a delivery that waits. */
  reschedule({ message, index, lane }: FoundDelivery, dueAt: number, expiresAt: number): void {
    this.#books.depths.leave(lane);
    this.#sql.reschedule.run(dueAt, expiresAt, message.seq, index);
    this.#books.depths.enter(lane, dueAt);
  }

  /** Gives a message another send time (wall ms). */
  setSendAt(message: OpenMessage, sendAt: number): void {
    message.touched = true;
    message.notBefore = sendAt;
    this.#sql.setSendAt.run(sendAt, message.seq);
  }

  /** Records that a delivery's sender was told of the delay. */
  markDelayReported(delivery: FoundDelivery): void {
    this.#sql.setDelayReported.run(delivery.message.seq, delivery.index);
  }

  #write(
    delivery: FoundDelivery,
    transition: Transition,
    kind: LastError['class'],
    cause: TransitionCause,
    attempts: number,
    at: Stamp,
    entry: string | null = null,
  ): void {
    const { message, index, lane, state, relay, address } = delivery;
    const { reply, next, nextAttemptAt, outcome } = transition;
    const toLane = next === null ? lane : next.lane;
    this.#books.ledger.move(message, lane, state, transition.state, cause);
    if (nextAttemptAt !== null) this.#books.depths.enter(toLane, nextAttemptAt);
    this.#sql.write.run(
      transition.state,
      transition.outcome,
      nextAttemptAt,
      toLane,
      next === null ? relay : next.relay,
      attempts,
      transition.providerMessageId,
      reply.code,
      reply.enhanced,
      reply.text,
      message.seq,
      index,
    );
    const attempt = attempts === 0 ? null : message.attempts + 1;
    this.#books.events.moved(message.seq, index, attempt, transition, relay, at.now, entry);
    if (outcome === 'captured') message.captured++;
    if (transition.state === 'delivered') {
      message.deliveredAt ??= at.now;
      // Captured mail says nothing of an address.
      if (outcome !== 'captured') this.#books.stopping.delivered(address, message.id);
    } else message.lastError = lastErrorOf(reply, kind, address);
    if (transition.possibleDuplicate) this.flagDuplicate(message);
    if (keepsRelay(transition)) this.#sql.keepRelay.run(AMBIGUOUS_RULE, message.seq, index);
    if (next?.group !== undefined) this.#sql.setGroup.run(fromGroup(next.group), message.seq, index);
    // A cancellation says nothing about the relay, nor does the suppression list.
    if (relay === null || transition.state === 'retrying') return;
    if (outcome === 'cancelled' || outcome === 'suppressed') return;
    const event = transition.state === 'delivered' ? 'relay_delivered' : 'relay_failed';
    this.#books.tallies.count(event, at, 1, relay);
  }

  /** Records that the peer may have got the message before. */
  flagDuplicate(message: OpenMessage): void {
    if (message.possibleDuplicate) return;
    message.possibleDuplicate = true;
    this.#books.tallies.gauge('possible_duplicates', 1);
  }
}

function prepareDeliveries({ db }: Books) {
  return {
    all: db.prepare<[seq: number], [index: number, ...FoundRow]>(
      `SELECT idx, ${FOUND_COLUMNS} FROM deliveries WHERE message = (SELECT ?) ORDER BY idx`,
    ),
    find: db.prepare<[seq: number, index: number], FoundRow>(
      `SELECT ${FOUND_COLUMNS} FROM deliveries WHERE message = ? AND idx = ?`,
    ),
    setCancelRequested: db.prepare<[requested: number, seq: number, index: number]>(
      'UPDATE deliveries SET cancel_requested = ? WHERE message = ? AND idx = ?',
    ),
    keepRelay: db.prepare<[rule: string, seq: number, index: number]>(
      'UPDATE deliveries SET route_rule = ?, route_group = relay WHERE message = ? AND idx = ?',
    ),
    setGroup: db.prepare<[group: string | null, seq: number, index: number]>(
      'UPDATE deliveries SET route_group = ? WHERE message = ? AND idx = ?',
    ),
    setDelayReported: db.prepare<[seq: number, index: number]>(
      'UPDATE deliveries SET delay_reported = 1 WHERE message = ? AND idx = ?',
    ),
    requeue: db.prepare<[state: string, dueAt: number, expiresAt: number, seq: number, index: number]>(
      `UPDATE deliveries SET state = ?, outcome = NULL, due_at = ?, expires_at = ?, cancel_requested = 0,
         delay_reported = 0, attempts_before = attempts WHERE message = ? AND idx = ?`,
    ),
    reschedule: db.prepare<[dueAt: number, expiresAt: number, seq: number, index: number]>(
      'UPDATE deliveries SET due_at = ?, expires_at = ? WHERE message = ? AND idx = ?',
    ),
    setSendAt: db.prepare<[sendAt: number, seq: number]>('UPDATE messages SET not_before = ? WHERE seq = ?'),
    lease: db.prepare<[fence: number, seq: number, index: number]>(
      `UPDATE deliveries SET state = 'processing', due_at = NULL, fence = ? WHERE message = ? AND idx = ?`,
    ),
    lastReply: db.prepare<[seq: number, index: number], LastReply>(
      `SELECT last_code, last_enhanced, last_reply FROM deliveries
       WHERE message = ? AND idx = ? AND last_reply IS NOT NULL`,
    ),
    // The plus signs keep the search to the primary key.
    begin: db.prepare<[now: number, id: string, index: number, lane: string, fence: number]>(
      `UPDATE deliveries SET begun_at = ?
       WHERE message = (SELECT seq FROM messages WHERE id = ?) AND idx = ?
         AND state = 'processing' AND +lane = ? AND +fence = ? AND cancel_requested = 0`,
    ),
    giveBack: db.prepare<[state: string, dueAt: number, seq: number, index: number]>(
      `UPDATE deliveries SET state = ?, due_at = ?, fence = NULL, begun_at = NULL
       WHERE message = ? AND idx = ?`,
    ),
    write: db.prepare<
      [
        state: string,
        outcome: string | null,
        dueAt: number | null,
        lane: string | null,
        relay: string | null,
        attempts: number,
        providerMessageId: string | null,
        code: number | null,
        enhanced: string | null,
        reply: string,
        seq: number,
        index: number,
      ]
    >(
      `UPDATE deliveries SET state = ?, outcome = ?, due_at = ?, lane = ?, relay = ?, fence = NULL, begun_at = NULL,
         attempts = attempts + ?, provider_message_id = ?, last_code = ?, last_enhanced = ?, last_reply = ?
       WHERE message = ? AND idx = ?`,
    ),
  };
}

/** The statements for what happens to a delivery apart from its attempts. */
function prepareLater({ db }: Books) {
  return {
    stoppedBy: db.prepare<[id: string, index: number, entry: string]>(
      `INSERT INTO aftermath (message, idx, suppression) VALUES (?, ?, ?)
       ON CONFLICT (message, idx) DO UPDATE SET suppression = excluded.suppression`,
    ),
    bounce: db.prepare<
      [code: number | null, enhanced: string | null, reply: string, seq: number, index: number]
    >(
      `UPDATE deliveries SET state = 'failed', outcome = 'bounced', last_code = ?, last_enhanced = ?, last_reply = ?
       WHERE message = ? AND idx = ?`,
    ),
  };
}
