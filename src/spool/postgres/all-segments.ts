import type { Clock } from '../../lib/clock.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { FORGOTTEN_MS } from '../../store/cluster.ts';
import { SEGMENT_MS } from './active-segment.ts';

/** What the upkeep of all segments needs. */
export interface AllSegmentsOptions {
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
}

/**
 * How long after it was opened a segment of an unknown node counts as abandoned, in ms: a process that reports nothing
 * to the others, such as the command line, has ended by then.
 */
const ABANDONED_MS = FORGOTTEN_MS + SEGMENT_MS;
/**
 * How long after a segment was dropped its contents are removed, in ms: by then its readers have finished, and an
 * unknown transaction that referred to it has been seen.
 */
export const LINGER_MS = 10 * 60_000;
/** How long nothing can refer to a dropped segment, in ms: a process may have stalled that long. */
const REMEMBERED_MS = 30 * 86_400_000;
/** Most rows that one transaction removes: 128 MiB. */
const ROWS = 500;
/** Segments emptied at once: a few seconds of work. The rest stays idle for the next time or another node. */
export const EMPTIED_AT_ONCE = 32;
/** Segments of dead nodes that one transaction seals. */
const SEALED_AT_ONCE = 10;

/** The segments of all nodes. Times are wall ms; errors are the store's. */
export class AllSegments {
  readonly #options: AllSegmentsOptions;

  constructor(options: AllSegmentsOptions) {
    this.#options = options;
  }

  /**
   * Segments that nobody writes to because their node is gone, and those that any node dropped {@link LINGER_MS} ago
   * and that still exist.
   */
  async idle(): Promise<number[]> {
    const { database, node, clock } = this.#options;
    const now = clock.wall();
    const abandoned = [node, now - ABANDONED_MS, now - FORGOTTEN_MS];
    await database.transact(async (db) => {
      await db.run(SEAL_ABANDONED, [...abandoned, SEALED_AT_ONCE]);
      await db.run(FORGET, [now - REMEMBERED_MS]);
    });
    const rows = await database.rows<{ segment: number }>(IDLE, [...abandoned, now - LINGER_MS]);
    return rows.map(({ segment }) => segment);
  }

  /** The length of each sealed segment, in bytes; one whose contents are gone is left out. */
  async sizes(segments: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.#options.database.rows<{ segment: number; bytes: number }>(SIZES, [segments]);
    return new Map(rows.map(({ segment, bytes }) => [segment, bytes]));
  }

  /**
   * Lets nothing refer to these segments from now on, and removes the contents of those dropped long enough ago, at
   * most {@link EMPTIED_AT_ONCE}. Skips those that another node is removing.
   */
  async unlink(segments: readonly number[]): Promise<void> {
    const { database, clock } = this.#options;
    const now = clock.wall();
    await database.transact((db) => db.run(DROP, [segments, now]));
    const rows = await database.rows<{ segment: number }>(DROPPED, [
      segments,
      now - LINGER_MS,
      EMPTIED_AT_ONCE,
    ]);
    for (const { segment } of rows) await this.#empty(segment);
  }

  async #empty(segment: number): Promise<void> {
    let after: number | null = -1;
    while (after !== null) {
      const from: number = after;
      after = await this.#options.database.transact((db) => emptySome(db, segment, from));
    }
  }
}

/** Removes some of a segment's rows, from an offset on. Returns the offset to continue with; null: nothing is left. */
async function emptySome(db: Queries, segment: number, from: number): Promise<number | null> {
  const [held] = await db.rows(HOLD, [segment]);
  if (held === undefined) return null;
  const removed = await db.rows<{ offset: number }>(REMOVE, [segment, from, ROWS]);
  if (removed.length === ROWS) return removed.reduce((last, { offset }) => Math.max(last, offset), from);
  await db.run('UPDATE spool_segments SET emptied = true WHERE segment = $1', [segment]);
  return null;
}

const ABANDONED = `s.node <> $1 AND s.opened_at < $2
  AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = s.node AND nodes.last_seen_at >= $3)`;

const SEAL_ABANDONED = `UPDATE spool_segments AS sealed
  SET bytes = (SELECT coalesce(sum(octet_length(bytes) + coalesce(octet_length(header), 0)), 0)
    FROM contents WHERE contents.segment = sealed.segment)
  WHERE segment IN (SELECT segment FROM spool_segments AS s
    WHERE bytes IS NULL AND ${ABANDONED} ORDER BY segment LIMIT $4 FOR UPDATE SKIP LOCKED)`;

const FORGET = 'DELETE FROM spool_segments WHERE emptied AND dropped_at < $1';

const IDLE = `SELECT segment FROM spool_segments AS s
  WHERE bytes IS NOT NULL AND NOT emptied
    AND (dropped_at <= $4 OR dropped_at IS NULL AND ${ABANDONED})
  ORDER BY segment`;

const SIZES = `SELECT segment, bytes FROM spool_segments
  WHERE segment = ANY($1::bigint[]) AND bytes IS NOT NULL AND NOT emptied`;

const DROP = `UPDATE spool_segments SET dropped_at = $2 WHERE segment IN (
  SELECT segment FROM spool_segments WHERE segment = ANY($1::bigint[]) AND dropped_at IS NULL
  ORDER BY segment FOR UPDATE SKIP LOCKED)`;

const DROPPED = `SELECT segment FROM spool_segments
  WHERE segment = ANY($1::bigint[]) AND dropped_at <= $2 AND NOT emptied
  ORDER BY segment LIMIT $3`;

const HOLD = 'SELECT 1 FROM spool_segments WHERE segment = $1 AND NOT emptied FOR UPDATE SKIP LOCKED';

const REMOVE = `DELETE FROM contents WHERE (segment, "offset", piece) IN (
  SELECT segment, "offset", piece FROM contents WHERE segment = $1 AND "offset" >= $2
  ORDER BY segment, "offset", piece LIMIT $3) RETURNING "offset"`;
