import { TIME_BUCKETS } from '../../domain/delivery-times.ts';
import {
  addTraffic,
  NOT_TOLD,
  noTraffic,
  OTHERS,
  TRAFFIC_MEASURES,
  type TrafficDimension,
  type TrafficKind,
  type TrafficMeasure,
  type TrafficSums,
  tagLine,
  tagsIn,
  volumeOf,
} from '../../domain/traffic.ts';
import { dayOfMinute, hourOfMinute } from '../counting.ts';
import type {
  FoundReply,
  ReplyCount,
  Traffic,
  TrafficFound,
  TrafficPeriod,
  TrafficQuery,
  TrafficRange,
} from '../traffic.ts';
import { joined, onPostgres, onSqlite, type Sql, sql } from './sql.ts';
import { rows, run, type Subject, send, type Work } from './work.ts';

/** What became of mail, as rows: one for each kind in an hour or a day. */

const HOURS_A_DAY = 24;
/** Names that a query adds up: what is beyond has the least mail. */
const MAX_NAMES = 5_000;
/** Parts of the time that are told of each row, and texts of their column, such as sets of tags, that are read for them. */
const MAX_PARTS = 60;
const MAX_TEXTS = 500;

/** Counts of one kind in one period, before they are written. */
interface Gathered<T> {
  readonly period: TrafficPeriod;
  readonly start: number;
  readonly of: TrafficKind;
  readonly counts: T;
}

/** How counts of one table are told apart, and added up. */
interface Tally<T> {
  readonly table: Sql;
  /** All columns that identify a row. */
  readonly key: Sql;
  /** What else tells rows of one kind of mail apart; the empty string for nothing. */
  readonly detail: (counts: T) => string;
  readonly detailColumn: Sql;
  /** The same counts where that is not told apart either. */
  readonly without: (counts: T) => T;
  readonly sum: (one: T, other: T) => T;
  readonly put: (row: Gathered<T>) => Work<void>;
}

const SUMS: Tally<TrafficSums> = {
  table: sql`traffic`,
  key: sql`period, start, relay, domain, provider, key_id, tags`,
  detail: () => '',
  detailColumn: sql`''`,
  without: (sums) => sums,
  sum: (one, other) => {
    const sum = noTraffic();
    addTraffic(sum, one);
    addTraffic(sum, other);
    return sum;
  },
  *put(row) {
    const { counts } = row;
    const values = [...TRAFFIC_MEASURES.map((measure) => counts[measure]), ...counts.times];
    yield* send`INSERT INTO traffic (${SUMS.key}, ${COUNTED})
      VALUES (${placeOf(row)}, ${joined(values.map((value) => sql`${value}`))})
      ON CONFLICT (${SUMS.key}) DO UPDATE SET ${RAISED}`;
  },
};

type Replies = Omit<ReplyCount, 'hour' | keyof TrafficKind>;

const REPLIES: Tally<Replies> = {
  table: sql`traffic_replies`,
  key: sql`period, start, relay, domain, provider, key_id, tags, reply_group`,
  detail: ({ group }) => group,
  detailColumn: sql`reply_group`,
  without: (counts) => ({ ...counts, group: OTHERS, example: '', messageId: '' }),
  sum: (one, { deferred, failed, bounced }) => ({
    ...one,
    deferred: one.deferred + deferred,
    failed: one.failed + failed,
    bounced: one.bounced + bounced,
  }),
  *put(row) {
    const { group, deferred, failed, bounced, example, messageId } = row.counts;
    yield* send`INSERT INTO traffic_replies (${REPLIES.key}, deferred, failed, bounced, example, message)
      VALUES (${placeOf(row)}, ${group}, ${deferred}, ${failed}, ${bounced}, ${example}, ${messageId})
      ON CONFLICT (${REPLIES.key}) DO UPDATE SET deferred = traffic_replies.deferred + excluded.deferred,
        failed = traffic_replies.failed + excluded.failed, bounced = traffic_replies.bounced + excluded.bounced`;
  },
};

/** See {@link Traffic}. */
export const TRAFFIC: Subject<Traffic> = {
  reads: {},
  verbs: {
    *addTraffic(counts, most) {
      const found = counts.flatMap(({ minute, sums, ...of }): Gathered<TrafficSums>[] => [
        { period: 'day', start: dayOfMinute(minute), of, counts: sums },
        { period: 'hour', start: hourOfMinute(minute), of, counts: sums },
        { period: 'minute', start: minute, of: NOT_TOLD, counts: sums },
      ]);
      yield* write(SUMS, found, most);
    },
    *addReplies(counts, most) {
      const found = counts.flatMap(({ hour, ...count }): Gathered<Replies>[] => {
        const { relay, domain, provider, keyId, tags, ...rest } = count;
        const of = { relay, domain, provider, keyId, tags };
        return [
          { period: 'day', start: Math.floor(hour / HOURS_A_DAY), of, counts: rest },
          { period: 'hour', start: hour, of, counts: rest },
        ];
      });
      yield* write(REPLIES, found, most);
    },
    *forgetTraffic(before, limit) {
      let most = 0;
      for (const { table, key } of [SUMS, REPLIES])
        for (const period of ['minute', 'hour', 'day'] as const)
          most = Math.max(
            most,
            yield* run`DELETE FROM ${table} WHERE (${key}) IN (
              SELECT ${key} FROM ${table} WHERE period = ${period} AND start < ${before[period]}
              ORDER BY start LIMIT ${limit})`,
          );
      return most;
    },
  },
};

/** Writes counts, within the bound of each period. */
function* write<T>(tally: Tally<T>, gathered: readonly Gathered<T>[], most: number): Work<void> {
  const bounded: [name: string, row: Gathered<T>][] = [];
  const periods = Map.groupBy(gathered, ({ period, start }) => `${period} ${start}`);
  for (const [name, rows] of periods)
    for (const [kind, row] of yield* within(tally, summed(tally, rows), most))
      bounded.push([`${name} ${kind}`, row]);
  // Everybody writes them in this order, so that nodes wait for each other and never for ever.
  bounded.sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [, row] of bounded) yield* tally.put(row);
}

/** The rows of one period by their kinds, those that are alike added up. */
function summed<T>(tally: Tally<T>, gathered: readonly Gathered<T>[]): Map<string, Gathered<T>> {
  const found = new Map<string, Gathered<T>>();
  for (const row of gathered) {
    const kind = kindOf(tally, row);
    const known = found.get(kind);
    found.set(kind, known === undefined ? row : { ...known, counts: tally.sum(known.counts, row.counts) });
  }
  return found;
}

/** Tells apart no more kinds of a period than it has room for. */
function* within<T>(
  tally: Tally<T>,
  found: ReadonlyMap<string, Gathered<T>>,
  most: number,
): Work<ReadonlyMap<string, Gathered<T>>> {
  const [first] = found.values();
  if (first === undefined || first.period === 'minute') return found;
  const inPeriod = sql`FROM ${tally.table} WHERE period = ${first.period} AND start = ${first.start}`;
  const [stored] = yield* rows<{ count: number }>`SELECT count(*) AS count ${inPeriod}`;
  if ((stored?.count ?? 0) + found.size <= most) return found;
  const known = yield* rows<
    TrafficKind & { detail: string }
  >`SELECT relay, domain, provider, key_id AS "keyId", tags,
    ${tally.detailColumn} AS detail ${inPeriod}`;
  const placed = new Set(known.map(({ detail, ...of }) => kindText(of, detail)));
  const chosen: Gathered<T>[] = [];
  for (const row of found.values()) {
    const ways = foldings(tally, row);
    // There is always room for the last one, which tells nothing apart.
    const way =
      ways
        .slice(0, -1)
        .find((one, level) => placed.has(kindOf(tally, one)) || placed.size < most * (level + 1)) ??
      ways.at(-1);
    if (way === undefined) continue;
    placed.add(kindOf(tally, way));
    chosen.push(way);
  }
  return summed(tally, chosen);
}

/** A row as it is, without what most differ in, and without all that tells it apart. */
function foldings<T>(tally: Tally<T>, row: Gathered<T>): readonly Gathered<T>[] {
  return [
    row,
    { ...row, of: { ...row.of, domain: OTHERS, tags: OTHERS } },
    { ...row, of: NOT_TOLD, counts: tally.without(row.counts) },
  ];
}

function kindOf<T>({ detail }: Tally<T>, { of, counts }: Gathered<T>): string {
  return kindText(of, detail(counts));
}

function kindText({ relay, domain, provider, keyId, tags }: TrafficKind, detail: string): string {
  return JSON.stringify([relay, domain, provider, keyId, tags, detail]);
}

// Reading.

/** The view `traffic`. */
export function* traffic(query: TrafficQuery): Work<TrafficFound> {
  const { by, limit, sumsOnly = false } = query;
  const steps = yield* rows<SumsRow & { start: number }>`SELECT start, ${ADDED} FROM traffic
    WHERE ${inRange(query)} GROUP BY start ORDER BY start`;
  const names = by === null ? NO_NAMES : yield* namesBy(by, query);
  const shown = names.rows.slice(0, limit);
  const hasLines = !sumsOnly && shown.length > 0;
  const lines = by === null || !hasLines ? null : yield* linesOf(by, shown, names.texts, query);
  return {
    others: names.others,
    rows: shown.map((row) => ({ ...row, ended: lines?.get(row.name) ?? [] })),
    moreNames: Math.max(0, names.rows.length - limit),
    steps: steps.map(({ start, ...row }) => ({ start, sums: sumsOf(row) })),
    replies: sumsOnly || query.period === 'minute' ? [] : yield* repliesIn(query),
  };
}

interface Name extends Omit<TrafficFound['rows'][number], 'ended'> {}

interface Names extends Pick<TrafficFound, 'others'> {
  readonly rows: readonly Name[];
  /** What their column has for them. */
  readonly texts: readonly string[];
}

const NO_NAMES: Names = { rows: [], texts: [], others: null };

/** The names in a text of this dimension's column. */
function namesIn(by: TrafficDimension, text: string): readonly string[] {
  return by === 'tag' ? tagsIn(text) : [text];
}

/** All names, the most mail first. */
function* namesBy(by: TrafficDimension, query: TrafficQuery): Work<Names> {
  const column = COLUMNS[by];
  const found = yield* rows<SumsRow & { name: string }>`SELECT ${column} AS name, ${ADDED} FROM traffic
    WHERE ${inRange(query)} GROUP BY ${column} ORDER BY ${VOLUME} DESC, ${column} LIMIT ${MAX_NAMES}`;
  const byName = new Map<string, ReturnType<typeof noTraffic>>();
  let others: ReturnType<typeof noTraffic> | null = null;
  for (const { name: text, ...row } of found) {
    const sums = sumsOf(row);
    if (text === OTHERS) {
      others ??= noTraffic();
      addTraffic(others, sums);
    } else
      for (const name of namesIn(by, text)) {
        const known = byName.get(name) ?? noTraffic();
        addTraffic(known, sums);
        byName.set(name, known);
      }
  }
  const sorted = [...byName].map(([name, sums]) => ({ name, sums, volume: volumeOf(sums) }));
  sorted.sort((a, b) => b.volume - a.volume || (a.name < b.name ? -1 : 1));
  const texts = found.map(({ name }) => name).filter((text) => text !== OTHERS);
  return { rows: sorted.map(({ name, sums }) => ({ name, sums })), texts, others };
}

/** Recipients with an end, part by part of the time, of each of these rows; null: there would be too much to read. */
function* linesOf(
  by: TrafficDimension,
  shown: readonly Name[],
  texts: readonly string[],
  query: TrafficQuery,
): Work<ReadonlyMap<string, readonly number[]> | null> {
  const { from, count } = query;
  const steps = Math.ceil(count / MAX_PARTS);
  const lines = new Map(
    shown.map(({ name }) => [name, Array.from({ length: Math.ceil(count / steps) }, () => 0)]),
  );
  const wanted = texts.filter((text) => namesIn(by, text).some((name) => lines.has(name)));
  if (wanted.length > MAX_TEXTS) return null;
  const points = yield* rows<{ name: string; part: number; ended: number }>`SELECT ${COLUMNS[by]} AS name,
      CAST((start - ${from}) / ${steps} AS integer) AS part, sum(delivered + captured + failed) AS ended
    FROM traffic WHERE ${inRange(query)} AND ${COLUMNS[by]} IN (${joined(wanted.map((text) => sql`${text}`))})
    GROUP BY 1, 2`;
  for (const { name: text, part, ended } of points)
    for (const name of namesIn(by, text)) {
      const line = lines.get(name);
      if (line) line[part] = (line[part] ?? 0) + ended;
    }
  return lines;
}

/** The newest example of each group. */
function* repliesIn(query: TrafficQuery): Work<FoundReply[]> {
  const found = yield* rows<
    Omit<FoundReply, 'example' | 'messageId'> & { newest: string }
  >`SELECT reply_group AS "group", sum(deferred) AS deferred, sum(failed) AS failed, sum(bounced) AS bounced,
      max(message || ' ' || example) AS newest
    FROM traffic_replies WHERE ${inRange(query)} GROUP BY reply_group
    ORDER BY sum(deferred + failed + bounced) DESC, reply_group LIMIT ${query.limit}`;
  return found.map(({ newest, ...row }) => {
    const blank = newest.indexOf(' ');
    return { ...row, messageId: newest.slice(0, blank), example: newest.slice(blank + 1) };
  });
}

function inRange({ period, from, count, where }: TrafficRange): Sql {
  const conditions = Object.entries(where).map(([dimension, value]) => {
    // The type names all dimensions that there can be.
    const column = COLUMNS[dimension as TrafficDimension];
    if (dimension !== 'tag' || value === '') return sql`${column} = ${value}`;
    const line = tagLine(value);
    return sql`${onSqlite(sql`instr(tags, ${line}) > 0`)}${onPostgres(sql`strpos(tags, ${line}) > 0`)}`;
  });
  const inPeriod = sql`period = ${period} AND start >= ${from} AND start < ${from + count}`;
  return conditions.reduce((all, one) => sql`${all} AND ${one}`, inPeriod);
}

// Columns.

const COLUMNS: Readonly<Record<TrafficDimension, Sql>> = {
  relay: sql`relay`,
  domain: sql`domain`,
  provider: sql`provider`,
  tag: sql`tags`,
  key: sql`key_id`,
};

/** The values of the columns that all tables have. */
function placeOf<T>({ period, start, of }: Gathered<T>): Sql {
  const { relay, domain, provider, keyId, tags } = of;
  return sql`${period}, ${start}, ${relay}, ${domain}, ${provider}, ${keyId}, ${tags}`;
}

type TimeColumn = `t${number}`;
type SumsRow = Readonly<Record<TrafficMeasure | TimeColumn, number>>;

const TIME_COLUMNS = Array.from({ length: TIME_BUCKETS }, (_, place): TimeColumn => `t${place}`);
const COUNT_COLUMNS = [...TRAFFIC_MEASURES, ...TIME_COLUMNS];

const COUNTED = plainly(COUNT_COLUMNS.join(', '));
const RAISED = plainly(
  COUNT_COLUMNS.map((name) => `${name} = traffic.${name} + excluded.${name}`).join(', '),
);
const ADDED = plainly(COUNT_COLUMNS.map((name) => `sum(${name}) AS ${name}`).join(', '));
const VOLUME = sql`sum(delivered + captured + failed + deferred)`;

/** Names of ours. */
function plainly(names: string): Sql {
  return (query) => {
    query.text += names;
  };
}

function sumsOf(row: SumsRow): TrafficSums {
  const times = TIME_COLUMNS.map((column) => row[column] ?? 0);
  const { accepted, delivered, captured, failed, deferred, bounced, complained } = row;
  return { accepted, delivered, captured, failed, deferred, bounced, complained, times };
}
