import type { Queries } from '../../postgres/database.ts';
import { holdable } from '../../postgres/text.ts';
import type { AcceptAnswer, AcceptWish } from '../accepting.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';

/** What lies under an idempotency key. */
interface RepeatRow {
  readonly keyId: string;
  readonly idemKey: string;
  readonly hash: string;
  readonly id: string;
  readonly createdAt: number;
}

/** What names an idempotency key, if there is one. */
type Named = Pick<AcceptWish, 'keyId' | 'idempotency'>;

/**
 * What was accepted under idempotency keys, before and in this transaction. They are locked before they are looked at:
 * whoever comes later with the same key waits until it is known what became of the first.
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

  /** Reads what lies under the idempotency keys of wishes, without locking it. */
  look(wishes: readonly Named[]): Promise<void> {
    return this.#read(READ, wishes);
  }

  /** The answer to a repeat; null for what comes for the first time. */
  refusalOf({ keyId, idempotency }: Named, now: number): Exclude<AcceptAnswer, { kind: 'accepted' }> | null {
    const first = idempotency && this.#first.get(nameOf(keyId ?? '', idempotency.key));
    if (!first || first.createdAt <= now - IDEMPOTENCY_MS) return null;
    return first.hash === idempotency.hash
      ? { kind: 'replayed', id: first.id }
      : { kind: 'idempotency_mismatch' };
  }

  /** Enters what is accepted. */
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
// What is not there yet gets a row that is over already: it can be locked, and counts as none.
const LOCK = `INSERT INTO idempotency (key_id, idem_key, hash, id, created_at)
  SELECT key_id, idem_key, '', '', 0 FROM unnest($1::text[], $2::text[]) AS wanted (key_id, idem_key)
  ON CONFLICT (key_id, idem_key) DO UPDATE SET key_id = excluded.key_id RETURNING ${REPEAT}`;
// A key may be accepted under twice in one transaction, a day apart: the last counts.
const WRITE = `UPDATE idempotency SET hash = fresh.hash, id = fresh.id, created_at = fresh.created_at
  FROM (SELECT DISTINCT ON (key_id, idem_key) * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    AS fresh (key_id, idem_key, hash, id, created_at) ORDER BY key_id, idem_key, created_at DESC) AS fresh
  WHERE idempotency.key_id = fresh.key_id AND idempotency.idem_key = fresh.idem_key`;
