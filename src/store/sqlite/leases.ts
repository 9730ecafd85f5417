import { type LaneLease, relayOfLane } from '../../domain/lane.ts';
import { ranksOf } from '../columns.ts';
import type { Stamp } from '../store.ts';
import type { Driver } from './driver.ts';

type LeaseRow = [node: string | null, fence: number, leaseUntil: number, lookAt: number | null];

/**
 * How many lanes discovery examines in a transaction, beyond those that it may grant. It postpones lanes that need no
 * look soon, so that it reaches all of them: a held lane costs a look per lease, a lane that waits for a later time
 * none.
 */
const MAX_LOOKS = 2_000;

/**
 * Who may work which lane, and when discovery must look at it. Leases are cached until the transaction ends, so that a
 * batch pays one lookup per lane.
 */
export class Leases {
  readonly #seen = new Map<string, LeaseRow | null>();
  readonly #sql;

  constructor(db: Driver) {
    this.#sql = prepareLeases(db);
  }

  /** Whether the node of the stamp holds the lane under this fence. */
  holds(lease: LaneLease, at: Stamp): boolean {
    const row = this.#find(lease.lane);
    return row !== null && row[0] === at.node && row[1] === lease.fence && row[2] > at.now;
  }

  /** Whether anyone holds the lane under this fence. */
  isLive(lease: LaneLease, now: number): boolean {
    const row = this.#find(lease.lane);
    return row !== null && row[1] === lease.fence && row[2] > now;
  }

  /** Grants the lane to the node of the stamp, if nobody holds it. */
  grant(lane: string, leaseUntil: number, at: Stamp): LaneLease | null {
    if ((this.#find(lane)?.[2] ?? 0) > at.now) return null;
    const fence = this.#sql.nextFence.get()?.[0] ?? 0;
    this.#sql.grant.run(lane, at.node, fence, leaseUntil, leaseUntil);
    this.#seen.delete(lane);
    return { lane, fence };
  }

  /**
   * Extends the node's lease, even a lapsed one if nobody has taken the lane or its deliveries since: a clock jump ends
   * nothing. Where the clock was set back, the lane is looked at earlier, too. False: it is no longer the node's.
   */
  extend({ lane, fence }: LaneLease, leaseUntil: number, at: Stamp): boolean {
    this.#seen.delete(lane);
    return this.#sql.extend.run(leaseUntil, leaseUntil, leaseUntil, lane, at.node, fence) === 1;
  }

  /** Ends the node's lease; any other is left alone. */
  end(lease: LaneLease, at: Stamp): void {
    const row = this.#find(lease.lane);
    if (row !== null && row[0] === at.node && row[1] === lease.fence) this.void(lease);
  }

  /** Ends a lease for good: even its holder cannot extend it. A lease granted anew is left alone. */
  void({ lane, fence }: LaneLease): void {
    this.#sql.void.run(lane, fence);
    this.#seen.delete(lane);
  }

  /** No lease ends later than this. */
  shorten(leaseUntil: number): void {
    this.#sql.shorten.run(leaseUntil, leaseUntil, leaseUntil);
    this.#seen.clear();
  }

  /** Ends every lease of every node. */
  endAll(): void {
    this.#sql.endAll.run();
    this.#seen.clear();
  }

  /** A delivery waits in a lane, or comes due earlier: discovery must find it then. */
  expect(lane: string, dueAt: number): void {
    const [, , leaseUntil, lookAt] = this.#find(lane) ?? [null, 0, 0, null];
    const free = Math.max(leaseUntil, dueAt);
    // Writes nothing if discovery looks early enough anyway, as at every lane that is held and busy.
    if (lookAt !== null && lookAt <= free) return;
    this.#sql.lookAt.run(free, lane);
    this.#seen.delete(lane);
  }

  /**
   * At most `limit` lanes that nobody holds and that have due deliveries, none of `except`, which names lanes and
   * relays. The cost depends on the number of candidate lanes, not of all lanes or deliveries. The depths must be
   * flushed.
   */
  due(limit: number, now: number, except: ReadonlySet<string>): string[] {
    if (limit === 0) return [];
    const found: string[] = [];
    for (const [lane, leaseUntil, firstDue] of this.#sql.toLookAt.all(now, limit + MAX_LOOKS)) {
      if (except.has(lane) || except.has(relayOfLane(lane))) continue;
      const free = firstDue === null ? null : Math.max(leaseUntil, firstDue);
      if (free !== null && free <= now) found.push(lane);
      else this.#sql.lookAt.run(free, lane);
      if (found.length === limit) break;
    }
    this.#seen.clear();
    return found;
  }

  /** Removes the rows of free and empty lanes. The depths must be flushed. */
  prune(now: number): void {
    this.#sql.prune.run(now);
    this.#seen.clear();
  }

  /** Drops the cache; called when a transaction ends. */
  forget(): void {
    this.#seen.clear();
  }

  #find(lane: string): LeaseRow | null {
    const seen = this.#seen.get(lane);
    if (seen !== undefined) return seen;
    const row = this.#sql.find.get(lane) ?? null;
    this.#seen.set(lane, row);
    return row;
  }
}

function prepareLeases(db: Driver) {
  return {
    find: db.prepare<[lane: string], LeaseRow>(
      'SELECT node, fence, lease_until, look_at FROM lanes WHERE lane = ?',
    ),
    nextFence: db.prepare<[], [fence: number]>('UPDATE fences SET last = last + 1 RETURNING last'),
    grant: db.prepare<[lane: string, node: string, fence: number, leaseUntil: number, lookAt: number]>(
      `INSERT INTO lanes (lane, node, fence, lease_until, look_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET node = excluded.node, fence = excluded.fence, lease_until = excluded.lease_until,
         look_at = excluded.look_at`,
    ),
    extend: db.prepare<
      [leaseUntil: number, earlier: number, lookAt: number, lane: string, node: string, fence: number]
    >(
      `UPDATE lanes SET lease_until = ?, look_at = CASE WHEN ? < lease_until THEN ? ELSE look_at END
       WHERE lane = ? AND node = ? AND fence = ?`,
    ),
    void: db.prepare<[lane: string, fence: number]>(
      'UPDATE lanes SET node = NULL, lease_until = 0, look_at = 0 WHERE lane = ? AND fence = ?',
    ),
    shorten: db.prepare<[lookAt: number, leaseUntil: number, later: number]>(
      'UPDATE lanes SET look_at = ?, lease_until = ? WHERE lease_until > ?',
    ),
    endAll: db.prepare('UPDATE lanes SET node = NULL, lease_until = 0, look_at = 0 WHERE node IS NOT NULL'),
    toLookAt: db.prepare<
      [now: number, limit: number],
      [lane: string, leaseUntil: number, firstDue: number | null]
    >(
      `SELECT lane, lease_until, first_due FROM lanes INDEXED BY lanes_to_look_at
       WHERE look_at IS NOT NULL AND look_at <= (SELECT ?) ORDER BY look_at LIMIT (SELECT ?)`,
    ),
    lookAt: db.prepare<[lookAt: number | null, lane: string]>('UPDATE lanes SET look_at = ? WHERE lane = ?'),
    prune: db.prepare<[now: number]>(
      'DELETE FROM lanes WHERE lease_until <= ? AND waiting = 0 AND processing = 0',
    ),
  };
}

/** Builds the lookup of when a lane's first waiting delivery comes due (wall ms); null if none waits. */
export function firstDueOf(db: Driver): (lane: string) => number | null {
  const byRank = db.prepare<[lane: string, rank: number], [dueAt: number]>(
    `SELECT due_at FROM deliveries INDEXED BY deliveries_waiting
     WHERE lane = (SELECT ?) AND priority = (SELECT ?) AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  );
  return (lane) => {
    let first: number | null = null;
    for (const rank of ranksOf('high_first')) {
      const dueAt = byRank.get(lane, rank)?.[0];
      if (dueAt !== undefined && (first === null || dueAt < first)) first = dueAt;
    }
    return first;
  };
}
