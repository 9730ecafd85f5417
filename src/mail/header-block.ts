import { isUtf8 } from 'node:buffer';
import type { Fault } from './headers.ts';
import { fault } from './headers.ts';

/** A finished message's header as fields and their positions, and how to change it without touching the rest. */

/** One header field of a message. */
export interface FieldSpan {
  readonly name: string;
  readonly lowerName: string;
  /** Unfolded and trimmed. */
  readonly value: string;
  /** The bounds of its lines in the message, the last CRLF included. */
  readonly start: number;
  readonly end: number;
}

/** A message's header. */
export interface HeaderBlock {
  readonly fields: readonly FieldSpan[];
  /** Its bytes, without the blank line after it. */
  readonly sizeBytes: number;
  /** A line that is not a field follows directly: the blank line is missing. */
  readonly brokenOff: boolean;
}

/** A header, or all faults of its lines. */
export type ReadHeader =
  | { readonly ok: true; readonly header: HeaderBlock }
  | { readonly ok: false; readonly faults: readonly Fault[] };

const BLANK_LINE = Buffer.from('\r\n\r\n');
const CRLF = '\r\n';
const CRLF_LENGTH = CRLF.length;
/** The name that {@link readLooseHeader} gives to a mailbox file's separator line. No field can have it. */
export const MAILBOX_LINE = 'from ';
/** Such a line has a sender and a time; a text that begins with "From now on" does not match. */
const MAILBOX_LINE_TEXT = /^>?From \S+ .*\d\d:\d\d/;
/** Characters of a line to test for that. */
const MAX_MAILBOX_LINE = 200;
const FIELD_LINE = /^([\x21-\x39\x3b-\x7e]+):/;
const BLANK_BEFORE_COLON = /^([\x21-\x39\x3b-\x7e]+)[\t ]+:/;
/** Characters of a name that a fault quotes. */
const MAX_SHOWN = 76;
const CONTINUATION = /^[\t ]+[^\t ]/;
/** Control characters that no header may contain: all but the tab. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const NOT_ASCII = /[\x80-\xff]/;
const FOLD = /\r\n(?=[\t ])/g;
/** Most faults to report: the first few suffice, and a header with more is not a header. */
const MAX_FAULTS = 20;

/**
 * Reads the header of a message whose lines end in CRLF (RFC 5322 §2.2, without the obsolete forms; RFC 6532 for
 * non-ASCII text). Does not read one of more than `maxBytes`.
 */
export function readHeader(message: Buffer, maxBytes: number): ReadHeader {
  const sizeBytes = headerSize(message);
  if (sizeBytes > maxBytes)
    return {
      ok: false,
      faults: [fault('header_size', `The header has ${sizeBytes} bytes; at most ${maxBytes} are accepted.`)],
    };
  // One character for each byte, so that positions in the text are positions in the message.
  const text = message.toString('latin1', 0, sizeBytes);
  const faults: Fault[] = [];
  const fields: FieldSpan[] = [];
  let open: { readonly name: string; readonly start: number } | null = null;
  let line = 0;
  for (let start = 0; start < sizeBytes && faults.length < MAX_FAULTS; ) {
    line += 1;
    const end = text.indexOf('\r\n', start);
    const content = text.slice(start, end);
    const problem = lineFault(content, line, open !== null);
    if (problem !== null) faults.push(problem);
    const name = FIELD_LINE.exec(content)?.[1];
    if (name !== undefined && !isContinuation(content)) {
      if (open !== null) fields.push(closeField(message, open, start));
      open = { name, start };
    }
    start = end + CRLF_LENGTH;
  }
  if (faults.length > 0) return { ok: false, faults };
  if (open !== null) fields.push(closeField(message, open, sizeBytes));
  return { ok: true, header: { fields, sizeBytes, brokenOff: false } };
}

/**
 * Reads as much of a header as the text has (one character for each byte, lines ended by CRLF), and refuses nothing:
 * the header ends at the first line that is not a field. Unlike {@link readHeader} it accepts blanks before the colon
 * (RFC 5322 §4.5), blank continuations, any character but CR and LF in a value, and a mailbox file's line before the
 * first field, which becomes a field named {@link MAILBOX_LINE}. Null for a header of more than `maxBytes`; text may be
 * cut two bytes beyond them.
 */
export function readLooseHeader(text: string, maxBytes: number): HeaderBlock | null {
  const fields: FieldSpan[] = [];
  let name = '';
  let fieldStart = 0;
  let start = 0;
  const close = () => name !== '' && fields.push(new LooseField(text, name, fieldStart, start));
  while (start < text.length && !text.startsWith(CRLF, start)) {
    const end = text.indexOf(CRLF, start) + CRLF_LENGTH;
    if (end > maxBytes || end < CRLF_LENGTH) return null;
    const isFolded = name !== '' && isBlank(text.charCodeAt(start));
    if (!isFolded) {
      close();
      name = looseName(text, start);
      if (name === '') return { fields, sizeBytes: start, brokenOff: true };
      fieldStart = start;
    }
    start = end;
  }
  close();
  return { fields, sizeBytes: start, brokenOff: false };
}

/** A field whose value is read on demand, since few are. */
class LooseField implements FieldSpan {
  readonly name: string;
  readonly lowerName: string;
  readonly start: number;
  readonly end: number;
  readonly #text: string;

  constructor(text: string, name: string, start: number, end: number) {
    this.#text = text;
    this.name = name;
    this.lowerName = name.toLowerCase();
    this.start = start;
    this.end = end;
  }

  get value(): string {
    const raw = this.#text.slice(this.#text.indexOf(':', this.start) + 1, this.end - CRLF_LENGTH);
    const read = NOT_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString('utf8') : raw;
    return (read.includes(CRLF) ? read.replace(FOLD, '') : read).trim();
  }
}

/** The name of the field that begins here; '' when none does. */
function looseName(text: string, start: number): string {
  let at = start;
  while (isNameCharacter(text.charCodeAt(at))) at++;
  const end = at;
  while (isBlank(text.charCodeAt(at))) at++;
  if (end > start && text[at] === ':') return text.slice(start, end);
  return start === 0 && MAILBOX_LINE_TEXT.test(text.slice(0, MAX_MAILBOX_LINE)) ? MAILBOX_LINE : '';
}

function isNameCharacter(code: number): boolean {
  return code > 0x20 && code < 0x7f && code !== 0x3a;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Changes to a header. */
export interface HeaderChange {
  /** Whole fields with their CRLFs, put on top. */
  readonly prepend: string;
  /** The new form of a field: null drops it, text (with its CRLF) replaces it, the field itself keeps it. */
  readonly each: (field: FieldSpan, index: number) => FieldSpan | string | null;
}

/** A changed header has at most this many views; in more pieces it is copied, since each costs work later. */
const MAX_VIEWS = 16;
/** A kept range of a message. */
type Kept = readonly [start: number, end: number];

/**
 * The message with its header changed, and ended: views of what stays, with text between them. A header in many pieces
 * is copied into one; the body is always a view.
 */
export function changeHeader(message: Buffer, header: HeaderBlock, change: HeaderChange): Uint8Array[] {
  const pieces = changedPieces(message.length, header, change);
  if (pieces.length <= MAX_VIEWS)
    return pieces.map((piece) =>
      typeof piece === 'string' ? Buffer.from(piece) : message.subarray(...piece),
    );
  const body = pieces.at(-1);
  if (body === undefined || typeof body === 'string') return [joined(message, pieces)];
  return [joined(message, pieces.slice(0, -1)), message.subarray(...body)];
}

function joined(message: Buffer, pieces: readonly (string | Kept)[]): Buffer {
  const lengthOf = (piece: string | Kept) =>
    typeof piece === 'string' ? Buffer.byteLength(piece) : piece[1] - piece[0];
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0));
  let at = 0;
  for (const piece of pieces)
    at += typeof piece === 'string' ? joined.write(piece, at) : message.copy(joined, at, ...piece);
  return joined;
}

/** The pieces of a changed message, in order: text, and kept ranges. */
function changedPieces(length: number, header: HeaderBlock, change: HeaderChange): (string | Kept)[] {
  const pieces: (string | Kept)[] = [];
  let text = change.prepend;
  let keptFrom = 0;
  const keepUntil = (end: number) => {
    if (end === keptFrom) return;
    if (text !== '') pieces.push(text);
    text = '';
    pieces.push([keptFrom, end]);
  };
  for (const [index, field] of header.fields.entries()) {
    const becomes = change.each(field, index);
    if (becomes === field) continue;
    keepUntil(field.start);
    keptFrom = field.end;
    if (typeof becomes === 'string') text += becomes;
  }
  if (header.brokenOff) {
    keepUntil(header.sizeBytes);
    keptFrom = header.sizeBytes;
    text += CRLF;
  }
  keepUntil(length);
  if (text !== '') pieces.push(text);
  return pieces;
}

/** The size up to the blank line; the whole message if there is none. */
function headerSize(message: Buffer): number {
  if (message[0] === BLANK_LINE[0] && message[1] === BLANK_LINE[1]) return 0;
  const end = message.indexOf(BLANK_LINE);
  return end < 0 ? message.length : end + CRLF_LENGTH;
}

function lineFault(content: string, line: number, hasField: boolean): Fault | null {
  const told = `Line ${line} of the header`;
  if (CONTROL.test(content))
    return fault('header_value', `${told} has a control character; remove or encode it.`);
  if (NOT_ASCII.test(content) && !isUtf8(Buffer.from(content, 'latin1')))
    return fault(
      'header_encoding',
      `${told} is neither ASCII nor UTF-8; write it in encoded words (RFC 2047) or UTF-8.`,
    );
  if (isContinuation(content)) {
    if (!hasField)
      return fault('header_syntax', `${told} begins with a blank, but there is no field that it continues.`);
    if (!CONTINUATION.test(content))
      return fault('header_syntax', `${told} has only spaces or tabs; remove it.`);
    return null;
  }
  if (FIELD_LINE.test(content)) return null;
  const name = BLANK_BEFORE_COLON.exec(content)?.[1];
  if (name !== undefined)
    return fault(
      'header_syntax',
      `${told} has a blank before its colon; write "${name.slice(0, MAX_SHOWN)}:".`,
    );
  return fault(
    'header_syntax',
    `${told} is not of the form "Name: value". An empty line must separate header and body.`,
  );
}

function isContinuation(content: string): boolean {
  return content.startsWith(' ') || content.startsWith('\t');
}

function closeField(
  message: Buffer,
  { name, start }: { readonly name: string; readonly start: number },
  end: number,
): FieldSpan {
  const raw = message.toString('utf8', start + name.length + 1, end - CRLF_LENGTH);
  return { name, lowerName: name.toLowerCase(), value: raw.replace(FOLD, '').trim(), start, end };
}

/** The value of the first field with this name (lower case); null without one. */
export function fieldValue(
  fields: readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
  lowerName: string,
): string | null {
  return fields.find((field) => field.lowerName === lowerName)?.value ?? null;
}
