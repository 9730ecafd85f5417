/** Scans message content after DATA or BDAT (RFC 5321 §4.5.2, §2.3.8; RFC 3030). */
import { textEnd } from './text-run.ts';

/** What to do with faulty content. Content with NUL is always refused. */
export interface ContentRules {
  /** For a bare CR or LF: refuse the message, or make it a CRLF. Neither ever ends a message. */
  readonly bareNewline: 'reject' | 'normalize';
  /** Bytes of a line with its CRLF (RFC 5321 §4.5.3.1.6: 1000), without a stuffed dot. */
  readonly maxLineBytes: number;
}

/** Faults of content, the gravest first. */
export type ContentFault = 'nul' | 'bare_newline' | 'line_too_long';

/** States of the scanner between two bytes. */
const PLACE = {
  /** Inside a line. */
  text: 0,
  /** At the beginning of a line; the one before ended in CRLF, or there is none. */
  start: 1,
  /** The same, where the line before ended in CR or LF alone. */
  bareStart: 2,
  /** After a CR. */
  cr: 3,
  /** After a dot at the beginning of a line, which is not passed on. */
  dot: 4,
  bareDot: 5,
  /** After such a dot and a CR, which is not passed on yet. */
  dotCr: 6,
  bareDotCr: 7,
  ended: 8,
  malformed: 9,
} as const;
type Place = (typeof PLACE)[keyof typeof PLACE];

const NUL = 0;
const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

const EMPTY = Buffer.alloc(0);
const NOTHING = new DataView(EMPTY.buffer, EMPTY.byteOffset, 0);

/**
 * Finds the end of content and makes its plain form: dots unstuffed, lines ending in CRLF. Only CRLF.CRLF ends content
 * after DATA. A lone dot between other line endings, which some program might take for the end, is `malformed` when
 * bare line endings are refused, and an ordinary line when they are made CRLF. One pass, whatever the chunks; the
 * result is a view of the chunk if nothing was changed.
 */
export class ContentScanner {
  readonly #rules: ContentRules;
  /** Lines are dot-stuffed and a dot ends the content: DATA. */
  readonly #dots: boolean;
  readonly #piece = new PieceWriter();
  /** The current chunk. */
  #view: DataView = NOTHING;
  #place: Place = PLACE.start;
  /** Bytes passed on of the current line. */
  #lineBytes = 0;
  #hasNul = false;
  #hasBareNewline = false;
  #hasLongLine = false;
  #dotStuffing = false;

  constructor(rules: ContentRules, dots: boolean) {
    this.#rules = rules;
    this.#dots = dots;
  }

  get state(): 'open' | 'ended' | 'malformed' {
    if (this.#place === PLACE.ended) return 'ended';
    return this.#place === PLACE.malformed ? 'malformed' : 'open';
  }

  /** The gravest fault found, by the rules. */
  get fault(): ContentFault | null {
    if (this.#hasNul) return 'nul';
    if (this.#hasBareNewline) return 'bare_newline';
    return this.#hasLongLine ? 'line_too_long' : null;
  }

  /** Whether some line, unstuffed, begins with a dot. */
  get dotStuffing(): boolean {
    return this.#dotStuffing;
  }

  /** Reads a chunk up to its end or the content's. Returns the position reached; see {@link takePiece}. */
  read(bytes: Buffer, start: number, end: number): number {
    this.#piece.open(bytes, start);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = start;
    while (at < end && this.#place < PLACE.ended) at = this.#step(bytes, at, end);
    this.#piece.close(at);
    this.#view = NOTHING;
    if (this.#isTooLong(this.#lineBytes)) this.#hasLongLine = true;
    return at;
  }

  /** Content in chunks is complete: ends its last line. */
  finish(): void {
    this.#piece.open(EMPTY, 0);
    if (this.#place === PLACE.cr) this.#bareCr(0);
    else if (this.#place === PLACE.text) this.#piece.insert(0, '\r\n');
    this.#piece.close(0);
    this.#place = PLACE.ended;
  }

  /** The output of the last `read` or `finish`; empty if there is none. */
  takePiece(): Buffer {
    return this.#piece.take();
  }

  #step(bytes: Buffer, at: number, end: number): number {
    switch (this.#place) {
      case PLACE.text:
        return this.#inText(bytes, at, end);
      case PLACE.start:
      case PLACE.bareStart:
        return this.#atStart(bytes[at] ?? 0, at);
      case PLACE.cr:
        if (bytes[at] === LF) return this.#endLine(at, 1);
        return this.#bareCr(at);
      case PLACE.dot:
      case PLACE.bareDot:
        return this.#behindDot(bytes[at] ?? 0, at);
      default:
        return this.#behindDotCr(bytes[at] === LF, at);
    }
  }

  #inText(bytes: Buffer, from: number, end: number): number {
    const at = textEnd(this.#view, from, end);
    this.#lineBytes += at - from;
    if (at === end) return at;
    const byte = bytes[at];
    if (byte === CR) {
      this.#lineBytes += 1;
      if (at + 1 < end && bytes[at + 1] === LF) return this.#endLine(at + 1, 1);
      this.#place = PLACE.cr;
    } else if (byte === LF) {
      this.#foundBareNewline();
      this.#piece.insert(at, '\r');
      this.#endLine(at, 2);
      this.#place = PLACE.bareStart;
    } else {
      if (byte === NUL) this.#hasNul = true;
      this.#lineBytes += 1;
    }
    return at + 1;
  }

  #atStart(byte: number, at: number): number {
    if (byte === DOT && this.#dots) {
      this.#place = this.#place === PLACE.start ? PLACE.dot : PLACE.bareDot;
      this.#piece.skip(at, 1);
      return at + 1;
    }
    if (byte === DOT) this.#dotStuffing = true;
    this.#place = PLACE.text;
    return at;
  }

  #behindDot(byte: number, at: number): number {
    if (byte === CR) {
      this.#place = this.#place === PLACE.dot ? PLACE.dotCr : PLACE.bareDotCr;
      this.#piece.skip(at, 1);
      return at + 1;
    }
    if (byte === LF) {
      this.#piece.skip(at, 1);
      return this.#loneDot(at + 1, PLACE.bareStart);
    }
    if (byte === DOT) this.#dotStuffing = true;
    this.#place = PLACE.text;
    return at;
  }

  #behindDotCr(isLf: boolean, at: number): number {
    if (!isLf) return this.#loneDot(at, PLACE.bareStart);
    this.#piece.skip(at, 1);
    if (this.#place === PLACE.bareDotCr) return this.#loneDot(at + 1, PLACE.start);
    this.#place = PLACE.ended;
    return at + 1;
  }

  /** A line with only a dot that ends nothing: the dot is dropped, as at any line's beginning. */
  #loneDot(at: number, place: Place): number {
    this.#foundBareNewline();
    this.#place = place;
    if (this.#rules.bareNewline === 'reject') this.#place = PLACE.malformed;
    else this.#piece.insert(at, '\r\n');
    return at;
  }

  /** The CR before this position is bare. */
  #bareCr(at: number): number {
    this.#foundBareNewline();
    this.#piece.insert(at, '\n');
    this.#endLine(at, 1);
    this.#place = PLACE.bareStart;
    return at;
  }

  /** A line ends with the byte at this position. `more`: bytes of it not yet counted. */
  #endLine(at: number, more: number): number {
    if (this.#isTooLong(this.#lineBytes + more)) this.#hasLongLine = true;
    this.#lineBytes = 0;
    this.#place = PLACE.start;
    return at + 1;
  }

  #foundBareNewline(): void {
    if (this.#rules.bareNewline === 'reject') this.#hasBareNewline = true;
  }

  #isTooLong(lineBytes: number): boolean {
    return lineBytes > this.#rules.maxLineBytes;
  }
}

// The remainder of a chunk with bytes left out or inserted.

/** Bytes that may be inserted before the copy must grow. */
const SPARE = 64;

/** Returns a view of the chunk if everything kept is contiguous; otherwise one copy, however many changes there are. */
export class PieceWriter {
  #bytes: Buffer = EMPTY;
  /** Start of the part kept so far, while nothing was copied. */
  #keptFrom = 0;
  #keptTo = 0;
  /** Start of the part being read. */
  #from = 0;
  #copy: Buffer | null = null;
  #length = 0;
  #piece: Buffer = EMPTY;

  /** Begins a new chunk, read from `start` on. */
  open(bytes: Buffer, start: number): void {
    this.#bytes = bytes;
    this.#from = start;
    this.#keptFrom = start;
    this.#keptTo = start;
    this.#copy = null;
    this.#length = 0;
  }

  /** Leaves out `count` bytes at this position. */
  skip(at: number, count: number): void {
    this.#keep(at);
    this.#from = at + count;
  }

  /** Inserts ASCII text before the byte at this position. */
  insert(at: number, text: string): void {
    this.#keep(at);
    const copy = this.#room(text.length);
    copy.write(text, this.#length, 'latin1');
    this.#length += text.length;
  }

  /** Ends the chunk at this position. */
  close(at: number): void {
    this.#keep(at);
    this.#piece =
      this.#copy === null
        ? this.#bytes.subarray(this.#keptFrom, this.#keptTo)
        : this.#copy.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#copy = null;
  }

  /** The remainder; may be taken once. */
  take(): Buffer {
    const piece = this.#piece;
    this.#piece = EMPTY;
    return piece;
  }

  /** Keeps the input up to this position. */
  #keep(to: number): void {
    const from = this.#from;
    this.#from = to;
    if (from === to) return;
    if (this.#copy === null && (this.#keptFrom === this.#keptTo || this.#keptTo === from)) {
      if (this.#keptFrom === this.#keptTo) this.#keptFrom = from;
      this.#keptTo = to;
      return;
    }
    const copy = this.#room(to - from);
    this.#length += this.#bytes.copy(copy, this.#length, from, to);
  }

  /** The copy, with room for `count` more bytes. */
  #room(count: number): Buffer {
    const kept = this.#copy ?? this.#bytes.subarray(this.#keptFrom, this.#keptTo);
    if (this.#copy === null) this.#length = kept.length;
    else if (this.#length + count <= this.#copy.length) return this.#copy;
    // Twice the current size: a chunk of nothing but bare LF doubles.
    const needed = Math.max(this.#bytes.length + SPARE, 2 * (this.#length + count));
    const roomier = Buffer.allocUnsafe(needed);
    kept.copy(roomier, 0, 0, this.#length);
    this.#copy = roomier;
    return roomier;
  }
}
