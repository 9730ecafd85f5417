import { timeText } from '../message.ts';
import type { CapturedContent, CapturedRecord, Filter } from './captured.ts';

/**
 * Which mail a test asks for. What is a string is a filter of the server's; what is a regular expression is held
 * against what the server gives.
 */

/**
 * Which captured mail; each member that is there must hold. `null` equals absent, but not where mail is deleted.
 * `undefined` and an empty text are refused: they come from a variable that was never set, and any mail would pass.
 */
export interface MailQuery {
  /** A recipient, in To, Cc or Bcc: a whole address, or `@` and a domain; case-insensitive. Or a pattern. */
  readonly to?: string | RegExp | null;
  /** The author, likewise. A pattern is held against name and address, as in `Shop <shop@example.com>`. */
  readonly from?: string | RegExp | null;
  /** Text that the subject contains, whatever its letter case. Or a pattern. */
  readonly subject?: string | RegExp | null;
  /** Exactly this tag. Or a pattern, for any of its tags. */
  readonly tag?: string | RegExp | null;
  /** Words that are in it. Or a pattern for its text; if it has none, for what a reader sees of its HTML. */
  readonly text?: string | RegExp | null;
  /** Accepted at this time or later; without it, within the last ten minutes. */
  readonly since?: Date | string | null;
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

/** The query of a call, or one for any mail if it was called without; rest parameters tell that from `undefined`. */
export function givenQuery<Query extends object>(given: readonly [query?: Query]): Query | Partial<Query> {
  if (given.length === 0) return {};
  const [query] = given;
  if (query !== undefined) return query;
  throw new TypeError('The query is undefined, so that any mail would pass. Leave it out if that is meant.');
}

/**
 * Checks a query that may have `others` as members, too. Throws `TypeError` that says what is wrong: a name that was
 * mistyped, or a variable that was never set, would otherwise let any mail pass.
 */
export function checkQuery(query: MailQuery, others: readonly string[] = []): CheckedQuery {
  const fields: readonly string[] = [...FIELDS, 'since'];
  checkMembers('Mail', query, [...fields, ...others]);
  for (const [name, value] of Object.entries(query)) {
    if (!fields.includes(name) || (value !== undefined && value !== '')) continue;
    const what = value === '' ? 'empty' : 'undefined';
    throw new TypeError(`${name} is ${what}, so that any mail would pass. Leave it out if that is meant.`);
  }
  const filter: Record<string, string> = {};
  const wanted: [Field, Wanted][] = [];
  for (const name of FIELDS) {
    const value = query[name];
    if (value === undefined || value === null) continue;
    checkWanted(name, value);
    if (typeof value === 'string') filter[name] = value;
    wanted.push([name, value]);
  }
  const since = timeText('since', query.since);
  if (since !== null) filter['since'] = since;
  return { filter, wanted };
}

/** Throws `TypeError` unless this is an object with these members alone: another name says nothing. */
export function checkMembers(
  what: string,
  shape: unknown,
  known: readonly string[],
): asserts shape is object {
  // Of others, such as a pattern or a list, the members say nothing, and anything would pass.
  if (Object.prototype.toString.call(shape) !== '[object Object]')
    throw new TypeError(`${what} is asked for by an object with ${known.join(', ')}.`);
  const unknown = Object.keys(Object(shape)).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${what} cannot be asked for by ${unknown}, only by ${known.join(', ')}.`);
}

/** Throws `TypeError` unless a text can be this, or match it. */
export function checkWanted(name: string, wanted: unknown): asserts wanted is Wanted {
  if (typeof wanted !== 'string' && !isPattern(wanted))
    throw new TypeError(`${name} must be a string or a regular expression.`);
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

/** What a reader sees: the text, or if there is none, or nothing in it, that of the HTML. */
export function readableText({ text, html }: Pick<CapturedContent, 'text' | 'html'>): string {
  return text?.trim() || textOfHtml(html ?? '');
}

/** Elements whose content nobody reads: a color would pass for a code. */
const UNREAD = ['script', 'style', 'template', 'title'];
/** Elements whose text is apart from what is around them. Others, such as `b`, may be within a word. */
const APART = new Set(
  'address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre script section style summary table tbody td tfoot th thead title tr ul'.split(
    ' ',
  ),
);

/** The text between the tags: good enough to look for words and codes in. */
function textOfHtml(html: string): string {
  const [start = '', ...pieces] = html.split('<');
  const seen = [start];
  let unread: string | null = null;
  for (const piece of pieces) {
    const [name = ''] = /^(?:\/?[a-z]|[!?])[a-z0-9]*/i.exec(piece) ?? [];
    if (unread === null && UNREAD.includes(name.toLowerCase())) unread = name.toLowerCase();
    else if (name.toLowerCase() === `/${unread}`) unread = null;
    if (unread !== null) continue;
    if (APART.has(name.toLowerCase().replace('/', ''))) seen.push(' ');
    seen.push(name === '' ? `<${piece}` : piece.slice(endOf(piece)));
  }
  return decoded(seen.join('')).replaceAll(UNSEEN, '').replaceAll(/\s+/g, ' ').trim();
}

/** Where the text begins behind a tag. */
function endOf(piece: string): number {
  const end = piece.indexOf('>');
  return end < 0 ? piece.length : end + 1;
}

/** Nothing is printed for these characters: a word with one of them reads as it does without. */
const UNSEEN = /\u00ad|\u034f|\u200b|\u2060|\ufeff/g;
/** What has a name in HTML (WHATWG HTML §13.5) and is often written so: the letters of Latin-1, and punctuation. */
const LETTERS =
  'Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const NAMED = new Map([
  ...LETTERS.split(' ').map((name, place) => [name, String.fromCodePoint(192 + place)] as const),
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '\u00ad' }),
  ...Object.entries({ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', bdquo: '„', laquo: '«', raquo: '»' }),
  ...Object.entries({ ndash: '–', mdash: '—', hellip: '…', bull: '•', middot: '·', euro: '€', pound: '£' }),
  ...Object.entries({ copy: '©', reg: '®', trade: '™', zwnj: '\u200c', ensp: ' ', emsp: ' ', thinsp: ' ' }),
]);

/** A text with the characters that its references stand for; what is none stays. */
function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,6}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED.get(name) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
