import { Problem } from '../../http/problem.ts';

/**
 * Splits the body of a batch, `{"messages": [ … ]}`, into the texts of its messages while it arrives. So only one
 * message is parsed at a time, and each text is freed before the next message is made.
 *
 * The splitter validates nothing: it returns the text around the messages as the frame, with `0` in place of each
 * message. The body is valid JSON exactly when the frame and every piece are.
 */

/** A body split into frame and messages. */
export interface SplitBatch {
  /** The text around the messages, such as `{"messages":[0,0]}`. */
  readonly frame: Buffer;
  /** The text of each message, as the pieces that arrived. */
  readonly messages: Buffer[][];
}

/** Bounds on a batch; its total size is bounded where the body is read. */
export interface BatchBounds {
  readonly maxMessages: number;
}

/** Around the messages stand a name, brackets and blanks; a larger frame is something else. */
const MAX_FRAME_BYTES = 64 * 1024;
const PLACEHOLDER = Buffer.from('0');

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** RFC 8259 §2. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** The messages are in an array in an object. */
const LIST_DEPTH = 2;

/** Takes the bytes as they arrive, in chunks of any size. Throws problems 400. */
export class BatchSplitter {
  readonly #maxMessages: number;
  readonly #frame: Buffer[] = [];
  readonly #messages: Buffer[][] = [];
  #frameBytes = 0;
  /** The message that is being read; null around the messages. */
  #pieces: Buffer[] | null = null;
  /** Only blanks were read since a message may have begun. */
  #isBlank = true;
  #depth = 0;
  #isObject = false;
  #inString = false;
  /** How many backslashes end the string so far. */
  #backslashes = 0;

  constructor(bounds: BatchBounds) {
    this.#maxMessages = bounds.maxMessages;
  }

  /** Takes the next bytes. The messages keep views of them, so they must not change any more. */
  push(chunk: Buffer): void {
    let from = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#inString) {
        at = this.#skipString(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      const wasBlank = this.#isBlank;
      if (wasBlank && !BLANKS.has(byte)) this.#isBlank = false;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#open(byte)) from = this.#beginMessage(chunk, from, at + 1);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.#isBetween()) from = this.#endMessage(chunk, from, at, wasBlank);
        this.#depth -= 1;
      } else if (byte === COMMA && this.#isBetween()) {
        from = this.#endMessage(chunk, from, at, wasBlank);
        from = this.#beginMessage(chunk, from, at + 1);
      }
      at += 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Ends the body. The frame shows whether it was complete. */
  finish(): SplitBatch {
    return { frame: Buffer.concat(this.#frame), messages: this.#messages };
  }

  /** Goes one level down. Returns whether that opens the list of messages. */
  #open(byte: number): boolean {
    this.#depth += 1;
    if (this.#depth === 1) this.#isObject = byte === OPEN_OBJECT;
    return this.#depth === LIST_DEPTH && this.#isObject && byte === OPEN_ARRAY && this.#pieces === null;
  }

  /** Whether a separator here stands between messages, not inside one. */
  #isBetween(): boolean {
    return this.#pieces !== null && this.#depth === LIST_DEPTH;
  }

  #beginMessage(chunk: Buffer, from: number, at: number): number {
    this.#keep(chunk.subarray(from, at));
    this.#pieces = [];
    this.#isBlank = true;
    return at;
  }

  /** Blanks alone are not a message: the list is empty, or the frame will show a fault. */
  #endMessage(chunk: Buffer, from: number, at: number, isBlank: boolean): number {
    this.#keep(chunk.subarray(from, at));
    const pieces = this.#pieces ?? [];
    this.#pieces = null;
    if (isBlank) return at;
    if (this.#messages.length === this.#maxMessages) throw tooManyMessages(this.#maxMessages);
    this.#messages.push(pieces);
    this.#keep(PLACEHOLDER);
    return at;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#pieces !== null) {
      this.#pieces.push(bytes);
      return;
    }
    this.#frameBytes += bytes.length;
    if (this.#frameBytes > MAX_FRAME_BYTES + 2 * this.#messages.length) throw notABatch();
    // Copied: a few bytes must not keep the whole chunk they came in.
    this.#frame.push(Buffer.from(bytes));
  }

  /** Skips the rest of a string. Returns the position after it, or the chunk's end. */
  #skipString(chunk: Buffer, at: number): number {
    const quote = chunk.indexOf(QUOTE, at);
    const end = quote < 0 ? chunk.length : quote;
    let start = end;
    while (start > at && chunk[start - 1] === BACKSLASH) start -= 1;
    const backslashes = end - start + (start === at ? this.#backslashes : 0);
    if (quote < 0) {
      this.#backslashes = backslashes;
      return chunk.length;
    }
    this.#backslashes = 0;
    this.#inString = backslashes % 2 === 1;
    return quote + 1;
  }
}

function tooManyMessages(max: number): Problem {
  const detail = `There are more than ${max} messages; send them in several batches, or ask the operator to raise api.max_batch_messages.`;
  const errors = [{ pointer: '/messages', code: 'too_many', detail }];
  return new Problem(400, 'invalid_submission', `messages: ${detail}`, { errors });
}

function notABatch(): Problem {
  const detail =
    'The body must be {"messages": [ … ]} with the messages as objects in that list, and nothing else.';
  return new Problem(400, 'invalid_submission', detail, { errors: [{ pointer: '', code: 'type', detail }] });
}
