import type { Queries, SqlValue } from '../../postgres/database.ts';
import {
  type CountedEvent,
  dayOfMinute,
  type GaugeName,
  hourOfMinute,
  minuteOf,
  type Period,
} from '../counting.ts';
import type { Stamp } from '../store.ts';

/** A lane's depth, or a change of it. */
interface Depth {
  waiting: number;
  processing: number;
}

/** References to a segment, or a change of them. */
interface SegmentUse {
  live: number;
  bytes: number;
}

/** The bytes in everyone's queue. */
const EVERYONES: GaugeName = 'queued_bytes';

/**
 * Sums what a transaction adds to gauges, queues of keys, depths, segments and counters, so that each row is written
 * once. Their rows are the last that a transaction locks, in this order and each kind in the order of its names, except
 * that everyone's queue comes first: two transactions that change the same figures wait for each other, but never
 * deadlock. Where queues are limited, some keys' rows are locked before it is known which others change. That cannot
 * deadlock either, since whoever changes a key's row holds everyone's.
 */
export class Tallies {
  readonly #keys = new Map<string, number>();
  readonly #gauges = new Map<GaugeName, number>();
  readonly #depths = new Map<string, Depth>();
  readonly #segments = new Map<number, SegmentUse>();
  /** By minute, node, event and relay, as JSON. */
  readonly #counts = new Map<string, number>();

  /** A message of `bytes` starts (1) or stops (-1) being one that is not final; null for no key. */
  queue(keyId: string | null, messages: 1 | -1, bytes: number): void {
    this.gauge('queued_bytes', messages * bytes);
    if (keyId !== null) this.#keys.set(keyId, (this.#keys.get(keyId) ?? 0) + messages);
  }

  /** Changes a gauge. */
  gauge(name: GaugeName, difference: number): void {
    this.#gauges.set(name, (this.#gauges.get(name) ?? 0) + difference);
  }

  /** Changes a lane's depth; null is no lane. */
  lane(lane: string | null, waiting: number, processing: number): void {
    if (lane === null) return;
    const depth = this.#depths.get(lane) ?? { waiting: 0, processing: 0 };
    depth.waiting += waiting;
    depth.processing += processing;
    this.#depths.set(lane, depth);
  }

  /** Adds references to a segment, or removes them (negative). */
  segment(segment: number, live: number, bytes: number): void {
    const use = this.#segments.get(segment) ?? { live: 0, bytes: 0 };
    use.live += live;
    use.bytes += bytes;
    this.#segments.set(segment, use);
  }

  /** Counts an event at the stamp's day and minute. */
  count(event: CountedEvent, at: Stamp, count = 1, relay = ''): void {
    add(this.#counts, JSON.stringify([minuteOf(at.now), at.node, event, relay]), count);
  }

  /** Writes the sums: the last step before the commit. */
  write(db: Queries): void {
    const keys = sorted(this.#keys).filter(([, messages]) => messages !== 0);
    const everyones = this.#gauges.get(EVERYONES) ?? 0;
    const others = sorted(this.#gauges).filter(([name, value]) => name !== EVERYONES && value !== 0);
    const movesQueues = keys.length > 0 || everyones !== 0;
    upsert(db, WRITE_GAUGES, movesQueues ? [[EVERYONES, everyones], ...others] : others);
    upsert(db, WRITE_KEYS, keys);
    const depths = sorted(this.#depths).map(([lane, { waiting, processing }]) => [lane, waiting, processing]);
    upsert(
      db,
      WRITE_DEPTHS,
      depths.filter(([, ...moved]) => moved.some(isMove)),
    );
    const segments = sorted(this.#segments).map(([segment, { live, bytes }]) => [segment, live, bytes]);
    upsert(
      db,
      WRITE_SEGMENTS,
      segments.filter(([, ...moved]) => moved.some(isMove)),
    );
    upsert(db, WRITE_COUNTS, this.#counters());
  }

  #counters(): SqlValue[][] {
    const sums = new Map<string, number>();
    for (const [name, count] of this.#counts) {
      const [minute, ...what] = JSON.parse(name) as [number, string, string, string];
      for (const [period, startOf] of PERIODS)
        add(sums, JSON.stringify([period, startOf(minute), ...what]), count);
    }
    return sorted(sums).map(([name, count]) => [...(JSON.parse(name) as SqlValue[]), count]);
  }
}

const PERIODS: readonly (readonly [Period, (minute: number) => number])[] = [
  ['day', dayOfMinute],
  ['hour', hourOfMinute],
  ['minute', (minute) => minute],
];

function add(sums: Map<string, number>, name: string, count: number): void {
  sums.set(name, (sums.get(name) ?? 0) + count);
}

function isMove(value: SqlValue): boolean {
  return value !== 0;
}

/** In the order of the names, which is the same for everybody. */
function sorted<K extends string | number, V>(sums: ReadonlyMap<K, V>): [K, V][] {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Passes the rows to a statement column by column. */
function upsert(db: Queries, sql: string, rows: readonly (readonly SqlValue[])[]): void {
  const [first] = rows;
  if (first === undefined) return;
  db.send(
    sql,
    first.map((_, column) => rows.map((row) => row[column] ?? null)),
  );
}

const WRITE_KEYS = `INSERT INTO key_queues (key_id, messages) SELECT * FROM unnest($1::text[], $2::bigint[])
  ON CONFLICT (key_id) DO UPDATE SET messages = key_queues.messages + excluded.messages`;

const WRITE_GAUGES = `INSERT INTO gauges (name, value) SELECT * FROM unnest($1::text[], $2::bigint[])
  ON CONFLICT (name) DO UPDATE SET value = gauges.value + excluded.value`;

const WRITE_DEPTHS = `INSERT INTO depths (lane, waiting, processing)
  SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[])
  ON CONFLICT (lane) DO UPDATE
  SET waiting = depths.waiting + excluded.waiting, processing = depths.processing + excluded.processing`;

/**
 * Nothing may refer to dropped contents: a process that stalled so long that others took it for dead is refused, by a
 * null in a NOT NULL column.
 */
const WRITE_SEGMENTS = `INSERT INTO segments (segment, live, bytes)
  SELECT segment, CASE WHEN live > 0 AND EXISTS (SELECT 1 FROM spool_segments AS spool
    WHERE spool.segment = moved.segment AND spool.dropped_at IS NOT NULL) THEN NULL ELSE live END, bytes
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS moved (segment, live, bytes)
  ON CONFLICT (segment) DO UPDATE
  SET live = segments.live + excluded.live, bytes = segments.bytes + excluded.bytes`;

const WRITE_COUNTS = `INSERT INTO counters (period, start, node, event, relay, count)
  SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::bigint[])
  ON CONFLICT (period, start, node, event, relay) DO UPDATE SET count = counters.count + excluded.count`;
