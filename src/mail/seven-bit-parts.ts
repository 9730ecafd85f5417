import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import { encodeBase64, encodeQuotedPrintable } from './transfer-encoding.ts';

/** Bodies, for converting or splitting messages: splits a multipart at its boundaries, encodes and decodes a leaf. */

/** Splits the body of a multipart at its boundaries (RFC 2046 §5.1.1); joining the pieces restores it. */

/** One part, and the boundary line before it. */
export interface SplitPart {
  /** Including the CRLF before it, which belongs to it, and the one after. */
  readonly delimiter: Buffer;
  readonly part: Buffer;
}

/** A body in pieces, in order. */
export interface SplitMultipart {
  readonly preamble: Buffer;
  readonly parts: readonly SplitPart[];
  /** The last boundary line, without its CRLF; empty when it is missing. */
  readonly close: Buffer;
  readonly epilogue: Buffer;
}

/** The longest boundary accepted: RFC 2046 allows 70 characters, and some programs write more. */
const MAX_BOUNDARY = 200;
const MAX_PARTS = 10_000;
/** The rest of a boundary line. */
const REST_OF_LINE = /^(--)?[ \t]*(?:\r\n|$)/;
const MAX_REST = 256;

interface BoundaryLine {
  /** Including the CRLF before it. */
  readonly start: number;
  readonly end: number;
  readonly closes: boolean;
}

/** Null for an invalid boundary, a body without it, or one with too many parts. */
export function* splitMultipart(body: Buffer, boundary: string): Sliced<SplitMultipart | null> {
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return null;
  const lines = yield* boundaryLines(body, boundary);
  const [first] = lines;
  if (first === undefined || first.closes || lines.length > MAX_PARTS) return null;
  const last = lines.at(-1);
  const closing = last?.closes ? last : null;
  const opening = closing ? lines.slice(0, -1) : lines;
  const parts = opening.map(({ start, end }, index) => {
    const next = lines[index + 1]?.start ?? body.length;
    return { delimiter: body.subarray(start, end), part: body.subarray(end, Math.max(end, next)) };
  });
  return {
    preamble: body.subarray(0, first.start),
    parts,
    close: closing
      ? body.subarray(Math.max(closing.start, partsEnd(opening)), closing.end)
      : body.subarray(0, 0),
    epilogue: closing ? body.subarray(closing.end) : body.subarray(0, 0),
  };
}

function partsEnd(opening: readonly BoundaryLine[]): number {
  return opening.at(-1)?.end ?? 0;
}

/** The boundary lines up to the closing one. */
function* boundaryLines(body: Buffer, boundary: string): Sliced<BoundaryLine[]> {
  const marker = Buffer.from(`--${boundary}`);
  const lines: BoundaryLine[] = [];
  let before = 0;
  let slice = SLICE_BYTES;
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker, at + 1)) {
    // A body may consist entirely of boundary-like lines.
    if (at > slice) {
      yield;
      slice = at + SLICE_BYTES;
    }
    const beginsLine = at === 0 || (body[at - 1] === 0x0a && body[at - 2] === 0x0d);
    if (!beginsLine) continue;
    const behind = at + marker.length;
    const rest = REST_OF_LINE.exec(body.toString('latin1', behind, behind + MAX_REST));
    if (rest === null) continue;
    // The part cut off may belong to the line.
    if (!rest[0].endsWith('\n') && behind + rest[0].length < body.length) continue;
    const closes = rest[1] !== undefined;
    // The CRLF before a boundary belongs to it, unless it ends the boundary before.
    const start = Math.max(at === 0 ? 0 : at - 2, before);
    const end = behind + rest[0].length;
    lines.push({ start, end, closes });
    if (closes || lines.length > MAX_PARTS) break;
    before = end;
  }
  return lines;
}

// Encodes the body of a part that an older server does not accept as it is (RFC 2045 §6).

/** The encodings of a body. */
export type LeafEncoding = 'quoted-printable' | 'base64';

/** An encoded body. */
export interface EncodedLeaf {
  readonly encoding: LeafEncoding;
  readonly body: readonly Uint8Array[];
}

const ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);
const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const EQUALS = 0x3d;
const LINE_END = Buffer.from('\r\n');
/** The value of each hexadecimal digit; -1 for every other byte. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? -1 : value;
});
const [OTHER, BLANK, LETTER] = [0, 1, 2];
/** The base64 value of each byte; padding counts as blank. */
const BASE64 = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9+/]/.test(character)) return LETTER;
  return /[\t\r\n =]/.test(character) ? BLANK : OTHER;
});
/** A boundary-like line that encoding may create by breaking a line. */
const NEW_BOUNDARY = Buffer.from('=\r\n--');

/** Whether a Content-Transfer-Encoding (lower case) can be decoded. */
export function isEncoding(encoding: string): boolean {
  return ENCODINGS.has(encoding);
}

/**
 * Encodes a body, decoding it first if it was encoded badly. Text becomes quoted-printable, if possible; the rest
 * base64. Null for base64 with invalid characters, which would be lost.
 */
export function* encodeLeaf(body: Buffer, isText: boolean, encoding: string): Sliced<EncodedLeaf | null> {
  const bytes = yield* decodeLeaf(body, encoding);
  if (bytes === null) return null;
  if (isText && (yield* isLines(bytes))) {
    const encoded = yield* encodeQuotedPrintable(bytes);
    if (!(yield* hasNewBoundary(encoded))) return { encoding: 'quoted-printable', body: encoded };
  }
  return { encoding: 'base64', body: [encodeBase64(bytes)] };
}

/** Whether every line end is CRLF, and there is no NUL: quoted-printable text cannot express anything else. */
function* isLines(bytes: Buffer): Sliced<boolean> {
  let before = 0;
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    yield;
    for (const byte of bytes.subarray(from, from + SLICE_BYTES)) {
      if (byte === 0 || (byte === LF) !== (before === CR)) return false;
      before = byte;
    }
  }
  return before !== CR;
}

/** Searches each piece, and the seam after it. */
function* hasNewBoundary(pieces: readonly Uint8Array[]): Sliced<boolean> {
  let seam: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    yield;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const over = Buffer.concat([seam, bytes.subarray(0, NEW_BOUNDARY.length)]);
    if (bytes.includes(NEW_BOUNDARY) || over.includes(NEW_BOUNDARY)) return true;
    seam = Buffer.concat([seam, bytes.subarray(-NEW_BOUNDARY.length)]).subarray(-NEW_BOUNDARY.length);
  }
  return false;
}

/** The decoded body. `encoding` (lower case) satisfies {@link isEncoding}. Null for base64 with invalid characters. */
export function* decodeLeaf(body: Buffer, encoding: string): Sliced<Buffer | null> {
  if (encoding === 'base64') return yield* decodeBase64(body);
  return encoding === 'quoted-printable' ? yield* decodeQuotedPrintable(body) : body;
}

/** Null if decoding would lose something. Valid are base64 characters, blanks and line ends, then only padding. */
function* decodeBase64(body: Buffer): Sliced<Buffer | null> {
  const out = Buffer.allocUnsafe(Math.ceil(body.length / 4) * 3);
  let length = 0;
  let letters = 0;
  let isPadded = false;
  let decoded = 0;
  for (let from = 0; from < body.length; from += SLICE_BYTES) {
    yield;
    const until = Math.min(from + SLICE_BYTES, body.length);
    // The end of the last complete group of four characters.
    let groupEnd = decoded;
    for (let at = from; at < until; at++) {
      const byte = body[at] as number;
      const kind = BASE64[byte];
      if (kind === OTHER || (kind === LETTER && isPadded)) return null;
      if (kind === LETTER && ++letters % 4 === 0) groupEnd = at + 1;
      isPadded ||= byte === EQUALS;
    }
    const end = until === body.length ? until : groupEnd;
    length += out.write(body.toString('latin1', decoded, end), length, 'base64');
    decoded = end;
  }
  // A single remaining character is less than a byte.
  return letters % 4 === 1 ? null : out.subarray(0, length);
}

/** Decodes quoted-printable (RFC 2045 §6.7); copies invalid sequences unchanged. */
function* decodeQuotedPrintable(body: Buffer): Sliced<Buffer> {
  const out = Buffer.allocUnsafe(body.length);
  let length = 0;
  let slice = SLICE_BYTES;
  for (let start = 0; start < body.length; ) {
    if (start > slice) {
      yield;
      slice = start + SLICE_BYTES;
    }
    const found = body.indexOf(LINE_END, start);
    const end = found < 0 ? body.length : found;
    const text = textEnd(body, start, end);
    const isSoft = text > start && body[text - 1] === EQUALS;
    length = decodeLine(body, start, isSoft ? text - 1 : text, out, length);
    if (found >= 0 && !isSoft) length += LINE_END.copy(out, length);
    start = end + LINE_END.length;
  }
  return out.subarray(0, length);
}

/** The start of the blanks at the end of a line, which do not count (rule 3). */
function textEnd(body: Buffer, start: number, end: number): number {
  let at = end;
  while (at > start && (body[at - 1] === SPACE || body[at - 1] === TAB)) at--;
  return at;
}

/** Decodes from `start` to `end`; returns the end of the copy. */
function decodeLine(body: Buffer, start: number, end: number, out: Buffer, from: number): number {
  let length = from;
  for (let at = start; at < end; at++) {
    const byte = body[at] as number;
    const high = byte === EQUALS && at + 2 < end ? (HEX[body[at + 1] as number] as number) : -1;
    const low = high >= 0 ? (HEX[body[at + 2] as number] as number) : -1;
    if (low >= 0) at += 2;
    out[length++] = low >= 0 ? high * 16 + low : byte;
  }
  return length;
}
