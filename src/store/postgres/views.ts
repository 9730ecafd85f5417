import type { Bounce } from '../../domain/aftermath.ts';
import type { Attempt, AttemptResult, Evidence } from '../../domain/attempt.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson, groupOf, priorityOf } from '../columns.ts';
import { type CountedEvent, dayOf, type GaugeName, minuteOf, RECENT_MINUTES } from '../counting.ts';
import { countsOf } from '../periods.ts';
import { feedbackAbout, feedbackOf } from '../plain/feedback.ts';
import { traffic } from '../plain/traffic.ts';
import { unsubscribeLinkOf } from '../plain/unsubscribe-links.ts';
import {
  type AttemptPage,
  type AttemptRange,
  type CountRange,
  type Figures,
  type LaneDepth,
  MAX_EVIDENCE_BYTES,
  MAX_WAITING_CHARACTERS,
  type MessageDetail,
  type RecipientAftermath,
  type Remembered,
  type Views,
  type WaitingDelivery,
  type WaitingPage,
  type WaitingQuery,
} from '../views.ts';
import { eventsView } from './events.ts';
import { FIRST_DUE } from './lanes.ts';
import { Lists } from './list.ts';
import { done, readOnly } from './plain.ts';
import { quotaUsed } from './quotas.ts';
import { readDetails, textLength } from './records.ts';
import { type ListLimits, Searches } from './search.ts';
import { ATTEMPTS, type AttemptRow } from './tables.ts';

/** The views over connections of their own: no reader waits for a writer. */
export function viewsOver(
  database: Database,
  limits: ListLimits,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): Views {
  const lists = new Lists(database, limits);
  const searches = new Searches(database, limits);
  return {
    message: (id) => message(database, id),
    messages: async (ids) => (await readDetails(database, ids)).map(({ message: record }) => record),
    list: (query) => lists.list(query),
    search: (query) => searches.search(query),
    countFound: (query) => searches.count(query),
    counts: (range) => counts(database, range),
    traffic: (query) => database.inSnapshot((db) => done(traffic(query), db)),
    attempts: (id, range) => attempts(database, id, range),
    remembered: async (keyId, key, now) => {
      const [first] = await database.rows<Remembered>(REMEMBERED, [keyId, key, now - IDEMPOTENCY_MS]);
      if (first === undefined) return null;
      // Callers rely on the answer, and another node may still be waiting for its flush.
      await database.flush();
      return first;
    },
    figures: (now) => database.inSnapshot((db) => figures(db, now)),
    lanes: (relay, limit) => lanes(database, relay, limit),
    quotaUsed: (day) => quotaUsed(database, day),
    waiting: (query) => database.inSnapshot((db) => waiting(db, query)),
    events: eventsView(database, clock),
    feedback: (id) => done(feedbackOf(id), readOnly(database)),
    feedbackAbout: (messageId) => done(feedbackAbout(messageId), readOnly(database)),
    unsubscribeLink: (messageId, index) => done(unsubscribeLinkOf(messageId, index), readOnly(database)),
    close: () => database.close(),
  };
}

async function message(database: Database, id: string): Promise<MessageDetail | null> {
  const [detail] = await readDetails(database, [id]);
  if (detail === undefined) return null;
  const { message, recipients, origin } = detail;
  const rows = await database.rows<AftermathRow>(AFTERMATH, [id]);
  const aftermath = rows.map(({ bounce, ...row }) => {
    return { ...row, bounce: bounce === null ? null : fromJson<Bounce>(bounce) };
  });
  return { message, recipients, origin, aftermath };
}

interface AftermathRow extends Omit<RecipientAftermath, 'bounce'> {
  readonly bounce: string | null;
}

const AFTERMATH = `SELECT idx AS index, confirmed_at AS "confirmedAt", bounce, complained_at AS "complainedAt",
  unsubscribed_at AS "unsubscribedAt", suppression FROM aftermath WHERE message = $1 ORDER BY idx`;

/** Reads no attempt whose evidence would no longer fit. */
async function attempts(
  database: Database,
  id: string,
  { after, limit }: AttemptRange,
): Promise<AttemptPage> {
  const rows = await database.rows<AttemptRow & { last: number }>(PAGE, [
    id,
    after,
    limit,
    MAX_EVIDENCE_BYTES,
  ]);
  const end = rows.at(-1);
  return {
    attempts: rows.map(attemptOf),
    next: end !== undefined && end.number < end.last ? end.number : null,
  };
}

function attemptOf({ startedAt, relay, evidence, results }: AttemptRow): Attempt {
  return {
    startedAt,
    relay,
    evidence: fromJson<Evidence>(evidence),
    results: fromJson<AttemptResult[]>(results),
  };
}

const REMEMBERED = 'SELECT id, hash FROM idempotency WHERE key_id = $1 AND idem_key = $2 AND created_at > $3';

// `earlier` is the size of the attempts before it on the page; a length is known without reading the text.
const PAGE = `SELECT ${ATTEMPTS.columns}, last FROM (
    SELECT message, number, messages.attempts AS last,
      sum(octet_length(evidence) + octet_length(results)) OVER (ORDER BY number)
        - octet_length(evidence) - octet_length(results) AS earlier
    FROM attempts JOIN messages ON messages.id = message
    WHERE message = $1 AND number > $2 ORDER BY number LIMIT $3) AS page
  JOIN attempts USING (message, number) WHERE message = $1 AND attempts.message = $1 AND earlier < $4 ORDER BY number`;

/** A waiting delivery as read, and its position in the order of the pages. */
interface WaitingRow extends Omit<WaitingDelivery, 'group' | 'tags' | 'priority'> {
  readonly group: string | null;
  readonly tags: string;
  readonly expiresAt: number;
  readonly priority: number;
}

/** Deliveries read at once: the page ends when it is large, and what was read beyond it is wasted. */
const PORTION = 100;

/**
 * The view `waiting`. It walks an index from the end of the last page, and reads little more than the page. Over all
 * lanes the order is one that only the verbs `requeue` and `reschedule` change.
 */
async function waiting(db: Queries, { lane, after, limit }: WaitingQuery): Promise<WaitingPage> {
  const deliveries: WaitingDelivery[] = [];
  let characters = 0;
  let place = after;
  for (;;) {
    const rows = await readAfter(db, lane, place, PORTION);
    for (const row of rows) {
      if (deliveries.length === limit || characters >= MAX_WAITING_CHARACTERS)
        return { deliveries, next: place };
      characters += textLength(row);
      deliveries.push(deliveryOf(row));
      place = placeOf(row, lane);
    }
    if (rows.length < PORTION) return { deliveries, next: null };
  }
}

function readAfter(
  db: Queries,
  lane: WaitingQuery['lane'],
  after: string | null,
  limit: number,
): Promise<WaitingRow[]> {
  const [first, second, message, index] = partsOf(after);
  if (lane === 'all') return db.rows<WaitingRow>(ALL, [limit, first, message, index]);
  const parameters = [limit, first, second, message, index];
  return lane === 'none'
    ? db.rows<WaitingRow>(OF_NONE, parameters)
    : db.rows<WaitingRow>(OF_LANE, [...parameters, lane.name]);
}

/** A position is the columns of the walked index: two numbers, the message, and the delivery's place in it. */
function placeOf(
  { expiresAt, priority, dueAt, messageId, index }: WaitingRow,
  lane: WaitingQuery['lane'],
): string {
  return lane === 'all'
    ? `${expiresAt} 0 ${messageId} ${index}`
    : `${priority} ${dueAt} ${messageId} ${index}`;
}

/** Reads a page's `next`; an invalid one starts anew. */
function partsOf(place: string | null): [first: number, second: number, message: string, index: number] {
  const [first, second, message, index] = (place ?? '').split(' ');
  const numbers = [first, second, index].map(Number);
  if (message === undefined || !numbers.every(Number.isSafeInteger)) return [-1, -1, '', -1];
  return [Number(first), Number(second), message, Number(index)];
}

function deliveryOf({ expiresAt: _, priority, ...row }: WaitingRow): WaitingDelivery {
  const { group, tags } = row;
  return { ...row, priority: priorityOf(priority), group: groupOf(group), tags: fromJson<string[]>(tags) };
}

const SELECT = `SELECT m.id AS "messageId", d.index, d.lane, d.relay, d.route_rule AS rule, d.route_group AS "group",
    d.due_at AS "dueAt", m.route_table AS "routeTable", d.address AS recipient, m.reverse_path AS "reversePath", m.tags,
    m.key_id AS "keyId", keys.name AS "keyName", m.source_address AS "sourceAddress", m.size_bytes AS "sizeBytes",
    m.test, m.created_at AS "createdAt", d.expires_at AS "expiresAt", d.priority
  FROM deliveries AS d JOIN messages AS m ON m.id = d.message LEFT JOIN keys ON keys.id = m.key_id
  WHERE d.state IN ('queued', 'retrying') AND m.kept IS NULL`;
const ALL = `${SELECT} AND (d.expires_at, d.message, d.index) > ($2, $3, $4)
  ORDER BY d.expires_at, d.message, d.index LIMIT $1`;
const IN_LANE = `AND (d.priority, d.due_at, d.message, d.index) > ($2, $3, $4, $5)
  ORDER BY d.priority, d.due_at, d.message, d.index LIMIT $1`;
const OF_NONE = `${SELECT} AND d.lane IS NULL ${IN_LANE}`;
const OF_LANE = `${SELECT} AND d.lane = $6 ${IN_LANE}`;

/** The view `figures`: reads counters and gauges as they are, and counts nothing. */
async function figures(db: Queries, now: number): Promise<Figures> {
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

/** The view `counts`: each period has counters of its own. */
async function counts(
  db: Pick<Queries, 'rows'>,
  range: CountRange,
): Promise<ReadonlyMap<CountedEvent, readonly number[]>> {
  const { period, from, count, relay } = range;
  const rows = await db.rows<{ start: number; event: CountedEvent; count: number }>(COUNTS, [
    period,
    from,
    from + count,
    relay ?? '',
  ]);
  return countsOf(
    rows.map(({ start, event, count }) => [start, event, count]),
    range,
  );
}

/** The view `lanes`. Its cost depends on the number of lanes, not of deliveries. */
function lanes(db: Pick<Queries, 'rows'>, relay: string | null, limit: number): Promise<LaneDepth[]> {
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
  WHERE period = 'day' AND start >= $1 AND relay <> '' AND event IN ('relay_delivered', 'relay_failed')
  GROUP BY relay, event`;
const OLDEST_DUE = `SELECT min(${FIRST_DUE}) AS "dueAt" FROM depths WHERE waiting > 0`;
const SIZE = 'SELECT pg_database_size(current_database()) AS bytes';
const DEPTHS = `SELECT lane, waiting, processing, ${FIRST_DUE} AS "oldestDueAt" FROM depths
  WHERE waiting + processing > 0`;
const FULLEST = 'ORDER BY waiting + processing DESC, lane LIMIT $1';
