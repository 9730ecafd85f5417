import type { EventsKept } from '../../domain/event.ts';
import type { QuotaRefund, QuotaRequest } from '../../domain/quota.ts';
import type { Pseudonyms } from '../../lib/pseudonym.ts';
import type { Queries } from '../../postgres/database.ts';
import { holdable } from '../../postgres/text.ts';
import {
  type AcceptAnswer,
  type AcceptWish,
  type Foresight,
  IDEMPOTENCY_MS,
  type QueueLimits,
} from '../accepting.ts';
import type { UnitRef } from '../leased.ts';
import type { Stamp } from '../store.ts';
import type { Contents } from './contents.ts';
import { Desk } from './desk.ts';
import { EventLog } from './events.ts';
import { Lanes } from './lanes.ts';
import { Ledger } from './ledger.ts';
import { Quotas } from './quotas.ts';
import { List } from './stopping.ts';
import { Tallies } from './tallies.ts';

/**
 * What a verb works with while its transaction runs. Every verb locks in this order, so that there are no deadlocks:
 * leases of lanes, idempotency keys, messages, quotas of relays, the queues of everyone and of keys if they are
 * limited, and when all is written, the tallies.
 */
interface Books {
  readonly lanes: Lanes;
  readonly repeats: Repeats;
  readonly room: Room;
  readonly ledger: Ledger;
  readonly quotas: Quotas;
  readonly desk: Desk;
  readonly tallies: Tallies;
  readonly events: EventLog;
  readonly list: List;
}

/** The books of a transaction, for a call with a stamp. */
export class Work implements Books {
  readonly db: Queries;
  readonly at: Stamp;
  readonly lanes: Lanes;
  readonly repeats: Repeats;
  readonly room: Room;
  readonly ledger: Ledger;
  readonly quotas: Quotas;
  readonly desk: Desk;
  readonly tallies: Tallies;
  readonly events: EventLog;
  readonly list: List;

  constructor(db: Queries, at: Stamp, books: Books) {
    this.db = db;
    this.at = at;
    this.lanes = books.lanes;
    this.repeats = books.repeats;
    this.room = books.room;
    this.ledger = books.ledger;
    this.quotas = books.quotas;
    this.desk = books.desk;
    this.tallies = books.tallies;
    this.events = books.events;
    this.list = books.list;
  }

  /** The same books, for another call in the same transaction. */
  as(at: Stamp): Work {
    return new Work(this.db, at, this);
  }

  /** Writes what is still in memory; the last step before the commit. */
  async write(): Promise<void> {
    this.repeats.write();
    this.desk.write();
    this.quotas.write();
    await this.ledger.write();
    this.events.write();
    this.list.write();
    this.tallies.write(this.db);
  }
}

/** What books need besides the transaction. */
export interface BooksTerms {
  readonly eventsKept: EventsKept;
  /** By which people who were erased are found in the suppression list. */
  readonly pseudonyms: Pseudonyms;
}

/** What a transaction works with, which is empty when it begins. */
export function booksOver(db: Queries, { eventsKept, pseudonyms }: BooksTerms): Books {
  const lanes = new Lanes(db);
  const tallies = new Tallies();
  const list = new List(db, pseudonyms);
  const events = new EventLog(db, eventsKept);
  return {
    lanes,
    tallies,
    events,
    list,
    repeats: new Repeats(db),
    room: new Room(db),
    ledger: new Ledger(db, tallies),
    quotas: new Quotas(db),
    desk: new Desk(db, { lanes, tallies, events, list }),
  };
}

/** What must be locked and read before a call can decide. Absent means nothing. */
interface Needs {
  /** Lanes whose leases the call relies on. */
  readonly lanes?: readonly string[];
  /** Idempotency keys. */
  readonly repeats?: readonly Pick<AcceptWish, 'keyId' | 'idempotency'>[];
  /** Keys whose queues are limited, along with the queue of everyone; null: no limits. */
  readonly room?: readonly (string | null)[] | null;
  /** Deliveries, and their messages. */
  readonly units?: readonly UnitRef[];
  readonly quotas?: readonly (QuotaRefund | QuotaRequest | null)[];
  /** Recipients that the suppression list may stop. */
  readonly recipients?: readonly string[];
}

/**
 * A call of a verb that can share its transaction with others. Its needs are known in advance, so all calls lock
 * together, in the order of {@link Work}, and then decide one after the other.
 */
export interface Call<Answer> {
  readonly at: Stamp;
  readonly needs: Needs;
  /** Written along with it, whatever it decides. */
  readonly contents?: Contents | undefined;
  /** What it adds to the size of a transaction, in deliveries. */
  readonly weight: number;
  /** Decides after the calls before it, in memory. Runs again if the transaction does. */
  decide(work: Work): Answer;
}

/**
 * Locks what calls need, in the order of {@link Work}. No statement depends on an earlier one, so all are sent at once
 * in one round trip.
 */
export async function lockFor(work: Work, calls: readonly Call<unknown>[]): Promise<void> {
  const { lanes, repeats, room, ledger, quotas, list } = work;
  const needs = calls.map((call) => call.needs);
  await Promise.all([
    lanes.lock(
      needs.flatMap((one) => one.lanes ?? []),
      'SHARE',
    ),
    repeats.lock(needs.flatMap((one) => one.repeats ?? [])),
    ledger.openUnits(needs.flatMap((one) => one.units ?? [])),
    quotas.lock(needs.flatMap((one) => one.quotas ?? [])),
    list.look(needs.flatMap((one) => one.recipients ?? [])),
    needs.some((one) => one.room) ? room.lock(needs.flatMap((one) => one.room ?? [])) : null,
  ]);
}

/** The record of an idempotency key. */
interface RepeatRow {
  readonly keyId: string;
  readonly idemKey: string;
  readonly hash: string;
  readonly id: string;
  readonly createdAt: number;
}

/** Identifies an idempotency key, if there is one. */
type Named = Pick<AcceptWish, 'keyId' | 'idempotency'>;

/**
 * What was accepted under idempotency keys, before and in this transaction. They are locked before they are read: a
 * later call with the same key waits for the outcome of the first.
 */
export class Repeats {
  readonly #db: Queries;
  readonly #first = new Map<string, Pick<RepeatRow, 'hash' | 'id' | 'createdAt'>>();
  /** What this transaction accepts under keys. */
  readonly #fresh: RepeatRow[] = [];

  constructor(db: Queries) {
    this.#db = db;
  }

  /** Locks the idempotency keys of wishes. */
  lock(wishes: readonly Named[]): Promise<void> {
    return this.#read(LOCK, wishes);
  }

  /** Reads the records of the wishes' idempotency keys without locking them. */
  look(wishes: readonly Named[]): Promise<void> {
    return this.#read(READ, wishes);
  }

  /** The answer to a repeat; null for a first use. */
  refusalOf({ keyId, idempotency }: Named, now: number): Exclude<AcceptAnswer, { kind: 'accepted' }> | null {
    const first = idempotency && this.#first.get(nameOf(keyId ?? '', idempotency.key));
    if (!first || first.createdAt <= now - IDEMPOTENCY_MS) return null;
    return first.hash === idempotency.hash
      ? { kind: 'replayed', id: first.id }
      : { kind: 'idempotency_mismatch' };
  }

  /** Enters an accepted message. */
  remember({ keyId, idempotency }: Named, id: string, now: number): void {
    if (idempotency === null) return;
    const { key, hash } = idempotency;
    this.#first.set(nameOf(keyId ?? '', key), { hash, id, createdAt: now });
    this.#fresh.push({ keyId: keyId ?? '', idemKey: key, hash, id, createdAt: now });
  }

  /** Writes what was entered. */
  write(): void {
    if (this.#fresh.length === 0) return;
    this.#db.send(WRITE, [
      this.#fresh.map(({ keyId }) => keyId),
      this.#fresh.map(({ idemKey }) => idemKey),
      this.#fresh.map(({ hash }) => hash),
      this.#fresh.map(({ id }) => id),
      this.#fresh.map(({ createdAt }) => createdAt),
    ]);
  }

  async #read(sql: string, wishes: readonly Named[]): Promise<void> {
    const names = new Map<string, [keyId: string, key: string]>();
    for (const { keyId, idempotency } of wishes)
      if (idempotency !== null)
        names.set(nameOf(keyId ?? '', idempotency.key), [keyId ?? '', idempotency.key]);
    if (names.size === 0) return;
    const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
    const parameters = [sorted.map(([keyId]) => keyId), sorted.map(([, key]) => key)];
    for (const row of await this.#db.rows<RepeatRow>(sql, parameters))
      this.#first.set(nameOf(row.keyId, row.idemKey), row);
  }
}

function nameOf(keyId: string, idemKey: string): string {
  return JSON.stringify([keyId, holdable(idemKey)]);
}

const REPEAT = `idempotency.key_id AS "keyId", idempotency.idem_key AS "idemKey", hash, id, created_at AS "createdAt"`;
const READ = `SELECT ${REPEAT} FROM idempotency
  JOIN unnest($1::text[], $2::text[]) AS wanted (key_id, idem_key) USING (key_id, idem_key)`;
// A missing key gets an expired row, which can be locked and counts as none.
const LOCK = `INSERT INTO idempotency (key_id, idem_key, hash, id, created_at)
  SELECT key_id, idem_key, '', '', 0 FROM unnest($1::text[], $2::text[]) AS wanted (key_id, idem_key)
  ON CONFLICT (key_id, idem_key) DO UPDATE SET key_id = excluded.key_id RETURNING ${REPEAT}`;
// One transaction may use a key twice, a day apart: the last use counts.
const WRITE = `UPDATE idempotency SET hash = fresh.hash, id = fresh.id, created_at = fresh.created_at
  FROM (SELECT DISTINCT ON (key_id, idem_key) * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    AS fresh (key_id, idem_key, hash, id, created_at) ORDER BY key_id, idem_key, created_at DESC) AS fresh
  WHERE idempotency.key_id = fresh.key_id AND idempotency.idem_key = fresh.idem_key`;

interface QueueRow {
  readonly keyId: string;
  readonly messages: number;
}

/** The fields of a wish that need room. */
type Sized = Pick<AcceptWish, 'keyId' | 'sizeBytes'>;

/**
 * The use of the queues, and the room left as this transaction takes it. They are locked before they are read, all that
 * a transaction needs at once, everyone's first: a transaction that changes a key's queue holds that one
 * (`tallies.ts`). Room that it frees counts for later transactions.
 */
export class Room {
  readonly #db: Queries;
  readonly #keys = new Map<string, number>();
  #bytes = 0;

  constructor(db: Queries) {
    this.#db = db;
  }

  /** Locks the queues of everyone and of these keys; nulls name none. */
  async lock(keyIds: Iterable<string | null>): Promise<void> {
    const keys = named(keyIds);
    const [gauge, rows] = await Promise.all([
      this.#db.rows<{ value: number }>(LOCK_BYTES),
      keys.length === 0 ? [] : this.#db.rows<QueueRow>(LOCK_KEYS, [keys]),
    ]);
    this.#enter(rows, gauge);
  }

  /** Reads them without locking them. */
  async look(keyIds: Iterable<string | null>): Promise<void> {
    const rows = await this.#db.rows<QueueRow>(READ_KEYS, [named(keyIds)]);
    this.#enter(rows, await this.#db.rows<{ value: number }>(READ_BYTES));
  }

  /** Why the limits leave no room for it; null if they do. */
  refusalOf(
    { keyId, sizeBytes }: Sized,
    { maxBytes, maxMessagesPerKey }: QueueLimits,
  ): Extract<AcceptAnswer, { kind: 'queue_full' }> | null {
    const tooLarge = sizeBytes > maxBytes;
    if (tooLarge || this.#bytes + sizeBytes > maxBytes) return { kind: 'queue_full', whose: 'all', tooLarge };
    if (keyId !== null && this.#queued(keyId) >= maxMessagesPerKey)
      return { kind: 'queue_full', whose: 'key', tooLarge: false };
    return null;
  }

  /** Enters what is accepted. */
  take({ keyId, sizeBytes }: Sized): void {
    this.#bytes += sizeBytes;
    if (keyId !== null) this.#keys.set(keyId, this.#queued(keyId) + 1);
  }

  /** Undoes {@link take}. */
  giveBack({ keyId, sizeBytes }: Sized): void {
    this.#bytes -= sizeBytes;
    if (keyId !== null) this.#keys.set(keyId, this.#queued(keyId) - 1);
  }

  /** What the limits leave. */
  left(
    keyId: string | null,
    { maxBytes, maxMessagesPerKey }: QueueLimits,
  ): Pick<Foresight, 'bytesLeft' | 'messagesLeft'> {
    const messagesLeft = keyId === null ? Number.MAX_SAFE_INTEGER : maxMessagesPerKey - this.#queued(keyId);
    return { bytesLeft: maxBytes - this.#bytes, messagesLeft };
  }

  #enter(rows: readonly QueueRow[], [gauge]: readonly { readonly value: number }[]): void {
    this.#bytes = gauge?.value ?? 0;
    for (const { keyId, messages } of rows) this.#keys.set(keyId, messages);
  }

  #queued(keyId: string): number {
    return this.#keys.get(keyId) ?? 0;
  }
}

function named(keyIds: Iterable<string | null>): string[] {
  return [...new Set(keyIds)].filter((keyId) => keyId !== null).sort();
}

const READ_KEYS = 'SELECT key_id AS "keyId", messages FROM key_queues WHERE key_id = ANY($1::text[])';
const LOCK_KEYS = `INSERT INTO key_queues (key_id, messages) SELECT key_id, 0 FROM unnest($1::text[]) AS key_id
  ON CONFLICT (key_id) DO UPDATE SET messages = key_queues.messages
  RETURNING key_queues.key_id AS "keyId", key_queues.messages`;
const READ_BYTES = `SELECT value FROM gauges WHERE name = 'queued_bytes'`;
const LOCK_BYTES = `INSERT INTO gauges (name, value) VALUES ('queued_bytes', 0)
  ON CONFLICT (name) DO UPDATE SET value = gauges.value RETURNING value`;
