import { assertOneLine, foldableWords, HARD_LINE, SOFT_LINE } from './field.ts';

/** RFC 2047 §2: characters of one encoded word. */
const MAX_WORD = 75;
const OVERHEAD = '=?utf-8?Q??='.length;
/** A field name so long that less remains beside it lets its first line grow instead. */
const MIN_WORD = 40;

const PRINTABLE = /^[\t\x20-\x7e]*$/;
/** What Q may leave as it is in every place (RFC 2047 §5 rule 3). */
const Q_LITERAL = /^[A-Za-z0-9!*+/-]$/;
const Q_ASCII = Array.from({ length: 128 }, (_, code) => encodeQAscii(code));

/** One of the two encodings of RFC 2047 §4. */
interface WordEncoding {
  readonly letter: 'Q' | 'B';
  /** What a character adds, in the unit of `capacity`. */
  readonly size: (char: string) => number;
  /** What fits into this many characters of encoded text. */
  readonly capacity: (characters: number) => number;
  readonly encode: (text: string) => string;
}

const Q: WordEncoding = {
  letter: 'Q',
  size: (char) => Q_ASCII[char.codePointAt(0) ?? 0]?.length ?? 3 * utf8Length(char),
  capacity: (characters) => characters,
  encode: (text) => Array.from(text, encodeQ).join(''),
};

const B: WordEncoding = {
  letter: 'B',
  size: utf8Length,
  capacity: (characters) => Math.floor(characters / 4) * 3,
  encode: (text) => Buffer.from(text).toString('base64'),
};

/**
 * The words of an unstructured field's value (RFC 5322 §2.2.1): as they are where they are ASCII and would be read
 * back the same, else encoded. `fieldName` says how much room the first line has.
 */
export function unstructuredWords(text: string, fieldName: string): string[] {
  if (isPlain(text) && text.trim() === text) {
    const words = foldableWords(text);
    if (words.every((word) => word.length < HARD_LINE - fieldName.length - 2)) return words;
  }
  return encodedWords(text, SOFT_LINE - fieldName.length - 2);
}

/** Whether text can stand in a header without being encoded, or being taken for encoded. */
export function isPlain(text: string): boolean {
  return PRINTABLE.test(text) && !text.includes('=?');
}

/**
 * Encodes text as a row of encoded words of at most 75 characters, the first of at most `firstLength`, split between
 * characters. Q or B, whichever is shorter. Readers drop the blanks between them (RFC 2047 §6.2).
 */
export function encodedWords(text: string, firstLength: number = MAX_WORD): string[] {
  assertOneLine(text);
  const wellFormed = text.toWellFormed();
  const encoding = shorterEncoding(wellFormed);
  const words: string[] = [];
  let room = encoding.capacity(Math.min(Math.max(firstLength, MIN_WORD), MAX_WORD) - OVERHEAD);
  let run = '';
  let used = 0;
  for (const char of wellFormed) {
    const size = encoding.size(char);
    if (used + size > room) {
      words.push(wrap(encoding, run));
      room = encoding.capacity(MAX_WORD - OVERHEAD);
      run = '';
      used = 0;
    }
    run += char;
    used += size;
  }
  if (run !== '') words.push(wrap(encoding, run));
  return words;
}

function shorterEncoding(text: string): WordEncoding {
  let qLength = 0;
  for (const char of text) qLength += Q.size(char);
  return qLength <= (Buffer.byteLength(text) * 4) / 3 ? Q : B;
}

function wrap(encoding: WordEncoding, text: string): string {
  return `=?utf-8?${encoding.letter}?${encoding.encode(text)}?=`;
}

function encodeQ(char: string): string {
  return Q_ASCII[char.codePointAt(0) ?? 0] ?? encodeURIComponent(char).replaceAll('%', '=');
}

/** Bytes of one character in UTF-8. */
function utf8Length(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

function encodeQAscii(code: number): string {
  const char = String.fromCharCode(code);
  if (char === ' ') return '_';
  return Q_LITERAL.test(char) ? char : `=${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
