import { TextDecoder } from 'node:util';
import { quotedEnd } from '../domain/address-entry.ts';
import { type Mailbox, maxListLength, parseAddress, parseAddressList } from '../domain/mailbox.ts';
import type { Parameter } from './field.ts';
import type { FieldSpan } from './header-block.ts';

/** Reading values of header fields: encoded words (RFC 2047), comments, media types, authors. */

const WORD = /=\?([\w-]+)(?:\*[\w-]*)?\?([BbQq])\?([!->@-~]*)\?=/g;
/** Blanks between two encoded words are not shown (RFC 2047 §6.2). */
const BLANKS = /^[\t ]*$/;
const CONTROLS = /[\0-\x1f\x7f-\x9f]+/g;

/** A run of encoded words in one charset; a character may be split between them, though it must not be. */
interface Run {
  readonly charset: string;
  readonly bytes: Buffer[];
}

const NO_RUN: Run = { charset: '', bytes: [] };

/** Charsets of one text; of more, words stay as they are. Looking for one that is unknown takes as long as a thousand words. */
const MAX_CHARSETS = 30;
/** By charset, for making one takes longer than a word: those that are known, which are some two hundred names. */
const DECODERS = new Map<string, TextDecoder>();

/** Decodes the encoded words in a field's unfolded value. What comes out is one line: controls become blanks. */
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

/** The mailbox with its name decoded, as many libraries format one for an API; without a name where nothing is left of it. */
export function withDecodedName(mailbox: Mailbox): Mailbox {
  return mailbox.name === null ? mailbox : { ...mailbox, name: decodeWords(mailbox.name).trim() || null };
}

function readRun(run: Run): string {
  return DECODERS.get(run.charset)?.decode(Buffer.concat(run.bytes)) ?? '';
}

/** Null for a charset that is not known here, or is one too many of this text. */
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
 * Text of a structured field without its comments (RFC 5322 §3.2.2), each made a blank: `a@x.test (Jane)`, as old
 * programs write their names. Text in which one is never closed stays as it is. Linear.
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

/** Behind the parenthesis that closes the one at `start`; -1 without one. */
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

/** Reads a Content-Type value that a client gave; null when it is not one, or is longer than so many characters. */
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

/**
 * Who a message says it is from, for judging whether its client may say so. Programs read odd text differently: some
 * decode encoded words before they look for addresses, some know no nested comments, some no backslash in quotes. An
 * author that any of them may find must be among ours; where that is doubtful, there is no answer.
 */

/** From may name several authors; more than this is no authorship. */
export const MAX_AUTHORS = 50;
/** What every program knows the end of: text without quotes and parentheses, or a comment of words. */
const PLAIN_RUN = /[^"()\\]+|\([^()<>@"\\\0-\x08\x0a-\x1f\x7f-\x9f]*\)/y;
const ENDS_IN_COMMA = /,[\t ]*$/;
const ANGLE_FOLLOWS = /[\t ]*</y;
/** A quoted string that stands for one which names an address. */
const NAME = '"name"';
/** Comments, quoted pairs, encoded words and bytes that are no UTF-8: some programs do not see where they end. */
const UNSURE = /[(\\\ufffd]|=\?/;
/** Charsets in which other bytes may mean ASCII characters: programs differ in their byte order. */
const WIDE_CHARSET = /=\?(?:utf-?16|ucs-?2|unicode|csunicode|iso-10646)/i;
/** Some programs decode each word by itself, and others those side by side as one. */
const BETWEEN_WORDS = /\?=(?=[\t ]*=\?)/g;
/** As in `Zoë @ Acme <zoe@example.com>`: with no dot and no bracket it is no address of a domain that mail can reach. */
const MERE_AT = / @ [^@.。．｡[\]]*(?=<)/g;

/**
 * The mailboxes of every From and Sender field, none where there is no such field; null when one may be read otherwise. An
 * address that one has for its name stands behind it.
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
    // `a@x.test <b@y.test>`, as careless programs write it: a simple reader takes the first.
    if (named?.ok) authors.push(named.value);
    else if (named !== null) return null;
  }
  return UNSURE.test(value) && mayHideAddress(value, authors) ? null : authors;
}

/** The text without comments, and with nothing in its quotes that looks like an address; null where that is doubtful. */
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

/** Whether a quoted string that ends there is all of a name, and no program can find an address between angles in it. */
function isName(quoted: string, value: string, end: number): boolean {
  ANGLE_FOLLOWS.lastIndex = end;
  return !/[<>]/.test(quoted) && ANGLE_FOLLOWS.test(value);
}

/** Whether, decoded or not, it may name other addresses than these to a program that sees no limits between its parts. */
function mayHideAddress(value: string, authors: readonly Mailbox[]): boolean {
  if (WIDE_CHARSET.test(value) || authors.some(({ local }) => local.includes('=?'))) return true;
  return [value, value.replace(BETWEEN_WORDS, '$& _ ')].some((text) =>
    mayHideIn(decodeWords(text), value, authors.length),
  );
}

function mayHideIn(decoded: string, value: string, authors: number): boolean {
  if (decoded.includes('=?') || count(decoded.replace(MERE_AT, ' '), '@') !== authors) return true;
  // Quotes out of encoded words may swallow what follows them, if it is not the end.
  const quotes = count(decoded, '"') - count(value, '"');
  return quotes % 2 !== 0 || (quotes > 0 && (authors > 1 || value.includes('(')));
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
