import type { MessageStatus } from '../../domain/delivery.ts';
import { type MailQuery, type QueryTerm, wholeWordsOf } from '../../domain/query.ts';
import { type MailFacts, queryTest } from '../../domain/query-test.ts';
import { fromJson, replyLine } from '../columns.ts';
import type { SearchQuery } from '../views.ts';
import type { Driver } from './driver.ts';
import type { Budget, Matches, SliceEnd } from './pages.ts';

/**
 * Search by words. The index is walked in windows, from the newest message to the oldest. Within a window, a word that
 * all messages have gives its first hits at once, but words that few or no messages have in common cost by the window's
 * width. So each {@link WIDTH_PER_RECORD} messages of a window count as one record. A rare word is looked up first, in
 * one go, and its messages are examined one by one.
 *
 * The few messages that are newer than the index are examined one by one.
 */

/** Messages of a window that cost as much as examining one. */
const WIDTH_PER_RECORD = 64;
/** The first and the widest window: a few milliseconds for any search. */
const FIRST_WINDOW = 4_096;
const MAX_WINDOW = 16_384;
/** A word is rare if at most this many of a page's possible messages have it. */
const RARE = 1_000;
/** Words of a query that are tested for rarity: the longest, which tend to be rare. */
const MAX_PROBES = 6;
/** Up to this many messages newer than the index are examined within every page's budget. */
const FEW_NEWER = 1_000;
/** How far the order of message numbers may differ from that of ids, where several were accepted at once. */
const DISORDER = 1_000;

/** The terms of a query that the word index preselects by. */
export function indexedTerms({ terms }: MailQuery): QueryTerm[] {
  return terms.filter((term) => !term.not && term.kind !== 'tag' && expressionOf(term) !== null);
}

/** Whether the index fully answers a term; of addresses and Message-IDs it knows only the words. */
function isAnswered(term: QueryTerm): boolean {
  return term.kind === 'words' && !term.not && term.isStart !== true;
}

const COLUMNS = { any: '', subject: 'subject : ', from: 'sender : ', to: 'recipients : ' } as const;

function expressionOf(term: QueryTerm): string | null {
  const words = wholeWordsOf(term);
  return words.length === 0 ? null : `${columnOf(term)}"${words.join(' ')}"`;
}

function columnOf(term: QueryTerm): string {
  if (term.kind === 'words' || term.kind === 'address') return COLUMNS[term.field];
  return term.kind === 'tag' ? 'tags : ' : 'ids : ';
}

/** The query in the language of FTS5. Words contain only letters and digits, so nothing in them is syntax. */
function matchOf({ terms }: MailQuery): string {
  return terms.flatMap((term) => (term.not ? [] : (expressionOf(term) ?? []))).join(' AND ');
}

/** The longest of the words that every found message has. */
function longestWords({ terms }: MailQuery): string[] {
  const words = terms.flatMap((term) => (term.not ? [] : wholeWordsOf(term)));
  return [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, MAX_PROBES);
}

/** Numbers of messages, from `bottom` up to, and without, `top`. */
interface Span {
  readonly top: number;
  readonly bottom: number;
}

/** Builds the search by words. */
export function wordFinder(db: Driver, matcherOf: ReturnType<typeof factMatcher>) {
  const sql = prepareWordSearch(db);
  return (
    wanted: SearchQuery,
    bounds: IdBounds,
    maxExamined: number,
    found: (seq: number) => void,
    isOver: () => boolean,
  ): SliceEnd => {
    const budget = { left: maxExamined };
    const [low = 1, high = 0] = sql.range.get() ?? [];
    const span = spanOf(wanted, bounds);
    const walk = new Walk(span, wanted.limit, found, isOver, budget);
    const looking = matcherOf(wanted.query, budget, undefined, bounds);
    walk.go({ top: span.top, bottom: Math.max(span.bottom, high + 1) }, looking, readEach);
    if (walk.ended === null) {
      const indexed = { top: Math.min(span.top, high + 1), bottom: Math.max(span.bottom, low) };
      const few = rareHits(wanted.query, indexed, budget);
      const match = matchOf(wanted.query);
      if (few === null) walk.go(indexed, matcherOf(wanted.query, budget, isAnswered, bounds), readBy(match));
      else walk.goAtOnce(indexed, few, looking);
    }
    if (wanted.complete && walk.ended === null)
      walk.go({ top: Math.min(span.top, low), bottom: span.bottom }, looking, readEach);
    const next = walk.place === span.top ? wanted.before : (sql.idFrom.get(walk.place)?.[0] ?? null);
    return {
      next: walk.ended === null ? null : next,
      examined: maxExamined - budget.left,
      reason: walk.ended ?? 'complete',
    };

    function readEach({ top, bottom }: Span, limit: number): number[] {
      return sql.each.all(bottom, top, limit).map(([seq]) => seq);
    }
  };

  function readBy(match: string): ReadSpan {
    return ({ top, bottom }, limit) => sql.found.all(match, bottom, top, limit).map(([seq]) => seq);
  }

  /** All messages of a span that the index finds, if one of the query's words is rare; null if none is. */
  function rareHits(query: MailQuery, span: Span, budget: Budget): readonly number[] | null {
    if (span.top <= span.bottom) return [];
    let fewest: readonly number[] | null = null;
    for (const word of longestWords(query)) {
      const hits = readBy(`"${word}"`)(span, Math.min(RARE, (fewest?.length ?? RARE) - 1) + 1);
      budget.left -= Math.floor(hits.length / WIDTH_PER_RECORD);
      if (hits.length < (fewest?.length ?? RARE + 1) && hits.length <= RARE) fewest = hits;
      if (fewest?.length === 0) break;
    }
    // One word is rare, so messages with all words, each in its field, are too.
    return fewest === null || fewest.length === 0 ? fewest : readBy(matchOf(query))(span, fewest.length);
  }

  /** The range of numbers that a page may contain, roughly if times bound it: every message is checked again then. */
  function spanOf({ before, after }: SearchQuery, { floor, before: ceiling }: IdBounds): Span {
    let top = before === null ? (sql.last.get()?.[0] ?? 0) + 1 : placeOf(before);
    let bottom = 1;
    if (ceiling !== ANY_ID.before) top = Math.min(top, placeOf(ceiling) + DISORDER);
    if (floor !== ANY_ID.floor) bottom = Math.max(bottom, placeOf(floor) - DISORDER);
    if (after !== null) bottom = Math.max(bottom, placeOf(`${after}!`));
    return { top, bottom };
  }

  /** The number of the message with this id; if there is none, one more than that of the last before it. */
  function placeOf(id: string): number {
    return sql.seqOf.get(id)?.[0] ?? (sql.seqBelow.get(id)?.[0] ?? 0) + 1;
  }
}

/** Reads the numbers of a span's messages, the largest first. */
type ReadSpan = (span: Span, limit: number) => number[];

/** Walks down the message numbers, until the page is full or the budget is spent. */
class Walk {
  readonly #limit: number;
  readonly #found: (seq: number) => void;
  readonly #isOver: () => boolean;
  readonly #budget: Budget;
  #count = 0;
  /** Numbers below this one were not examined. */
  place: number;
  /** Why it ended early; null if it did not. */
  ended: SliceEnd['reason'] | null = null;

  constructor(
    { top }: Span,
    limit: number,
    found: (seq: number) => void,
    isOver: () => boolean,
    budget: Budget,
  ) {
    this.place = top;
    this.#limit = limit;
    this.#found = found;
    this.#isOver = isOver;
    this.#budget = budget;
  }

  /** Examines a span that begins where the last one ended. */
  go({ bottom, ...span }: Span, matches: Matches, read: ReadSpan): void {
    let top = span.top;
    for (let width = FIRST_WINDOW; top > bottom && this.ended === null; width = MAX_WINDOW) {
      if (this.#budget.left <= 0) {
        this.ended = 'spent';
        return;
      }
      const widest = Math.min(width, this.#budget.left * WIDTH_PER_RECORD);
      top = this.#window({ top, bottom: Math.max(bottom, top - widest) }, matches, read);
      if (this.ended === null) this.place = top;
      if (this.ended === null && top > bottom && this.#isOver()) this.ended = 'spent';
    }
  }

  /** Examines the known numbers of a span, the largest first. */
  goAtOnce({ bottom }: Span, seqs: readonly number[], matches: Matches): void {
    for (const seq of seqs) {
      if (this.#budget.left <= 0) this.ended = 'spent';
      this.#budget.left--;
      if (this.ended !== null || !this.#look(seq, matches)) return;
    }
    this.place = Math.min(this.place, bottom);
  }

  /** Examines a window. Returns how far down it came. */
  #window({ top, bottom }: Span, matches: Matches, read: ReadSpan): number {
    // Other costs, such as recipients, must leave room for at least one message.
    const room = Math.floor(this.#budget.left / 4);
    const limit = Math.max(1, Math.min(this.#limit - this.#count + 1, room));
    const seqs = read({ top, bottom }, limit);
    const end = seqs.length < limit ? bottom : (seqs.at(-1) ?? bottom);
    this.#budget.left -= seqs.length + Math.ceil((top - end) / WIDTH_PER_RECORD);
    for (const seq of seqs) if (!this.#look(seq, matches)) break;
    return end;
  }

  #look(seq: number, matches: Matches): boolean {
    const verdict = matches(seq);
    if (verdict === 'spent') this.ended = 'spent';
    else if (verdict && this.#count === this.#limit) this.ended = 'complete';
    else {
      if (verdict) {
        this.#found(seq);
        this.#count++;
      }
      this.place = seq;
      if (this.#isOver()) this.ended = 'spent';
    }
    return this.ended === null;
  }
}

/**
 * Builds the count of messages that are not indexed: from before the index, and new ones if they are more than a search
 * examines one by one.
 */
export function behindFigure(db: Driver): (query: MailQuery) => number {
  const sql = prepareWordSearch(db);
  return (query) => {
    if (indexedTerms(query).length === 0) return 0;
    const [low = 1, high = 0] = sql.range.get() ?? [];
    const older = Math.max(0, low - (sql.first.get()?.[0] ?? low));
    const newer = (sql.last.get()?.[0] ?? high) - high;
    return older + (newer > FEW_NEWER ? newer : 0);
  };
}

function prepareWordSearch(db: Driver) {
  type Span = [bottom: number, top: number, limit: number];
  return {
    range: db.prepare<[], [low: number, high: number]>('SELECT low, high FROM search_range'),
    first: db.prepare<[], [seq: number | null]>('SELECT min(seq) FROM messages'),
    last: db.prepare<[], [seq: number | null]>('SELECT max(seq) FROM messages'),
    found: db.prepare<[match: string, ...Span], [seq: number]>(
      'SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?',
    ),
    each: db.prepare<Span, [seq: number]>(
      'SELECT seq FROM messages WHERE seq >= (SELECT ?) AND seq < (SELECT ?) ORDER BY seq DESC LIMIT (SELECT ?)',
    ),
    seqOf: db.prepare<[id: string], [seq: number]>('SELECT seq FROM messages WHERE id = ?'),
    seqBelow: db.prepare<[id: string], [seq: number]>(
      'SELECT seq FROM messages WHERE id < ? ORDER BY id DESC LIMIT 1',
    ),
    idFrom: db.prepare<[seq: number], [id: string]>(
      'SELECT id FROM messages WHERE seq >= ? ORDER BY seq LIMIT 1',
    ),
  };
}

/** Builds the test of a query's conditions that no index has answered. `known`: those that one has. */
export function factMatcher(
  db: Driver,
): (query: MailQuery, budget: Budget, known?: (term: QueryTerm) => boolean, bounds?: IdBounds) => Matches {
  const sql = prepareFacts(db);
  return (query, budget, known, bounds = ANY_ID) => {
    const test = queryTest(query, known);
    if (test === null && bounds === ANY_ID) return () => true;
    return (seq) => {
      const row = sql.message.get(seq);
      if (row === undefined) return false;
      const [id] = row;
      if (id < bounds.floor || id >= bounds.before) return false;
      if (test === null) return true;
      // Recipients are records too, so a page of large envelopes ends sooner.
      let isShort = false;
      let found: ReturnType<MailFacts['recipients']> | null = null;
      const recipients = () => {
        if (budget.left <= 0) isShort = true;
        if (isShort) return [];
        if (found !== null) return found;
        const rows = sql.recipients.all(seq);
        budget.left -= rows.length;
        found = rows.map(([address, relay, captured, hopId, ...reply]) => ({
          address,
          relay,
          captured: captured === 1,
          hopId,
          reply: () => replyLine(...reply),
        }));
        return found;
      };
      const matches = test(factsOf(row, recipients));
      return isShort ? 'spent' : matches;
    };
  };
}

/** Ids from `floor` up to, and without, `before`. */
export interface IdBounds {
  readonly floor: string;
  readonly before: string;
}

/** Every id. */
export const ANY_ID: IdBounds = { floor: '', before: '~' };

type FactsRow = [
  id: string,
  status: MessageStatus,
  keyId: string | null,
  test: number,
  from: string,
  reversePath: string,
  subject: string,
  messageId: string,
  tags: string,
  box: string | null,
  metadata: string,
  sendAt: number | null,
];

type RecipientRow = [
  address: string,
  relay: string | null,
  captured: number | null,
  hopId: string | null,
  code: number | null,
  enhanced: string | null,
  reply: string | null,
];

function factsOf(row: FactsRow, recipients: MailFacts['recipients']): MailFacts {
  const [id, status, keyId, test, from, reversePath, subject, messageId, tags, box, metadata, sendAt] = row;
  return {
    id,
    status,
    keyId,
    from,
    reversePath,
    subject,
    messageId,
    box,
    sendAt,
    recipients,
    test: test === 1,
    tags: fromJson<string[]>(tags),
    metadata: () => Object.values(fromJson<Record<string, string>>(metadata)),
  };
}

function prepareFacts(db: Driver) {
  return {
    message: db.prepare<[seq: number], FactsRow>(
      `SELECT id, status, key_id, test, header_from, reverse_path, subject, message_id, tags, box, metadata, not_before
       FROM messages WHERE seq = ?`,
    ),
    recipients: db.prepare<[seq: number], RecipientRow>(
      `SELECT address, relay, outcome = 'captured', provider_message_id, last_code, last_enhanced, last_reply
       FROM deliveries WHERE message = ?`,
    ),
  };
}
