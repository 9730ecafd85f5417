import type { QuotaRefund, QuotaRequest } from '../../domain/quota.ts';
import type { Queries } from '../../postgres/database.ts';
import { StoreError } from '../store.ts';

interface QuotaRow {
  readonly relay: string;
  readonly day: number;
  readonly used: number;
}

/**
 * The usage of relays' quotas. They are locked before they are read, all that a transaction needs at once and in the
 * order of days and relays, after its messages are locked; and written once, however many units take from them.
 */
export class Quotas {
  readonly #db: Queries;
  readonly #locked = new Map<string, QuotaRow>();
  readonly #used = new Map<string, number>();

  constructor(db: Queries) {
    this.#db = db;
  }

  /** Locks the named quotas; nulls name none. */
  async lock(names: readonly (Pick<QuotaRow, 'relay' | 'day'> | null)[]): Promise<void> {
    const wanted = new Map(names.flatMap((name) => (name === null ? [] : [[keyOf(name), name] as const])));
    if (wanted.size === 0) return;
    const named = [...wanted.values()];
    const parameters = [named.map(({ relay }) => relay), named.map(({ day }) => day)];
    for (const row of await this.#db.rows<QuotaRow>(LOCK, parameters)) this.#locked.set(keyOf(row), row);
  }

  /** Charges recipients to a locked quota. False: it would exceed its limit; nothing was charged. */
  take(request: QuotaRequest): boolean {
    const used = this.#usedOf(request) + request.recipients;
    if (used > request.limit) return false;
    this.#used.set(keyOf(request), used);
    return true;
  }

  /** Gives recipients back to a locked quota, never more than were charged; null is none. */
  giveBack(refund: QuotaRefund | null): void {
    if (refund !== null) this.#used.set(keyOf(refund), Math.max(0, this.#usedOf(refund) - refund.recipients));
  }

  /** Writes what has changed. */
  write(): void {
    const changed = [...this.#locked.values()].flatMap((row) => {
      const used = this.#usedOf(row);
      return used === row.used ? [] : [{ ...row, used }];
    });
    if (changed.length === 0) return;
    this.#db.send(WRITE, [
      changed.map(({ relay }) => relay),
      changed.map(({ day }) => day),
      changed.map(({ used }) => used),
    ]);
  }

  #usedOf(name: Pick<QuotaRow, 'relay' | 'day'>): number {
    const key = keyOf(name);
    const used = this.#used.get(key) ?? this.#locked.get(key)?.used;
    if (used === undefined) throw new StoreError('store_bug', `the quota of ${name.relay} is not locked`);
    return used;
  }
}

/** Removes at most `limit` quotas of earlier days; skips those that others are working on until the next time. */
export async function pruneQuotas(db: Queries, day: number, limit: number): Promise<void> {
  await db.run(PRUNE, [day, limit]);
}

/** Each relay's quota usage on a day. */
export async function quotaUsed(db: Pick<Queries, 'rows'>, day: number): Promise<Map<string, number>> {
  const rows = await db.rows<QuotaRow>(USED, [day]);
  return new Map(rows.map(({ relay, used }) => [relay, used]));
}

function keyOf({ relay, day }: Pick<QuotaRow, 'relay' | 'day'>): string {
  return `${day} ${relay}`;
}

// Only rows can be locked, so the same statement makes a missing row; an existing one stays as it is.
const LOCK = `INSERT INTO quotas (relay, day, used)
  SELECT relay, day, 0 FROM unnest($1::text[], $2::integer[]) AS wanted (relay, day) ORDER BY day, relay COLLATE "C"
  ON CONFLICT (day, relay) DO UPDATE SET used = quotas.used RETURNING relay, day, used`;
const WRITE = `UPDATE quotas SET used = changed.used
  FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS changed (relay, day, used)
  WHERE quotas.day = changed.day AND quotas.relay = changed.relay`;
const PRUNE = `DELETE FROM quotas WHERE (day, relay) IN (
  SELECT day, relay FROM quotas WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED)`;
const USED = 'SELECT relay, used FROM quotas WHERE day = $1 AND used > 0';
