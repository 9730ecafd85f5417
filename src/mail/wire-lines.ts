import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import { HARD_LINE } from './field.ts';
import type { Fault } from './headers.ts';

/** The lines of a finished message that somebody else composed (RFC 5322 §2.1, §2.3; RFC 5321 §2.3.8). */

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

/** A message whose every line ends in CRLF. */
export interface WireMessage {
  readonly bytes: Buffer;
  /** Some line begins with a dot. */
  readonly hasLeadingDot: boolean;
}

/** A message in its wire form, or why there is none. */
export type WireLines =
  | { readonly kind: 'wire'; readonly message: WireMessage }
  /** The first thing that is wrong with its lines. */
  | { readonly kind: 'faulty'; readonly fault: Fault }
  /** It would have this many bytes, and that is too many. */
  | { readonly kind: 'too_large'; readonly sizeBytes: number };

/**
 * Brings a message into its wire form. Lines end all in CRLF, or all in LF, which become CRLF; nothing else is
 * changed but that the last line is ended. Refused are mixed line endings, a CR by itself and NUL, which programs
 * read differently, and lines that no server need take. Linear in the size of the message; nothing larger than
 * `maxBytes` is made.
 */
export function* toWireLines(message: Buffer, maxBytes: number): Sliced<WireLines> {
  const scan = new LineScan(message);
  for (let from = 0; from < message.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    scan.read(from, Math.min(from + SLICE_BYTES, message.length));
    if (scan.fault !== null) return { kind: 'faulty', fault: scan.fault };
  }
  scan.end();
  if (scan.fault !== null) return { kind: 'faulty', fault: scan.fault };
  const { sizeBytes, hasLeadingDot } = scan;
  if (sizeBytes > maxBytes) return { kind: 'too_large', sizeBytes };
  const bytes = sizeBytes === message.length ? message : yield* withCrlf(message, sizeBytes);
  return { kind: 'wire', message: { bytes, hasLeadingDot } };
}

/** Looks at a message byte by byte, and holds all its lines to the ending of the first. */
class LineScan {
  fault: Fault | null = null;
  hasLeadingDot = false;
  readonly #message: Buffer;
  readonly #isCrlf: boolean;
  #ended = 0;
  #lineStart = 0;

  constructor(message: Buffer) {
    this.#message = message;
    const first = message.indexOf(LF);
    this.#isCrlf = first > 0 && message[first - 1] === CR;
  }

  /** Bytes of the wire form, once all has been read. */
  get sizeBytes(): number {
    const { length } = this.#message;
    const added = this.#isCrlf ? 0 : this.#ended;
    return length + added + (this.#lineStart < length ? 2 : 0);
  }

  /** Reads on; stops at the first fault. */
  read(from: number, to: number): void {
    const message = this.#message;
    for (let at = from; at < to && this.fault === null; at++) {
      const byte = message[at] as number;
      if (byte > CR) {
        if (byte === DOT && at === this.#lineStart) this.hasLeadingDot = true;
      } else if (byte === LF) this.#endLine(at);
      else if (byte === CR) {
        if (message[at + 1] !== LF) this.#refuse('bare_cr', 'has a CR that no LF follows; end lines in CRLF');
      } else if (byte === 0) this.#refuse('nul', 'has a NUL byte; encode binary content as base64');
    }
  }

  /** Judges a last line that nothing ends. */
  end(): void {
    this.#holdLength(this.#message.length);
  }

  #endLine(at: number): void {
    const hasCr = at > this.#lineStart && this.#message[at - 1] === CR;
    if (hasCr !== this.#isCrlf) {
      const detail = 'ends otherwise than the first; end all lines in CRLF, or all in LF';
      this.#refuse('mixed_line_endings', detail);
      return;
    }
    this.#holdLength(hasCr ? at - 1 : at);
    this.#ended += 1;
    this.#lineStart = at + 1;
  }

  #holdLength(end: number): void {
    if (end - this.#lineStart <= HARD_LINE) return;
    const detail = `has more than ${HARD_LINE} bytes; encode it as quoted-printable or base64`;
    this.#refuse('line_too_long', detail);
  }

  #refuse(code: string, detail: string): void {
    this.fault ??= { code, detail: `Line ${this.#ended + 1} ${detail}.` };
  }
}

/** Copies a message with a CR before each LF that has none, the last line ended. */
function* withCrlf(message: Buffer, sizeBytes: number): Sliced<Buffer> {
  const copy = Buffer.allocUnsafe(sizeBytes);
  let length = 0;
  for (let from = 0; from < message.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    length = copyLines(message.subarray(from, from + SLICE_BYTES), copy, length, message[from - 1]);
  }
  if (length < sizeBytes) copy.set([CR, LF], length);
  return copy;
}

/** Copies a piece of a message whose CRs all stand before LFs; gives where the copy ends. */
function copyLines(piece: Buffer, copy: Buffer, start: number, byteBefore = 0): number {
  let length = start;
  let before = byteBefore;
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] as number;
    if (byte === LF && before !== CR) copy[length++] = CR;
    copy[length++] = byte;
    before = byte;
  }
  return length;
}
