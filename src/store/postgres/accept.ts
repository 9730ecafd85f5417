import type { Queries } from '../../postgres/database.ts';
import { holdable } from '../../postgres/text.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, Foresight, QueueLimits } from '../accepting.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { Desk } from './desk.ts';
import type { Work } from './work.ts';

type Refusal = Exclude<AcceptAnswer, { readonly kind: 'accepted' }>;

/** The verb `accept`. */
export async function accept(
  work: Work,
  batch: readonly AcceptRecord[],
  limits?: QueueLimits,
): Promise<AcceptAnswer[]> {
  await work.lanes.lock(batch.flatMap(shortLanes), 'SHARE');
  const repeats = new Repeats(await lockRepeats(work.db, batch), work.at.now);
  const room = limits === undefined ? null : new Room(await lockQueues(work.db, batch), limits);
  const desk = new Desk(work);
  const answers = batch.map((record): AcceptAnswer => {
    const wish = { keyId: record.keyId, sizeBytes: record.content.length, idempotency: record.idempotency };
    const refusal = repeats.refusalOf(wish) ?? room?.refusalOf(wish) ?? null;
    if (refusal !== null) return refusal;
    repeats.remember(wish, record.id);
    room?.take(wish);
    return { kind: 'accepted', leased: desk.enter(record) };
  });
  await desk.write();
  await writeRepeats(work, repeats.fresh);
  return answers;
}

/** The verb `foresee`. It locks nothing: others may be quicker, and `accept` decides. */
export async function foresee(
  db: Queries,
  wishes: readonly AcceptWish[],
  now: number,
  limits: QueueLimits,
): Promise<Foresight[]> {
  const repeats = new Repeats(await readRepeats(db, wishes), now);
  const room = new Room(await readQueues(db, wishes), limits);
  return wishes.map((wish): Foresight => {
    const answer = repeats.refusalOf(wish) ?? room.refusalOf(wish) ?? ({ kind: 'fits' } as const);
    if (answer.kind === 'fits') room.take(wish);
    return { answer, ...room.left(wish.keyId) };
  });
}

function shortLanes({ deliveries }: AcceptRecord): string[] {
  return deliveries.flatMap(({ lane, fence }) => (lane !== null && fence !== null ? [lane] : []));
}

/** What lies under an idempotency key. */
interface RepeatRow {
  readonly keyId: string;
  readonly idemKey: string;
  readonly hash: string;
  readonly id: string;
  readonly createdAt: number;
}

/** What was accepted under idempotency keys, before and in this transaction. */
class Repeats {
  readonly #first = new Map<string, Pick<RepeatRow, 'hash' | 'id'>>();
  /** What this transaction accepts under keys. */
  readonly fresh: Omit<RepeatRow, 'createdAt'>[] = [];

  constructor(rows: readonly RepeatRow[], now: number) {
    for (const row of rows)
      if (row.createdAt > now - IDEMPOTENCY_MS) this.#first.set(nameOf(row.keyId, row.idemKey), row);
  }

  refusalOf({ keyId, idempotency }: AcceptWish): Refusal | null {
    const first = idempotency && this.#first.get(nameOf(keyId ?? '', idempotency.key));
    if (!first) return null;
    return first.hash === idempotency.hash
      ? { kind: 'replayed', id: first.id }
      : { kind: 'idempotency_mismatch' };
  }

  remember({ keyId, idempotency }: AcceptWish, id: string): void {
    if (idempotency === null) return;
    const { key, hash } = idempotency;
    this.#first.set(nameOf(keyId ?? '', key), { hash, id });
    this.fresh.push({ keyId: keyId ?? '', idemKey: key, hash, id });
  }
}

function nameOf(keyId: string, idemKey: string): string {
  return JSON.stringify([keyId, holdable(idemKey)]);
}

/** How full the queues are. */
interface Queues {
  readonly bytes: number;
  readonly keys: ReadonlyMap<string, number>;
}

/** The room in the queues, as this transaction takes it. */
class Room {
  readonly #limits: QueueLimits;
  readonly #keys: Map<string, number>;
  #bytes: number;

  constructor({ bytes, keys }: Queues, limits: QueueLimits) {
    this.#limits = limits;
    this.#bytes = bytes;
    this.#keys = new Map(keys);
  }

  refusalOf({ keyId, sizeBytes }: AcceptWish): Refusal | null {
    const { maxBytes, maxMessagesPerKey } = this.#limits;
    const tooLarge = sizeBytes > maxBytes;
    if (tooLarge || this.#bytes + sizeBytes > maxBytes) return { kind: 'queue_full', whose: 'all', tooLarge };
    if (keyId !== null && this.#queued(keyId) >= maxMessagesPerKey)
      return { kind: 'queue_full', whose: 'key', tooLarge: false };
    return null;
  }

  take({ keyId, sizeBytes }: AcceptWish): void {
    this.#bytes += sizeBytes;
    if (keyId !== null) this.#keys.set(keyId, this.#queued(keyId) + 1);
  }

  left(keyId: string | null): Pick<Foresight, 'bytesLeft' | 'messagesLeft'> {
    const { maxBytes, maxMessagesPerKey } = this.#limits;
    const messagesLeft = keyId === null ? Number.MAX_SAFE_INTEGER : maxMessagesPerKey - this.#queued(keyId);
    return { bytesLeft: maxBytes - this.#bytes, messagesLeft };
  }

  #queued(keyId: string): number {
    return this.#keys.get(keyId) ?? 0;
  }
}

/** Locks the idempotency keys of wishes, of which whoever comes later waits for us; reads what lies under them. */
async function lockRepeats(db: Queries, wishes: readonly Pick<AcceptWish, 'keyId' | 'idempotency'>[]) {
  const names = repeatNames(wishes);
  return names === null ? [] : db.rows<RepeatRow>(LOCK_REPEATS, names);
}

async function readRepeats(db: Queries, wishes: readonly AcceptWish[]) {
  const names = repeatNames(wishes);
  return names === null ? [] : db.rows<RepeatRow>(READ_REPEATS, names);
}

function repeatNames(
  wishes: readonly Pick<AcceptWish, 'keyId' | 'idempotency'>[],
): [string[], string[]] | null {
  const names = new Map<string, [keyId: string, key: string]>();
  for (const { keyId, idempotency } of wishes)
    if (idempotency !== null) names.set(nameOf(keyId ?? '', idempotency.key), [keyId ?? '', idempotency.key]);
  if (names.size === 0) return null;
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  return [sorted.map(([keyId]) => keyId), sorted.map(([, key]) => key)];
}

async function writeRepeats({ db, at }: Work, fresh: readonly Omit<RepeatRow, 'createdAt'>[]): Promise<void> {
  if (fresh.length === 0) return;
  await db.run(WRITE_REPEATS, [
    fresh.map(({ keyId }) => keyId),
    fresh.map(({ idemKey }) => idemKey),
    fresh.map(({ hash }) => hash),
    fresh.map(({ id }) => id),
    at.now,
  ]);
}

/** Locks the queues that limit what is accepted, and reads them. */
async function lockQueues(db: Queries, wishes: readonly Pick<AcceptWish, 'keyId'>[]): Promise<Queues> {
  const keys = keysOf(wishes);
  const rows = keys.length === 0 ? [] : await db.rows<QueueRow>(LOCK_KEYS, [keys]);
  const [gauge] = await db.rows<{ value: number }>(LOCK_BYTES);
  return { bytes: gauge?.value ?? 0, keys: queuesOf(rows) };
}

async function readQueues(db: Queries, wishes: readonly AcceptWish[]): Promise<Queues> {
  const rows = await db.rows<QueueRow>(READ_KEYS, [keysOf(wishes)]);
  const [gauge] = await db.rows<{ value: number }>(READ_BYTES);
  return { bytes: gauge?.value ?? 0, keys: queuesOf(rows) };
}

interface QueueRow {
  readonly keyId: string;
  readonly messages: number;
}

function keysOf(wishes: readonly Pick<AcceptWish, 'keyId'>[]): string[] {
  return [...new Set(wishes.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])))].sort();
}

function queuesOf(rows: readonly QueueRow[]): Map<string, number> {
  return new Map(rows.map(({ keyId, messages }) => [keyId, messages]));
}

const REPEAT = `idempotency.key_id AS "keyId", idempotency.idem_key AS "idemKey", hash, id, created_at AS "createdAt"`;
const READ_REPEATS = `SELECT ${REPEAT} FROM idempotency
  JOIN unnest($1::text[], $2::text[]) AS wanted (key_id, idem_key) USING (key_id, idem_key)`;
// What is not there yet gets a row that is over already: it can be locked, and counts as none.
const LOCK_REPEATS = `INSERT INTO idempotency (key_id, idem_key, hash, id, created_at)
  SELECT key_id, idem_key, '', '', 0 FROM unnest($1::text[], $2::text[]) AS wanted (key_id, idem_key)
  ON CONFLICT (key_id, idem_key) DO UPDATE SET key_id = excluded.key_id RETURNING ${REPEAT}`;
const WRITE_REPEATS = `UPDATE idempotency SET hash = fresh.hash, id = fresh.id, created_at = $5::bigint
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS fresh (key_id, idem_key, hash, id)
  WHERE idempotency.key_id = fresh.key_id AND idempotency.idem_key = fresh.idem_key`;

const QUEUE = 'key_id AS "keyId", messages';
const READ_KEYS = `SELECT ${QUEUE} FROM key_queues WHERE key_id = ANY($1::text[])`;
const LOCK_KEYS = `INSERT INTO key_queues (key_id, messages) SELECT key_id, 0 FROM unnest($1::text[]) AS key_id
  ON CONFLICT (key_id) DO UPDATE SET messages = key_queues.messages
  RETURNING key_queues.key_id AS "keyId", key_queues.messages`;
const READ_BYTES = `SELECT value FROM gauges WHERE name = 'queued_bytes'`;
const LOCK_BYTES = `INSERT INTO gauges (name, value) VALUES ('queued_bytes', 0)
  ON CONFLICT (name) DO UPDATE SET value = gauges.value RETURNING value`;
