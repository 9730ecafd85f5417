import { SLICE_BYTES, type Sliced } from '../../../../lib/clock.ts';

/**
 * Files as lists of their bytes. Resend's libraries for Go, Python and Ruby write attachments so, older ones for Node.js
 * as `{"type": "Buffer", "data": [37, 80, …]}`. As JSON, each byte would be a value of its own, for which there is neither
 * room nor a limit that fits; so they become base64 before the text is parsed.
 */

const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN = 0x5b;
const CLOSE = 0x5d;
/**
 * Names of fields that hold them. Within a string their quotes would be escaped, so that what looks like one is one, or
 * the end of a longer name, which no field has. They are looked for wherever they are, so that a header called `data`
 * may be given as a list of bytes, too, instead of being refused: no mail has one, and its place costs a parser.
 */
const NAMES = ['"content"', '"data"'] as const;
/** Fields of these names that are looked at: many more than an email has files. */
const MAX_FIELDS = 10_000;
const SMALL = 1024;

/** A body of JSON, its lists of bytes replaced by base64; what is no such list stays as it is. Linear in its length. */
export function* withoutByteLists(body: Buffer): Sliced<Buffer> {
  const pieces: Buffer[] = [];
  let taken = 0;
  for (const open of opensOf(body)) {
    const list = yield* readList(body, open);
    if (list === null) continue;
    const text = Buffer.from(`"${list.bytes.toString('base64')}"`, 'latin1');
    pieces.push(body.subarray(taken, open), text);
    taken = list.end;
  }
  return taken === 0 ? body : Buffer.concat([...pieces, body.subarray(taken)]);
}

/** Where lists open that are values of {@link NAMES}, in order. */
function opensOf(body: Buffer): readonly number[] {
  const opens: number[] = [];
  for (const name of NAMES) {
    let at = body.indexOf(name);
    for (let fields = 0; at >= 0 && fields < MAX_FIELDS; fields++) {
      const colon = skipBlanks(body, at + name.length);
      const open = body[colon] === COLON ? skipBlanks(body, colon + 1) : -1;
      if (body[open] === OPEN) opens.push(open);
      at = body.indexOf(name, at + name.length);
    }
  }
  return opens.sort((a, b) => a - b);
}

/** Where the next character is that is no blank. */
function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (isBlank(body[at])) at += 1;
  return at;
}

/** RFC 8259 §2. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** What a list has, and where what follows it begins. */
interface ByteList {
  readonly bytes: Buffer;
  readonly end: number;
}

/** The list that opens here; null if it has anything but bytes. Reads no further than to the first thing that is none. */
function* readList(body: Buffer, open: number): Sliced<ByteList | null> {
  let bytes = Buffer.allocUnsafe(SMALL);
  let count = 0;
  /** Of the number that is being read; -1 before it. */
  let value = -1;
  let isOver = false;
  for (let at = open + 1, slice = at + SLICE_BYTES; ; at++) {
    if (at === slice) {
      slice += SLICE_BYTES;
      yield;
    }
    const byte = body[at] ?? 0;
    if (byte >= ZERO && byte <= NINE) {
      // Nothing follows a 0, and no number a number.
      if (value === 0 || isOver) return null;
      value = (value < 0 ? 0 : value * 10) + byte - ZERO;
      if (value > 255) return null;
    } else if (byte === COMMA || byte === CLOSE) {
      if (value < 0)
        return byte === CLOSE && count === 0 ? { bytes: bytes.subarray(0, 0), end: at + 1 } : null;
      if (count === bytes.length) bytes = Buffer.concat([bytes], count * 2);
      bytes[count++] = value;
      if (byte === CLOSE) return { bytes: bytes.subarray(0, count), end: at + 1 };
      value = -1;
      isOver = false;
    } else if (isBlank(byte)) isOver = value >= 0;
    else return null;
  }
}
