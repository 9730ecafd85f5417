import { MESSAGE_STATUSES } from '../../domain/delivery.ts';
import { messageIdFloor } from '../../lib/id.ts';
import { type ListQuery, MAX_EXAMINED } from '../views.ts';
import type { Driver } from './driver.ts';
import { type Budget, type Matches, matchers } from './matching.ts';

/** Which messages are on a page, by number, and where the next page starts. */
export interface FoundPage {
  readonly seqs: readonly number[];
  readonly next: string | null;
}

/** An entry of an index. */
type Entry = readonly [id: string, seq: number];

/** Gives at most `limit` entries with ids from `floor` up to, and without, `before`; the newest first. */
type Source = (before: string, floor: string, limit: number) => Entry[];

/** Sorts after every message id. */
const NEWEST = '~';

/** Most entries read at a time. */
const CHUNK = 2_000;

/**
 * Builds the search for pages. It walks the narrowest index there is, a tag's, a key's by status, or that of all
 * ids, and looks at no more than `maxExamined` records, however few of them belong on the page.
 */
export function pageFinder(db: Driver, maxExamined = MAX_EXAMINED): (query: ListQuery) => FoundPage {
  const sourcesOf = sourceFinder(db);
  const matcherOf = matchers(db);
  return (query) => {
    const budget = { left: maxExamined };
    const { since = null, until = null } = query.filter ?? {};
    const top = query.before ?? NEWEST;
    const before = until === null ? top : lower(top, messageIdFloor(until));
    const floor = since === null ? '' : messageIdFloor(since);
    const streams = sourcesOf(query).map(
      (source) => new Stream(source, before, floor, query.limit + 1, budget),
    );
    return pageOf(merge(streams), matcherOf(query, budget), query.limit);
  };
}

/** The entries of a source, read in chunks that grow, as far as the budget goes. */
class Stream {
  readonly #source: Source;
  readonly #floor: string;
  readonly #budget: Budget;
  #before: string;
  #chunk: number;
  #entries: Entry[] = [];
  #place = 0;
  #ended = false;

  constructor(source: Source, before: string, floor: string, chunk: number, budget: Budget) {
    this.#source = source;
    this.#before = before;
    this.#floor = floor;
    this.#chunk = chunk;
    this.#budget = budget;
  }

  /** The next entry, not taken yet; null at the end, `spent` when the budget does not allow to know it. */
  peek(): Entry | null | 'spent' {
    const entry = this.#entries[this.#place];
    if (entry !== undefined) return entry;
    if (this.#ended) return null;
    if (this.#budget.left <= 0) return 'spent';
    this.#read(Math.min(this.#chunk, this.#budget.left));
    return this.peek();
  }

  /** Takes the entry that was peeked at. */
  take(): void {
    this.#place++;
  }

  #read(limit: number): void {
    this.#entries = this.#source(this.#before, this.#floor, limit);
    this.#place = 0;
    this.#budget.left -= this.#entries.length;
    this.#ended = this.#entries.length < limit;
    this.#before = this.#entries.at(-1)?.[0] ?? this.#before;
    this.#chunk = Math.min(this.#chunk * 2, CHUNK);
  }
}

/** The entries of all streams in order; the last is `spent` when the budget is. */
function* merge(streams: readonly Stream[]): Generator<Entry | 'spent'> {
  for (;;) {
    let newest: { readonly stream: Stream; readonly entry: Entry } | null = null;
    for (const stream of streams) {
      const entry = stream.peek();
      if (entry === 'spent') {
        yield entry;
        return;
      }
      if (entry !== null && (newest === null || entry[0] > newest.entry[0])) newest = { stream, entry };
    }
    if (newest === null) return;
    newest.stream.take();
    yield newest.entry;
  }
}

/** Collects what matches, and one more to know whether there is a next page. */
function pageOf(entries: Iterable<Entry | 'spent'>, matches: Matches, limit: number): FoundPage {
  const seqs: number[] = [];
  let last: string | null = null;
  for (const entry of entries) {
    const verdict = entry === 'spent' ? entry : matches(entry[1]);
    if (verdict === 'spent' || entry === 'spent') return { seqs, next: last };
    if (verdict && seqs.length === limit) return { seqs, next: last };
    if (verdict) seqs.push(entry[1]);
    last = entry[0];
  }
  return { seqs, next: null };
}

function sourceFinder(db: Driver): (query: ListQuery) => Source[] {
  const sql = preparePages(db);
  return ({ owner, statuses, filter }) => {
    const tag = filter?.tag ?? null;
    if (owner === 'all')
      return tag === null
        ? [(...range) => sql.all.all(...range)]
        : [(...range) => sql.ofTag.all(tag, ...range)];
    const { keyId } = owner;
    if (tag !== null) return [(...range) => sql.ofKeyAndTag.all(keyId, tag, ...range)];
    const wanted = statuses.length === 0 ? MESSAGE_STATUSES : [...new Set(statuses)];
    return wanted.map(
      (status) =>
        (...range) =>
          sql.ofKey.all(keyId, status, ...range),
    );
  };
}

function lower(a: string, b: string): string {
  return a < b ? a : b;
}

function preparePages(db: Driver) {
  type Range = [before: string, floor: string, limit: number];
  return {
    all: db.prepare<Range, [id: string, seq: number]>(
      'SELECT id, seq FROM messages WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?',
    ),
    ofKey: db.prepare<[keyId: string, status: string, ...Range], [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_by_key
       WHERE key_id = ? AND status = ? AND id < ? AND id >= ? ORDER BY id DESC LIMIT ?`,
    ),
    // CROSS JOIN keeps the order of the loops: the tag's entries, and for each its message.
    ofKeyAndTag: db.prepare<[keyId: string, tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags CROSS JOIN messages ON messages.id = message_tags.id
       WHERE message_tags.key_id = ? AND tag = ? AND message_tags.id < ? AND message_tags.id >= ?
       ORDER BY message_tags.id DESC LIMIT ?`,
    ),
    ofTag: db.prepare<[tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags INDEXED BY message_tags_by_tag
         CROSS JOIN messages ON messages.id = message_tags.id
       WHERE tag = ? AND message_tags.id < ? AND message_tags.id >= ?
       ORDER BY message_tags.id DESC LIMIT ?`,
    ),
  };
}
