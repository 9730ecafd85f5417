import { readMoment } from './moments.ts';

/**
 * Mailpit's language to search mail (https://mailpit.axllent.org/docs/usage/search-filters/), without I/O: what is
 * searched for, and whether a message is among it. Texts are compared in lower case, anywhere in a field.
 */

/** Longer queries are refused. */
export const MAX_QUERY = 2000;
/** Conditions beyond this many are refused. */
export const MAX_CONDITIONS = 50;

/** Where `to:` and its like look for a text. */
export type AddressField = 'from' | 'to' | 'cc' | 'bcc' | 'replyTo';

/** A condition; with `not`, one that must not hold. */
export type Condition = { readonly not: boolean } & (
  | { readonly kind: 'address'; readonly fields: readonly AddressField[]; readonly part: string }
  | { readonly kind: 'text' | 'subject' | 'messageId'; readonly part: string }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'read' | 'tagged' | 'attachment' | 'inline' }
  /** Accepted at this time (wall ms), or on this side of it. */
  | { readonly kind: 'before' | 'after'; readonly at: number }
  | { readonly kind: 'larger' | 'smaller'; readonly bytes: number }
);

/** What was asked for, or why that cannot be read. All conditions must hold; without any, every message is found. */
export type ReadSearch =
  | { readonly ok: true; readonly conditions: readonly Condition[] }
  | { readonly ok: false; readonly detail: string };

/** What is known of a message without its contents. */
export interface ListedFacts {
  readonly subject: string;
  /** Without angle brackets. */
  readonly messageId: string;
  readonly tags: readonly string[];
  readonly read: boolean;
  /** Wall ms. */
  readonly createdAt: number;
  readonly sizeBytes: number;
}

/** What its contents say. */
export interface SaidFacts {
  /** Of each field, every mailbox as `name address`, as {@link searchable} makes it. */
  readonly addresses: Readonly<Record<AddressField, readonly string[]>>;
  /** What words are looked for in, made the same way. */
  readonly text: string;
  readonly attachments: number;
  readonly inline: number;
}

/** Reads a query. `timeZone` is an IANA name for times that say none; null, or unknown: UTC. */
export function readSearch(query: string, timeZone: string | null): ReadSearch {
  if (query.length > MAX_QUERY)
    return { ok: false, detail: `A query may have at most ${MAX_QUERY} characters.` };
  const conditions: Condition[] = [];
  for (const word of wordsOf(query)) {
    const condition = conditionOf(word, timeZone);
    if (condition === null) continue;
    if ('detail' in condition) return { ok: false, detail: condition.detail };
    if (conditions.push(condition) > MAX_CONDITIONS)
      return { ok: false, detail: `A query may have at most ${MAX_CONDITIONS} conditions.` };
  }
  return { ok: true, conditions };
}

/** Whether a condition can be judged without the contents. */
export function isListed({ kind }: Condition): boolean {
  return !(kind === 'address' || kind === 'text' || kind === 'attachment' || kind === 'inline');
}

/** Whether a message meets a condition of which {@link isListed} is true. */
export function holdsListed(condition: Condition, facts: ListedFacts): boolean {
  return isListedTrue(condition, facts) !== condition.not;
}

/** Whether a message meets any other condition. */
export function holdsSaid(condition: Condition, facts: SaidFacts): boolean {
  return isSaidTrue(condition, facts) !== condition.not;
}

function isListedTrue(condition: Condition, facts: ListedFacts): boolean {
  switch (condition.kind) {
    case 'subject':
      return facts.subject.toLowerCase().includes(condition.part);
    case 'messageId':
      return facts.messageId.toLowerCase().includes(condition.part);
    case 'tag':
      return facts.tags.some((tag) => searchable(tag) === condition.tag);
    case 'tagged':
      return facts.tags.length > 0;
    case 'read':
      return facts.read;
    case 'before':
      return facts.createdAt <= condition.at;
    case 'after':
      return facts.createdAt >= condition.at;
    case 'larger':
      return facts.sizeBytes > condition.bytes;
    case 'smaller':
      return facts.sizeBytes < condition.bytes;
    default:
      return false;
  }
}

function isSaidTrue(condition: Condition, facts: SaidFacts): boolean {
  switch (condition.kind) {
    case 'address':
      return condition.fields.some((field) =>
        facts.addresses[field].some((one) => one.includes(condition.part)),
      );
    case 'text':
      return facts.text.includes(condition.part);
    case 'attachment':
      return facts.attachments > 0;
    case 'inline':
      return facts.inline > 0;
    default:
      return false;
  }
}

const DROPPED = /[\r\n\t><",;()\ufeff]/g;

/** A text as it is searched, and searched for: in lower case, without signs of addresses and lists, blanks once. */
export function searchable(text: string): string {
  return text.replace(DROPPED, ' ').replace(/ {2,}/g, ' ').trim().toLowerCase();
}

/** The words of a query. Blanks within quotes are no ends, and the quotes are left out. */
function wordsOf(query: string): string[] {
  const words: string[] = [];
  let word = '';
  let isQuoted = false;
  for (const piece of query.split(/([" ])/)) {
    if (piece === '"') isQuoted = !isQuoted;
    else if (piece !== ' ' || isQuoted) word += piece;
    else {
      words.push(word);
      word = '';
    }
  }
  return [...words, word].map((one) => one.trim()).filter((one) => searchable(one) !== '');
}

const EVERYWHERE: readonly AddressField[] = ['to', 'from', 'cc', 'bcc', 'replyTo'];

/** What follows a name and its colon; null: nothing is asked for. */
type ReadValue = (value: string, not: boolean, timeZone: string | null) => Condition | Unread | null;

/** Why a condition cannot be read. */
interface Unread {
  readonly detail: string;
}

// biome-ignore format: a table
const NAMED: Readonly<Record<string, ReadValue>> = {
  'to:':         address('to'),
  'from:':       address('from'),
  'cc:':         address('cc'),
  'bcc:':        address('bcc'),
  'reply-to:':   address('replyTo'),
  'addressed:':  address(...EVERYWHERE),
  'subject:':    (value, not) => (value.trim() === '' ? null : { kind: 'subject', part: value.toLowerCase(), not }),
  'message-id:': (value, not) => (searchable(value) === '' ? null : { kind: 'messageId', part: searchable(value), not }),
  'tag:':        (value, not) => (searchable(value) === '' ? null : { kind: 'tag', tag: searchable(value), not }),
  'before:':     moment('before'),
  'after:':      moment('after'),
  'larger:':     size('larger'),
  'smaller:':    size('smaller'),
};

// biome-ignore format: a table
const WHOLE: Readonly<Record<string, (not: boolean) => Condition>> = {
  'is:read':         (not) => ({ kind: 'read', not }),
  'is:unread':       (not) => ({ kind: 'read', not: !not }),
  'is:tagged':       (not) => ({ kind: 'tagged', not }),
  'has:attachment':  (not) => ({ kind: 'attachment', not }),
  'has:attachments': (not) => ({ kind: 'attachment', not }),
  'has:inline':      (not) => ({ kind: 'inline', not }),
  'has:inlines':     (not) => ({ kind: 'inline', not }),
};

function address(...fields: readonly AddressField[]): ReadValue {
  return (value, not) => {
    const part = searchable(value);
    return part === '' ? null : { kind: 'address', fields, part, not };
  };
}

function moment(kind: 'before' | 'after'): ReadValue {
  return (value, not, timeZone) => {
    if (value.trim() === '') return null;
    const at = readMoment(value.trim(), timeZone);
    if (at !== null) return { kind, at, not };
    return { detail: `${kind}: needs a day such as 2026-11-20, or a time such as 2026-11-20 11:15.` };
  };
}

const SIZE = /^(\d{1,15}(?:\.\d{1,15})?)\s?(k|kb|m|mb)?$/;
const KIB = 1024;
// biome-ignore format: a table
const UNITS: Readonly<Record<string, number>> = { '': 1, k: KIB, kb: KIB, m: KIB * KIB, mb: KIB * KIB };

/** A size that is none is looked for as a text, as Mailpit does. */
function size(kind: 'larger' | 'smaller'): ReadValue {
  return (value, not) => {
    const [, number = '', unit = ''] = SIZE.exec(searchable(value)) ?? [];
    const bytes = Math.floor(Number(number) * (UNITS[unit] ?? 1));
    return bytes > 0 ? { kind, bytes, not } : text(`${kind}:${value}`, not);
  };
}

function text(word: string, not: boolean): Condition | null {
  const part = searchable(word);
  return part === '' ? null : { kind: 'text', part, not };
}

function conditionOf(word: string, timeZone: string | null): Condition | Unread | null {
  const not = word.length > 1 && /^[-!]/.test(word);
  const rest = not ? word.slice(1) : word;
  const lower = rest.toLowerCase();
  const whole = Object.hasOwn(WHOLE, lower) ? WHOLE[lower] : undefined;
  if (whole !== undefined) return whole(not);
  const name = lower.slice(0, lower.indexOf(':') + 1);
  const named = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  return named === undefined ? text(rest, not) : named(rest.slice(name.length), not, timeZone);
}
