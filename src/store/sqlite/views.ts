import type { Bounce } from '../../domain/aftermath.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import type { CountedEvent, Period } from '../counting.ts';
import type { Synchronous } from '../forwarding.ts';
import { addMinutes, type CountRow, countsOf } from '../periods.ts';
import { feedbackAbout, feedbackOf } from '../plain/feedback.ts';
import { traffic } from '../plain/traffic.ts';
import { unsubscribeLinkOf } from '../plain/unsubscribe-links.ts';
import type { TrafficQuery } from '../traffic.ts';
import {
  type CountRange,
  type FoundCount,
  type FoundPage,
  type LaneDepth,
  type ListPage,
  type ListQuery,
  MAX_COUNTED,
  type MessageDetail,
  type RecipientAftermath,
  type Remembered,
  type SearchQuery,
  type Views,
} from '../views.ts';
import { prepareFindIdempotency } from './accept.ts';
import { type InSnapshot, snapshots } from './connection.ts';
import type { Driver } from './driver.ts';
import { eventsView } from './events.ts';
import { type ListSlice, Paging, type SliceRequest } from './paging.ts';
import { runnerOver } from './plain.ts';
import { quotaUsedView } from './quotas.ts';
import { figuresView, MESSAGE_COLUMNS, type MessageRow, messageOf } from './records.ts';
import { foundFinder } from './search.ts';
import { attemptsView } from './settle.ts';
import { type FoundSlice, recipientReader, type SliceLimits, sliceViews, UNTIMED } from './slices.ts';
import { waitingView } from './waiting.ts';

/** The views without `close`, synchronous, and lists and searches in slices. */
export interface ViewVerbs extends Synchronous<Omit<Views, 'close'>> {
  listSlice(request: SliceRequest): ListSlice;
  searchSlice(request: SliceRequest<SearchQuery>): FoundSlice;
}

/** The limits of lists. */
export interface ViewLimits extends SliceLimits {
  /** Records for a page; default `MAX_EXAMINED`. */
  readonly maxExamined?: number;
}

/** Builds the views over a connection. */
export function createViews(db: Driver, limits: ViewLimits = {}): ViewVerbs {
  const { maxExamined } = limits;
  const findIdempotency = prepareFindIdempotency(db);
  const inSnapshot = snapshots(db);
  const run = runnerOver(db);
  const slices = sliceViews(db, inSnapshot, limits);
  return {
    ...messageViews(db, inSnapshot),
    list: (query: ListQuery): ListPage => {
      const paging = new Paging(query, maxExamined);
      while (paging.page === null) paging.add(slices.listSlice(paging.rest));
      return paging.page;
    },
    search: (query: SearchQuery): FoundPage => {
      const paging = new Paging(query, maxExamined);
      let behind = 0;
      while (paging.page === null) {
        const slice = slices.searchSlice(paging.rest);
        behind = slice.behind;
        paging.add(slice);
      }
      return { ...paging.page, behind };
    },
    ...slices,
    countFound: countFoundView(db, inSnapshot, limits),
    counts: countsView(db, inSnapshot),
    traffic: (query: TrafficQuery) => inSnapshot(() => run(traffic(query))),
    attempts: attemptsView(db, inSnapshot),
    remembered: (keyId: string, key: string, now: number): Remembered | null => {
      const [hash, id] = findIdempotency.get(keyId, key, now - IDEMPOTENCY_MS) ?? [];
      return id === undefined || hash === undefined ? null : { id, hash };
    },
    figures: figuresView(db, inSnapshot),
    lanes: lanesView(db),
    quotaUsed: quotaUsedView(db),
    waiting: waitingView(db, inSnapshot),
    events: eventsView(db, inSnapshot),
    feedback: (id: string) => run(feedbackOf(id)),
    feedbackAbout: (messageId: string) => run(feedbackAbout(messageId)),
    unsubscribeLink: (messageId: string, index: number) => run(unsubscribeLinkOf(messageId, index)),
  };
}

function countFoundView(
  db: Driver,
  inSnapshot: InSnapshot,
  { maxExamined = MAX_COUNTED, startSlice = UNTIMED }: ViewLimits,
): (query: SearchQuery) => FoundCount {
  const find = foundFinder(db);
  return (query) =>
    inSnapshot(() => {
      let count = 0;
      const records = Math.min(maxExamined, MAX_COUNTED);
      const { next } = find(query, records, () => count++, startSlice());
      return { count, more: next !== null };
    });
}

type AftermathRow = [
  index: number,
  confirmedAt: number | null,
  bounce: string | null,
  complainedAt: number | null,
  unsubscribedAt: number | null,
  suppression: string | null,
];

function readAftermath(row: AftermathRow): RecipientAftermath {
  const [index, confirmedAt, bounce, complainedAt, unsubscribedAt, suppression] = row;
  const known = { index, confirmedAt, complainedAt, unsubscribedAt, suppression };
  return { ...known, bounce: bounce === null ? null : fromJson<Bounce>(bounce) };
}

function messageViews(db: Driver, inSnapshot: InSnapshot): Pick<ViewVerbs, 'message' | 'messages'> {
  const recipientsOf = recipientReader(db);
  const aftermathOf = db.prepare<[id: string], AftermathRow>(
    `SELECT idx, confirmed_at, bounce, complained_at, unsubscribed_at, suppression FROM aftermath WHERE message = ?`,
  );
  const byId = db.prepare<[id: string], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages WHERE id = ?`);
  const originOf = db.prepare<
    [seq: number],
    [sourceAddress: string | null, routeTable: number, stream: string | null]
  >('SELECT source_address, route_table, stream FROM messages WHERE seq = ?');
  const detailOf = (id: string): MessageDetail | null => {
    const row = byId.get(id);
    if (row === undefined) return null;
    const recipients = recipientsOf(row[0]);
    const [sourceAddress = null, routeTable = 0, stream = null] = originOf.get(row[0]) ?? [];
    const origin = { sourceAddress, routeTable, stream };
    const aftermath = aftermathOf.all(id).map(readAftermath);
    return { message: messageOf(row, recipients), recipients, origin, aftermath };
  };
  const recordOf = (id: string): MessageRecord[] => {
    const row = byId.get(id);
    return row === undefined ? [] : [messageOf(row, recipientsOf(row[0]))];
  };
  return {
    message: (id) => inSnapshot(() => detailOf(id)),
    messages: (ids) => inSnapshot(() => ids.flatMap(recordOf)),
  };
}

type DepthRow = [lane: string, waiting: number, processing: number, firstDue: number | null];

/** Builds the view `lanes`. Its cost depends on the number of lanes, not of deliveries. */
function lanesView(db: Driver) {
  const sql = prepareLanes(db);
  return (relay: string | null, limit: number): LaneDepth[] => {
    // A relay's name contains no slash, so the rest of its lanes' names sorts between "/" and "0".
    const rows =
      relay === null ? sql.all.all(limit) : sql.ofRelay.all(relay, `${relay}/`, `${relay}0`, limit);
    return rows.map(([lane, waiting, processing, oldestDueAt]) => ({
      lane,
      waiting,
      processing,
      oldestDueAt,
    }));
  };
}

function prepareLanes(db: Driver) {
  return {
    all: db.prepare<[limit: number], DepthRow>(
      `SELECT lane, waiting, processing, first_due FROM lanes WHERE waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT (SELECT ?)`,
    ),
    ofRelay: db.prepare<[relay: string, from: string, until: string, limit: number], DepthRow>(
      `SELECT lane, waiting, processing, first_due FROM lanes
       WHERE (lane = (SELECT ?) OR (lane >= (SELECT ?) AND lane < (SELECT ?))) AND waiting + processing > 0
       ORDER BY waiting + processing DESC, lane LIMIT (SELECT ?)`,
    ),
  };
}

/** Builds the view `counts`. It reads the counters of the range; for hours that are not over, their minutes. */
function countsView(
  db: Driver,
  inSnapshot: InSnapshot,
): (range: CountRange) => ReadonlyMap<CountedEvent, readonly number[]> {
  const sql = prepareCounts(db);
  return (range) =>
    inSnapshot(() => {
      const { period, from, count } = range;
      const relay = range.relay ?? '';
      const rows: CountRow[] = sql.range.all(period, from, from + count, relay);
      if (period !== 'hour') return countsOf(rows, range);
      const summed = Math.max(from, sql.lastHour.get()?.[0] ?? 0);
      const minutes = sql.minutes.all(summed * 60, (from + count) * 60, relay);
      return countsOf(addMinutes(rows, minutes), range);
    });
}

function prepareCounts(db: Driver) {
  return {
    range: db.prepare<
      [period: Period, from: number, until: number, relay: string],
      [start: number, event: CountedEvent, count: number]
    >(
      `SELECT start, event, sum(count) FROM counters
       WHERE period = ? AND start >= ? AND start < ? AND relay = ? GROUP BY start, event`,
    ),
    lastHour: db.prepare<[], [hour: number | null]>(`SELECT max(start) FROM counters WHERE period = 'hour'`),
    minutes: db.prepare<
      [from: number, until: number, relay: string],
      [hour: number, event: CountedEvent, count: number]
    >(
      `SELECT start / 60, event, sum(count) FROM counters
       WHERE period = 'minute' AND start >= ? AND start < ? AND relay = ? GROUP BY start / 60, event`,
    ),
  };
}
