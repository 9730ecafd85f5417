import { MESSAGE_STATUSES, type MessageStatus } from './delivery.ts';
import { wordsOf } from './mail-words.ts';

/** A parsed search query. docs/search.md explains the syntax to users. */
export interface MailQuery {
  /** All of these must hold. */
  readonly terms: readonly QueryTerm[];
  /** Any of these; null for every status. */
  readonly statuses: readonly MessageStatus[] | null;
  /** The copy of any recipient goes, or went, by any of these relays; null for all, including none. */
  readonly relays: readonly string[] | null;
  /** No recipient's copy goes by any of these. */
  readonly notRelays: readonly string[];
  /** Of any of these keys; null for all, and for mail without a key. Users type names; stores get ids. */
  readonly keys: readonly string[] | null;
  readonly notKeys: readonly string[];
  /** Accepted at or after the first, and before the second wall time in ms; null for no bound. */
  readonly since: number | null;
  readonly until: number | null;
  /** Only what the inbox captured or a test key sent, or only other mail; null for both. */
  readonly captured: boolean | null;
  /** Only mail that waits for the time it was scheduled for, or only other mail; null for both. */
  readonly scheduled: Scheduled | null;
}

/** Queued, and to go out after this wall time in ms; with `not`, anything else. */
export interface Scheduled {
  readonly after: number;
  readonly not: boolean;
}

/** Where to look for words; `any`: in everything indexed, including the Message-ID. */
export type WordField = 'any' | 'subject' | 'from' | 'to';

/** A condition; with `not`, one that must not hold. */
export type QueryTerm =
  /** These words, consecutively, in one of the field's texts. At least one word. */
  | {
      readonly kind: 'words';
      readonly field: WordField;
      readonly words: readonly string[];
      /** The last word is only the beginning of one. */
      readonly isStart?: true;
      readonly not: boolean;
    }
  /** A recipient, or the sender (From or reverse-path): a whole address, or `@` and a domain. */
  | {
      readonly kind: 'address';
      readonly field: 'from' | 'to';
      readonly address: string;
      /** Only the beginning of the address, or of the domain. */
      readonly isStart?: true;
      readonly not: boolean;
    }
  /** Exactly this tag. */
  | { readonly kind: 'tag'; readonly tag: string; readonly not: boolean }
  /** In exactly this box (domain/box.ts). */
  | { readonly kind: 'box'; readonly box: string; readonly not: boolean }
  /** An id with this prefix, or exactly this Message-ID, without its angle brackets. */
  | { readonly kind: 'id'; readonly start: string; readonly not: boolean }
  /** Taken over by a next hop that gave it exactly this id. */
  | { readonly kind: 'hop'; readonly id: string; readonly not: boolean }
  /** One of the field's texts contains this one, case-insensitive. The subject's is not part of the syntax: lists ask for it. */
  | { readonly kind: 'part'; readonly field: PartField; readonly part: string; readonly not: boolean };

/** Where to look for a text: in the subject, a value of the metadata, or the last reply about a recipient, with its codes. */
export type PartField = 'subject' | 'metadata' | 'reply';

/** A query, and notes for the user on what could not be parsed. */
export interface ParsedQuery {
  readonly query: MailQuery;
  readonly notes: readonly string[];
}

/** What may precede a colon. */
export const QUERY_TOKENS = [
  'to',
  'from',
  'subject',
  'status',
  'tag',
  'box',
  'relay',
  'key',
  'id',
  'hop',
  'metadata',
  'reply',
  'before',
  'after',
  'is',
] as const;

type Token = (typeof QUERY_TOKENS)[number];

/** With more conditions nothing matches: leaving some out would match more than was meant. */
const MAX_TERMS = 32;

/** Matches everything. */
export const ANY_MAIL: MailQuery = {
  terms: [],
  statuses: null,
  relays: null,
  notRelays: [],
  keys: null,
  notKeys: [],
  since: null,
  until: null,
  captured: null,
  scheduled: null,
};

/**
 * Parses what was typed. Never throws: a filter that cannot be parsed becomes a note, and nothing matches, because whoever
 * acts on a result must not act on more than was meant. `now` is the wall time in ms to which times such as `7d` relate,
 * and after which mail is scheduled; without it there are none.
 */
export function parseQuery(text: string, now: number | null = null): ParsedQuery {
  const draft = new Draft(now);
  const pieces = piecesOf(text);
  for (const piece of pieces.slice(0, MAX_TERMS)) draft.add(piece);
  if (pieces.length > MAX_TERMS)
    draft.refuse(`There are at most ${MAX_TERMS} conditions; quotes make several words one.`);
  return { query: draft.query, notes: draft.notes };
}

type Draftable = { -readonly [Name in keyof MailQuery]: MailQuery[Name] };

class Draft {
  readonly #now: number | null;
  readonly #query: Draftable = { ...ANY_MAIL };
  readonly #notes: string[] = [];
  readonly #unwanted = new Set<MessageStatus>();
  #isVoid = false;

  constructor(now: number | null) {
    this.#now = now;
  }

  get query(): MailQuery {
    if (this.#isVoid) return { ...this.#query, terms: [], statuses: [] };
    if (this.#unwanted.size === 0) return this.#query;
    const among = this.#query.statuses ?? MESSAGE_STATUSES;
    return { ...this.#query, statuses: among.filter((status) => !this.#unwanted.has(status)) };
  }

  get notes(): readonly string[] {
    return [...new Set(this.#notes), ...(this.#isVoid ? ['So nothing matches.'] : [])];
  }

  /** There is a filter that cannot be parsed, or more than may be. */
  refuse(text: string): void {
    this.#isVoid = true;
    this.#note(text);
  }

  add({ token, value: written, not }: Piece): void {
    const known = QUERY_TOKENS.find((name) => name === token);
    // Blanks at the ends belong to a tag alone, which is compared exactly.
    const value = known === 'tag' ? written : written.trim();
    if (token === null) this.#words('any', value, not);
    else if (known === undefined)
      this.refuse(`There is no token ${token}:. To search for the word, put it in quotes.`);
    else if (value === '') this.refuse(`There is nothing after ${token}:.`);
    else this.#token(known, value, not);
  }

  #token(token: Token, value: string, not: boolean): void {
    switch (token) {
      case 'subject':
        this.#words('subject', value, not);
        break;
      case 'to':
      case 'from':
        this.#address(token, value, not);
        break;
      case 'status':
        this.#status(value, not);
        break;
      case 'tag':
        this.#term({ kind: 'tag', tag: value, not });
        break;
      case 'box':
        this.#term({ kind: 'box', box: value, not });
        break;
      case 'id':
        this.#term({ kind: 'id', start: value.replace(/^<|>$/g, ''), not });
        break;
      case 'hop':
        this.#term({ kind: 'hop', id: value, not });
        break;
      case 'metadata':
      case 'reply':
        this.#term({ kind: 'part', field: token, part: value, not });
        break;
      case 'relay':
        this.#name(not ? 'notRelays' : 'relays', value);
        break;
      case 'key':
        this.#name(not ? 'notKeys' : 'keys', value);
        break;
      case 'is':
        this.#is(value, not);
        break;
      case 'before':
      case 'after':
        this.#time(token, value, not);
    }
  }

  #words(field: WordField, value: string, not: boolean): void {
    const words = wordsOf(value);
    if (words.length > 0) this.#term({ kind: 'words', field, words, ...startIn(value), not });
    else if (field === 'any') this.#note(`There is no word in ${shown(value)}, so it was left out.`);
    else this.refuse(`There is no word in ${shown(value)}.`);
  }

  #address(field: 'from' | 'to', value: string, not: boolean): void {
    const start = value.endsWith('*') ? ({ isStart: true } as const) : {};
    const address = value.replace(/^.*<|[>*]$/g, '').toLowerCase();
    if (!value.includes('@')) this.#words(field, value, not);
    else if (wordsOf(address).length > 0) this.#term({ kind: 'address', field, address, ...start, not });
    else this.refuse(`${shown(value)} is not an address.`);
  }

  #status(value: string, not: boolean): void {
    const status = MESSAGE_STATUSES.find((name) => name === value.toLowerCase());
    if (status === undefined)
      this.refuse(`There is no status ${shown(value)}: it is one of ${MESSAGE_STATUSES.join(', ')}.`);
    else if (not) this.#unwanted.add(status);
    else this.#query.statuses = union(this.#query.statuses, status);
  }

  #is(value: string, not: boolean): void {
    const quality = value.toLowerCase();
    if (quality === 'captured') this.#query.captured = !not;
    else if (quality === 'scheduled' && this.#now !== null) this.#query.scheduled = { after: this.#now, not };
    else this.refuse(`There is no is:${shown(value)}, only is:captured and is:scheduled.`);
  }

  #name(field: 'relays' | 'notRelays' | 'keys' | 'notKeys', value: string): void {
    this.#query[field] = union(this.#query[field], value);
  }

  #time(token: 'before' | 'after', value: string, not: boolean): void {
    const time = parseDay(value) ?? (this.#now === null ? null : parseAgo(value, this.#now));
    if (not) this.refuse(`Use ${token === 'before' ? 'after' : 'before'}: instead of -${token}:.`);
    else if (time === null)
      this.refuse(
        `${token}: needs a day such as 2026-11-20, a time such as 2026-11-20T11:15:00Z, or how long ago, such as 7d, not ${shown(value)}.`,
      );
    else if (token === 'before') this.#query.until = Math.min(this.#query.until ?? time, time);
    else this.#query.since = Math.max(this.#query.since ?? time, time);
  }

  #note(text: string): void {
    this.#notes.push(text);
  }

  #term(term: QueryTerm): void {
    this.#query.terms = [...this.#query.terms, term];
  }
}

/** A star right behind a letter or a digit stands for the rest of the word. */
function startIn(value: string): { readonly isStart?: true } {
  return /[\p{L}\p{N}]\*$/u.test(value) ? { isStart: true } : {};
}

/** The words that a text found by this term has, whole; an index that knows words finds by them. */
export function wholeWordsOf(term: QueryTerm): readonly string[] {
  const words = indexedWordsOf(term);
  return 'isStart' in term ? words.slice(0, -1) : words;
}

function indexedWordsOf(term: QueryTerm): readonly string[] {
  switch (term.kind) {
    case 'words':
      return term.words;
    case 'address':
      return wordsOf(term.address);
    case 'tag':
      return wordsOf(term.tag);
    case 'id':
      return wordsOf(term.start);
    case 'box':
    case 'hop':
    case 'part':
      return [];
  }
}

function union<T>(list: readonly T[] | null, value: T): readonly T[] {
  if (list === null) return [value];
  return list.includes(value) ? list : [...list, value];
}

function shown(value: string): string {
  if (value === '') return '""';
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?[Zz]$/;

/** The start of a UTC day (`2026-11-20`), or a time in UTC (RFC 3339, seconds optional), as wall ms; else null. */
export function parseDay(text: string): number | null {
  const day = dayStart(text);
  if (day !== null) return day;
  const [, date = '', hour, minute, second = '0', fraction = ''] = TIME.exec(text) ?? [];
  const start = dayStart(date);
  if (start === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const ms = Math.floor(Number(`0.${fraction || '0'}`) * 1000);
  return start + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + ms;
}

const AGO = /^(\d{1,4})(m|h|d|w)$/i;
const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

/** So long before now (`30m`, `2h`, `7d`, `2w`), or the start of `today` or `yesterday` in UTC, as wall ms; else null. */
export function parseAgo(text: string, now: number): number | null {
  const today = now - (now % DAY_MS);
  if (/^today$/i.test(text)) return today;
  if (/^yesterday$/i.test(text)) return today - DAY_MS;
  const [, count, unit = ''] = AGO.exec(text) ?? [];
  return count === undefined ? null : now - Number(count) * (UNITS[unit.toLowerCase()] ?? 0);
}

function dayStart(text: string): number | null {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (year === undefined) return null;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // A date that does not exist, such as 30 February, would become another one.
  return new Date(ms).toISOString().startsWith(text) ? ms : null;
}

/** A piece of what was typed: a word or a quoted phrase, alone or after a token. */
export interface Piece {
  /** The token before the colon, in lower case; null without one. */
  readonly token: string | null;
  /** Without its quotes, of which two stand for one between them. */
  readonly value: string;
  /** A minus precedes it. */
  readonly not: boolean;
}

/** A token: letters and a colon, not followed by two slashes, so that URLs are words. */
const TOKEN = /^([a-z]{2,12}):(?!\/\/)/i;

/** Splits a query. A quote that is not closed extends to the end. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    const not = rest.startsWith('-') && rest.length > 1 && !/^-\s/.test(rest);
    if (not) rest = rest.slice(1);
    const token = TOKEN.exec(rest);
    if (token !== null) rest = rest.slice(token[0].length);
    const [value, length] = valueAt(rest);
    rest = rest.slice(length).trimStart();
    pieces.push({ token: token?.[1]?.toLowerCase() ?? null, value, not });
  }
  return pieces;
}

/** A text in quotes. */
const QUOTED = /^"([^"]*(?:""[^"]*)*)("?)/;

/** The value at the start of the text, and how many characters it takes. */
function valueAt(text: string): [value: string, length: number] {
  const [all, inner = '', close] = QUOTED.exec(text) ?? [];
  if (all === undefined) {
    const end = /\s/.exec(text)?.index ?? text.length;
    return [text.slice(0, end), end];
  }
  const value = inner.replaceAll('""', '"');
  return [close === '' ? value.trim() : value, all.length];
}
