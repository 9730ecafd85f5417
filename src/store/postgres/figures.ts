import type { Queries } from '../../postgres/database.ts';
import { type CountedEvent, dayOf, type GaugeName, minuteOf, RECENT_MINUTES } from '../counting.ts';
import { countsOf } from '../periods.ts';
import type { CountRange, Figures, LaneDepth } from '../views.ts';
import { FIRST_DUE } from './lanes.ts';

/** The view `figures`: counters and gauges read as they are, nothing counted. */
export async function figures(db: Queries, now: number): Promise<Figures> {
  const today = await sums(db, 'day', dayOf(now));
  const recent = await sums(db, 'minute', minuteOf(now) - RECENT_MINUTES + 1);
  const gauges = await db.rows<{ name: string; value: number }>('SELECT name, value FROM gauges');
  const values = new Map(gauges.map(({ name, value }) => [name, value]));
  const gauge = (name: GaugeName) => values.get(name) ?? 0;
  const [oldest] = await db.rows<{ dueAt: number | null }>(OLDEST_DUE);
  const [size] = await db.rows<{ bytes: number }>(SIZE);
  const dueAt = oldest?.dueAt ?? null;
  return {
    today: {
      received: today('received'),
      delivered: today('delivered'),
      failed: today('failed'),
      retried: today('retried'),
      denied: today('denied'),
    },
    last5m: { received: recent('received'), sent: recent('delivered') },
    spool: { incoming: gauge('incoming'), processing: gauge('processing'), failed: gauge('failed_kept') },
    relays: await relays(db, dayOf(now)),
    queuedBytes: gauge('queued_bytes'),
    sentBytes: gauge('sent_bytes'),
    capturedBytes: gauge('captured_bytes'),
    oldestDueAt: dueAt !== null && dueAt <= now ? dueAt : null,
    possibleDuplicates: gauge('possible_duplicates'),
    restored: gauge('restored'),
    databaseBytes: size?.bytes ?? 0,
  };
}

/** The view `counts`: every period has its counters. */
export async function counts(
  db: Pick<Queries, 'rows'>,
  range: CountRange,
): Promise<ReadonlyMap<CountedEvent, readonly number[]>> {
  const { period, from, count, relay } = range;
  const rows = await db.rows<{ start: number; event: CountedEvent; count: number }>(COUNTS, [
    ...[period, from, from + count],
    relay ?? '',
  ]);
  return countsOf(
    rows.map(({ start, event, count }) => [start, event, count]),
    range,
  );
}

/** The view `lanes`. Costs by the number of lanes, not of deliveries. */
export function lanes(db: Pick<Queries, 'rows'>, relay: string | null, limit: number): Promise<LaneDepth[]> {
  return relay === null
    ? db.rows<LaneDepth>(`${DEPTHS} ${FULLEST}`, [limit])
    : db.rows<LaneDepth>(`${DEPTHS} AND (lane = $2 OR starts_with(lane, $2 || '/')) ${FULLEST}`, [
        limit,
        relay,
      ]);
}

async function sums(
  db: Queries,
  period: 'day' | 'minute',
  since: number,
): Promise<(event: CountedEvent) => number> {
  const rows = await db.rows<{ event: string; count: number }>(SUMS, [period, since]);
  const counts = new Map(rows.map(({ event, count }) => [event, count]));
  return (event) => counts.get(event) ?? 0;
}

async function relays(db: Queries, day: number): Promise<Figures['relays']> {
  const found: Record<string, { delivered: number; failed: number }> = {};
  for (const { relay, event, count } of await db.rows<{ relay: string; event: string; count: number }>(
    RELAYS,
    [day],
  )) {
    const figure = found[relay] ?? { delivered: 0, failed: 0 };
    found[relay] = figure;
    figure[event === 'relay_delivered' ? 'delivered' : 'failed'] += count;
  }
  return found;
}

const SUMS = `SELECT event, sum(count)::bigint AS count FROM counters
  WHERE period = $1 AND start >= $2 GROUP BY event`;
const COUNTS = `SELECT start, event, sum(count)::bigint AS count FROM counters
  WHERE period = $1 AND start >= $2 AND start < $3 AND relay = $4 GROUP BY start, event`;
const RELAYS = `SELECT relay, event, sum(count)::bigint AS count FROM counters
  WHERE period = 'day' AND start >= $1 AND relay <> '' GROUP BY relay, event`;
const OLDEST_DUE = `SELECT min(${FIRST_DUE}) AS "dueAt" FROM depths WHERE waiting > 0`;
const SIZE = 'SELECT pg_database_size(current_database()) AS bytes';
const DEPTHS = `SELECT lane, waiting, processing, ${FIRST_DUE} AS "oldestDueAt" FROM depths
  WHERE waiting + processing > 0`;
const FULLEST = 'ORDER BY waiting + processing DESC, lane LIMIT $1';
