import {
  type Event,
  type EventFacts,
  type EventMessage,
  type EventsKept,
  type EventType,
  eventTypeOf,
  isOfMessage,
} from '../../domain/event.ts';
import type { RecipientKind } from '../../domain/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import {
  type Change,
  type EventPage,
  EventPaging,
  type EventQuery,
  type EventRowRead,
  movedEvent,
  type NewEvent,
  queuedEvent,
  type RowTime,
  startOf,
  toldEvent,
} from '../events.ts';
import { inSpan, spanned, Table } from './tables.ts';

/** An event as it is written. */
interface NewEventRow extends NewEvent {
  readonly message: string;
}

const EVENTS = new Table<NewEventRow>('events', {
  at: 'bigint',
  type: 'integer',
  message: 'text',
  index: 'integer',
  attempt: 'integer',
  facts: 'text',
});

/** The events of a transaction; `write` writes them all at once. */
export class EventLog {
  readonly #db: Queries;
  readonly #kept: EventsKept;
  readonly #rows: NewEventRow[] = [];

  constructor(db: Queries, kept: EventsKept) {
    this.#db = db;
    this.#kept = kept;
  }

  /** A message was accepted at `at` (wall ms). */
  queued(message: string, at: number): void {
    this.#add(message, queuedEvent(this.#kept, at));
  }

  /** A delivery changed its state, see {@link movedEvent}. */
  moved(message: string, ...change: Change): void {
    this.#add(message, movedEvent(this.#kept, ...change));
  }

  /** Something was told of a message, or of a recipient at this place of the envelope. */
  told(message: string, type: EventType, index: number | null, facts: EventFacts, at: number): void {
    this.#add(message, toldEvent(this.#kept, type, index, facts, at));
  }

  #add(message: string, event: NewEvent | null): void {
    if (event !== null) this.#rows.push({ ...event, message });
  }

  /** Writes what was entered. */
  write(): void {
    EVENTS.send(this.#db, this.#rows);
  }
}

/** A reader waits no longer for transactions under way, in ms: then it shows what it may. */
const MAX_WAIT_MS = 1_000;
/** Sequences that wait to be shown. */
const MAX_PENDING = 100;
/** It looks again after 1 ms, then after twice as long each time, up to this. */
const MAX_PAUSE_MS = 50;

/**
 * Up to which sequence events may be shown. Sequences are given before their transactions commit, so that a smaller one
 * may appear after a larger. A transaction has its number before it gets a sequence: once all that were under way when
 * the last sequence was read are over, none up to that one can follow. Only numbered transactions count; one of another
 * database in the same server counts, too.
 */
class Horizon {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>;
  #settled = 0;
  /** Sequences that may be shown once all transactions below a number are over, the oldest first. */
  #pending: { readonly last: number; readonly next: number }[] = [];

  constructor(database: Database, clock: Pick<Clock, 'mono' | 'sleep'>) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The newest sequence that may be shown: if possible, the last that was given before the call. */
  async settled(): Promise<number> {
    const [given] = await this.#database.rows<{ last: number }>(LAST);
    const last = given?.last ?? 0;
    if (last <= this.#settled) return last;
    // Read after the sequence: whoever took it is in this snapshot, or over.
    const { next } = await this.#running();
    this.#pending = [...this.#pending.slice(0, MAX_PENDING), { last, next }];
    const until = this.#clock.mono() + MAX_WAIT_MS;
    for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      const { oldest } = await this.#running();
      const over = this.#pending.filter((one) => one.next <= oldest).map((one) => one.last);
      this.#settled = Math.max(this.#settled, ...over);
      this.#pending = this.#pending.filter((one) => one.last > this.#settled);
      if (last <= this.#settled) return last;
      if (this.#clock.mono() >= until) return this.#settled;
      await this.#clock.sleep(pause);
    }
  }

  async #running(): Promise<{ readonly oldest: number; readonly next: number }> {
    const [row] = await this.#database.rows<{ oldest: number; next: number }>(RUNNING);
    return row ?? { oldest: 0, next: 0 };
  }
}

const LAST = `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM events_seq_seq`;
const RUNNING = `SELECT pg_snapshot_xmin(now)::text::bigint AS oldest, pg_snapshot_xmax(now)::text::bigint AS next
  FROM pg_current_snapshot() AS now`;

/** Builds the view `events`. */
export function eventsView(
  database: Database,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): (query: EventQuery) => Promise<EventPage> {
  const horizon = new Horizon(database, clock);
  return async (query) => {
    const settled = await horizon.settled();
    const page = await database.inSnapshot((db) => readPage(db, query, settled));
    // Readers rely on what they see, and another node may still be waiting for its flush. A poll sees nothing.
    if (page.events.length > 0 || ('after' in query.from && page.next !== query.from.after))
      await database.flush();
    return page;
  };
}

async function readPage(db: Queries, query: EventQuery, settled: number): Promise<EventPage> {
  const isForward = 'after' in query.from;
  const ofMessage = query.message === null ? [] : [query.message];
  const sql = `${query.message === null ? SLICE : SLICE_OF_MESSAGE} ${isForward ? '' : 'DESC'} LIMIT $3`;
  const paging = new EventPaging(query, await startIn(db, query, settled));
  for (;;) {
    const { place, wanted } = paging;
    // Between two sequences in either direction, neither of them included.
    const bounds = isForward ? [place, settled + 1] : [0, Math.min(place, settled + 1)];
    const rows = await db.rows<EventRow>(sql, [...bounds, wanted, ...ofMessage]);
    const page = paging.add(await readRows(db, rows));
    if (page !== null) return page;
  }
}

async function startIn(db: Queries, query: EventQuery, settled: number): Promise<number> {
  const [ends] = await db.rows<{ first: number | null }>(FIRST);
  const search = startOf(query, () => ({ first: ends?.first ?? 0, last: settled }));
  let step = search.next();
  while (step.done !== true) {
    const [row] = await db.rows<{ sequence: number; at: number }>(FROM, [step.value]);
    const time: RowTime | null = row === undefined ? null : [row.sequence, row.at];
    step = search.next(time);
  }
  return step.value;
}

interface EventRow extends NewEvent {
  readonly sequence: number;
  /** Null: of the suppression list or of a relay. */
  readonly message: string | null;
  readonly scopeKey: string | null;
}

/** What events tell of their messages, read by the ids of all of them. */
interface AboutRow extends Omit<EventMessage, 'tags' | 'metadata'> {
  readonly tags: string;
  readonly metadata: string;
}

interface RecipientRow {
  readonly message: string;
  readonly index: number;
  readonly address: string;
  readonly kind: RecipientKind;
}

async function readRows(db: Queries, rows: readonly EventRow[]): Promise<EventRowRead[]> {
  const ids = spanned([...new Set(rows.flatMap(({ message }) => message ?? []))]);
  const abouts = new Map((await db.rows<AboutRow>(ABOUT, ids)).map((row) => [row.id, row]));
  const ofOne = rows.filter(({ message, index }) => message !== null && index !== null);
  const names = spanned(ofOne.flatMap(({ message }) => message ?? []));
  const found = await db.rows<RecipientRow>(RECIPIENTS, [...names, ofOne.map(({ index }) => index)]);
  const recipients = new Map(found.map((row) => [`${row.message} ${row.index}`, row]));
  return rows.map((row) => {
    const { sequence, at, message, index } = row;
    const about = message === null ? undefined : abouts.get(message);
    const recipient = index === null ? null : (recipients.get(`${message} ${index}`) ?? null);
    return { sequence, at, event: eventIn(row, about, recipient) };
  });
}
function eventIn(row: EventRow, about: AboutRow | undefined, recipient: RecipientRow | null): Event | null {
  const type = eventTypeOf(row.type);
  if (type === null || (about === undefined && isOfMessage(type))) return null;
  return {
    sequence: row.sequence,
    type,
    at: row.at,
    message: about === undefined ? null : messageIn(about),
    scopeKey: row.scopeKey,
    recipient: recipient && { address: recipient.address, kind: recipient.kind },
    attempt: row.attempt,
    facts: row.facts === null ? {} : fromJson<EventFacts>(row.facts),
  };
}

function messageIn(about: AboutRow): EventMessage {
  return {
    ...about,
    tags: fromJson<string[]>(about.tags),
    metadata: fromJson<Record<string, string>>(about.metadata),
  };
}

// The scope of an entry may be `key:` and the id.
const SCOPE_KEY = `(SELECT name FROM keys WHERE message IS NULL AND id = substr(facts::json #>> '{entry,scope}', 5))`;
const ROW = `seq AS sequence, at, type, message, index, attempt, facts, ${SCOPE_KEY} AS "scopeKey"`;
const SLICE = `SELECT ${ROW} FROM events WHERE seq > $1 AND seq < $2 ORDER BY seq`;
const SLICE_OF_MESSAGE = `SELECT ${ROW} FROM events WHERE seq > $1 AND seq < $2 AND message = $4 ORDER BY seq`;
const FIRST = 'SELECT min(seq) AS first FROM events';
const FROM = 'SELECT seq AS sequence, at FROM events WHERE seq >= $1 ORDER BY seq LIMIT 1';
const ABOUT = `SELECT messages.id, message_id AS "messageId", header_from AS "from", subject, tags, metadata,
    stream, key_id AS "keyId", keys.name AS "keyName", source, messages.created_at AS "createdAt"
  FROM messages LEFT JOIN keys ON keys.id = key_id WHERE messages.id = ANY($1::text[]) AND ${inSpan('messages.id')}`;
const RECIPIENTS = `SELECT message, index, address, kind FROM deliveries
  JOIN unnest($1::text[], $4::integer[]) AS wanted (message, index) USING (message, index) WHERE ${inSpan('message')}`;

/** Removes the oldest events, at most `limit`, that happened before `before` (wall ms). Returns how many. */
export async function purgeEvents(db: Queries, before: number, limit: number): Promise<number> {
  return await db.run(DELETE_OLD, [limit, before]);
}

const DELETE_OLD = `DELETE FROM events WHERE seq IN (SELECT seq FROM events ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED)
  AND at < $2`;
