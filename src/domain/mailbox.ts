import { parseDomain } from './domain-name.ts';
import { quote, quotedEnd, unquote } from './quoted-string.ts';

/** One mailbox (RFC 5322 §3.4), parsed once at the edge. Its `address` is what RCPT and MAIL carry. */
export interface Mailbox {
  /** The display name, decoded and unquoted, runs of blanks made one; null when there is none. */
  readonly name: string | null;
  /** `local@domain`. */
  readonly address: string;
  /** As given, in NFC; a quoted string only where it could not be written as a dot-atom. */
  readonly local: string;
  /** A lower-case name in A-labels, or an address literal. */
  readonly domain: string;
  /** False when the local part needs SMTPUTF8 (RFC 6531). */
  readonly ascii: boolean;
}

/** A value, or why there is none: a stable code and a sentence for the one who wrote the text. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly detail: string };

/** Characters of one list entry, display name included. Anything longer is no address. */
const MAX_ENTRY = 16 * 1024;
/** RFC 5321 §4.5.3.1.1: octets of a local part. */
const MAX_LOCAL = 64;
/** RFC 5321 §4.5.3.1.3 allows a path of 256 octets, angle brackets included. */
const MAX_ADDRESS = 254;
/** Entries looked at where one mailbox is expected: enough to tell a name with unquoted commas. */
const MAX_NAME_PIECES = 8;
/** Characters of hostile text repeated in an error's detail. */
const MAX_SHOWN = 100;

const EXAMPLE = '"Jane Doe <jane@example.com>"';
const ATOM_SPECIALS = "!#$%&'*+-/=?^_`{|}~";
/** Everything that no header may carry: controls but the tab, and halves of surrogate pairs. */
const FORBIDDEN = /[\0-\x08\x0a-\x1f\x7f-\x9f]|\p{Cs}/u;
/** Text without a meaning of its own, or `@` with the address literal that may follow it. */
const PLAIN_RUN = /[^"<>,;:@]+|@(?:\[[0-9A-Za-z:.%-]{0,64}\])?/y;
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/;
/** Must not stand in a local part even in quotes: too many programs would read another address. */
const HARMFUL = /[\t @<>]/;
const BLANK_OR_INVISIBLE = /[\p{Z}\p{Cc}\p{Bidi_Control}]/u;
const ATOMS = /^[^\s()<>[\]:;@\\,."]+(?: [^\s()<>[\]:;@\\,."]+)*$/;
const ASCII = /^[\0-\x7f]*$/;

/** Parses text that must be exactly one mailbox: `a@x` or `Name <a@x>`. */
export function parseMailbox(text: string): Parsed<Mailbox> {
  const list = parseEntries(text, MAX_NAME_PIECES);
  if (!list.ok) return list;
  const [mailbox, ...others] = list.value;
  if (mailbox === undefined)
    return fault('address_missing', `An address is expected here, such as ${EXAMPLE}.`);
  if (others.length > 0)
    return fault(
      'address_count',
      'Exactly one address is expected here; give each of the others its own place.',
    );
  return { ok: true, value: mailbox };
}

/**
 * Parses a comma-separated list of mailboxes by grammar; blank text is the empty list. One faulty entry refuses
 * the whole list, so that nothing is ever delivered in part. Linear in the length of the text, which the
 * caller bounds; of a list with more than `maxEntries` no more are read, and it is the fault `address_count`.
 * Groups and comments are refused; a display name needs quotes only for `< > , ; :`.
 */
export function parseAddressList(
  text: string,
  maxEntries: number = Number.POSITIVE_INFINITY,
): Parsed<Mailbox[]> {
  const list = parseEntries(text, maxEntries + 1);
  if (!list.ok || list.value.length <= maxEntries) return list;
  return fault('address_count', `At most ${maxEntries} addresses are expected here; leave the others out.`);
}

/** Parses the first `count` entries of a list; what follows them is not looked at. */
function parseEntries(text: string, count: number): Parsed<Mailbox[]> {
  if (FORBIDDEN.test(text))
    return fault(
      'address_control',
      'An address must not contain line breaks or other control characters; remove them.',
    );
  if (text.trim() === '') return { ok: true, value: [] };
  const scanned = scanEntries(text, count);
  if (!scanned.ok) return scanned;
  const mailboxes: Mailbox[] = [];
  for (const [index, entry] of scanned.value.entries()) {
    const mailbox = readEntry(entry);
    if (!mailbox.ok) return missingQuotes(scanned.value.slice(index)) ?? mailbox;
    mailboxes.push(mailbox.value);
  }
  return { ok: true, value: mailboxes };
}

/** Writes a mailbox as text that parses back to it: not encoded, quoted where it must be. */
export function formatMailbox(mailbox: Pick<Mailbox, 'name' | 'address'>): string {
  return mailbox.name === null ? mailbox.address : `${quotePhrase(mailbox.name)} <${mailbox.address}>`;
}

/** A display name as a phrase (RFC 5322 §3.2.5): as it is where it is a row of atoms, else a quoted string. */
export function quotePhrase(name: string): string {
  return ATOMS.test(name) ? name : quote(name);
}

/** One element of a list, taken apart but not yet judged. */
interface Entry {
  /** The whole of it, trimmed. */
  readonly raw: string;
  /** What stands outside angle brackets, unquoted. */
  readonly phrase: string;
  /** What stands between the angle brackets; null without them. */
  readonly angle: string | null;
}

function scanEntries(text: string, count: number): Parsed<Entry[]> {
  const entries: Entry[] = [];
  for (let start = 0; start <= text.length && entries.length < count; ) {
    const scanned = scanEntry(text, start);
    if (!scanned.ok) return scanned;
    const { entry, end } = scanned.value;
    if (end - start > MAX_ENTRY)
      return fault(
        'address_too_long',
        `An address with its name must not be longer than ${MAX_ENTRY} characters; shorten the name.`,
      );
    entries.push(entry);
    start = end + 1;
  }
  return { ok: true, value: entries };
}

/** Reads from `start` to the next comma that separates; `end` is where it, or the end of the text, is. */
function scanEntry(text: string, start: number): Parsed<{ entry: Entry; end: number }> {
  let phrase = '';
  let at = start;
  while (at < text.length && text[at] !== ',') {
    const char = text[at];
    if (char === '<') return scanAngle(text, start, at, phrase);
    if (char === '"') {
      const end = quotedEnd(text, at);
      if (end < 0) return unclosedQuotes();
      phrase += unquote(text.slice(at, end));
      at = end;
    } else if (char === ';' || char === ':') {
      return groupOrName(text, start);
    } else if (char === '>') {
      return fault('address_syntax', `A ">" in an address has no "<" before it; write ${EXAMPLE}.`);
    } else {
      PLAIN_RUN.lastIndex = at;
      const run = PLAIN_RUN.exec(text)?.[0] ?? '';
      phrase += run;
      at += run.length;
    }
  }
  return { ok: true, value: { entry: { raw: text.slice(start, at).trim(), phrase, angle: null }, end: at } };
}

/** A ":" or ";" is most often part of a name: `Team: Jane <j@x>`. Shows how that is written. */
function groupOrName(text: string, start: number): Parsed<never> {
  const [, name, angle] = /^([^"<>,@]+)<([^"<>,]+)>/.exec(text.slice(start, start + MAX_ENTRY)) ?? [];
  if (name !== undefined && !text.trimEnd().endsWith(';'))
    return fault(
      'address_group',
      `A name with ":" or ";" must be in quotes: ${shorten(`${quote(tidyName(name) ?? '')} <${angle}>`)}`,
    );
  return fault(
    'address_group',
    'Groups are not allowed in an address list, and ";" does not separate; give the addresses with commas between.',
  );
}

function scanAngle(
  text: string,
  start: number,
  open: number,
  phrase: string,
): Parsed<{ entry: Entry; end: number }> {
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
    return fault('address_syntax', 'After "<…>" a comma or nothing must follow; a name stands before it.');
  const raw = text.slice(start, end).trim();
  return { ok: true, value: { entry: { raw, phrase, angle: text.slice(open + 1, close).trim() }, end } };
}

function readEntry(entry: Entry): Parsed<Mailbox> {
  if (entry.raw === '')
    return fault('address_missing', 'An address is missing before or after a comma; remove the comma.');
  const name = entry.angle === null ? null : tidyName(entry.phrase);
  return readAddress(entry.angle ?? entry.raw, name);
}

/** The likeliest cause of a first entry without an address: `Doe, Jane <j@x>`. Shows how it is written. */
function missingQuotes(entries: readonly Entry[]): Parsed<never> | null {
  const words: string[] = [];
  for (const { phrase, angle } of entries) {
    words.push(tidyName(phrase) ?? '');
    if (angle !== null && words.length > 1)
      return fault(
        'address_unquoted_comma',
        `A name with a comma must be in quotes: ${shorten(`${quote(words.join(', '))} <${angle}>`)}`,
      );
    if (angle !== null || phrase.includes('@')) return null;
  }
  return null;
}

function readAddress(text: string, name: string | null): Parsed<Mailbox> {
  const quoted = text.startsWith('"');
  const at = quoted ? quotedEnd(text, 0) : text.lastIndexOf('@');
  if (at < 1 || text[at] !== '@')
    return fault(
      'address_syntax',
      `${shorten(text)} is not an address of the form local@domain, such as ${EXAMPLE}.`,
    );
  const local = readLocal(quoted ? unquote(text.slice(0, at)) : text.slice(0, at), quoted);
  if (!local.ok) return local;
  const domain = parseDomain(text.slice(at + 1));
  if (domain === null)
    return fault(
      'address_domain',
      `${shorten(text.slice(at + 1))} is not a valid mail domain; it must be like example.com, or an address in brackets like [192.0.2.1].`,
    );
  const address = `${local.value}@${domain}`;
  if (octets(address) > MAX_ADDRESS)
    return fault(
      'address_too_long',
      `An address must not be longer than ${MAX_ADDRESS} octets; this one has ${octets(address)}.`,
    );
  return { ok: true, value: { name, address, local: local.value, domain, ascii: ASCII.test(local.value) } };
}

function readLocal(content: string, quoted: boolean): Parsed<string> {
  // Normalise first: NFC turns some characters into ASCII ones that mean something here.
  const normal = content.normalize('NFC');
  const isAtom = DOT_ATOM.test(normal);
  if (!isAtom && !quoted)
    return fault(
      'address_local_part',
      `${shorten(content)} is not a valid local part: letters, digits and ${ATOM_SPECIALS}, with single dots between. A name stands before "<…>".`,
    );
  if (normal === '' || HARMFUL.test(normal) || BLANK_OR_INVISIBLE.test(normal))
    return fault(
      'address_local_part',
      'A local part must not be empty or contain blanks, invisible characters, "@", "<" or ">", even in quotes; remove them.',
    );
  const local = isAtom ? normal : quote(normal);
  if (octets(local) > MAX_LOCAL)
    return fault(
      'address_too_long',
      `A local part must not be longer than ${MAX_LOCAL} octets; this one has ${octets(local)}.`,
    );
  return { ok: true, value: local };
}

function tidyName(phrase: string): string | null {
  return phrase.replace(/[ \t]+/g, ' ').trim() || null;
}

function octets(text: string): number {
  return ASCII.test(text) ? text.length : new TextEncoder().encode(text).length;
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function unclosedQuotes() {
  return fault(
    'address_quotes',
    'A quotation mark in an address is not closed; close it, or write \\" inside quotes.',
  );
}

function fault(code: string, detail: string): { ok: false; code: string; detail: string } {
  return { ok: false, code, detail };
}
