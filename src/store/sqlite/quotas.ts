import type { QuotaRefund, QuotaRequest } from '../../domain/quota.ts';
import type { Driver } from './driver.ts';

interface Day {
  readonly relay: string;
  readonly day: number;
  used: number;
  changed: boolean;
}

/**
 * The usage of relays' quotas. Read once per relay, day and transaction, and written once, however many units take from
 * it. Written by `flush`, dropped by `discard`.
 */
export class Quotas {
  readonly #days = new Map<string, Day>();
  readonly #sql;

  constructor(db: Driver) {
    this.#sql = prepareQuotas(db);
  }

  /** Charges recipients to a quota. False: it would exceed its limit; nothing was charged. */
  take({ relay, day, recipients, limit }: QuotaRequest): boolean {
    const found = this.#find(relay, day);
    if (found.used + recipients > limit) return false;
    found.used += recipients;
    found.changed = true;
    return true;
  }

  /** Gives recipients back, never more than were charged; null is none. */
  giveBack(refund: QuotaRefund | null): void {
    if (refund === null) return;
    const found = this.#find(refund.relay, refund.day);
    const used = Math.max(0, found.used - refund.recipients);
    found.changed ||= used !== found.used;
    found.used = used;
  }

  /** Writes what has changed. */
  flush(): void {
    for (const { relay, day, used, changed } of this.#days.values())
      if (changed) this.#sql.write.run(relay, day, used);
    this.#days.clear();
  }

  /** Drops a transaction that was rolled back. */
  discard(): void {
    this.#days.clear();
  }

  /** Removes at most `limit` quotas of earlier days. */
  prune(day: number, limit: number): void {
    this.#sql.prune.run(day, limit);
  }

  #find(relay: string, day: number): Day {
    const name = `${day} ${relay}`;
    const known = this.#days.get(name);
    if (known !== undefined) return known;
    const found = { relay, day, used: this.#sql.find.get(day, relay)?.[0] ?? 0, changed: false };
    this.#days.set(name, found);
    return found;
  }
}

/** Builds the view of each relay's quota usage on a day. */
export function quotaUsedView(db: Driver) {
  const used = db.prepare<[day: number], [relay: string, used: number]>(
    'SELECT relay, used FROM quotas WHERE day = ? AND used > 0',
  );
  return (day: number): ReadonlyMap<string, number> => new Map(used.all(day));
}

function prepareQuotas(db: Driver) {
  return {
    find: db.prepare<[day: number, relay: string], [used: number]>(
      'SELECT used FROM quotas WHERE day = ? AND relay = ?',
    ),
    write: db.prepare<[relay: string, day: number, used: number]>(
      `INSERT INTO quotas (relay, day, used) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET used = excluded.used`,
    ),
    prune: db.prepare<[day: number, limit: number]>(
      'DELETE FROM quotas WHERE (day, relay) IN (SELECT day, relay FROM quotas WHERE day < (SELECT ?) ORDER BY day LIMIT (SELECT ?))',
    ),
  };
}
