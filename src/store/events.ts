import {
  EVENT_TYPES,
  type Event,
  type EventFacts,
  type EventsKept,
  type EventType,
  eventOf,
  factsOf,
  isKept,
  keyOfEvent,
} from '../domain/event.ts';
import type { Transition } from '../domain/settle.ts';

/** The log of events as the views show it. */

/**
 * Where a log of events begins anew, after a restore or a move, its sequences leap this far: readers may have seen some
 * that it does not know.
 */
export const SEQUENCE_LEAP = 1_000_000_000;

/** Events lie in the order of their times except for this much, in ms: that of their transactions. */
const AT_SLACK_MS = 15 * 60_000;

/** How many events a page may examine before it returns what it has. */
export const MAX_EVENTS_EXAMINED = 5_000;

/** Which events a page shows. Each condition that is not null must hold. */
export interface EventQuery {
  /** Whose: of messages and webhooks of this key, and of suppression entries of its scope; `all` for everyone's. */
  readonly owner: { readonly keyId: string } | 'all';
  /** Any of these; empty means every type. */
  readonly types: readonly EventType[];
  /** Of this message. */
  readonly message: string | null;
  /** Of recipients, and of suppression entries, with this address, ASCII case ignored. */
  readonly recipient: string | null;
  /** Of messages with exactly this tag. */
  readonly tag: string | null;
  /** Happened at or after the first, and before the second wall time in ms. */
  readonly since: number | null;
  readonly until: number | null;
  /**
   * Oldest first, from above this sequence; or newest first, from below it (null: from the newest).
   */
  readonly from: { readonly after: number } | { readonly before: number | null };
  readonly limit: number;
}

/** Every event, by all conditions but its place in the log. */
export const EVERY_EVENT: Omit<EventQuery, 'from' | 'limit'> = {
  owner: 'all',
  types: [],
  message: null,
  recipient: null,
  tag: null,
  since: null,
  until: null,
};

/**
 * A page of events. It may have fewer than asked for, or none, while there are more: when it has examined
 * {@link MAX_EVENTS_EXAMINED}.
 */
export interface EventPage {
  readonly events: readonly Event[];
  /**
   * Where the next page starts: the last sequence that this one has examined. Oldest first it is always given, and no
   * smaller than `after`; newest first it is null if there is nothing further.
   */
  readonly next: number | null;
  /** There is, or may be, more. */
  readonly more: boolean;
}

/** Whether an event meets the conditions of a query, except those on its place in the log. */
function isWanted(event: Event, query: EventQuery): boolean {
  const { type, at, message } = event;
  if (query.owner !== 'all' && keyOfEvent(event) !== query.owner.keyId) return false;
  if (query.types.length > 0 && !query.types.includes(type)) return false;
  if (query.message !== null && message?.id !== query.message) return false;
  if (query.recipient !== null && !isAbout(event, query.recipient)) return false;
  if (query.tag !== null && message?.tags.includes(query.tag) !== true) return false;
  return (query.since === null || at >= query.since) && (query.until === null || at < query.until);
}

function isAbout({ recipient, facts }: Event, address: string): boolean {
  return (recipient ?? facts.entry)?.address.toLowerCase() === address.toLowerCase();
}

/**
 * A row of the log; its event is null if the row only holds its place, its message is gone, or its type is not known.
 */
export interface EventRowRead {
  readonly sequence: number;
  readonly at: number;
  readonly event: Event | null;
}

/** How many rows are read at once. */
const SLICE = 500;
/** And at least, of those of which every one is shown: some may only hold a place. */
const LEAST = 8;

/** Makes a page of rows that are read slice by slice. */
export class EventPaging {
  readonly #query: EventQuery;
  /** Rows may be read that it does not show. */
  readonly #isFiltered: boolean;
  readonly #events: Event[] = [];
  #place: number;
  #examined = 0;

  /** Reads on from `start`, a sequence. */
  constructor(query: EventQuery, start: number) {
    this.#query = query;
    const { owner, types, message, recipient, tag, since } = query;
    this.#isFiltered =
      owner !== 'all' || types.length > 0 || [message, recipient, tag, since].some((one) => one !== null);
    this.#place = start;
  }

  /** The sequence above, or below, which the next slice lies. */
  get place(): number {
    return this.#place;
  }

  /** How many rows the next slice has, unless there are no more. */
  get wanted(): number {
    const useful = this.#isFiltered ? SLICE : Math.max(this.#query.limit - this.#events.length, LEAST);
    return Math.min(SLICE, useful, MAX_EVENTS_EXAMINED - this.#examined);
  }

  /** Adds a slice, in the order of the query. Returns the page once it is complete. */
  add(rows: readonly EventRowRead[]): EventPage | null {
    const { limit } = this.#query;
    const isLast = rows.length < this.wanted;
    for (const { sequence, at, event } of rows) {
      if (isBeyond(at, this.#query)) return this.#end();
      this.#place = sequence;
      if (event !== null && isWanted(event, this.#query)) this.#events.push(event);
      if (this.#events.length === limit) return { events: this.#events, next: sequence, more: true };
    }
    this.#examined += rows.length;
    if (isLast) return this.#end();
    return this.wanted > 0 ? null : { events: this.#events, next: this.#place, more: true };
  }

  #end(): EventPage {
    const isForward = 'after' in this.#query.from;
    return { events: this.#events, next: isForward ? this.#place : null, more: false };
  }
}

/** Whether an event is so far outside of the time asked for that none in it can follow. */
function isBeyond(at: number, { from, since, until }: EventQuery): boolean {
  if ('after' in from) return until !== null && at >= until + AT_SLACK_MS;
  return since !== null && at < since - AT_SLACK_MS;
}

/**
 * Finds where to start: the sequence above or below which all events lie that the query asks for. Yields sequences, and
 * expects the first row at or after each: its sequence and time, or null. `ends`: those of the first and the last row.
 */
export function* startOf(
  { from, since, until, message }: EventQuery,
  ends: () => { readonly first: number; readonly last: number },
): Generator<number, number, RowTime | null> {
  if ('after' in from) {
    if (since === null || message !== null) return from.after;
    return Math.max(from.after, (yield* firstSince(since - AT_SLACK_MS, ends())) - 1);
  }
  const before = from.before ?? Number.MAX_SAFE_INTEGER;
  if (until === null || message !== null) return before;
  return Math.min(before, yield* firstSince(until + AT_SLACK_MS, ends()));
}

/** The sequence and time of a row. */
export type RowTime = readonly [sequence: number, at: number];

/** About the first sequence that happened at `at` or later: events lie nearly in the order of their times. */
function* firstSince(
  at: number,
  { first, last }: { readonly first: number; readonly last: number },
): Generator<number, number, RowTime | null> {
  let low = first;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [sequence, time] = (yield middle) ?? [high, at];
    if (time >= at) high = middle;
    else low = sequence + 1;
  }
  return low;
}

/** An event as it is written, besides its message. */
export interface NewEvent {
  /** When it happened (wall ms). */
  readonly at: number;
  /** The number of its type. */
  readonly type: number;
  readonly index: number | null;
  readonly attempt: number | null;
  /** JSON. */
  readonly facts: string | null;
}

/** A message was accepted at `at` (wall ms). Null: that is not kept. */
export function queuedEvent(kept: EventsKept, at: number): NewEvent | null {
  if (!isKept('message.queued', kept)) return null;
  return { at, type: EVENT_TYPES['message.queued'].code, index: null, attempt: null, facts: null };
}

/** What {@link movedEvent} must know of a change. */
export type Change = Parameters<typeof movedEvent> extends [EventsKept, ...infer Rest] ? Rest : never;

/**
 * A delivery changed its state at `at` (wall ms), after this attempt, or (null) none; `entry` of the suppression list
 * stopped it. Null: that is not kept.
 */
export function movedEvent(
  kept: EventsKept,
  index: number,
  attempt: number | null,
  transition: Transition,
  relay: string | null,
  at: number,
  entry: string | null = null,
): NewEvent | null {
  const type = eventOf(transition);
  if (!isKept(type, kept)) return null;
  const said = factsOf(transition, relay);
  const facts = JSON.stringify(entry === null ? said : { ...said, suppression: entry });
  return { at, type: EVENT_TYPES[type].code, index, attempt, facts };
}

/** Something was told, at `at` (wall ms), of a message or of one of its recipients. Null: not kept. */
export function toldEvent(
  kept: EventsKept,
  type: EventType,
  index: number | null,
  facts: EventFacts,
  at: number,
): NewEvent | null {
  if (!isKept(type, kept)) return null;
  return { at, type: EVENT_TYPES[type].code, index, attempt: null, facts: JSON.stringify(facts) };
}
