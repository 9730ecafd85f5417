/** Writing one header field in ASCII (RFC 2047, RFC 2231), and in lines that are short enough (RFC 5322 §2.2.3). */
import { isUtf8 } from 'node:buffer';
import { parseContentType } from './content-type.ts';
import { encodedWords } from './encoded-word.ts';
import { HARD_LINE, SOFT_LINE, writeField } from './field.ts';
import type { FieldSpan } from './header-block.ts';
import { parameterWords, withParameters } from './parameter.ts';
import { asciiPhrases, asciiStructured } from './seven-bit-phrase.ts';

/** Makes encoded words of text. */
export type Encoder = (text: string) => string[];

/** Why a field cannot be converted. */
export type FieldFault = 'header' | 'word';

const FOLD = /\r\n(?=[\t ])/g;
const NON_ASCII = /[^\0-\x7f]/;
/** Addresses, with names that may be encoded (RFC 2047 §5 rule 3). A list's id is written like one. */
const PHRASES = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc'],
  ...['disposition-notification-to', 'list-id', 'return-receipt-to', 'errors-to'],
]);
/** Only their comments are text. */
const STRUCTURED = new Set([
  ...['received', 'return-path', 'date', 'resent-date', 'message-id', 'resent-message-id', 'in-reply-to'],
  ...['references', 'mime-version', 'content-transfer-encoding', 'content-id', 'authentication-results'],
  ...['dkim-signature', 'arc-seal', 'arc-message-signature', 'arc-authentication-results'],
]);
const MIME = new Set(['content-type', 'content-disposition']);
/** RFC 2047 §2: characters of one encoded word, and what its frame takes of them. */
const MAX_WORD = 75;
const UNKNOWN = ['=?unknown-8bit?Q?', '?='] as const;

/** A field that has bytes over 127, unless `eightBit` allows it, or a line that is too long. `raw` is all its lines. */
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
  // A disposition is one word, and otherwise written like a type.
  const family = lowerName === 'content-disposition' ? 'x/' : '';
  const parsed = parseContentType(family + value);
  if (parsed === null) return null;
  return withParameters(parsed.type.slice(family.length), parsed.parameters.map(parameterWords));
}

/** Encoded words of bytes in a charset that nobody named (RFC 1428). One character is one byte. */
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

/** Breaks lines that are too long before a blank; one character of `text` is one byte. */
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

/** The last blank before which a line may be broken, so that neither half consists of blanks only; -1 without one. */
function foldAt(line: string): number {
  for (let at = HARD_LINE; at > 0; at--) {
    const isBlank = line[at] === ' ' || line[at] === '\t';
    const next = line[at + 1];
    if (isBlank && next !== undefined && next !== ' ' && next !== '\t')
      return /[^\t ]/.test(line.slice(0, at)) ? at : -1;
  }
  return -1;
}
