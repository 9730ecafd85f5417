import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import { SOFT_LINE } from './field.ts';
import type { Leaf } from './part.ts';
import { encodeLongBase64, encodeQuotedPrintable } from './transfer-encoding.ts';

/** An encoded body, and its Content-Transfer-Encoding (RFC 2045 §6). */
export interface EncodedBody {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  /** Always ASCII. */
  readonly body: Leaf['body'];
}

/**
 * The share of all bytes by which UTF-8 exceeds the number of characters. Above it base64 is shorter: quoted-printable
 * would escape more than a sixth of the bytes.
 */
const MAX_EXCESS = 1 / 12;

/** Longer text is encoded in slices. */
const LONG_CHARACTERS = 64 * 1024;

/**
 * Encodes text for the wire: lines end in CRLF, whatever they ended in. Short-lined ASCII stays as it is, mostly ASCII
 * becomes quoted-printable, the rest base64. No line begins with a dot.
 */
export function* encodeText(text: string): Sliced<EncodedBody> {
  const isLong = text.length > LONG_CHARACTERS;
  const lines = isLong ? yield* toLongLines(text) : toLines(text);
  const { bytes } = lines;
  const excess = Buffer.byteLength(text) - text.length;
  if (excess === 0 && lines.isShortLined)
    return { encoding: '7bit', body: typeof bytes === 'string' ? bytes : [bytes] };
  const coded = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  if (excess > coded.length * MAX_EXCESS) return { encoding: 'base64', body: yield* encodeLongBase64(coded) };
  return { encoding: 'quoted-printable', body: yield* encodeQuotedPrintable(coded) };
}

function toLines(text: string) {
  const bytes = withCrlf(text);
  return { bytes, isShortLined: isShortLined(bytes) };
}

/** A bare CR or LF becomes CRLF too. */
function withCrlf(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replace(/\n/g, '\r\n');
}

/** Whether ASCII text may be sent unchanged: short lines, none beginning with a dot, and no NUL (RFC 2045 §2.7). */
function isShortLined(text: string): boolean {
  if (text.includes('\0')) return false;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\r\n', start);
    const end = found < 0 ? text.length : found;
    if (end - start > SOFT_LINE || text[start] === '.') return false;
    start = end + 2;
  }
  return true;
}

// The same for text of many megabytes: in slices and without a string for each line.

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

/** Text in lines that end in CRLF. */
export interface LongLines {
  /** UTF-8. */
  readonly bytes: Buffer;
  /** No line is longer than {@link SOFT_LINE} bytes or begins with a dot, and there is no NUL. */
  readonly isShortLined: boolean;
}

/** Converts text to CRLF lines; a bare CR or LF becomes CRLF too. */
export function* toLongLines(text: string): Sliced<LongLines> {
  const given = Buffer.from(text);
  const lines = new LineLook(given);
  for (let from = 0; from < given.length; from += SLICE_BYTES) {
    yield;
    lines.read(from, Math.min(from + SLICE_BYTES, given.length));
  }
  const isShortLined = lines.isShort && given.length - lines.lineStart <= SOFT_LINE;
  if (lines.missing === 0) return { bytes: given, isShortLined };
  const bytes = Buffer.allocUnsafe(given.length + lines.missing);
  let length = 0;
  for (let from = 0; from < given.length; from += SLICE_BYTES) {
    yield;
    length = copyLines(given, from, Math.min(from + SLICE_BYTES, given.length), bytes, length);
  }
  return { bytes, isShortLined };
}

/** Scans text byte by byte. */
class LineLook {
  /** Bytes missing to end every line in CRLF. */
  missing = 0;
  isShort = true;
  lineStart = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(from: number, to: number): void {
    const bytes = this.#bytes;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (byte > CR) {
        if (byte === DOT && at === this.lineStart) this.isShort = false;
      } else if (byte === LF) this.#endLine(at, at > 0 && bytes[at - 1] === CR);
      else if (byte === CR && bytes[at + 1] !== LF) this.#endLine(at, false);
      else if (byte === 0) this.isShort = false;
    }
  }

  #endLine(at: number, isCrlf: boolean): void {
    if (!isCrlf) this.missing += 1;
    const end = isCrlf ? at - 1 : at;
    if (end - this.lineStart > SOFT_LINE) this.isShort = false;
    this.lineStart = at + 1;
  }
}

/** Copies a slice, completing its line ends; returns the end of the copy. */
function copyLines(given: Buffer, from: number, to: number, copy: Buffer, start: number): number {
  let length = start;
  for (let at = from; at < to; at++) {
    const byte = given[at] as number;
    if (byte === LF && (at === 0 || given[at - 1] !== CR)) copy[length++] = CR;
    copy[length++] = byte;
    if (byte === CR && given[at + 1] !== LF) copy[length++] = LF;
  }
  return length;
}
