import {
  type Entry,
  EXAMPLE,
  entryTooLong,
  fault,
  MAX_ENTRY,
  MAX_NAME_PIECES,
  missingQuotes,
  type Parsed,
  quote,
  quotedEnd,
  scanEntry,
  shorten,
  tidyName,
  unquote,
} from './address-entry.ts';
import { parseDomain } from './domain-name.ts';

/** One mailbox (RFC 5322 §3.4), parsed once on input. Its `address` is what RCPT and MAIL carry. */
export interface Mailbox {
  /** The display name, decoded and unquoted, with runs of blanks collapsed; null if there is none. */
  readonly name: string | null;
  /** `local@domain`. */
  readonly address: string;
  /** Exactly as given; quoted only if it cannot be a dot-atom. */
  readonly local: string;
  /** A lower-case name in A-labels, or an address literal. */
  readonly domain: string;
  /** False if the local part needs SMTPUTF8 (RFC 6531). */
  readonly ascii: boolean;
}

/** RFC 5321 §4.5.3.1.1: octets of a local part. */
const MAX_LOCAL = 64;
/** RFC 5321 §4.5.3.1.3 allows a path of 256 octets, angle brackets included. */
const MAX_ADDRESS = 254;
/**
 * Characters allowed in a list for each possible entry, on average: twice the longest address. What exceeds them is not
 * read.
 */
const MAX_ENTRY_SHARE = 512;
const ATOM_SPECIALS = "!#$%&'*+-/=?^_`{|}~";
/** Control characters except the tab. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f-\x9f]/;
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/;
/** What would be a dot-atom if its dots were single and between other characters. */
const DOTTED = /^[\w!#$%&'*+/=?^`{|}~.\u0080-\uffff-]+$/;
/** Not allowed in a local part even if quoted: too many programs would read another address. */
const HARMFUL = /[\t @<>]/;
/** The joiners are allowed: some scripts need them. */
const BLANK_OR_INVISIBLE = /[\p{Z}\p{Cc}\p{Bidi_Control}\u00ad\u200b\u2060-\u2064\ufeff]/u;
const ATOMS = /^[^\s()<>[\]:;@\\,."]+(?: [^\s()<>[\]:;@\\,."]+)*$/;
const ASCII = /^[\0-\x7f]*$/;

/** How to write an address here: with a name before it, or alone. */
interface Advice {
  readonly example: string;
  readonly hint: string;
  /** Quoted local parts are accepted here. */
  readonly mayQuote: boolean;
}

const NAMED: Advice = { example: EXAMPLE, hint: ' A name goes before "<…>".', mayQuote: true };
const BARE: Advice = { example: 'jane@example.com', hint: '', mayQuote: true };

/** Parses text that must be exactly one mailbox: `a@x` or `Name <a@x>`. */
export function parseMailbox(text: string): Parsed<Mailbox> {
  if (text.length > MAX_ENTRY) return entryTooLong();
  const list = parseEntries(text, MAX_NAME_PIECES);
  if (!list.ok) return list;
  const [mailbox, ...others] = list.value;
  if (mailbox === undefined)
    return fault('address_missing', `An address is expected here, such as ${EXAMPLE}.`);
  if (others.length > 0)
    return fault('address_count', 'Exactly one address is expected here; give the others separately.');
  return { ok: true, value: mailbox };
}

/**
 * Parses a bare `local@domain`, as in a path (RFC 5321 §4.1.2): no name, nothing around it. A refusal suggests the
 * quoted form if that is valid and `mayQuote` allows it.
 */
export function parseAddress(text: string, mayQuote = true): Parsed<Mailbox> {
  return isForbidden(text) ? forbiddenCharacter() : readAddress(text, null, { ...BARE, mayQuote });
}

/** The identity of an address: the same for two that differ only in Unicode composition (NFC). */
export function addressKey(address: string): string {
  return ASCII.test(address) ? address : address.normalize('NFC');
}

/**
 * Parses a comma-separated list of mailboxes by the grammar; blank text is the empty list. One faulty entry refuses the
 * whole list, so that nothing is delivered in part. Linear in the length of the text, which the caller limits; a list
 * with more than `maxEntries` is not read further, and has the fault `address_count`. Groups and comments are refused;
 * a display name needs quotes only for `< > , ; :`.
 */
export function parseAddressList(
  text: string,
  maxEntries: number = Number.POSITIVE_INFINITY,
): Parsed<Mailbox[]> {
  const maxLength = maxListLength(maxEntries);
  const isTooLong = text.length > maxLength;
  const list = parseEntries(isTooLong ? text.slice(0, maxLength).toWellFormed() : text, maxEntries + 1);
  if (list.ok && list.value.length > maxEntries)
    return fault('address_count', `At most ${maxEntries} addresses are expected here; leave the others out.`);
  return isTooLong ? listTooLong(maxLength) : list;
}

/** Most characters of a list with this many addresses, names included. */
export function maxListLength(maxEntries: number): number {
  return MAX_ENTRY + maxEntries * MAX_ENTRY_SHARE;
}

/** The fault of a longer list. */
export function listTooLong(maxLength: number) {
  return fault(
    'address_too_long',
    `All addresses and names together must not be longer than ${maxLength} characters; shorten the names.`,
  );
}

/** Parses the first `count` entries of a list; ignores what follows them or a faulty one. */
function parseEntries(text: string, count: number): Parsed<Mailbox[]> {
  if (isForbidden(text)) return forbiddenCharacter();
  if (text.trim() === '') return { ok: true, value: [] };
  const mailboxes: Mailbox[] = [];
  for (let start = 0; start <= text.length && mailboxes.length < count; ) {
    const scanned = scanEntry(text, start);
    if (!scanned.ok) return scanned;
    const { entry, end } = scanned.value;
    const mailbox = readEntry(entry);
    if (!mailbox.ok) return missingQuotes(entry, text, end + 1) ?? mailbox;
    mailboxes.push(mailbox.value);
    start = end + 1;
  }
  return { ok: true, value: mailboxes };
}

/** Formats a mailbox as text that parses back to it: not encoded, quoted if necessary. */
export function formatMailbox(mailbox: Pick<Mailbox, 'name' | 'address'>): string {
  return mailbox.name === null ? mailbox.address : `${quotePhrase(mailbox.name)} <${mailbox.address}>`;
}

/** A display name as a phrase (RFC 5322 §3.2.5): unchanged if it is a sequence of atoms, else a quoted string. */
export function quotePhrase(name: string): string {
  return ATOMS.test(name) ? name : quote(name);
}

function readEntry(entry: Entry): Parsed<Mailbox> {
  if (entry.raw === '')
    return fault('address_missing', 'An address is missing before or after a comma; remove the comma.');
  const name = entry.angle === null ? null : tidyName(entry.phrase);
  return readAddress(entry.angle ?? entry.raw, name, NAMED);
}

function readAddress(text: string, name: string | null, advice: Advice): Parsed<Mailbox> {
  const quoted = text.startsWith('"');
  const at = quoted ? quotedEnd(text, 0) : text.lastIndexOf('@');
  if (at < 1 || text[at] !== '@')
    return fault(
      'address_syntax',
      `${shown(text)} is not an address of the form local@domain, such as ${advice.example}.`,
    );
  const content = quoted ? unquote(text.slice(0, at)) : text.slice(0, at);
  const local = readLocal(content, quoted);
  if (local === null) return notAtoms(content, text.slice(at), advice);
  if (!local.ok) return local;
  const domain = parseDomain(text.slice(at + 1));
  if (domain === null)
    return fault(
      'address_domain',
      `${shown(text.slice(at + 1))} is not a valid mail domain; it must be like example.com, or an address in brackets like [192.0.2.1].`,
    );
  const address = `${local.value}@${domain}`;
  if (octets(address) > MAX_ADDRESS)
    return fault(
      'address_too_long',
      `An address must not be longer than ${MAX_ADDRESS} octets; this one has ${octets(address)}.`,
    );
  return { ok: true, value: { name, address, local: local.value, domain, ascii: ASCII.test(local.value) } };
}

/** Text as a refusal shows it: empty text must be visible. */
function shown(text: string): string {
  return text === '' ? '""' : shorten(text);
}

/** Null if it would have to be quoted, and is not. */
function readLocal(content: string, quoted: boolean): Parsed<string> | null {
  const isAscii = ASCII.test(content);
  // NFC maps some characters to ASCII ones with a meaning here, and programs on the way may normalize.
  const normal = isAscii ? content : content.normalize('NFC');
  const isAtom = DOT_ATOM.test(normal) && DOT_ATOM.test(content);
  if (!isAtom && !quoted) return null;
  // An ASCII atom, as nearly all are, contains none of that.
  const isPlain = isAscii && isAtom;
  if (!isPlain && (normal === '' || HARMFUL.test(normal) || BLANK_OR_INVISIBLE.test(content)))
    return fault(
      'address_local_part',
      'A local part must not be empty or contain blanks, invisible characters, "@", "<" or ">", even in quotes; remove them.',
    );
  const local = isAtom ? content : quote(content);
  if (octets(local) > MAX_LOCAL)
    return fault(
      'address_too_long',
      `A local part must not be longer than ${MAX_LOCAL} octets; this one has ${octets(local)}.`,
    );
  return { ok: true, value: local };
}

/** The fault of a local part that is neither a dot-atom nor quoted; `rest` is what follows it, from the `@` on. */
function notAtoms(content: string, rest: string, { hint, mayQuote }: Advice): Parsed<never> {
  const isQuotable = mayQuote && DOTTED.test(content) && readLocal(content, true)?.ok === true;
  const quotable = isQuotable
    ? ` If the mailbox really has that name, quote it: ${shorten(quote(content) + rest)}.`
    : '';
  return fault(
    'address_local_part',
    `${shorten(content)} is not a valid local part: letters, digits and ${ATOM_SPECIALS}, with single dots between.${quotable || hint}`,
  );
}

/** Whether it holds what no header may contain: control characters except the tab, and lone surrogates. */
function isForbidden(text: string): boolean {
  return CONTROL.test(text) || !text.isWellFormed();
}

function octets(text: string): number {
  return ASCII.test(text) ? text.length : new TextEncoder().encode(text).length;
}

function forbiddenCharacter() {
  return fault(
    'address_control',
    'An address must not contain line breaks or other control characters; remove them.',
  );
}

/**
 * A case-insensitive test for a whole address, or (`@example.net`) for all addresses of a domain; `isStart`: for what begins
 * so.
 */
export function addressTest(wanted: string, isStart = false): (address: string) => boolean {
  const text = addressKey(wanted.toLowerCase());
  const isOfDomain = text.startsWith('@');
  return (address) => {
    const part = isOfDomain ? address.slice(address.lastIndexOf('@')) : address;
    const key = addressKey(part.toLowerCase());
    return isStart ? key.startsWith(text) : key === text;
  };
}
