/** Parsing an address list (RFC 5322 §3.4) entry by entry, and the faults of entries. */

/** A value, or a fault: a stable code and a sentence for the author of the text. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly detail: string };

/** Most characters of one list entry, display name included. Anything longer is no address. */
export const MAX_ENTRY = 16 * 1024;
/** Entries examined where one mailbox is expected, and after a faulty one, to recognize a name with unquoted commas. */
export const MAX_NAME_PIECES = 8;
/** Most characters of hostile text repeated in an error's detail. */
const MAX_SHOWN = 100;

/** The example mailbox for those who gave none. */
export const EXAMPLE = '"Jane Doe <jane@example.com>"';
/** Text without special characters, or `@` with the address literal that may follow it. */
const PLAIN_RUN = /(?:[^"<>,;:@]|@(?!\[))+|@(?:\[[0-9A-Za-z:.%-]{0,64}\])?/y;

/** One element of a list, split but not validated. */
export interface Entry {
  /** All of it, trimmed. */
  readonly raw: string;
  /** What is outside angle brackets, unquoted. */
  readonly phrase: string;
  /** What is between the angle brackets; null without them. */
  readonly angle: string | null;
}

/** The end of an entry: a separating comma, or the end of the text. */
interface Scanned {
  readonly entry: Entry;
  readonly end: number;
}

/** Reads the entry that begins at `start`, up to the most characters that an entry may have. */
export function scanEntry(whole: string, start: number): Parsed<Scanned> {
  const text = whole.slice(start, start + MAX_ENTRY + 1);
  const scanned = scanPiece(text);
  if (!scanned.ok) return scanned;
  const { entry, end } = scanned.value;
  return end > MAX_ENTRY ? entryTooLong() : { ok: true, value: { entry, end: start + end } };
}

function scanPiece(text: string): Parsed<Scanned> {
  const phrase: string[] = [];
  let at = 0;
  while (at < text.length && text[at] !== ',') {
    const char = text[at];
    if (char === '<') return scanAngle(text, at, phrase.join(''));
    if (char === '"') {
      const end = quotedEnd(text, at);
      if (end < 0) return unclosedQuotes();
      phrase.push(unquote(text.slice(at, end)));
      at = end;
    } else if (char === ';' || char === ':') {
      return groupOrName(text);
    } else if (char === '>') {
      return fault('address_syntax', `A ">" in an address has no "<" before it; write ${EXAMPLE}.`);
    } else {
      PLAIN_RUN.lastIndex = at;
      const run = PLAIN_RUN.exec(text)?.[0] ?? '';
      phrase.push(run);
      at += run.length;
    }
  }
  return {
    ok: true,
    value: { entry: { raw: text.slice(0, at).trim(), phrase: phrase.join(''), angle: null }, end: at },
  };
}

/** A ":" or ";" is usually part of a name: `Team: Jane <j@x>`. Shows how to write that. */
function groupOrName(text: string): Parsed<never> {
  const [, name, angle] = /^([^"<>,@]+)<([^"<>,]+)>/.exec(text) ?? [];
  if (name !== undefined && !text.trimEnd().endsWith(';'))
    return fault(
      'address_group',
      `A name with ":" or ";" must be in quotes: ${shorten(`${quote(tidyName(name) ?? '')} <${angle}>`)}`,
    );
  return fault(
    'address_group',
    'Groups are not allowed in an address list, and ";" is not a separator; separate the addresses with commas.',
  );
}

function scanAngle(text: string, open: number, phrase: string): Parsed<Scanned> {
  let close = open + 1;
  while (close < text.length && text[close] !== '>') {
    close = text[close] === '"' ? quotedEnd(text, close) : close + 1;
    if (close < 0) return unclosedQuotes();
  }
  if (close >= text.length)
    return fault('address_syntax', `A "<" in an address has no ">" after it; write ${EXAMPLE}.`);
  let end = close + 1;
  while (text[end] === ' ' || text[end] === '\t') end++;
  if (end < text.length && text[end] !== ',')
    return fault('address_syntax', 'Only a comma may follow "<…>"; a name goes before it.');
  const raw = text.slice(0, end).trim();
  return { ok: true, value: { entry: { raw, phrase, angle: text.slice(open + 1, close).trim() }, end } };
}

/** The likeliest cause of an entry without an address: `Doe, Jane <j@x>`. Shows how to write it. */
export function missingQuotes(first: Entry, text: string, next: number): Parsed<never> | null {
  const words: string[] = [];
  for (let entry = first, start = next; words.length < MAX_NAME_PIECES; ) {
    words.push(tidyName(entry.phrase) ?? '');
    if (entry.angle !== null && words.length > 1)
      return fault(
        'address_unquoted_comma',
        `A name with a comma must be in quotes: ${shorten(`${quote(words.join(', '))} <${entry.angle}>`)}`,
      );
    if (entry.angle !== null || entry.phrase.includes('@') || start > text.length) return null;
    const scanned = scanEntry(text, start);
    if (!scanned.ok) return null;
    entry = scanned.value.entry;
    start = scanned.value.end + 1;
  }
  return null;
}

/** A name with runs of blanks collapsed; null if nothing else is left. */
export function tidyName(phrase: string): string | null {
  return phrase.replace(/[ \t]+/g, ' ').trim() || null;
}

/** Hostile text, cut to what may be repeated. */
export function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The fault of an entry with more than {@link MAX_ENTRY} characters. */
export function entryTooLong() {
  return fault(
    'address_too_long',
    `An address with its name must not be longer than ${MAX_ENTRY} characters; shorten the name.`,
  );
}

function unclosedQuotes() {
  return fault(
    'address_quotes',
    'A quotation mark in an address is not closed; close it, or write \\" inside quotes.',
  );
}

/** Why there is no value. */
export function fault(code: string, detail: string): { ok: false; code: string; detail: string } {
  return { ok: false, code, detail };
}

// Quoted strings (RFC 5322 §3.2.4), including the quotation marks.

/** The index after the closing quotation mark of the quoted string that begins at `start`; -1 if it does not end. */
export function quotedEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

/** The content of a quoted string. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gsu, '$1');
}

/** The text as a quoted string. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
