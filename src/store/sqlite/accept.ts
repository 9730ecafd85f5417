import { type DeliveryState, deriveStatus, type MessageStatus } from '../../domain/delivery.ts';
import type { Idempotency } from '../../domain/message.ts';
import type {
  AcceptAnswer,
  AcceptDelivery,
  AcceptRecord,
  AcceptWish,
  Foresight,
  QueueLimits,
} from '../accepting.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import { asFlag, rankOf } from './rows.ts';

/** How long a repeat under an idempotency key gets the first answer (contract §2). */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

type Refusal = Exclude<AcceptAnswer, { readonly kind: 'accepted' }>;

/** Builds the verb `accept`. */
export function acceptVerb(books: Books) {
  const sql = prepareAccept(books.db);
  return (batch: readonly AcceptRecord[], at: Stamp, limits?: QueueLimits): AcceptAnswer[] => {
    let seq = sql.lastSeq.get()?.[0] ?? 0;
    return batch.map((record) => {
      const repeat =
        record.idempotency && findRepeat(sql.findIdempotency, record.keyId, record.idempotency, at);
      if (repeat) return repeat;
      const full =
        limits && fullQueue(books, { keyId: record.keyId, sizeBytes: record.content.length }, limits);
      if (full) return full;
      seq++;
      return insert(sql, books, seq, record, at);
    });
  };
}

/** Builds the verb `foresee`. */
export function foreseeVerb(books: Books) {
  const { tallies } = books;
  const findIdempotency = prepareFindIdempotency(books.db);
  return (wishes: readonly AcceptWish[], at: Stamp, limits: QueueLimits): Foresight[] => {
    const fitting: AcceptWish[] = [];
    const foresights = wishes.map((wish): Foresight => {
      const { keyId, sizeBytes, idempotency } = wish;
      const repeat = idempotency && findRepeat(findIdempotency, keyId, idempotency, at);
      const answer = repeat ?? fullQueue(books, wish, limits) ?? ({ kind: 'fits' } as const);
      if (answer.kind === 'fits') {
        tallies.queue(keyId, 1, sizeBytes);
        fitting.push(wish);
      }
      return {
        answer,
        bytesLeft: limits.maxBytes - tallies.gaugeNow('queued_bytes'),
        messagesLeft:
          keyId === null ? Number.MAX_SAFE_INTEGER : limits.maxMessagesPerKey - tallies.queuedNow(keyId),
      };
    });
    // What was tried on is taken off again.
    for (const { keyId, sizeBytes } of fitting) tallies.queue(keyId, -1, sizeBytes);
    return foresights;
  };
}

type Sql = ReturnType<typeof prepareAccept>;

function findRepeat(
  findIdempotency: Sql['findIdempotency'],
  keyId: string | null,
  { key, hash }: Idempotency,
  at: Stamp,
): Refusal | null {
  const first = findIdempotency.get(keyId ?? '', key, at.now - IDEMPOTENCY_MS);
  if (first === undefined) return null;
  return first[0] === hash ? { kind: 'replayed', id: first[1] } : { kind: 'idempotency_mismatch' };
}

/** The refusal of what finds no room; null when there is room. */
function fullQueue(
  { tallies }: Books,
  { keyId, sizeBytes }: Pick<AcceptWish, 'keyId' | 'sizeBytes'>,
  limits: QueueLimits,
): Refusal | null {
  const tooLarge = sizeBytes > limits.maxBytes;
  if (tooLarge || tallies.gaugeNow('queued_bytes') + sizeBytes > limits.maxBytes)
    return { kind: 'queue_full', whose: 'all', tooLarge };
  if (keyId !== null && tallies.queuedNow(keyId) >= limits.maxMessagesPerKey)
    return { kind: 'queue_full', whose: 'key', tooLarge: false };
  return null;
}

function insert(sql: Sql, books: Books, seq: number, record: AcceptRecord, at: Stamp): AcceptAnswer {
  const leased = record.deliveries.map((delivery) => takesShortWay(books, delivery, at));
  const processing = leased.filter(Boolean).length;
  const queued = leased.length - processing;
  const status = deriveStatus({ queued, processing, retrying: 0, delivered: 0, failed: 0 });
  books.ledger.enterNew(status, record.keyId, record.content.length);
  insertMessage(sql, seq, record, { status, queued, processing }, at);
  for (const [index, delivery] of record.deliveries.entries()) {
    const short = leased[index] === true;
    if (delivery.lane !== null) books.tallies.lane(delivery.lane, short ? 0 : 1, short ? 1 : 0);
    insertDelivery(sql, seq, index, record, delivery, short);
  }
  for (const tag of record.tags) sql.tag.run(record.keyId ?? '', tag, record.id);
  if (record.idempotency !== null) {
    const { key, hash } = record.idempotency;
    sql.idempotency.run(record.keyId ?? '', key, hash, record.id, at.now);
  }
  books.tallies.segment(record.content.segment, 1, record.content.length);
  books.tallies.count('received', at);
  return { kind: 'accepted', leased };
}

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
  );
}

function insertDelivery(
  sql: Sql,
  seq: number,
  index: number,
  record: AcceptRecord,
  { recipient, lane, relay, dueAt, fence }: AcceptDelivery,
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
    record.routeRule,
  );
}

function prepareAccept(db: Driver) {
  return {
    lastSeq: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM messages'),
    findIdempotency: prepareFindIdempotency(db),
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
      ]
    >(
      `INSERT INTO deliveries (message, idx, state, lane, relay, priority, due_at, expires_at, fence, address, kind,
         notify, orcpt, route_rule) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  };
}

export function prepareFindIdempotency(db: Driver) {
  return db.prepare<[keyId: string, key: string, after: number], [hash: string, id: string]>(
    'SELECT hash, id FROM idempotency WHERE key_id = ? AND idem_key = ? AND created_at > ?',
  );
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
    ]
  >(
    `INSERT INTO messages (seq, id, key_id, status, queued, processing, retrying, delivered, failed, created_at,
       updated_at, status_at, not_before, expires_at, priority, test, source, source_address, reverse_path, ret,
       envid, header_from, subject, message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, segment,
       offset, length, route_table)
     VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
}
