import { type DeliveryState, deriveStatus, type MessageStatus } from '../../domain/delivery.ts';
import type { AcceptDelivery, AcceptRecord } from '../accepting.ts';
import { fromGroup, rankOf } from '../columns.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './rows.ts';

/** Writes messages that have become ours, with everything that follows from it. */
export class Inserter {
  readonly #books: Books;
  readonly #sql;

  constructor(books: Books) {
    this.#books = books;
    this.#sql = prepareInsert(books.db);
  }

  /** Writes a message. Says per delivery whether it took the short way. */
  insert(record: AcceptRecord, at: Stamp): boolean[] {
    const leased = record.deliveries.map((delivery) => takesShortWay(this.#books, delivery, at));
    this.#write(record, leased, at);
    return leased;
  }

  /** Writes a report on a delivery, if there is one. Nobody would hear that it took the short way: it waits. */
  insertReport(report: AcceptRecord | null, at: Stamp): void {
    if (report === null) return;
    const waiting = report.deliveries.map(() => false);
    this.#write(report, waiting, at);
  }

  #write(record: AcceptRecord, leased: readonly boolean[], at: Stamp): void {
    const { ledger, tallies, depths } = this.#books;
    const seq = (this.#sql.lastSeq.get()?.[0] ?? 0) + 1;
    const processing = leased.filter(Boolean).length;
    const queued = leased.length - processing;
    const status = deriveStatus({ queued, processing, retrying: 0, delivered: 0, failed: 0 });
    ledger.enterNew(status, record.keyId, record.content.length);
    insertMessage(this.#sql, seq, record, { status, queued, processing }, at);
    for (const [index, delivery] of record.deliveries.entries()) {
      const short = leased[index] === true;
      if (short) depths.work(delivery.lane, 1);
      else depths.enter(delivery.lane, delivery.dueAt);
      insertDelivery(this.#sql, seq, index, record, delivery, short);
    }
    for (const tag of record.tags) this.#sql.tag.run(record.keyId ?? '', tag, record.id);
    if (record.idempotency !== null) {
      const { key, hash } = record.idempotency;
      this.#sql.idempotency.run(record.keyId ?? '', key, hash, record.id, at.now);
    }
    tallies.segment(record.content.segment, 1, record.content.length);
    tallies.count('received', at);
  }
}

type Sql = ReturnType<typeof prepareInsert>;

function takesShortWay(books: Books, { lane, fence, dueAt }: AcceptDelivery, at: Stamp): boolean {
  return lane !== null && fence !== null && dueAt <= at.now && books.leases.holds({ lane, fence }, at);
}

function insertMessage(
  sql: Sql,
  seq: number,
  record: AcceptRecord,
  state: { readonly status: MessageStatus; readonly queued: number; readonly processing: number },
  at: Stamp,
): void {
  const { header, flags, content } = record;
  sql.message.run(
    seq,
    record.id,
    record.keyId,
    state.status,
    state.queued,
    state.processing,
    record.createdAt,
    at.now,
    at.now,
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

function prepareInsert(db: Driver) {
  return {
    lastSeq: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM messages'),
    idempotency: db.prepare<[keyId: string, key: string, hash: string, id: string, now: number]>(
      'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)',
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
      createdAt: number,
      updatedAt: number,
      statusAt: number,
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
    ]
  >(
    `INSERT INTO messages (seq, id, key_id, status, queued, processing, retrying, delivered, failed, created_at,
       updated_at, status_at, not_before, expires_at, priority, test, source, source_address, reverse_path, ret,
       envid, header_from, subject, message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, segment,
       offset, length, route_table, reportable)
     VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
}
