import type { Queries } from '../../postgres/database.ts';
import type { AcceptAnswer, AcceptWish, Foresight, QueueLimits } from '../accepting.ts';

interface QueueRow {
  readonly keyId: string;
  readonly messages: number;
}

/** What of a wish takes room. */
type Sized = Pick<AcceptWish, 'keyId' | 'sizeBytes'>;

/**
 * How full the queues are, and the room in them as this transaction takes it. They are locked before they are looked
 * at, all that a transaction needs at once, everyone's first: whoever moves a key's holds that (`tallies.ts`). What it frees
 * is counted by those that come after it.
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

  /** Why there is no room for it within the limits; null where there is. */
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

  /** What is left within the limits. */
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
