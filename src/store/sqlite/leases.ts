import type { LaneLease } from '../../domain/lane.ts';
import type { Stamp } from '../store.ts';
import type { Driver } from './driver.ts';

type LeaseRow = [node: string | null, fence: number, leaseUntil: number];

/**
 * Who may work which lane. Leases read in a transaction are remembered until it ends, so that a batch pays one
 * look-up per lane.
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
    this.#sql.grant.run(lane, at.node, fence, leaseUntil);
    this.#seen.delete(lane);
    return { lane, fence };
  }

  /**
   * Extends the node's lease, also one that has lapsed if nobody has taken the lane or its deliveries since: a
   * clock that jumped ends nothing. False: it is not the node's any more.
   */
  extend(lease: LaneLease, leaseUntil: number, at: Stamp): boolean {
    if (!this.#isOf(lease, at.node)) return false;
    this.#sql.setUntil.run(leaseUntil, lease.lane);
    this.#seen.delete(lease.lane);
    return true;
  }

  /** Ends the node's lease; any other is left alone. */
  end(lease: LaneLease, at: Stamp): void {
    if (this.#isOf(lease, at.node)) this.void(lease);
  }

  /** Ends a lease for good: even its holder cannot extend it. One that was granted anew is left alone. */
  void({ lane, fence }: LaneLease): void {
    this.#sql.void.run(lane, fence);
    this.#seen.delete(lane);
  }

  /** Ends every lease of every node. */
  endAll(): void {
    this.#sql.endAll.run();
    this.#seen.clear();
  }

  /** At most `limit` lanes that nobody holds and that have deliveries due. Costs by the number of lanes. */
  due(limit: number, now: number): string[] {
    return this.#sql.due.all(now, now, limit).map(([lane]) => lane);
  }

  /** Removes the rows of lanes that are free and empty. The depths must be flushed. */
  prune(now: number): void {
    this.#sql.prune.run(now);
    this.#seen.clear();
  }

  /** Forgets what was read; called when a transaction ends. */
  forget(): void {
    this.#seen.clear();
  }

  /** Whether the lane was last granted to this node, under this fence, and not ended since. */
  #isOf({ lane, fence }: LaneLease, node: string): boolean {
    const row = this.#find(lane);
    return row !== null && row[0] === node && row[1] === fence;
  }

  #find(lane: string): LeaseRow | null {
    const seen = this.#seen.get(lane);
    if (seen !== undefined) return seen;
    const row = this.#sql.find.get(lane) ?? null;
    this.#seen.set(lane, row);
    return row;
  }
}

/** Lanes with waiting mail, by jumping from each lane's first entry in the index to the next lane's. */
export const WAITING_LANES = `
  WITH RECURSIVE waiting (lane) AS (
    SELECT (SELECT lane FROM deliveries INDEXED BY deliveries_waiting
            WHERE state IN ('queued', 'retrying') AND lane > '' ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT lane FROM deliveries INDEXED BY deliveries_waiting
            WHERE state IN ('queued', 'retrying') AND lane > waiting.lane ORDER BY lane LIMIT 1)
    FROM waiting WHERE lane IS NOT NULL
  ), ranks (priority) AS (VALUES (0), (1), (2))`;

function prepareLeases(db: Driver) {
  return {
    find: db.prepare<[lane: string], LeaseRow>('SELECT node, fence, lease_until FROM lanes WHERE lane = ?'),
    nextFence: db.prepare<[], [fence: number]>('UPDATE fences SET last = last + 1 RETURNING last'),
    grant: db.prepare<[lane: string, node: string, fence: number, leaseUntil: number]>(
      `INSERT INTO lanes (lane, node, fence, lease_until) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET node = excluded.node, fence = excluded.fence, lease_until = excluded.lease_until`,
    ),
    setUntil: db.prepare<[leaseUntil: number, lane: string]>(
      'UPDATE lanes SET lease_until = ? WHERE lane = ?',
    ),
    void: db.prepare<[lane: string, fence: number]>(
      'UPDATE lanes SET node = NULL, lease_until = 0 WHERE lane = ? AND fence = ?',
    ),
    endAll: db.prepare('UPDATE lanes SET node = NULL, lease_until = 0 WHERE node IS NOT NULL'),
    due: db.prepare<[now: number, now: number, limit: number], [lane: string]>(
      `${WAITING_LANES}
       SELECT lane FROM waiting
       WHERE lane IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.lane = waiting.lane AND lease_until > ?)
         AND EXISTS (
           SELECT 1 FROM ranks JOIN deliveries INDEXED BY deliveries_waiting
             ON deliveries.priority = ranks.priority AND deliveries.lane = waiting.lane
           WHERE state IN ('queued', 'retrying') AND due_at <= ?)
       LIMIT ?`,
    ),
    prune: db.prepare<[now: number]>(
      'DELETE FROM lanes WHERE lease_until <= ? AND waiting = 0 AND processing = 0',
    ),
  };
}
