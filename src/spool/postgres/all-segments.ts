import type { Clock } from '../../lib/clock.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { FORGOTTEN_MS } from '../../store/cluster.ts';
import { SEGMENT_MS } from './active-segment.ts';

/** What looking after all segments takes. */
export interface AllSegmentsOptions {
  readonly database: Database;
  readonly node: string;
  readonly clock: Clock;
}

/**
 * What belongs to no node that is known is taken for abandoned so long after it was opened, in ms: whoever tells the others
 * nothing of itself, as the command line, is not at it any more.
 */
const ABANDONED_MS = FORGOTTEN_MS + SEGMENT_MS;
/**
 * So long after a segment was dropped, in ms, its contents go: whoever reads in it has come to the end, and a transaction
 * that referred to it, of which nobody knew yet, has been seen.
 */
export const LINGER_MS = 10 * 60_000;
/** For so long, in ms, nothing can refer to a segment that is gone: a process may have been stopped for that time. */
const REMEMBERED_MS = 30 * 86_400_000;
/** Rows that one transaction removes: at most 128 MiB. */
const ROWS = 500;
/** Segments that are emptied at once: a few seconds' work. What is left stays idle, for the next time or another node. */
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
   * Those that nobody writes to any more because their node is gone, and those that were dropped by whomever {@link LINGER_MS}
   * ago and are still there.
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

  /** How long each sealed segment is, in bytes; one whose contents are gone is left out. */
  async sizes(segments: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.#options.database.rows<{ segment: number; bytes: number }>(SIZES, [segments]);
    return new Map(rows.map(({ segment, bytes }) => [segment, bytes]));
  }

  /**
   * Lets nothing refer to segments from now on, and removes the contents of those that were dropped long enough ago, of
   * {@link EMPTIED_AT_ONCE} at most. What another is at is left to it.
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

/** Removes some of a segment's rows, those from an offset on. The offset to go on with; null: nothing is left to do. */
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
