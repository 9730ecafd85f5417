import type { MessageStatus } from '../../domain/delivery.ts';
import { wordsOf } from '../../domain/mail-words.ts';
import type { MailQuery, QueryTerm } from '../../domain/query.ts';
import { type MailFacts, queryTest } from '../../domain/query-test.ts';
import { fromJson } from '../columns.ts';
import type { SearchQuery } from '../views.ts';
import type { Driver } from './driver.ts';
import type { Budget, Matches, SliceEnd } from './pages.ts';

/**
 * Search by words. The index is walked from the newest message to the oldest, in windows: within one, a word that all
 * have gives its first hits at once, and words of which few or none have all cost by the window's width. So that is counted
 * as well: as one record for each {@link WIDTH_PER_RECORD} messages of a window. A word that few messages have is looked up
 * first, in one go: they are looked at one by one.
 *
 * Messages that are newer than the index, of which there are few, are looked at one by one.
 */

/** Messages of a window that cost as much as looking at one. */
const WIDTH_PER_RECORD = 64;
/** The first window, and the widest: what few milliseconds suffice for, whatever is looked for. */
const FIRST_WINDOW = 4_096;
const MAX_WINDOW = 16_384;
/** A word that so many messages have at most, of those that a page may be about, is rare. */
const RARE = 1_000;
/** Words of a query of which it is found out whether they are rare; the longest, which tend to be. */
const MAX_PROBES = 6;
/** So many that are newer than the index are looked at within every page's budget. */
const FEW_NEWER = 1_000;
/** Messages may be numbered in another order than their ids by this many, where several were accepted at once. */
const DISORDER = 1_000;

/** What of a query the words' index preselects by. */
export function indexedTerms({ terms }: MailQuery): QueryTerm[] {
  return terms.filter((term) => !term.not && term.kind !== 'tag' && expressionOf(term) !== null);
}

/** Whether the index answers a term for good; of addresses and Message-IDs it only knows the words. */
function isAnswered(term: QueryTerm): boolean {
  return term.kind === 'words' && !term.not;
}

const COLUMNS = { any: '', subject: 'subject : ', from: 'sender : ', to: 'recipients : ' } as const;

function expressionOf(term: QueryTerm): string | null {
  const words = wordsOfTerm(term);
  return words.length === 0 ? null : `${columnOf(term)}"${words.join(' ')}"`;
}

function columnOf(term: QueryTerm): string {
  if ('field' in term) return COLUMNS[term.field];
  return term.kind === 'tag' ? 'tags : ' : 'ids : ';
}

/** The query in the language of FTS5. Words hold letters and digits only, so that nothing in it is anything else. */
function matchOf({ terms }: MailQuery): string {
  return terms.flatMap((term) => (term.not ? [] : (expressionOf(term) ?? []))).join(' AND ');
}

/** The longest of the words that all messages have which a query finds. */
function longestWords({ terms }: MailQuery): string[] {
  const words = terms.flatMap((term) => (term.not ? [] : wordsOfTerm(term)));
  return [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, MAX_PROBES);
}

function wordsOfTerm(term: QueryTerm): readonly string[] {
  switch (term.kind) {
    case 'words':
      return term.words;
    case 'address':
      return wordsOf(term.address);
    case 'tag':
      return wordsOf(term.tag);
    case 'id':
      return wordsOf(term.start);
    case 'part':
      return [];
  }
}

/** Numbers of messages: from `bottom` up to, and without, `top`. */
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

  /** All messages of a span that the index finds, where one of the query's words is rare; null where none is. */
  function rareHits(query: MailQuery, span: Span, budget: Budget): readonly number[] | null {
    if (span.top <= span.bottom) return [];
    let fewest: readonly number[] | null = null;
    for (const word of longestWords(query)) {
      const hits = readBy(`"${word}"`)(span, Math.min(RARE, (fewest?.length ?? RARE) - 1) + 1);
      budget.left -= Math.floor(hits.length / WIDTH_PER_RECORD);
      if (hits.length < (fewest?.length ?? RARE + 1) && hits.length <= RARE) fewest = hits;
      if (fewest?.length === 0) break;
    }
    // One word is rare: so is what has all of them, each in its field.
    return fewest === null || fewest.length === 0 ? fewest : readBy(matchOf(query))(span, fewest.length);
  }

  /** The numbers that a page may be about, roughly where times bound it: every message is looked at again then. */
  function spanOf({ before, after }: SearchQuery, { floor, before: ceiling }: IdBounds): Span {
    let top = before === null ? (sql.last.get()?.[0] ?? 0) + 1 : placeOf(before);
    let bottom = 1;
    if (ceiling !== ANY_ID.before) top = Math.min(top, placeOf(ceiling) + DISORDER);
    if (floor !== ANY_ID.floor) bottom = Math.max(bottom, placeOf(floor) - DISORDER);
    if (after !== null) bottom = Math.max(bottom, placeOf(`${after}!`));
    return { top, bottom };
  }

  /** The number of the message with this id; of none, one more than that of the last before it. */
  function placeOf(id: string): number {
    return sql.seqOf.get(id)?.[0] ?? (sql.seqBelow.get(id)?.[0] ?? 0) + 1;
  }
}

/** Reads numbers of messages of a span, the largest first. */
type ReadSpan = (span: Span, limit: number) => number[];

/** Walks down the numbers of messages, until the page is full or there has been enough of it. */
class Walk {
  readonly #limit: number;
  readonly #found: (seq: number) => void;
  readonly #isOver: () => boolean;
  readonly #budget: Budget;
  #count = 0;
  /** What is below this number was not looked at. */
  place: number;
  /** Why it ended before the end; null while it did not. */
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

  /** Looks at a span that begins where the last one ended. */
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

  /** Looks at those of a span that are known, the largest number first. */
  goAtOnce({ bottom }: Span, seqs: readonly number[], matches: Matches): void {
    for (const seq of seqs) {
      if (this.#budget.left <= 0) this.ended = 'spent';
      this.#budget.left--;
      if (this.ended !== null || !this.#look(seq, matches)) return;
    }
    this.place = Math.min(this.place, bottom);
  }

  /** Looks at a window. Says how far down it came. */
  #window({ top, bottom }: Span, matches: Matches, read: ReadSpan): number {
    // What they cost besides, such as their recipients, must leave room for one at least.
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
 * Builds the figure of messages that words do not find yet: from before there was an index, and new ones, where they are
 * more than a search looks at one by one.
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

/** Builds the test of what a query asks and no index has answered. `known`: what one has. */
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
      // Recipients are records as well: a page of large envelopes ends sooner.
      let isShort = false;
      let found: ReturnType<MailFacts['recipients']> | null = null;
      const recipients = () => {
        if (budget.left <= 0) isShort = true;
        if (isShort) return [];
        if (found !== null) return found;
        const rows = sql.recipients.all(seq);
        budget.left -= rows.length;
        found = rows.map(([address, relay, captured]) => ({ address, relay, captured: captured === 1 }));
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
];

function factsOf(row: FactsRow, recipients: MailFacts['recipients']): MailFacts {
  const [id, status, keyId, test, from, reversePath, subject, messageId, tags] = row;
  return {
    ...{ id, status, keyId, from, reversePath, subject, messageId, recipients },
    test: test === 1,
    tags: fromJson<string[]>(tags),
  };
}

function prepareFacts(db: Driver) {
  return {
    message: db.prepare<[seq: number], FactsRow>(
      `SELECT id, status, key_id, test, header_from, reverse_path, subject, message_id, tags
       FROM messages WHERE seq = ?`,
    ),
    recipients: db.prepare<[seq: number], [address: string, relay: string | null, captured: number | null]>(
      `SELECT address, relay, outcome = 'captured' FROM deliveries WHERE message = ?`,
    ),
  };
}
