import { type DeliveryState, deriveStatus, type MessageStatus } from '../../domain/delivery.ts';
import type { LastError } from '../../domain/message.ts';
import type { Transition } from '../../domain/settle.ts';
import type { Suppression } from '../../domain/suppression.ts';
import type { AcceptDelivery, AcceptRecord } from '../accepting.ts';
import { fromCopies, fromGroup, rankOf, suppressed } from '../columns.ts';
import { BYTES_GAUGE, type Kept } from '../counting.ts';
import { lastStopOf, NOBODY, type Stops } from '../stops.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './driver.ts';

/** The end of a message that is written whole, after its only attempt. */
export interface Ending {
  readonly at: Stamp;
  readonly status: MessageStatus;
  readonly counts: Readonly<Record<DeliveryState, number>>;
  readonly kept: 'sent' | 'captured';
  readonly lastError: LastError | null;
  /** The outcome of each delivery, by its place in the envelope. */
  readonly byIndex: ReadonlyMap<number, Transition>;
}

/** Writes accepted messages, with everything that follows. */
export class Inserter {
  readonly #books: Books;
  readonly #sql;

  constructor(books: Books) {
    this.#books = books;
    this.#sql = prepareInsert(books.db);
  }

  /**
   * Writes a message. Returns for each delivery whether it took the short way, and those that the suppression list
   * stopped. Who is owed a report on it is stopped before the first attempt, in the transaction that accepts the report.
   */
  insert(record: AcceptRecord, at: Stamp): { leased: boolean[]; stopped: Stops } {
    const stopped = record.reportable ? NOBODY : this.#books.stopping.ofRecord(record, at.now);
    const leased = record.deliveries.map(
      (delivery, index) => !stopped.has(index) && takesShortWay(this.#books, delivery, at),
    );
    this.#write(record, leased, stopped, at);
    return { leased, stopped };
  }

  /** Writes a message whose deliveries' leases were decided before. */
  insertAs(record: AcceptRecord, leased: readonly boolean[], at: Stamp): void {
    this.#write(record, leased, NOBODY, at);
  }

  /**
   * Writes a report on a delivery, if there is one. It does not take the short way, since nobody would hear of the
   * lease: it waits.
   */
  insertReport(report: AcceptRecord | null, at: Stamp): void {
    if (report === null) return;
    const waiting = report.deliveries.map(() => false);
    this.#write(report, waiting, this.#books.stopping.ofRecord(report, at.now), at);
  }

  /**
   * Writes a message that has ended since it was accepted; returns its number. Changes in between cancel out: the
   * caller counts only what its end leaves.
   */
  insertEnded(record: AcceptRecord, at: Stamp, ending: Ending): number {
    const seq = this.#nextSeq();
    insertMessage(this.#sql, seq, record, { ...ending, attempts: 1 });
    for (const [index, delivery] of record.deliveries.entries()) {
      const transition = ending.byIndex.get(index);
      if (transition !== undefined)
        insertEndedDelivery(this.#sql, seq, index, record, delivery, transition, 1);
    }
    this.#receive(seq, record, at);
    return seq;
  }

  #nextSeq(): number {
    return (this.#sql.lastSeq.get()?.[0] ?? 0) + 1;
  }

  #write(record: AcceptRecord, leased: readonly boolean[], stopped: Stops, at: Stamp): void {
    const { ledger, depths, tallies } = this.#books;
    const seq = this.#nextSeq();
    const processing = leased.filter(Boolean).length;
    const queued = leased.length - processing - stopped.size;
    const counts = { queued, processing, retrying: 0, delivered: 0, failed: stopped.size };
    const status = deriveStatus(counts);
    const isOver = status === 'failed';
    if (isOver) {
      tallies.gauge('failed_kept', 1);
      tallies.gauge(BYTES_GAUGE.sent, record.content.length);
      tallies.count('failed', at);
    } else ledger.enterNew(status, record.keyId, record.content.length);
    const lastError = lastStopOf(record, stopped);
    insertMessage(this.#sql, seq, record, {
      at,
      status,
      counts,
      kept: isOver ? 'sent' : null,
      lastError,
      attempts: 0,
    });
    for (const [index, delivery] of record.deliveries.entries()) {
      if (stopped.has(index)) continue;
      const short = leased[index] === true;
      if (short) depths.work(delivery.lane, 1);
      else depths.enter(delivery.lane, delivery.dueAt);
      insertDelivery(this.#sql, seq, index, record, delivery, short);
    }
    this.#receive(seq, record, at);
    for (const [index, entry] of stopped) this.#stop(seq, record, index, entry, at);
  }

  #stop(seq: number, record: AcceptRecord, index: number, { id, reason }: Suppression, at: Stamp): void {
    const delivery = record.deliveries[index];
    if (delivery === undefined) return;
    const transition = suppressed(delivery.recipient.address, reason);
    insertEndedDelivery(this.#sql, seq, index, record, delivery, transition, 0);
    this.#sql.stoppedBy.run(record.id, index, id);
    this.#books.events.moved(seq, index, null, transition, delivery.relay, at.now, id);
  }

  /** What follows from accepting a message, whatever its progress. */
  #receive(seq: number, record: AcceptRecord, at: Stamp): void {
    const { tallies, events } = this.#books;
    for (const tag of record.tags) this.#sql.tag.run(record.keyId ?? '', tag, record.id);
    if (record.idempotency !== null) {
      const { key, hash } = record.idempotency;
      this.#sql.idempotency.run(record.keyId ?? '', key, hash, record.id, at.now);
    }
    tallies.segment(record.content.segment, 1, record.content.length);
    tallies.count('received', at);
    events.queued(seq, at.now);
  }
}

type Sql = ReturnType<typeof prepareInsert>;

function takesShortWay(books: Books, { lane, fence, dueAt }: AcceptDelivery, at: Stamp): boolean {
  return lane !== null && fence !== null && dueAt <= at.now && books.leases.holds({ lane, fence }, at);
}

/** The fields of a message that depend on its progress. */
interface Standing extends Pick<Ending, 'at' | 'status' | 'counts' | 'lastError'> {
  /** Null while it is not final. */
  readonly kept: Kept | null;
  readonly attempts: number;
}

function insertMessage(sql: Sql, seq: number, record: AcceptRecord, standing: Standing): void {
  const { header, flags, content } = record;
  const { at, status, counts, kept, lastError, attempts } = standing;
  const endedAt = kept === null ? null : at.now;
  sql.message.run(
    seq,
    record.id,
    record.keyId,
    status,
    counts.queued,
    counts.processing,
    counts.delivered,
    counts.failed,
    attempts,
    kept,
    lastError === null ? null : JSON.stringify(lastError),
    record.createdAt,
    at.now,
    at.now,
    counts.delivered === 0 ? null : endedAt,
    endedAt,
    record.sendAt,
    record.expiresAt,
    rankOf(record.priority),
    asFlag(record.test),
    record.source,
    record.sourceAddress,
    record.reversePath,
    record.ret,
    record.envid,
    header.from,
    header.subject,
    header.messageId,
    JSON.stringify(record.tags),
    JSON.stringify(record.metadata),
    record.sizeBytes,
    asFlag(flags.eightBit),
    asFlag(flags.utf8),
    asFlag(flags.dotStuffing),
    content.segment,
    content.offset,
    content.length,
    record.routeTable,
    asFlag(record.reportable),
    record.stream,
    asFlag(record.ignoresSuppression),
    fromCopies(record.copies),
    record.door ?? null,
    record.box ?? null,
    record.tls ?? null,
  );
}

function insertDelivery(
  sql: Sql,
  seq: number,
  index: number,
  record: AcceptRecord,
  { recipient, lane, relay, rule, group, dueAt, fence }: AcceptDelivery,
  leased: boolean,
): void {
  sql.delivery.run(
    seq,
    index,
    leased ? 'processing' : 'queued',
    lane,
    relay,
    rankOf(record.priority),
    leased ? null : dueAt,
    record.expiresAt,
    leased ? fence : null,
    recipient.address,
    recipient.kind,
    recipient.notify,
    recipient.orcpt,
    rule,
    fromGroup(group),
  );
}

function insertEndedDelivery(
  sql: Sql,
  seq: number,
  index: number,
  record: AcceptRecord,
  { recipient, lane, relay, rule, group }: AcceptDelivery,
  { state, outcome, providerMessageId, reply }: Transition,
  attempts: number,
): void {
  sql.endedDelivery.run(
    seq,
    index,
    state,
    outcome,
    lane,
    relay,
    rankOf(record.priority),
    record.expiresAt,
    attempts,
    providerMessageId,
    reply.code,
    reply.enhanced,
    reply.text,
    recipient.address,
    recipient.kind,
    recipient.notify,
    recipient.orcpt,
    rule,
    fromGroup(group),
  );
}

function prepareInsert(db: Driver) {
  return {
    lastSeq: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM messages'),
    idempotency: db.prepare<[keyId: string, key: string, hash: string, id: string, now: number]>(
      'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)',
    ),
    stoppedBy: db.prepare<[id: string, index: number, entry: string]>(
      'INSERT INTO aftermath (message, idx, suppression) VALUES (?, ?, ?)',
    ),
    tag: db.prepare<[keyId: string, tag: string, id: string]>(
      'INSERT OR IGNORE INTO message_tags VALUES (?, ?, ?)',
    ),
    message: prepareMessage(db),
    delivery: db.prepare<
      [
        seq: number,
        index: number,
        state: DeliveryState,
        lane: string | null,
        relay: string | null,
        rank: number,
        dueAt: number | null,
        expiresAt: number,
        fence: number | null,
        address: string,
        kind: string,
        notify: string | null,
        orcpt: string | null,
        routeRule: string | null,
        routeGroup: string | null,
      ]
    >(
      `INSERT INTO deliveries (message, idx, state, lane, relay, priority, due_at, expires_at, fence, address, kind,
         notify, orcpt, route_rule, route_group) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    endedDelivery: db.prepare<
      [
        seq: number,
        index: number,
        state: DeliveryState,
        outcome: string | null,
        lane: string | null,
        relay: string | null,
        rank: number,
        expiresAt: number,
        attempts: number,
        providerMessageId: string | null,
        code: number | null,
        enhanced: string | null,
        reply: string,
        address: string,
        kind: string,
        notify: string | null,
        orcpt: string | null,
        routeRule: string | null,
        routeGroup: string | null,
      ]
    >(
      `INSERT INTO deliveries (message, idx, state, outcome, lane, relay, priority, expires_at, attempts,
         provider_message_id, last_code, last_enhanced, last_reply, address, kind, notify, orcpt, route_rule, route_group)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  };
}

function prepareMessage(db: Driver) {
  return db.prepare<
    [
      seq: number,
      id: string,
      keyId: string | null,
      status: string,
      queued: number,
      processing: number,
      delivered: number,
      failed: number,
      attempts: number,
      kept: string | null,
      lastError: string | null,
      createdAt: number,
      updatedAt: number,
      statusAt: number,
      deliveredAt: number | null,
      finalAt: number | null,
      notBefore: number | null,
      expiresAt: number,
      rank: number,
      test: number,
      source: string,
      sourceAddress: string | null,
      reversePath: string,
      ret: string | null,
      envid: string | null,
      headerFrom: string,
      subject: string,
      messageId: string,
      tags: string,
      metadata: string,
      sizeBytes: number,
      eightBit: number,
      utf8: number,
      dotStuffing: number,
      segment: number,
      offset: number,
      length: number,
      routeTable: number,
      reportable: number,
      stream: string | null,
      ignoresSuppression: number,
      copies: string | null,
      door: string | null,
      box: string | null,
      tls: string | null,
    ]
  >(
    `INSERT INTO messages (seq, id, key_id, status, queued, processing, retrying, delivered, failed, attempts, kept,
       last_error, created_at, updated_at, status_at, delivered_at, final_at, not_before, expires_at, priority, test,
       source, source_address, reverse_path, ret, envid, header_from, subject, message_id, tags, metadata, size_bytes,
       eight_bit, utf8, dot_stuffing, segment, offset, length, route_table, reportable, stream,
       ignores_suppression, copies, door, box, tls)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
       ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
}
