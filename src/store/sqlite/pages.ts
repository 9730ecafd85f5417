import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import { addressTest } from '../../domain/mailbox.ts';
import { messageIdFloor } from '../../lib/id.ts';
import type { Kept } from '../counting.ts';
import { areTroubled, textTest } from '../matching.ts';
import type { ListQuery } from '../views.ts';
import type { Driver } from './driver.ts';
import { type Entry, prepareSources, type Source } from './paging.ts';

/** Most records that one slice examines. */
export const SLICE_RECORDS = 2_000;

/** How a slice of a list ended. */
export interface SliceEnd {
  /** Where the search continues, as `before`; null if there is nothing more. */
  readonly next: string | null;
  /** Number of examined records. */
  readonly examined: number;
  /** The reason: the page is full or all is found, or it is others' turn. */
  readonly reason: 'complete' | 'spent';
}

/**
 * Examines one slice of a list: at most `maxExamined` records, and until `isOver`, which is asked after each message.
 * Passes messages that belong on the page to `found`.
 */
type FindSlice = (
  query: ListQuery,
  maxExamined: number,
  found: (seq: number) => void,
  isOver: () => boolean,
) => SliceEnd;

/** Sorts after every message id. */
export const NEWEST = '~';

/**
 * Builds the search for lists. It walks the narrowest index (`paging.ts`) within its budget of records, however few of
 * them belong on the page.
 */
export function sliceFinder(db: Driver): FindSlice {
  const sourcesOf = sourceFinder(db);
  const matcherOf = matchers(db);
  return (query, maxExamined, found, isOver) => {
    const budget = { left: maxExamined };
    const { since = null, until = null } = query.filter ?? {};
    const top = query.before ?? NEWEST;
    const before = until === null ? top : lower(top, messageIdFloor(until));
    const floor = since === null ? '' : messageIdFloor(since);
    const entries = walk(sourcesOf(query), { before, floor, limit: query.limit }, budget);
    const end = search(entries, matcherOf(query, budget), query, found, isOver);
    return { ...end, examined: maxExamined - budget.left };
  };
}

/**
 * The entries of all sources with ids from `floor` up to, and without, `before`, in order; `spent` when the budget is.
 */
export function walk(
  sources: readonly Source[],
  { before, floor, limit }: { readonly before: string; readonly floor: string; readonly limit: number },
  budget: Budget,
): Iterable<Entry | 'spent'> {
  // The next slice re-reads what was read ahead and not examined, so a chunk stays a small part of a slice.
  const chunk = Math.max(1, Math.floor(budget.left / (4 * sources.length)));
  const span = { before, floor, chunk: Math.min(limit + 1, chunk), maxChunk: chunk };
  return merge(sources.map((source) => new Stream(source, span, budget)));
}

/** The range of a stream: ids from `floor` up to, and without, `before`; at first `chunk` entries at a time. */
interface Span {
  readonly before: string;
  readonly floor: string;
  readonly chunk: number;
  readonly maxChunk: number;
}

/** The entries of a source, read in growing chunks within the budget. */
class Stream {
  readonly #source: Source;
  readonly #span: Span;
  readonly #budget: Budget;
  #before: string;
  #chunk: number;
  #entries: Entry[] = [];
  #place = 0;
  #ended = false;

  constructor(source: Source, span: Span, budget: Budget) {
    this.#source = source;
    this.#span = span;
    this.#before = span.before;
    this.#chunk = span.chunk;
    this.#budget = budget;
  }

  /** The next entry, without taking it; null at the end, `spent` if the budget does not allow to know it. */
  peek(): Entry | null | 'spent' {
    const entry = this.#entries[this.#place];
    if (entry !== undefined) return entry;
    if (this.#ended) return null;
    if (this.#budget.left <= 0) return 'spent';
    this.#read(Math.min(this.#chunk, this.#budget.left));
    return this.peek();
  }

  /** Takes the peeked entry. */
  take(): void {
    this.#place++;
  }

  #read(limit: number): void {
    this.#entries = this.#source(this.#before, this.#span.floor, limit);
    this.#place = 0;
    this.#budget.left -= this.#entries.length;
    this.#ended = this.#entries.length < limit;
    this.#before = this.#entries.at(-1)?.[0] ?? this.#before;
    this.#chunk = Math.min(this.#chunk * 2, this.#span.maxChunk);
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

/** Finds matches, and one more to know whether there is a next page. */
export function search(
  entries: Iterable<Entry | 'spent'>,
  matches: Matches,
  { limit, before }: Pick<ListQuery, 'limit' | 'before'>,
  found: (seq: number) => void,
  isOver: () => boolean,
): Omit<SliceEnd, 'examined'> {
  let next = before;
  let count = 0;
  for (const entry of entries) {
    const verdict = entry === 'spent' ? entry : matches(entry[1]);
    if (verdict === 'spent' || entry === 'spent') return { next, reason: 'spent' };
    if (verdict && count === limit) return { next, reason: 'complete' };
    if (verdict) found(entry[1]);
    if (verdict) count++;
    next = entry[0];
    if (isOver()) return { next, reason: 'spent' };
  }
  return { next: null, reason: 'complete' };
}

function sourceFinder(db: Driver): (query: ListQuery) => Source[] {
  const sql = prepareSources(db);
  return ({ owner, statuses, filter }) => {
    const tag = filter?.tag ?? null;
    if (owner === 'all' && tag === null) {
      if (filter?.captured) return [(...range) => sql.captured.all(...range)];
      if (statuses.length > 0 && areTroubled(statuses)) return sql.ofTroubled(statuses);
      return [(...range) => sql.all.all(...range)];
    }
    if (owner === 'all') return [(...range) => sql.ofTag.all(tag ?? '', ...range)];
    const { keyId } = owner;
    const box = filter?.box;
    if (filter?.captured && tag === null && box !== undefined)
      return [(...range) => sql.capturedOfBox.all(keyId, box, ...range)];
    if (filter?.captured && tag === null) return [(...range) => sql.capturedOfKey.all(keyId, ...range)];
    if (tag !== null) return [(...range) => sql.ofKeyAndTag.all(keyId, tag, ...range)];
    return sql.ofKey(keyId, statuses.length === 0 ? MESSAGE_STATUSES : statuses);
  };
}

/** The lower of two ids. */
export function lower(a: string, b: string): string {
  return a < b ? a : b;
}

/** Records that a page may still examine. */
export interface Budget {
  left: number;
}

/** Whether a message belongs on the page; `spent` if the budget does not allow to examine all of it. */
export type Matches = (seq: number) => boolean | 'spent';

/** Builds the tests that no index answers: text, addresses, and statuses unless the index is by status. */
function matchers(db: Driver): (query: ListQuery, budget: Budget) => Matches {
  const sql = prepareMatching(db);
  return ({ owner, statuses, filter }, budget) => {
    // The index of a key's mail is by status; the others are not.
    const byStatus =
      statuses.length > 0 && (owner === 'all' || (filter?.tag ?? null) !== null || filter?.captured === true);
    const wanted: ReadonlySet<MessageStatus> = new Set(statuses);
    const isCaptured = filter?.captured ?? false;
    const box = filter?.box;
    const texts = textTest(filter);
    const to = filter?.to === undefined || filter.to === null ? null : addressTest(filter.to);
    return (seq) => {
      if (byStatus || isCaptured || texts !== null) {
        const row = sql.message.get(seq);
        if (row === undefined) return false;
        const [status, kept, from, reversePath, subject, itsBox] = row;
        if (isCaptured && kept !== 'captured') return false;
        if (box !== undefined && itsBox !== box) return false;
        if (byStatus && !wanted.has(status)) return false;
        if (texts !== null && !texts(from, reversePath, subject)) return false;
      }
      if (to === null) return true;
      // Recipients are records too, so a page of large envelopes ends sooner.
      if (budget.left <= 0) return 'spent';
      const addresses = sql.recipients.all(seq);
      budget.left -= addresses.length;
      return addresses.some(([address]) => to(address));
    };
  };
}

function prepareMatching(db: Driver) {
  return {
    message: db.prepare<
      [seq: number],
      [
        status: MessageStatus,
        kept: Kept | null,
        headerFrom: string,
        reversePath: string,
        subject: string,
        box: string | null,
      ]
    >('SELECT status, kept, header_from, reverse_path, subject, box FROM messages WHERE seq = ?'),
    recipients: db.prepare<[seq: number], [address: string]>(
      'SELECT address FROM deliveries WHERE message = ?',
    ),
  };
}
