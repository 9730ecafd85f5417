import { timeText } from '../message.ts';
import type { CapturedContent, CapturedRecord, Filter } from './captured.ts';

/**
 * Which mail a test asks for. What is a string is a filter of the server's; what is a regular expression is held
 * against what the server gives.
 */

/** Which captured mail; each that is there must hold. `null` equals absent. */
export interface MailQuery {
  /** A recipient, in To, Cc or Bcc: a whole address, or `@` and a domain; case-insensitive. Or a pattern. */
  readonly to?: string | RegExp | null | undefined;
  /** The author, likewise. A pattern is held against name and address, as in `Shop <shop@example.com>`. */
  readonly from?: string | RegExp | null | undefined;
  /** Text that the subject contains, whatever its letter case. Or a pattern. */
  readonly subject?: string | RegExp | null | undefined;
  /** Exactly this tag. Or a pattern, for any of its tags. */
  readonly tag?: string | RegExp | null | undefined;
  /** Words that are in it. Or a pattern for its text; if it has none, for what a reader sees of its HTML. */
  readonly text?: string | RegExp | null | undefined;
  /** Accepted at this time or later; without it, within the last ten minutes. */
  readonly since?: Date | string | null | undefined;
}

/** What a mail is looked at for, in the order in which it is shown. */
const FIELDS = ['to', 'from', 'subject', 'tag', 'text'] as const;
export type Field = (typeof FIELDS)[number];
/** What a field is to be: for the server, if it is a string. */
export type Wanted = string | RegExp;

/** A query that was checked. */
export interface CheckedQuery {
  /** What the server is asked for. */
  readonly filter: Filter;
  /** All that is asked for, but for the time. */
  readonly wanted: readonly (readonly [Field, Wanted])[];
}

/**
 * Checks a query that may have `others` as members, too. Throws `TypeError` that says what is wrong: a name that was
 * mistyped would otherwise let any mail pass.
 */
export function checkQuery(query: MailQuery, others: readonly string[] = []): CheckedQuery {
  const known: readonly string[] = [...FIELDS, 'since', ...others];
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`Mail cannot be asked for by ${unknown}, only by ${known.join(', ')}.`);
  const filter: Record<string, string> = {};
  const wanted: [Field, Wanted][] = [];
  for (const name of FIELDS) {
    const value = query[name];
    if (value === undefined || value === null) continue;
    if (typeof value === 'string') filter[name] = value;
    else if (!isPattern(value)) throw new TypeError(`${name} must be a string or a regular expression.`);
    wanted.push([name, value]);
  }
  const since = timeText('since', query.since);
  if (since !== null) filter['since'] = since;
  return { filter, wanted };
}

/** Whether something is a regular expression, of this realm or another: Jest runs each file in one of its own. */
function isPattern(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === '[object RegExp]';
}

/** Whether a text is this one, or matches this pattern, wherever an earlier match left it. */
export function isOrMatches(text: string, wanted: Wanted): boolean {
  if (typeof wanted === 'string') return text === wanted;
  // A copy: with the flags g or y, a pattern remembers where it was.
  return new RegExp(wanted.source, wanted.flags).test(text);
}

/** Whether a mail that the server found has what is left to be looked at in its record. */
export function recordFits(record: CapturedRecord, { wanted }: CheckedQuery): boolean {
  return wanted.every(
    ([name, want]) => typeof want === 'string' || name === 'text' || fits(name, want, valuesOf(record, name)),
  );
}

/** Whether it also has the text that is asked for. */
export function textFits(content: CapturedContent, { wanted }: CheckedQuery): boolean {
  return wanted.every(
    ([name, want]) => typeof want === 'string' || name !== 'text' || isOrMatches(readableText(content), want),
  );
}

/** Whether the text has to be read, because there is a pattern for it. */
export function needsText({ wanted }: CheckedQuery): boolean {
  return wanted.some(([name, want]) => name === 'text' && typeof want !== 'string');
}

/** Whether the values of a field are as wanted. For strings as the server has it, near enough to tell people why not. */
export function fits(name: Field, wanted: Wanted, values: readonly string[]): boolean {
  if (typeof wanted !== 'string') return values.some((value) => isOrMatches(value, wanted));
  const want = wanted.toLowerCase();
  const have = values.map((value) => value.toLowerCase());
  switch (name) {
    case 'to':
    case 'from':
      return have.map(addressOf).some((at) => (want.startsWith('@') ? at.endsWith(want) : at === want));
    case 'subject':
      return have.some((value) => value.includes(want));
    case 'tag':
      return values.includes(wanted);
    case 'text':
      return want.split(/\s+/).every((word) => have.some((value) => value.includes(word)));
  }
}

/** What a record has in a field. */
export function valuesOf(record: CapturedRecord, name: Exclude<Field, 'text'>): readonly string[] {
  switch (name) {
    case 'to':
      return [...record.to, ...record.cc, ...record.bcc];
    case 'from':
      return [record.from];
    case 'subject':
      return [record.subject];
    case 'tag':
      return record.tags;
  }
}

function addressOf(mailbox: string): string {
  return /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox;
}

/** What a reader sees: the text, or if there is none, that of the HTML. */
export function readableText({ text, html }: Pick<CapturedContent, 'text' | 'html'>): string {
  return text?.trim() ?? textOfHtml(html ?? '');
}

/** Elements whose content nobody reads: a color would pass for a code. */
const UNREAD = ['script', 'style', 'template', 'title'];
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** The text between the tags: good enough to look for words and codes in. */
function textOfHtml(html: string): string {
  const [start = '', ...pieces] = html.split('<');
  const seen = [start];
  let unread: string | null = null;
  for (const piece of pieces) {
    const [name = ''] = /^(?:\/?[a-z]|[!?])[a-z0-9]*/i.exec(piece) ?? [];
    if (unread === null && UNREAD.includes(name.toLowerCase())) unread = name.toLowerCase();
    else if (name.toLowerCase() === `/${unread}`) unread = null;
    if (unread === null) seen.push(name === '' ? `<${piece}` : piece.slice(endOf(piece)));
  }
  const decoded = seen.join(' ').replaceAll(/&(\w{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
  return decoded.replaceAll(/\s+/g, ' ').trim();
}

/** Where the text begins behind a tag. */
function endOf(piece: string): number {
  const end = piece.indexOf('>');
  return end < 0 ? piece.length : end + 1;
}
