import { TextDecoder } from 'node:util';
import { quotedEnd } from '../domain/address-entry.ts';
import { type Mailbox, maxListLength, parseAddress, parseAddressList } from '../domain/mailbox.ts';
import type { Parameter } from './field.ts';
import type { FieldSpan } from './header-block.ts';

/** Parses values of header fields: encoded words (RFC 2047), comments, media types, authors. */

const WORD = /=\?([\w-]+)(?:\*[\w-]*)?\?([BbQq])\?([!->@-~]*)\?=/g;
/** Blanks between two encoded words are not shown (RFC 2047 §6.2). */
const BLANKS = /^[\t ]*$/;
const CONTROLS = /[\0-\x1f\x7f-\x9f]+/g;

/** A run of encoded words in one charset: some writers split a character between words, though they must not. */
interface Run {
  readonly charset: string;
  readonly bytes: Buffer[];
}

const NO_RUN: Run = { charset: '', bytes: [] };

/** Most charsets of one text; further words stay encoded. Looking up an unknown charset costs a thousand words. */
const MAX_CHARSETS = 30;
/** Decoders of known charsets, some two hundred names: making one takes longer than decoding a word. */
const DECODERS = new Map<string, TextDecoder>();

/** Decodes the encoded words in a field's unfolded value. The result is one line: controls become blanks. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text.replace(CONTROLS, ' ');
  let shown = '';
  let run: Run = NO_RUN;
  let from = 0;
  const decoders = new Map<string, TextDecoder | null>();
  for (const match of text.matchAll(WORD)) {
    const [whole, name = '', encoding = '', encoded = ''] = match;
    const charset = name.toLowerCase();
    const between = text.slice(from, match.index);
    from = match.index + whole.length;
    const isKnown = decoderIn(decoders, charset) !== null;
    const follows = isKnown && run !== NO_RUN && BLANKS.test(between);
    if (!follows || run.charset !== charset) {
      shown += readRun(run) + (follows ? '' : between) + (isKnown ? '' : whole);
      run = isKnown ? { charset, bytes: [] } : NO_RUN;
    }
    if (isKnown) run.bytes.push(decodeBytes(encoding, encoded));
  }
  return (shown + readRun(run) + text.slice(from)).replace(CONTROLS, ' ');
}

/** The mailbox with its name decoded, as libraries give it to an API; without a name if nothing is left of it. */
export function withDecodedName(mailbox: Mailbox): Mailbox {
  return mailbox.name === null ? mailbox : { ...mailbox, name: decodeWords(mailbox.name).trim() || null };
}

function readRun(run: Run): string {
  return DECODERS.get(run.charset)?.decode(Buffer.concat(run.bytes)) ?? '';
}

/** Null for an unknown charset, or one too many in this text. */
function decoderIn(decoders: Map<string, TextDecoder | null>, charset: string): TextDecoder | null {
  const found = decoders.get(charset);
  if (found !== undefined) return found;
  if (decoders.size >= MAX_CHARSETS) return null;
  const decoder = DECODERS.get(charset) ?? newDecoder(charset);
  decoders.set(charset, decoder);
  return decoder;
}

function newDecoder(charset: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(charset);
    DECODERS.set(charset, decoder);
    return decoder;
  } catch {
    return null;
  }
}

function decodeBytes(encoding: string, encoded: string): Buffer {
  if (encoding === 'B' || encoding === 'b') return Buffer.from(encoded, 'base64');
  const latin1 = encoded
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(latin1, 'latin1');
}

/**
 * A structured field's text with each comment (RFC 5322 §3.2.2) replaced by a blank: old programs write names as
 * `a@x.test (Jane)`. Text with an unclosed comment stays unchanged. Linear.
 */
export function withoutComments(text: string): string {
  let kept = '';
  let keptFrom = 0;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    const end = char === '"' ? quotedEnd(text, at) : char === '(' ? commentEnd(text, at) : at + 1;
    if (end < 0) return text;
    if (char === '(') {
      kept += `${text.slice(keptFrom, at)} `;
      keptFrom = end;
    }
    at = end;
  }
  return kept + text.slice(keptFrom);
}

/** The position after the parenthesis that closes the one at `start`; -1 without one. */
function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at + 1;
  }
  return -1;
}

/** The identifier in a List-ID field's value (RFC 2919 §2): what its angle brackets hold, else the whole value. */
export function listIdOf(value: string): string {
  const start = value.lastIndexOf('<');
  const end = value.indexOf('>', start);
  return start < 0 || end < 0 ? value : value.slice(start + 1, end);
}

/** A media type with its parameters (RFC 2045 §5.1). */
export interface ContentType {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Names in lower case, values unquoted. */
  readonly parameters: readonly Parameter[];
}

const MAX_LENGTH = 1024;
const TYPE = /^[ \t]*([\w!#$%&'*+.^`{|}~-]+\/[\w!#$%&'*+.^`{|}~-]+)[ \t]*/y;
const PARAMETER =
  /;[ \t]*([\w!#$%&'*+.^`{|}~-]+)=(?:([\w!#$%&'*+.^`{|}~-]+)|"((?:[^"\\\0-\x08\x0a-\x1f\x7f]|\\[\t\x20-\x7e])*)")[ \t]*/y;
const REST = /^;?[ \t]*$/;

/** Parses a client's Content-Type value; null when it is invalid, or longer than `maxLength` characters. */
export function parseContentType(text: string, maxLength: number = MAX_LENGTH): ContentType | null {
  if (text.length > maxLength) return null;
  TYPE.lastIndex = 0;
  const type = TYPE.exec(text)?.[1];
  if (type === undefined) return null;
  const parameters: Parameter[] = [];
  let at = TYPE.lastIndex;
  for (PARAMETER.lastIndex = at; ; at = PARAMETER.lastIndex) {
    const match = PARAMETER.exec(text);
    if (match === null) break;
    const [, name = '', token, quoted = ''] = match;
    parameters.push([name.toLowerCase(), token ?? quoted.replace(/\\(.)/g, '$1')]);
  }
  return REST.test(text.slice(at)) ? { type: type.toLowerCase(), parameters } : null;
}

// The authors that a message claims, to judge whether its client may claim them. Programs read odd text differently:
// some decode encoded words before they look for addresses, some do not know nested comments, some no backslash in
// quotes. Every author that any program may find must be in the result; in doubt there is no result.

/** From may name several authors; more than this is not genuine. */
export const MAX_AUTHORS = 50;
/** Text whose end every program finds: without quotes and parentheses, or a comment of words. */
const PLAIN_RUN = /[^"()\\]+|\([^()<>@"\\\0-\x08\x0a-\x1f\x7f-\x9f]*\)/y;
const ENDS_IN_COMMA = /,[\t ]*$/;
const ANGLE_FOLLOWS = /[\t ]*</y;
/** Replaces a quoted string that contains an address. */
const NAME = '"name"';
/** Comments, quoted pairs, encoded words and invalid UTF-8: programs differ in where these end. */
const UNSURE = /[(\\\ufffd]|=\?/;
/** Charsets in which other bytes may be ASCII characters: programs differ in their byte order. */
const WIDE_CHARSET = /=\?(?:utf-?16|ucs-?2|unicode|csunicode|iso-10646)/i;
/** Some programs decode each word separately, others adjacent words as one. */
const BETWEEN_WORDS = /\?=(?=[\t ]*=\?)/g;
/** As in `Zoë @ Acme <zoe@example.com>`: without a dot or bracket it is not an address at a reachable domain. */
const MERE_AT = / @ [^@.。．｡[\]]*(?=<)/g;

/**
 * The mailboxes of every From and Sender field; none without such a field; null when one may be read differently. An
 * address used as a name follows its mailbox.
 */
export function authorsOf(
  fields: readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
): readonly Mailbox[] | null {
  const found: Mailbox[] = [];
  for (const { lowerName, value } of fields) {
    if (lowerName !== 'from' && lowerName !== 'sender') continue;
    const authors = readAuthors(value, MAX_AUTHORS - found.length);
    if (authors === null) return null;
    found.push(...authors);
  }
  return found;
}

function readAuthors(value: string, max: number): readonly Mailbox[] | null {
  const text = value.length > maxListLength(max) ? null : plainText(value);
  if (text === null) return null;
  const parsed = parseAddressList(text, max);
  if (!parsed.ok) return null;
  const authors: Mailbox[] = [];
  for (const mailbox of parsed.value) {
    const named = mailbox.name?.includes('@') ? parseAddress(mailbox.name) : null;
    authors.push(mailbox);
    // `a@x.test <b@y.test>`, as careless programs write it: a simple reader takes the first address.
    if (named?.ok) authors.push(named.value);
    else if (named !== null) return null;
  }
  return UNSURE.test(value) && mayHideAddress(value, authors) ? null : authors;
}

/** The text without comments, and with no address-like text in quotes; null in doubt. */
function plainText(value: string): string | null {
  let text = '';
  let isFirst = true;
  for (let at = 0; at < value.length; ) {
    PLAIN_RUN.lastIndex = at;
    let run = PLAIN_RUN.exec(value)?.[0];
    if (run === undefined) {
      const end = value[at] === '"' ? quotedEnd(value, at) : -1;
      if (end < 0) return null;
      run = value.slice(at, end);
      if (run.includes('@') && !(isFirst && isName(run, value, end))) return null;
      text += run.includes('@') ? NAME : run;
      isFirst = false;
    } else if (run.startsWith('(')) {
      text += ' ';
    } else {
      text += run;
      isFirst = ENDS_IN_COMMA.test(run) || (isFirst && run.trim() === '');
    }
    at += run.length;
  }
  return text;
}

/** Whether a quoted string ending here is a whole name, in which no program can find an address in angle brackets. */
function isName(quoted: string, value: string, end: number): boolean {
  ANGLE_FOLLOWS.lastIndex = end;
  return !/[<>]/.test(quoted) && ANGLE_FOLLOWS.test(value);
}

/** Whether, decoded or not, it may name further addresses to a program that ignores the limits between its parts. */
function mayHideAddress(value: string, authors: readonly Mailbox[]): boolean {
  if (WIDE_CHARSET.test(value) || authors.some(({ local }) => local.includes('=?'))) return true;
  return [value, value.replace(BETWEEN_WORDS, '$& _ ')].some((text) =>
    mayHideIn(decodeWords(text), value, authors.length),
  );
}

function mayHideIn(decoded: string, value: string, authors: number): boolean {
  if (decoded.includes('=?') || count(decoded.replace(MERE_AT, ' '), '@') !== authors) return true;
  // Quotes from encoded words may swallow what follows them, except at the end.
  const quotes = count(decoded, '"') - count(value, '"');
  return quotes % 2 !== 0 || (quotes > 0 && (authors > 1 || value.includes('(')));
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
