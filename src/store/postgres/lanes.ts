import type { LaneLease } from '../../domain/lane.ts';
import type { Queries } from '../../postgres/database.ts';
import type { Stamp } from '../store.ts';

interface LeaseRow {
  readonly lane: string;
  readonly node: string | null;
  readonly fence: number;
  readonly leaseUntil: number;
}

/**
 * Lane leases, valid until the transaction ends: leases are locked before they are read, all that a transaction needs
 * at once, before anything else, and in the order of the lanes.
 */
export class Lanes {
  readonly #db: Queries;
  readonly #locked = new Map<string, LeaseRow>();

  constructor(db: Queries) {
    this.#db = db;
  }

  /** Locks leases: `SHARE` to rely on them, `UPDATE` to change them or to work on the lanes alone. */
  async lock(lanes: Iterable<string>, strength: 'SHARE' | 'UPDATE'): Promise<void> {
    const names = [...new Set(lanes)];
    if (names.length === 0) return;
    const rows = await this.#db.rows<LeaseRow>(strength === 'SHARE' ? LOCK_SHARED : LOCK, [names]);
    for (const row of rows) this.#locked.set(row.lane, row);
  }

  /** Whether the node of the stamp holds the lane under this fence. The lane must be locked. */
  holds({ lane, fence }: LaneLease, at: Stamp): boolean {
    const row = this.#locked.get(lane);
    return row?.node === at.node && row.fence === fence && row.leaseUntil > at.now;
  }

  /** Whether anyone holds the lane under this fence. The lane must be locked. */
  isLive({ lane, fence }: LaneLease, now: number): boolean {
    const row = this.#locked.get(lane);
    return row?.fence === fence && row.leaseUntil > now;
  }

  /** Whether the lane was last granted to this node, under this fence, and not ended since. It must be locked. */
  isOf({ lane, fence }: LaneLease, node: string): boolean {
    const row = this.#locked.get(lane);
    return row?.node === node && row.fence === fence;
  }

  /** Grants lanes that nobody holds to the node of the stamp, each under a fence higher than any before. */
  async grant(lanes: Iterable<string>, leaseUntil: number, at: Stamp): Promise<LaneLease[]> {
    const names = [...new Set(lanes)];
    if (names.length === 0) return [];
    // Only rows can be locked. The fence is drawn after locking, so that it is higher than the last holder's.
    await this.#db.run(MAKE, [names]);
    await this.lock(names, 'UPDATE');
    return this.#db.rows<LaneLease>(GRANT, [names, at.node, leaseUntil, at.now]);
  }

  /** Sets the end of locked leases. */
  async extend(lanes: readonly string[], leaseUntil: number): Promise<void> {
    if (lanes.length > 0)
      await this.#db.run('UPDATE lanes SET lease_until = $2 WHERE lane = ANY($1::text[])', [
        lanes,
        leaseUntil,
      ]);
  }

  /**
   * Ends leases for good: even their holders cannot extend them. Leases granted anew are left alone. The lanes must be
   * locked.
   */
  async end(leases: readonly LaneLease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.#db.run(END, [leases.map(({ lane }) => lane), leases.map(({ fence }) => fence)]);
  }

  /** No lease ends later than this. What others are working on is left for the next time. */
  async shorten(leaseUntil: number): Promise<void> {
    await this.#db.run(SHORTEN, [leaseUntil]);
  }

  /** Ends every lease of every node. */
  async endAll(): Promise<void> {
    const held = await this.#db.rows<{ lane: string }>('SELECT lane FROM lanes WHERE node IS NOT NULL');
    await this.lock(
      held.map(({ lane }) => lane),
      'UPDATE',
    );
    await this.end([...this.#locked.values()]);
    this.#locked.clear();
  }

  /**
   * At most `limit` lanes that nobody holds and that have due deliveries, none of `except`, which names lanes and
   * relays. The cost depends on the number of lanes.
   */
  async due(limit: number, now: number, except: readonly string[]): Promise<string[]> {
    if (limit === 0) return [];
    const rows = await this.#db.rows<{ lane: string }>(DUE, [now, limit, except]);
    return rows.map(({ lane }) => lane);
  }

  /** Removes the rows of free and empty lanes; skips what others are working on until the next time. */
  async prune(now: number): Promise<void> {
    await this.#db.run(PRUNE_LEASES, [now]);
    await this.#db.run(PRUNE_DEPTHS);
  }
}

const LEASE = 'lane, node, fence, lease_until AS "leaseUntil"';
const LOCK = `SELECT ${LEASE} FROM lanes WHERE lane = ANY($1::text[]) ORDER BY lane FOR UPDATE`;
const LOCK_SHARED = `SELECT ${LEASE} FROM lanes WHERE lane = ANY($1::text[]) ORDER BY lane FOR SHARE`;

const MAKE = `INSERT INTO lanes (lane, fence, lease_until)
  SELECT lane, 0, 0 FROM unnest($1::text[]) AS lane ORDER BY lane COLLATE "C" ON CONFLICT DO NOTHING`;

const GRANT = `UPDATE lanes SET node = $2, fence = nextval('lane_fences'), lease_until = $3
  WHERE lane = ANY($1::text[]) AND lease_until <= $4 RETURNING lane, fence`;

const END = `UPDATE lanes SET node = NULL, lease_until = 0 FROM unnest($1::text[], $2::bigint[]) AS ended (lane, fence)
  WHERE lanes.lane = ended.lane AND lanes.fence = ended.fence`;

const SHORTEN = `UPDATE lanes SET lease_until = $1 WHERE lane IN (
  SELECT lane FROM lanes WHERE lease_until > $1 ORDER BY lane FOR UPDATE SKIP LOCKED)`;

/**
 * When the first waiting delivery of `depths.lane` is due: the least of each priority's first by the index. A plain
 * minimum would give the same, but a plan made while little waited reads all that waits for it.
 */
export const FIRST_DUE = `least(${[0, 1, 2]
  .map(
    (rank) => `(SELECT due_at FROM deliveries
      WHERE deliveries.lane = depths.lane AND priority = ${rank} AND state IN ('queued', 'retrying')
      ORDER BY due_at LIMIT 1)`,
  )
  .join(', ')})`;

const DUE = `SELECT lane FROM depths
  WHERE waiting > 0 AND ${FIRST_DUE} <= $1
    AND NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.lane = depths.lane AND lease_until > $1)
    AND NOT EXISTS (SELECT 1 FROM unnest($3::text[]) AS avoided (name) WHERE name = depths.lane)
    AND NOT EXISTS (SELECT 1 FROM unnest($3::text[]) AS avoided (name) WHERE name = split_part(depths.lane, '/', 1))
  LIMIT $2`;

const PRUNE_LEASES = `DELETE FROM lanes WHERE lane IN (
  SELECT lane FROM lanes WHERE lease_until <= $1
    AND NOT EXISTS (SELECT 1 FROM depths WHERE depths.lane = lanes.lane AND waiting + processing > 0)
  FOR UPDATE SKIP LOCKED)`;

const PRUNE_DEPTHS = `DELETE FROM depths WHERE lane IN (
  SELECT lane FROM depths WHERE waiting = 0 AND processing = 0 FOR UPDATE SKIP LOCKED)`;
