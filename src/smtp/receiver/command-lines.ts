/** Lines of commands, read from chunks cut anywhere (RFC 5321 §2.3.8, §4.5.3.1.4). */
import { isUtf8 } from 'node:buffer';
import type { InputBuffer } from './input.ts';

/** Bytes of a command with its CRLF. */
const MAX_LINE = 512;
/** MAIL and RCPT, whose extensions lengthen them (RFC 1870, 3461, 4954, 6152, 6531). */
const MAX_PATH_LINE = 2048;
/** AUTH and the lines of its exchange (RFC 4954 §4). */
const MAX_AUTH_LINE = 12_288;
/** Characters kept of a faulty line: enough to tell what it was meant to be. */
const MAX_SHOWN = 128;
/** Bytes that tell the verb. */
const VERB = 5;

const LF = 0x0a;
const CR = 0x0d;
const UNUSUAL = /[^\x20-\x7e]/;
const NOT_ASCII = /[\x80-\xff]/;
/** Every control character but the tab. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** A line that cannot be a command. Its text is the line's beginning, one character a byte. */
export interface FaultyLine {
  readonly fault: 'too_long' | 'bare_lf' | 'control' | 'encoding';
  readonly text: string;
}

/**
 * Cuts the input into lines. Only CRLF ends one. A line with a bare LF is faulty and answered at that LF, lest the
 * peer waits for ever; what follows up to the next CRLF still belongs to it, so that nobody can hide a command
 * behind a bare LF. Of a line that is too long nothing is kept but its beginning.
 */
export class CommandLines {
  /** Bytes of the unfinished line in which no LF is. */
  #searched = 0;
  /** The beginning of a line that is too long and has not ended. */
  #tooLong: string | null = null;
  /** The line was answered; the rest of it goes. */
  #skipping = false;
  /** The last byte that was dropped is CR. */
  #droppedCr = false;

  /** The next line without its CRLF, or what is wrong with it; null when more bytes are needed. */
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

  /** Forgets the line that has begun. */
  clear(): void {
    this.#searched = 0;
    this.#tooLong = null;
    this.#skipping = false;
    this.#droppedCr = false;
  }

  /** No line is complete. Keeps what may still become one. */
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
