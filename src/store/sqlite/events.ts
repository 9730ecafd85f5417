import {
  type Event,
  type EventFacts,
  type EventsKept,
  type EventType,
  eventTypeOf,
  isOfMessage,
} from '../../domain/event.ts';
import type { RecipientKind, Source } from '../../domain/message.ts';
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
  SEQUENCE_LEAP,
  startOf,
  toldEvent,
} from '../events.ts';
import type { InSnapshot } from './connection.ts';
import type { Driver } from './driver.ts';

/** Writes events, each in the transaction of its cause. */
export class EventLog {
  readonly #kept: EventsKept;
  readonly #insert;

  constructor(db: Driver, kept: EventsKept) {
    this.#kept = kept;
    this.#insert = db.prepare<
      [
        at: number,
        type: number,
        seq: number,
        index: number | null,
        attempt: number | null,
        facts: string | null,
      ]
    >('INSERT INTO events (at, type, message, idx, attempt, facts) VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** A message was accepted at `at` (wall ms). */
  queued(seq: number, at: number): void {
    this.#add(seq, queuedEvent(this.#kept, at));
  }

  /** A delivery changed its state, see {@link movedEvent}. */
  moved(seq: number, ...change: Change): void {
    this.#add(seq, movedEvent(this.#kept, ...change));
  }

  /** Something was told of a message, or of a recipient at this place of the envelope. */
  told(seq: number, type: EventType, index: number | null, facts: EventFacts, at: number): void {
    this.#add(seq, toldEvent(this.#kept, type, index, facts, at));
  }

  #add(seq: number, event: NewEvent | null): void {
    if (event !== null) this.#insert.run(event.at, event.type, seq, event.index, event.attempt, event.facts);
  }
}

type EventRow = [
  seq: number,
  at: number,
  code: number,
  attempt: number | null,
  facts: string | null,
  id: string | null,
  keyId: string | null,
  keyName: string | null,
  source: Source,
  from: string,
  subject: string,
  messageId: string,
  tags: string,
  metadata: string,
  stream: string | null,
  createdAt: number,
  address: string | null,
  kind: RecipientKind | null,
];

/** Reads a row; null if it only holds its place, its message is gone, or this program does not know its type. */
function eventIn(row: EventRow): Event | null {
  const [sequence, at, code, attempt, facts, id, keyId, keyName, source, from, subject, messageId, ...rest] =
    row;
  const [tags, metadata, stream, createdAt, address, kind] = rest;
  const type = eventTypeOf(code);
  if (type === null || (id === null && isOfMessage(type))) return null;
  const message = id !== null && {
    id,
    messageId,
    from,
    subject,
    tags: fromJson<string[]>(tags),
    metadata: fromJson<Record<string, string>>(metadata),
    stream,
    keyId,
    keyName,
    source,
    createdAt,
  };
  return {
    sequence,
    type,
    at,
    message: message || null,
    scopeKey: message ? null : keyName,
    recipient: address === null || kind === null ? null : { address, kind },
    attempt,
    facts: facts === null ? {} : fromJson<EventFacts>(facts),
  };
}

/** Builds the view `events`. */
export function eventsView(db: Driver, inSnapshot: InSnapshot): (query: EventQuery) => EventPage {
  const sql = prepareEvents(db);
  return (query) =>
    inSnapshot(() => {
      const paging = new EventPaging(query, start(query));
      for (;;) {
        const page = paging.add(slice(query, paging).map(readRow));
        if (page !== null) return page;
      }
    });

  function slice({ message, from }: EventQuery, { place, wanted }: EventPaging): EventRow[] {
    const isForward = 'after' in from;
    if (message !== null)
      return (isForward ? sql.ofMessageUp : sql.ofMessageDown).all(message, place, wanted);
    return (isForward ? sql.up : sql.down).all(place, wanted);
  }

  function start(query: EventQuery): number {
    const search = startOf(query, () => ({
      first: sql.first.get()?.[0] ?? 0,
      last: sql.last.get()?.[0] ?? 0,
    }));
    let step = search.next();
    while (step.done !== true) step = search.next(sql.from.get(step.value) ?? null);
    return step.value;
  }
}

function readRow(row: EventRow): EventRowRead {
  return { sequence: row[0], at: row[1], event: eventIn(row) };
}

// Of an event without a message the key is that of its entry's scope, `key:` and the id.
const ROWS = `SELECT events.seq, events.at, events.type, events.attempt, events.facts, messages.id, messages.key_id,
    keys.name, messages.source, messages.header_from, messages.subject, messages.message_id, messages.tags,
    messages.metadata, messages.stream, messages.created_at, deliveries.address, deliveries.kind
  FROM events LEFT JOIN messages ON messages.seq = events.message LEFT JOIN keys ON keys.id = CASE
      WHEN events.message IS NULL THEN substr(events.facts ->> '$.entry.scope', 5) ELSE messages.key_id END
    LEFT JOIN deliveries ON deliveries.message = events.message AND deliveries.idx = events.idx`;
const OF_MESSAGE = 'events.message = (SELECT seq FROM messages WHERE id = ?)';
const UP = 'events.seq > (SELECT ?) ORDER BY events.seq LIMIT (SELECT ?)';
const DOWN = 'events.seq < (SELECT ?) ORDER BY events.seq DESC LIMIT (SELECT ?)';

function prepareEvents(db: Driver) {
  return {
    up: db.prepare<[after: number, limit: number], EventRow>(`${ROWS} WHERE ${UP}`),
    down: db.prepare<[before: number, limit: number], EventRow>(`${ROWS} WHERE ${DOWN}`),
    ofMessageUp: db.prepare<[id: string, after: number, limit: number], EventRow>(
      `${ROWS} WHERE ${OF_MESSAGE} AND ${UP}`,
    ),
    ofMessageDown: db.prepare<[id: string, before: number, limit: number], EventRow>(
      `${ROWS} WHERE ${OF_MESSAGE} AND ${DOWN}`,
    ),
    first: db.prepare<[], [seq: number | null]>('SELECT min(seq) FROM events'),
    last: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM events'),
    from: db.prepare<[seq: number], [seq: number, at: number]>(
      'SELECT seq, at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1',
    ),
  };
}

/** Leaves out the sequences that readers may have seen before a restore or a move, at `now` (wall ms). */
export function leapSequences(db: Driver, now: number): void {
  db.prepare<[leap: number, now: number]>(
    'INSERT INTO events (seq, at, type) SELECT coalesce(max(seq), 0) + ?, ?, 0 FROM events',
  ).run(SEQUENCE_LEAP, now);
}

/** Removes events. The newest row stays in any case: its sequence must not be given again. */
export class EventPurge {
  readonly #sql;

  constructor(db: Driver) {
    this.#sql = {
      newest: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM events'),
      oldest: db.prepare<[limit: number], [seq: number, at: number]>(
        'SELECT seq, at FROM events ORDER BY seq LIMIT (SELECT ?)',
      ),
      upTo: db.prepare<[seq: number]>('DELETE FROM events WHERE seq <= ?'),
      emptyOf: db.prepare<[message: number, newest: number]>(
        'UPDATE events SET type = 0, message = NULL, idx = NULL, facts = NULL WHERE message = ? AND seq = ?',
      ),
      ofMessage: db.prepare<[message: number]>('DELETE FROM events WHERE message = ?'),
    };
  }

  /** Removes the oldest ones, at most `limit`, as long as they happened before `before` (wall ms). Returns how many. */
  byAge(before: number, limit: number): number {
    const newest = this.#sql.newest.get()?.[0] ?? 0;
    let last = 0;
    for (const [seq, at] of this.#sql.oldest.all(limit)) {
      if (at >= before || seq === newest) break;
      last = seq;
    }
    return last === 0 ? 0 : this.#sql.upTo.run(last);
  }

  /** Removes those of a message whose record goes. */
  ofMessage(seq: number): void {
    this.#sql.emptyOf.run(seq, this.#sql.newest.get()?.[0] ?? 0);
    this.#sql.ofMessage.run(seq);
  }
}
