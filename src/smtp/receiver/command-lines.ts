/** Reads command lines from chunks of any size (RFC 5321 §2.3.8, §4.5.3.1.4). */
import { isUtf8 } from 'node:buffer';
import type { InputBuffer } from './input.ts';

/** Bytes of a command with its CRLF. */
const MAX_LINE = 512;
/** The same for MAIL and RCPT, which extensions lengthen (RFC 1870, 3461, 4954, 6152, 6531). */
const MAX_PATH_LINE = 2048;
/** The same for AUTH and the lines of its exchange (RFC 4954 §4). */
const MAX_AUTH_LINE = 12_288;
/** Characters of a faulty line to keep: enough to recognise it. */
const MAX_SHOWN = 128;
/** Bytes that suffice to recognise the verb. */
const VERB = 5;

const LF = 0x0a;
const CR = 0x0d;
const UNUSUAL = /[^\x20-\x7e]/;
const NOT_ASCII = /[\x80-\xff]/;
/** All control characters but the tab. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** A line that cannot be a command. `text` is its beginning, one character a byte. */
export interface FaultyLine {
  readonly fault: 'too_long' | 'bare_lf' | 'control' | 'encoding';
  readonly text: string;
}

/**
 * Splits the input into lines. Only CRLF ends one. A line with a bare LF is faulty and answered at that LF, so that the
 * peer does not wait for ever; the rest up to the next CRLF still belongs to it, so that nobody can hide a command
 * after a bare LF. Only the beginning of an overlong line is kept.
 */
export class CommandLines {
  /** Bytes of the unfinished line already searched for an LF. */
  #searched = 0;
  /** The beginning of an overlong line that has not ended. */
  #tooLong: string | null = null;
  /** The line was answered; the rest of it is dropped. */
  #skipping = false;
  /** The last dropped byte is CR. */
  #droppedCr = false;

  /** The next line without its CRLF, or its fault; null when more bytes are needed. */
  next(input: InputBuffer, isAuthExchange: boolean): string | FaultyLine | null {
    for (;;) {
      const lf = input.bytes.indexOf(LF, input.start + this.#searched);
      if (lf < 0 || lf >= input.end) return this.#keep(input, isAuthExchange);
      const { bytes, start } = input;
      const isCrLf = lf > start ? bytes[lf - 1] === CR : this.#droppedCr;
      const wasSkipping = this.#skipping;
      const dropped = this.#tooLong;
      input.readTo(lf + 1);
      this.#searched = 0;
      this.#tooLong = null;
      this.#droppedCr = false;
      this.#skipping = !isCrLf;
      if (wasSkipping) continue;
      if (dropped !== null) return { fault: 'too_long', text: dropped };
      return readLine(bytes, start, lf, isCrLf, isAuthExchange);
    }
  }

  /** Drops the unfinished line. */
  clear(): void {
    this.#searched = 0;
    this.#tooLong = null;
    this.#skipping = false;
    this.#droppedCr = false;
  }

  /** No line is complete. Keeps the part that may still become one. */
  #keep(input: InputBuffer, isAuthExchange: boolean): null {
    const { bytes, start, end } = input;
    const isDropping = this.#skipping || this.#tooLong !== null;
    if (!isDropping && input.length <= maxBytes(bytes, start, end, isAuthExchange)) {
      this.#searched = input.length;
      input.shrink();
      return null;
    }
    if (!isDropping) this.#tooLong = beginning(bytes, start, end);
    if (end > start) this.#droppedCr = bytes[end - 1] === CR;
    this.#searched = 0;
    input.clear();
    return null;
  }
}

function readLine(
  bytes: Buffer,
  start: number,
  lf: number,
  isCrLf: boolean,
  isAuthExchange: boolean,
): string | FaultyLine {
  if (lf + 1 - start > maxBytes(bytes, start, lf, isAuthExchange))
    return faulty('too_long', bytes, start, lf);
  if (!isCrLf) return faulty('bare_lf', bytes, start, lf);
  const end = lf - 1;
  const text = bytes.toString('latin1', start, end);
  if (!UNUSUAL.test(text)) return text;
  if (CONTROL.test(text)) return faulty('control', bytes, start, end);
  if (!NOT_ASCII.test(text)) return text;
  return isUtf8(bytes.subarray(start, end))
    ? bytes.toString('utf8', start, end)
    : faulty('encoding', bytes, start, end);
}

function faulty(fault: FaultyLine['fault'], bytes: Buffer, start: number, end: number): FaultyLine {
  return { fault, text: beginning(bytes, start, end) };
}

function beginning(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, Math.min(end, start + MAX_SHOWN));
}

function maxBytes(bytes: Buffer, start: number, end: number, isAuthExchange: boolean): number {
  if (isAuthExchange) return MAX_AUTH_LINE;
  if (end - start <= MAX_LINE - 2) return MAX_LINE;
  switch (bytes.toString('latin1', start, start + VERB).toUpperCase()) {
    case 'AUTH ':
      return MAX_AUTH_LINE;
    case 'MAIL ':
    case 'RCPT ':
      return MAX_PATH_LINE;
    default:
      return MAX_LINE;
  }
}
