import {
  type DeliveryState,
  deriveStatus,
  isFinal,
  type MessageStatus,
  mayTransition,
  type TransitionCause,
} from '../../domain/delivery.ts';
import type { LastError } from '../../domain/message.ts';
import { fromJson } from '../columns.ts';
import { BYTES_GAUGE, eventsOf, gaugeOf, type Kept } from '../counting.ts';
import { type Stamp, StoreError } from '../store.ts';
import type { Depths } from './depths.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './driver.ts';
import type { Tallies } from './tallies.ts';

/** The fields of a message that change after acceptance, while a verb works on it. */
export interface OpenMessage {
  readonly seq: number;
  readonly id: string;
  readonly keyId: string | null;
  /** A test key's mail. */
  readonly test: boolean;
  readonly counts: Record<DeliveryState, number>;
  readonly status: MessageStatus;
  /** Null while it is not final. */
  readonly kept: Kept | null;
  readonly finalAt: number | null;
  readonly statusAt: number;
  /** Bytes of contents; null once they are removed. */
  readonly length: number | null;
  /** Nobody has decided on its restored deliveries; meaningless unless it is held. */
  undecided: boolean;
  /** Whether this verb has changed any of it. */
  touched: boolean;
  /** It may not be sent before this time (wall ms); null for no such time. Not written by `flush`. */
  notBefore: number | null;
  attempts: number;
  /** How many recipients this verb has found to be captured; others may have been before. */
  captured: number;
  deliveredAt: number | null;
  expiresAt: number;
  possibleDuplicate: boolean;
  lastError: LastError | null;
}

/**
 * The messages that a verb changes. Transitions of deliveries are entered here, and invalid ones refused; `flush`
 * derives each message's status once and writes it with everything that follows.
 */
export class Ledger {
  readonly #byId = new Map<string, OpenMessage>();
  readonly #bySeq = new Map<number, OpenMessage>();
  readonly #sql;
  readonly #tallies: Tallies;
  readonly #depths: Depths;

  constructor(db: Driver, tallies: Tallies, depths: Depths) {
    this.#sql = prepareLedger(db);
    this.#tallies = tallies;
    this.#depths = depths;
  }

  /** Opens a message by id; null if there is none. */
  open(id: string): OpenMessage | null {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.byId.get(id);
    return row === undefined ? null : this.#enter(row);
  }

  /** Opens the message a delivery belongs to. */
  openSeq(seq: number): OpenMessage {
    const known = this.#bySeq.get(seq);
    if (known !== undefined) return known;
    const row = this.#sql.bySeq.get(seq);
    if (row === undefined) throw new StoreError('store_bug', `no message has the number ${seq}`);
    return this.#enter(row);
  }

  /**
   * Enters a delivery's change of state, and that it left `lane`, or is in processing there. If it waits from now on,
   * the caller enters its due time into the depths.
   */
  move(
    message: OpenMessage,
    lane: string | null,
    from: DeliveryState,
    to: DeliveryState,
    cause: TransitionCause,
  ): void {
    if (!mayTransition(from, to, cause))
      throw new StoreError('store_bug', `${cause} may not take a delivery from ${from} to ${to}`);
    message.touched = true;
    message.counts[from]--;
    message.counts[to]++;
    if (from === 'processing') this.#depths.work(lane, -1);
    if (isWaiting(from)) this.#depths.leave(lane);
    if (to === 'processing') this.#depths.work(lane, 1);
  }

  /** Counts a message of `bytes` that was just accepted. */
  enterNew(status: MessageStatus, keyId: string | null, bytes: number): void {
    const gauge = gaugeOf(status, true);
    if (gauge !== null) this.#tallies.gauge(gauge, 1);
    this.#tallies.queue(keyId, 1, bytes);
  }

  /** Writes every open message that changed, and closes all. */
  flush(at: Stamp): void {
    for (const message of this.#bySeq.values()) if (message.touched) this.#write(message, at);
    this.discard();
  }

  /** Drops what was open in a transaction that was rolled back. */
  discard(): void {
    this.#byId.clear();
    this.#bySeq.clear();
  }

  #enter(row: MessageRow): OpenMessage {
    const message = openMessage(row);
    this.#byId.set(message.id, message);
    this.#bySeq.set(message.seq, message);
    return message;
  }

  #write(message: OpenMessage, at: Stamp): void {
    const status = deriveStatus(message.counts);
    const changed = status !== message.status;
    const ended = isFinal(status);
    const kept = ended ? this.#keptWhenFinal(message) : null;
    if (changed) this.#changeStatus(message, status, kept, at);
    this.#changeKept(message, kept);
    if (ended !== isFinal(message.status))
      this.#tallies.queue(message.keyId, ended ? -1 : 1, message.length ?? 0);
    const { counts } = message;
    this.#sql.update.run(
      status,
      counts.queued,
      counts.processing,
      counts.retrying,
      counts.delivered,
      counts.failed,
      message.attempts,
      kept,
      asFlag(message.possibleDuplicate),
      message.lastError === null ? null : JSON.stringify(message.lastError),
      at.now,
      changed ? at.now : message.statusAt,
      message.deliveredAt,
      ended ? (message.finalAt ?? at.now) : null,
      message.expiresAt,
      message.seq,
    );
  }

  #changeStatus(message: OpenMessage, status: MessageStatus, kept: Kept | null, at: Stamp): void {
    const left = gaugeOf(message.status, message.length !== null);
    const entered = gaugeOf(status, message.length !== null);
    if (left !== entered) {
      if (left !== null) this.#tallies.gauge(left, -1);
      if (entered !== null) this.#tallies.gauge(entered, 1);
    }
    for (const event of eventsOf(status, kept)) this.#tallies.count(event, at);
  }

  #keptWhenFinal(message: OpenMessage): Kept {
    if (message.length === null) return 'gone';
    if (message.kept === 'held' && message.undecided) return 'held';
    const { delivered, failed } = message.counts;
    // A test key's mail lies in the inbox once anybody got it, whatever outcome was played afterwards.
    if (message.test) return message.deliveredAt === null ? 'sent' : 'captured';
    if (failed > 0) return 'sent';
    if (delivered === 1 || message.captured === delivered) return message.captured > 0 ? 'captured' : 'sent';
    return this.#sql.notCaptured.get(message.seq) === undefined ? 'captured' : 'sent';
  }

  #changeKept(message: OpenMessage, kept: Kept | null): void {
    if (message.length === null || kept === message.kept) return;
    const before = message.kept;
    if (before === 'sent' || before === 'captured') this.#tallies.gauge(BYTES_GAUGE[before], -message.length);
    if (kept === 'sent' || kept === 'captured') this.#tallies.gauge(BYTES_GAUGE[kept], message.length);
  }
}

function isWaiting(state: DeliveryState): boolean {
  return state === 'queued' || state === 'retrying';
}

type MessageRow = [
  seq: number,
  id: string,
  status: MessageStatus,
  queued: number,
  processing: number,
  retrying: number,
  delivered: number,
  failed: number,
  attempts: number,
  kept: Kept | null,
  possibleDuplicate: number,
  lastError: string | null,
  statusAt: number,
  deliveredAt: number | null,
  finalAt: number | null,
  length: number | null,
  keyId: string | null,
  expiresAt: number,
  notBefore: number | null,
  test: number,
];

const COLUMNS = `seq, id, status, queued, processing, retrying, delivered, failed, attempts, kept,
  possible_duplicate, last_error, status_at, delivered_at, final_at, length, key_id, expires_at,
  not_before, test`;

function openMessage(row: MessageRow): OpenMessage {
  const [seq, id, status, queued, processing, retrying, delivered, failed, attempts, kept] = row;
  const [, , , , , , , , , , duplicate, lastError, statusAt, deliveredAt, finalAt, ...rest] = row;
  const [length, keyId, expiresAt, notBefore, test] = rest;
  return {
    seq,
    id,
    keyId,
    test: test === 1,
    status,
    counts: { queued, processing, retrying, delivered, failed },
    undecided: true,
    touched: false,
    attempts,
    captured: 0,
    kept,
    possibleDuplicate: duplicate === 1,
    lastError: lastError === null ? null : fromJson<LastError>(lastError),
    statusAt,
    deliveredAt,
    finalAt,
    length,
    expiresAt,
    notBefore,
  };
}

function prepareLedger(db: Driver) {
  return {
    byId: db.prepare<[id: string], MessageRow>(`SELECT ${COLUMNS} FROM messages WHERE id = ?`),
    bySeq: db.prepare<[seq: number], MessageRow>(`SELECT ${COLUMNS} FROM messages WHERE seq = ?`),
    notCaptured: db.prepare<[seq: number], [1]>(
      `SELECT 1 FROM deliveries WHERE message = ? AND outcome <> 'captured' LIMIT 1`,
    ),
    update: db.prepare<
      [
        status: string,
        queued: number,
        processing: number,
        retrying: number,
        delivered: number,
        failed: number,
        attempts: number,
        kept: Kept | null,
        possibleDuplicate: number,
        lastError: string | null,
        updatedAt: number,
        statusAt: number,
        deliveredAt: number | null,
        finalAt: number | null,
        expiresAt: number,
        seq: number,
      ]
    >(
      `UPDATE messages SET status = ?, queued = ?, processing = ?, retrying = ?, delivered = ?, failed = ?,
         attempts = ?, kept = ?, possible_duplicate = ?, last_error = ?, updated_at = ?, status_at = ?,
         delivered_at = ?, final_at = ?, expires_at = ? WHERE seq = ?`,
    ),
  };
}
