import { isUtf8 } from 'node:buffer';
import { parseDomain } from '../domain/domain-name.ts';
import { encodedWords, HARD_LINE, parameterWords, SOFT_LINE, withParameters, writeField } from './field.ts';
import { parseContentType } from './field-values.ts';
import type { FieldSpan } from './header-block.ts';

/** Converts one header field to ASCII (RFC 2047, RFC 2231), in lines that are short enough (RFC 5322 §2.2.3). */

/** Encodes text as encoded words. */
export type Encoder = (text: string) => string[];

/** Why a field cannot be converted. */
export type FieldFault = 'header' | 'word';

const FOLD = /\r\n(?=[\t ])/g;
const NON_ASCII = /[^\0-\x7f]/;
/** Fields with addresses, whose names may be encoded (RFC 2047 §5 rule 3). A List-Id has the same syntax. */
const PHRASES = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'resent-from',
  'resent-sender',
  'resent-reply-to',
  'resent-to',
  'resent-cc',
  'resent-bcc',
  'disposition-notification-to',
  'list-id',
  'return-receipt-to',
  'errors-to',
]);
/** Fields in which only comments are free text. */
const STRUCTURED = new Set([
  'received',
  'return-path',
  'date',
  'resent-date',
  'message-id',
  'resent-message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-transfer-encoding',
  'content-id',
  'authentication-results',
  'dkim-signature',
  'arc-seal',
  'arc-message-signature',
  'arc-authentication-results',
]);
const MIME = new Set(['content-type', 'content-disposition']);
/** RFC 2047 §2: characters of one encoded word, and of its delimiters. */
const MAX_WORD = 75;
const UNKNOWN = ['=?unknown-8bit?Q?', '?='] as const;

/**
 * Converts a field with an overlong line, or with bytes over 127 unless `eightBit` allows them. `raw` is all its lines.
 */
export function convertField(span: FieldSpan, raw: Buffer, eightBit: boolean): Buffer | FieldFault {
  const text = raw.toString('latin1');
  if (eightBit || !NON_ASCII.test(text)) return refold(text);
  const isText = isUtf8(raw);
  const whole = isText ? raw.toString('utf8') : text;
  const value = whole
    .slice(whole.indexOf(':') + 1)
    .replace(FOLD, '')
    .replace(/\r\n$/, '')
    .trim();
  const words = wordsOf(span, value, isText ? encodedWords : unknownWords);
  return words === null ? 'header' : refold(writeField(span.name, words));
}

function wordsOf({ lowerName, name }: FieldSpan, value: string, encode: Encoder): string[] | null {
  if (PHRASES.has(lowerName)) return asciiPhrases(value, encode);
  if (STRUCTURED.has(lowerName)) return asciiStructured(value, encode);
  if (MIME.has(lowerName)) return encode === unknownWords ? null : mimeWords(lowerName, value);
  return encode === unknownWords ? encode(value) : encodedWords(value, SOFT_LINE - name.length - 2);
}

/** A type or disposition with parameters, which may be in any script (RFC 2231 §4). */
function mimeWords(lowerName: string, value: string): string[] | null {
  // A disposition is one word, but otherwise has the syntax of a type.
  const family = lowerName === 'content-disposition' ? 'x/' : '';
  const parsed = parseContentType(family + value);
  if (parsed === null) return null;
  return withParameters(parsed.type.slice(family.length), parsed.parameters.map(parameterWords));
}

/** Encoded words of bytes in an unknown charset (RFC 1428). One character is one byte. */
function unknownWords(bytes: string): string[] {
  const room = MAX_WORD - UNKNOWN[0].length - UNKNOWN[1].length;
  const words: string[] = [];
  let word = '';
  for (const byte of bytes) {
    const coded = /[A-Za-z0-9]/.test(byte) ? byte : byte === ' ' ? '_' : `=${hex(byte)}`;
    if (word.length + coded.length > room) {
      words.push(word);
      word = '';
    }
    word += coded;
  }
  if (word !== '') words.push(word);
  return words.map((coded) => UNKNOWN[0] + coded + UNKNOWN[1]);
}

function hex(byte: string): string {
  return byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}

/** Folds overlong lines before a blank; one character of `text` is one byte. */
function refold(text: string): Buffer | FieldFault {
  const lines: string[] = [];
  for (let line of text.slice(0, -2).split('\r\n')) {
    while (line.length > HARD_LINE) {
      const at = foldAt(line);
      if (at < 0) return 'word';
      lines.push(line.slice(0, at));
      line = line.slice(at);
    }
    lines.push(line);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1');
}

/** The last blank at which a line may be folded without leaving a line of blanks only; -1 without one. */
function foldAt(line: string): number {
  for (let at = HARD_LINE; at > 0; at--) {
    const isBlank = line[at] === ' ' || line[at] === '\t';
    const next = line[at + 1];
    if (isBlank && next !== undefined && next !== ' ' && next !== '\t')
      return /[^\t ]/.test(line.slice(0, at)) ? at : -1;
  }
  return -1;
}

// Converts structured fields to ASCII: names and comments become encoded words; of addresses only domains convert.

const SEPARATOR = /[,;:]/;
const BLANK = /[\t ]/;
/** An address literal, which is short. */
const LITERAL = /\[[0-9A-Za-z.:]{1,64}\]/y;
const SPECIAL = /[\t "(<,;:]/;

interface Token {
  readonly kind: 'blank' | 'atom' | 'quoted' | 'comment' | 'angle' | 'separator';
  /** Unchanged, with its quotes, parentheses or angle brackets. */
  readonly raw: string;
}

/**
 * The words of a list of addresses, or of a field with that syntax. Null if an address needs more than ASCII, or a
 * quote, comment or bracket is never closed.
 */
function asciiPhrases(value: string, encode: (text: string) => string[]): string[] | null {
  const tokens = tokenize(value);
  if (tokens === null) return null;
  const words: string[] = [];
  let entry: Token[] = [];
  const finish = (phraseEnds: boolean): boolean => {
    const written = entryWords(entry, phraseEnds, encode);
    entry = [];
    if (written !== null) words.push(...written);
    return written !== null;
  };
  for (const token of tokens) {
    if (token.kind !== 'separator') {
      entry.push(token);
      continue;
    }
    // A colon follows the name of a group.
    if (!finish(token.raw === ':')) return null;
    const last = words.pop();
    words.push((last ?? '') + token.raw);
  }
  return finish(false) ? words : null;
}

/** The words of a field in which only comments are free text. Null if anything else is not ASCII. */
function asciiStructured(value: string, encode: (text: string) => string[]): string[] | null {
  const tokens = tokenize(value);
  if (tokens === null) return null;
  let text = '';
  for (const { kind, raw } of tokens) {
    if (!NON_ASCII.test(raw)) text += raw;
    else if (kind === 'comment') text += comment(raw, encode);
    else return null;
  }
  return text.split(/[\t ]+/).filter((word) => word !== '');
}

/** One mailbox, or the name of a group. */
function entryWords(
  entry: readonly Token[],
  isName: boolean,
  encode: (text: string) => string[],
): string[] | null {
  const angle = entry.findIndex(({ kind }) => kind === 'angle');
  const phraseEnd = isName ? entry.length : angle;
  const words = phraseEnd > 0 ? phraseWords(entry.slice(0, phraseEnd), encode) : [];
  for (const { kind, raw } of entry.slice(Math.max(phraseEnd, 0))) {
    if (kind === 'blank') continue;
    const written = NON_ASCII.test(raw) ? asciiToken(kind, raw, encode) : raw;
    if (written === null) return null;
    words.push(written);
  }
  return words;
}

function asciiToken(kind: Token['kind'], raw: string, encode: (text: string) => string[]): string | null {
  if (kind === 'comment') return comment(raw, encode);
  if (kind !== 'angle') return asciiAddress(raw);
  const address = asciiAddress(raw.slice(1, -1));
  return address === null ? null : `<${address}>`;
}

/** A name unchanged, or encoded as a whole: its comments stay comments. */
function phraseWords(tokens: readonly Token[], encode: (text: string) => string[]): string[] {
  const isPlain = tokens.every(({ kind, raw }) => kind === 'comment' || !NON_ASCII.test(raw));
  const words: string[] = [];
  let name = '';
  for (const { kind, raw } of tokens) {
    if (kind === 'comment') words.push(NON_ASCII.test(raw) ? comment(raw, encode) : raw);
    else if (!isPlain) name += kind === 'quoted' ? unquoted(raw) : kind === 'blank' ? ' ' : raw;
    else if (kind !== 'blank') words.push(raw);
  }
  return isPlain ? words : [...encode(name.trim()), ...words];
}

function comment(raw: string, encode: (text: string) => string[]): string {
  return `(${encode(raw.slice(1, -1)).join(' ')})`;
}

function unquoted(raw: string): string {
  return raw.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** An address with the A-labels (RFC 5891) of a non-ASCII domain. Null if that does not suffice. */
function asciiAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at < 1 || NON_ASCII.test(local)) return null;
  const domain = parseDomain(text.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

/** All tokens of a value, in order; null when something is never closed. Linear. */
function tokenize(value: string): Token[] | null {
  const tokens: Token[] = [];
  for (let at = 0; at < value.length; ) {
    const char = value[at] ?? '';
    const [kind, end] = tokenAt(value, at, char);
    if (end < 0) return null;
    tokens.push({ kind, raw: value.slice(at, end) });
    at = end;
  }
  return tokens;
}

function tokenAt(value: string, at: number, char: string): readonly [Token['kind'], number] {
  if (BLANK.test(char)) return ['blank', blankEnd(value, at)];
  if (char === '"') return ['quoted', closing(value, at, '"', null)];
  if (char === '(') return ['comment', closing(value, at, ')', '(')];
  if (char === '<') return ['angle', value.indexOf('>', at) + 1 || -1];
  if (SEPARATOR.test(char)) return ['separator', at + 1];
  return ['atom', atomEnd(value, at)];
}

function blankEnd(value: string, start: number): number {
  let at = start;
  while (BLANK.test(value[at] ?? '')) at++;
  return at;
}

/** An address literal is part of its atom, colons and all. */
function atomEnd(value: string, start: number): number {
  let end = start;
  while (end < value.length && (end === start || !SPECIAL.test(value[end] ?? ''))) {
    LITERAL.lastIndex = end;
    end = LITERAL.test(value) ? LITERAL.lastIndex : end + 1;
  }
  return end;
}

/** The position after the end of the quote or comment at `start`; -1 without an end. */
function closing(value: string, start: number, close: string, open: string | null): number {
  let depth = 1;
  for (let at = start + 1; at < value.length; at++) {
    const char = value[at];
    if (char === '\\') at++;
    else if (char === open) depth++;
    else if (char === close && --depth === 0) return at + 1;
  }
  return -1;
}
