import { type Mailbox, quotePhrase } from '../domain/mailbox.ts';

/** Writes a header field: folding, encoded words (RFC 2047), mailboxes, parameters (RFC 2231). */

/** Line length that RFC 5322 §2.1.1 recommends, without CRLF. */
export const SOFT_LINE = 78;
/** Line length that RFC 5322 §2.1.1 allows, without CRLF. */
export const HARD_LINE = 998;

/** Must never get into a header: it would end the field, or the header. */
const LINE_ENDING = /[\r\n\0]/;
/** A blank between two words. Folding next to another blank could leave a line of blanks only. */
const SINGLE_BLANK = /(?<=[^ \t]) (?=[^ \t])/;

/**
 * Writes one header field, CRLF included. Joins the words by blanks, and folds lines there (RFC 5322 §2.2.3). Throws a
 * RangeError on CR, LF or NUL: the callers check first, but no bug of theirs may inject a header.
 */
export function writeField(name: string, words: readonly string[]): string {
  const value = words.join(' ');
  assertOneLine(value);
  if (value === '') return `${name}:\r\n`;
  if (name.length + 2 + value.length <= SOFT_LINE) return `${name}: ${value}\r\n`;
  let text = `${name}:`;
  let column = text.length;
  for (const [index, word] of words.entries()) {
    // The first word stays beside the name: some readers drop a first line without a value.
    if (index > 0 && column + 1 + word.length > SOFT_LINE) {
      text += '\r\n';
      column = 0;
    }
    text += ` ${word}`;
    column += 1 + word.length;
  }
  return `${text}\r\n`;
}

/** Whether text contains CR, LF or NUL, which no header field may. */
export function breaksLine(text: string): boolean {
  return LINE_ENDING.test(text);
}

/** Throws a RangeError on text that `breaksLine`: the last guard against header injection. */
function assertOneLine(text: string): void {
  if (breaksLine(text)) throw new RangeError('line ending in a header field');
}

/** Splits text where a line may be folded; joining the words by blanks restores it. */
export function foldableWords(text: string): string[] {
  return text === '' ? [] : text.split(SINGLE_BLANK);
}

/** Splits the value of a structured field in which all blanks are equivalent. */
export function tokenWords(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== '');
}

/** RFC 2047 §2: characters of one encoded word. */
const MAX_WORD = 75;
const OVERHEAD = '=?utf-8?Q??='.length;
/** If a long field name leaves less room than this, its first line grows instead. */
const MIN_WORD = 40;

const PRINTABLE = /^[\t\x20-\x7e]*$/;
/** Characters that Q may leave unencoded everywhere (RFC 2047 §5 rule 3). */
const Q_LITERAL = /^[A-Za-z0-9!*+/-]$/;
const Q_ASCII = Array.from({ length: 128 }, (_, code) => encodeQAscii(code));

/** One of the two encodings of RFC 2047 §4. */
interface WordEncoding {
  readonly letter: 'Q' | 'B';
  /** A character's contribution, in the unit of `capacity`. */
  readonly size: (char: string) => number;
  /** How much fits into this many characters of encoded text. */
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
 * The words of an unstructured field's value (RFC 5322 §2.2.1): unchanged if they are ASCII and read back the same,
 * otherwise encoded. `fieldName` determines the room on the first line.
 */
export function unstructuredWords(text: string, fieldName: string): string[] {
  if (isPlain(text) && text.trim() === text) {
    const words = foldableWords(text);
    if (words.every((word) => word.length < HARD_LINE - fieldName.length - 2)) return words;
  }
  return encodedWords(text, SOFT_LINE - fieldName.length - 2);
}

/** Whether text can be in a header without encoding, and not be mistaken for encoded text. */
function isPlain(text: string): boolean {
  return PRINTABLE.test(text) && !text.includes('=?');
}

/**
 * Encodes text as encoded words of at most 75 characters, the first of at most `firstLength`, split between characters.
 * Q or B, whichever is shorter. Readers drop the blanks between them (RFC 2047 §6.2).
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

/** A longer word of a name is encoded, to allow folding. */
const MAX_ATOM = 70;

/** The words of an address list for `writeField` (RFC 5322 §3.4): only display names are ever encoded. */
export function addressWords(mailboxes: readonly Mailbox[]): string[] {
  return mailboxes.flatMap((mailbox, index) => {
    const comma = index < mailboxes.length - 1 ? ',' : '';
    if (mailbox.name === null) return [mailbox.address + comma];
    return [...phraseWords(mailbox.name), `<${mailbox.address}>${comma}`];
  });
}

/** The words of a display name (RFC 5322 §3.2.5): atoms, a quoted string, or encoded words. */
function phraseWords(name: string): string[] {
  const words = foldableWords(quotePhrase(name));
  return isPlain(name) && words.every((word) => word.length <= MAX_ATOM) ? words : encodedWords(name);
}

/** A parameter of a MIME field: its name, and its decoded value. */
export type Parameter = readonly [name: string, value: string];

/** Longer values are split, to allow folding. */
const MAX_PLAIN = 60;
/** Stricter than a token of RFC 2045: some readers take an unquoted apostrophe or percent sign for RFC 2231. */
const TOKEN = /^[.\w-]+$/;
/** RFC 2231 §7 attribute-char: needs no percent encoding. */
const ATTRIBUTE_CHAR = /^[!#$&+.^_`{|}~0-9A-Za-z-]$/;
const CHARSET = "utf-8''";

/**
 * The words of one parameter for `writeField`: a token or a quoted string if the value is short plain ASCII, otherwise
 * percent-encoded UTF-8, in numbered sections if long (RFC 2231 §3, §4).
 */
export function parameterWords([name, value]: Parameter): string[] {
  if (isPlainValue(value)) return [TOKEN.test(value) ? `${name}=${value}` : `${name}="${value}"`];
  const sections = percentSections(value);
  return sections.map((section, index) => {
    const number = sections.length > 1 ? `*${index}` : '';
    return `${name}${number}*=${index === 0 ? CHARSET : ''}${section}${index < sections.length - 1 ? ';' : ''}`;
  });
}

/** The words of one parameter as encoded words in quotes: not standard, but expected by readers without RFC 2231. */
export function legacyParameterWords([name, value]: Parameter): string[] {
  const words = encodedWords(value, MAX_PLAIN);
  return words.map((word, index) => {
    const opening = index === 0 ? `${name}="` : '';
    const closing = index === words.length - 1 ? '"' : '';
    return opening + word + closing;
  });
}

/** Whether a value is written unchanged, so that all readers agree on it. */
export function isPlainValue(value: string): boolean {
  return value !== '' && value.length <= MAX_PLAIN && isPlain(value) && !/["\\\t]/.test(value);
}

/** The words of a field's value with its parameters, separated by semicolons (RFC 2045 §5.1). */
export function withParameters(value: string, parameters: readonly (readonly string[])[]): string[] {
  const groups = [[value], ...parameters];
  return groups.flatMap((words, index) =>
    words.map((word, at) => (index < groups.length - 1 && at === words.length - 1 ? `${word};` : word)),
  );
}

function percentSections(value: string): string[] {
  const sections: string[] = [];
  let section = '';
  for (const char of value.toWellFormed()) {
    const encoded = ATTRIBUTE_CHAR.test(char) ? char : percentEncode(char);
    if (section.length + encoded.length > MAX_PLAIN - CHARSET.length) {
      sections.push(section);
      section = '';
    }
    section += encoded;
  }
  sections.push(section);
  return sections;
}

function percentEncode(char: string): string {
  return Buffer.from(char).toString('hex').toUpperCase().replace(/../g, '%$&');
}
