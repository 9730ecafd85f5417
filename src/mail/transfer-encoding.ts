import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';

/** Encodes base64 and quoted-printable (RFC 2045 §6). */

/** RFC 2045 §6.8: 57 bytes make a line of 76 characters. */
const LINE_BYTES = 57;
const LINE_CHARACTERS = 76;
/** Lines encoded at once: enough to make the native call cheap, few enough to stay in the cache. */
const BLOCK_LINES = 512;
/** Characters are moved in pairs: a line with its CRLF is 39 of them. */
const LINE_PAIRS = LINE_CHARACTERS / 2;
/** CRLF as one pair, in the machine's byte order. */
const CRLF = new Uint16Array(Uint8Array.of(0x0d, 0x0a).buffer)[0] ?? 0;

/** Bytes encoded in one turn of the event loop: well under a millisecond of work, and whole lines. */
const PART_BYTES = 4096 * LINE_BYTES;

/** As {@link encodeBase64}, in pieces, with a turn for others before each. */
export function* encodeLongBase64(bytes: Uint8Array): Sliced<readonly Uint8Array[]> {
  if (bytes.length <= PART_BYTES) return [encodeBase64(bytes)];
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    yield;
    const part = bytes.subarray(from, from + PART_BYTES);
    pieces.push(from + PART_BYTES < bytes.length ? linesOf(part) : encodeBase64(part));
  }
  return pieces;
}

/** Encodes bytes as base64 in lines of 76 characters, with CRLF between the lines, not after the last. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const lines = linesOf(bytes);
  return bytes.length > 0 && bytes.length % LINE_BYTES === 0 ? lines.subarray(0, -2) : lines;
}

/** The same, with CRLF after each line that is full. */
function linesOf(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fullLines = Math.floor(source.length / LINE_BYTES);
  const tail = source.toString('base64', fullLines * LINE_BYTES);
  const out = new Uint8Array(fullLines * (LINE_CHARACTERS + 2) + tail.length);
  const pairs = new Uint16Array(out.buffer, 0, fullLines * (LINE_PAIRS + 1));
  const block = Buffer.allocUnsafe(Math.min(fullLines, BLOCK_LINES) * LINE_CHARACTERS);
  for (let line = 0; line < fullLines; line += BLOCK_LINES) {
    const end = Math.min(line + BLOCK_LINES, fullLines);
    block.write(source.toString('base64', line * LINE_BYTES, end * LINE_BYTES), 'latin1');
    copyLines(new Uint16Array(block.buffer, block.byteOffset), pairs, line, end);
  }
  Buffer.from(out.buffer).write(tail, fullLines * (LINE_CHARACTERS + 2), 'latin1');
  return out;
}

/** Copies the lines from `first` up to, not including, `end`, adding line ends. A line is too short for `set`. */
function copyLines(from: Uint16Array, to: Uint16Array, first: number, end: number): void {
  let read = 0;
  let write = first * (LINE_PAIRS + 1);
  for (let line = first; line < end; line++) {
    for (let i = 0; i < LINE_PAIRS; i++) to[write++] = from[read++] ?? 0;
    to[write++] = CRLF;
  }
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const DOT = 0x2e;
const EQUALS = 0x3d;
/** RFC 2045 §6.7 rule 5: 76 characters a line, the last reserved for a soft break. */
const LINE = 75;
const ESCAPE = 3;
/** More than one step of the loop can write: a line, the escape of its last blank, two breaks. */
const STEP = LINE + 16;
const PIECE_BYTES = 1024 * 1024;
const HEX = Buffer.from('0123456789ABCDEF');

/** 1 for bytes that need no escape, unless they begin or end a line. */
const LITERAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte < 0x7f && byte !== EQUALS) ? 1 : 0,
);

/**
 * Encodes text whose lines end in CRLF (RFC 2045 §6.7), in pieces of a megabyte. No line of the result begins with a
 * dot or ends in a blank.
 */
export function* encodeQuotedPrintable(bytes: Uint8Array): Sliced<readonly Uint8Array[]> {
  const writer = new Writer(bytes);
  for (let until = SLICE_BYTES; until < bytes.length; until += SLICE_BYTES) {
    writer.write(until);
    yield;
  }
  return writer.finish();
}

/** Encodes bytes in order. */
class Writer {
  readonly #bytes: Uint8Array;
  readonly #pieces: Uint8Array[] = [];
  #out: Buffer;
  #length = 0;
  #column = 0;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#out = Buffer.allocUnsafe(Math.min(bytes.length + (bytes.length >> 2) + STEP, PIECE_BYTES));
  }

  /** Encodes everything before `until`, and perhaps one line more. */
  write(until: number): void {
    const bytes = this.#bytes;
    const total = bytes.length;
    let out = this.#out;
    let length = this.#length;
    let column = this.#column;
    let at = this.#at;
    // Every index below is in bounds; checking each byte again would double the time.
    while (at < until) {
      if (out.length - length < STEP) {
        out = this.#nextPiece(length, total - at);
        length = 1;
      }
      const byte = bytes[at] as number;
      if (byte === CR) {
        length = writeBreak(out, endLine(out, length, column));
        column = 0;
        at += 2;
      } else if (column === LINE || (LITERAL[byte] === 0 && column > LINE - ESCAPE)) {
        out[length++] = EQUALS;
        length = writeBreak(out, length);
        column = 0;
      } else if (LITERAL[byte] === 0 || (byte === DOT && column === 0)) {
        length = writeEscape(out, length, byte);
        column += ESCAPE;
        at++;
      } else {
        const start = at;
        const end = Math.min(total, at + LINE - column);
        while (at < end && LITERAL[bytes[at] as number] === 1) out[length++] = bytes[at++] as number;
        column += at - start;
      }
    }
    this.#length = length;
    this.#column = column;
    this.#at = at;
  }

  /** Encodes the rest, and returns everything. */
  finish(): readonly Uint8Array[] {
    this.write(this.#bytes.length);
    this.#pieces.push(this.#out.subarray(0, endLine(this.#out, this.#length, this.#column)));
    return this.#pieces;
  }

  /** Begins a piece with the last byte of the one before, which may turn out to be a blank at a line end. */
  #nextPiece(length: number, left: number): Buffer {
    const full = this.#out;
    this.#pieces.push(full.subarray(0, length - 1));
    // The most that the rest can grow to, with its breaks; little for the many small parts of a message.
    this.#out = Buffer.allocUnsafe(Math.min(left * (ESCAPE + 1) + 2 * STEP, PIECE_BYTES));
    this.#out[0] = full[length - 1] as number;
    return this.#out;
  }
}

/** Escapes a blank at a line end, which might be lost on the way (rule 3). */
function endLine(out: Uint8Array, length: number, column: number): number {
  const last = column > 0 ? (out[length - 1] as number) : 0;
  if (last !== SPACE && last !== TAB) return length;
  let end = length - 1;
  if (column > LINE - ESCAPE + 1) {
    out[end++] = EQUALS;
    end = writeBreak(out, end);
  }
  return writeEscape(out, end, last);
}

function writeBreak(out: Uint8Array, length: number): number {
  out[length] = CR;
  out[length + 1] = LF;
  return length + 2;
}

function writeEscape(out: Uint8Array, length: number, byte: number): number {
  out[length] = EQUALS;
  out[length + 1] = HEX[byte >> 4] as number;
  out[length + 2] = HEX[byte & 15] as number;
  return length + 3;
}
