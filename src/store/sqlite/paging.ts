import type { MessageStatus } from '../../domain/delivery.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { MAX_OF_HOP } from '../matching.ts';
import { type ListPage, type ListQuery, MAX_EXAMINED, MAX_LISTED_CHARACTERS } from '../views.ts';
import type { Driver, SqlValue } from './driver.ts';

/** The common parameters of all pages. */
type Pageable = Pick<ListQuery, 'before' | 'limit'>;

/** Which part of a page to look for next, and how many records may still be examined for all of it. */
export interface SliceRequest<Query extends Pageable = ListQuery> {
  readonly query: Query;
  readonly maxExamined: number;
  /** How much more text may be found; see `MAX_LISTED_CHARACTERS`. */
  readonly maxCharacters: number;
}

/** The result of one slice of a list. */
export interface ListSlice {
  readonly messages: readonly MessageRecord[];
  /** Where the search continues, as `before`; null if there is nothing more. */
  readonly next: string | null;
  readonly examined: number;
  /** Approximate length of the messages' text. */
  readonly characters: number;
  readonly reason: 'complete' | 'spent';
}

/**
 * A page assembled from slices, so that nobody waits for another's whole page. A slice sees the newest transactions:
 * each message is examined once, as it is when its slice reaches it.
 */
export class Paging<Query extends Pageable = ListQuery> {
  readonly #query: Query;
  readonly #messages: MessageRecord[] = [];
  #before: string | null;
  #left: number;
  #room = MAX_LISTED_CHARACTERS;
  #page: ListPage | null = null;

  /** `maxExamined`: how many records all slices together may examine. */
  constructor(query: Query, maxExamined = MAX_EXAMINED) {
    this.#query = query;
    this.#before = query.before;
    this.#left = maxExamined;
  }

  /** The page, once it is complete, is as large as allowed, or has used its budget of records. */
  get page(): ListPage | null {
    return this.#page;
  }

  /** What to look for next. */
  get rest(): SliceRequest<Query> {
    const limit = this.#query.limit - this.#messages.length;
    const query = { ...this.#query, before: this.#before, limit };
    return { query, maxExamined: this.#left, maxCharacters: this.#room };
  }

  /** Ends the page with what it has: it has taken long enough. */
  end(): void {
    this.#page ??= { messages: this.#messages, next: this.#before };
  }

  /** Adds the result of {@link rest}. */
  add({ messages, next, examined, characters, reason }: ListSlice): void {
    this.#messages.push(...messages);
    this.#before = next;
    this.#left -= examined;
    this.#room -= characters;
    if (reason === 'complete' || this.#left <= 0 || this.#room <= 0)
      this.#page = { messages: this.#messages, next };
  }
}

/** Length of all text in a row, which limits pages. */
export function textLength(row: readonly SqlValue[]): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/** An entry of an index. */
export type Entry = readonly [id: string, seq: number];

/** Returns at most `limit` entries with ids from `floor` up to, and without, `before`; the newest first. */
export type Source = (before: string, floor: string, limit: number) => Entry[];

type Range = [before: string, floor: string, limit: number];

/** Prepares a walk of each. */
export function prepareSources(db: Driver) {
  const ofOneKey = db.prepare<[keyId: string, status: string, ...Range], [id: string, seq: number]>(
    `SELECT id, seq FROM messages INDEXED BY messages_by_key
     WHERE key_id = (SELECT ?) AND status = (SELECT ?) AND ${PAGE}`,
  );
  const ofOneStatus = db.prepare<[status: string, ...Range], [id: string, seq: number]>(
    `SELECT id, seq FROM messages INDEXED BY messages_troubled
     WHERE status IN ('failed', 'retrying') AND status = (SELECT ?) AND ${PAGE}`,
  );
  return {
    all: db.prepare<Range, [id: string, seq: number]>(`SELECT id, seq FROM messages WHERE ${PAGE}`),
    captured: db.prepare<Range, [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_in_inbox WHERE kept = 'captured' AND ${PAGE}`,
    ),
    capturedOfKey: db.prepare<[keyId: string, ...Range], [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_in_inbox_by_key
       WHERE kept = 'captured' AND key_id = (SELECT ?) AND ${PAGE}`,
    ),
    capturedOfBox: db.prepare<[keyId: string, box: string, ...Range], [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_in_box
       WHERE kept = 'captured' AND key_id = (SELECT ?) AND box = (SELECT ?) AND ${PAGE}`,
    ),
    // CROSS JOIN keeps the order of the loops: the tag's entries, and the message of each.
    ofTag: db.prepare<[tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags INDEXED BY message_tags_by_tag
         CROSS JOIN messages ON messages.id = message_tags.id
       WHERE tag = (SELECT ?) AND ${TAGS_PAGE}`,
    ),
    // CROSS JOIN: what the hop named comes first. It is little, and sorted.
    ofHop: db.prepare<[hopId: string, ...Range], [id: string, seq: number]>(
      `SELECT id, seq FROM (
         SELECT DISTINCT message FROM (
           SELECT message FROM deliveries INDEXED BY deliveries_by_provider_id
           WHERE provider_message_id = (SELECT ?) ORDER BY message DESC LIMIT ${MAX_OF_HOP}))
         CROSS JOIN messages ON messages.seq = message
       WHERE ${PAGE}`,
    ),
    ofKeyAndTag: db.prepare<[keyId: string, tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags CROSS JOIN messages ON messages.id = message_tags.id
       WHERE message_tags.key_id = (SELECT ?) AND tag = (SELECT ?) AND ${TAGS_PAGE}`,
    ),
    /** One source per status. */
    ofKey: (keyId: string, statuses: readonly MessageStatus[]): Source[] =>
      distinct(statuses).map(
        (status) =>
          (...range) =>
            ofOneKey.all(keyId, status, ...range),
      ),
    /** One source per status, of those that `areTroubled`. */
    ofTroubled: (statuses: readonly MessageStatus[]): Source[] =>
      distinct(statuses).map(
        (status) =>
          (...range) =>
            ofOneStatus.all(status, ...range),
      ),
  };
}

function distinct(statuses: readonly MessageStatus[]): MessageStatus[] {
  return [...new Set(statuses)];
}

const PAGE = 'id < (SELECT ?) AND id >= (SELECT ?) ORDER BY id DESC LIMIT (SELECT ?)';
const TAGS_PAGE = `message_tags.id < (SELECT ?) AND message_tags.id >= (SELECT ?)
       ORDER BY message_tags.id DESC LIMIT (SELECT ?)`;
