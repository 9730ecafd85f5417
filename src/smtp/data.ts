/** The content of a message between 354 and the final dot (RFC 5321 §4.5.2). */

const CR = 13;
const LF = 10;
const DOT = 46;
const LF_THEN_DOT = Buffer.from('\n.');
const CR_THEN_DOT = Buffer.from('\r.');

/**
 * Makes the wire form of contents that come in chunks cut anywhere: doubles a dot at the beginning of a line
 * and knows how the content must be ended. Contents have no line ends but CRLF. Should one ever have others, a dot
 * behind a bare CR or LF is doubled as well: whatever a server takes for the end of a line, it never finds the end
 * of the content in it.
 */
export class DataFramer {
  readonly #stuff: boolean;
  /** The last two bytes written; the content begins behind the CRLF of the DATA command. */
  #beforeLast = CR;
  #last = LF;

  /** `stuff` may be false when it is known that no line begins with a dot. */
  constructor(stuff: boolean) {
    this.#stuff = stuff;
  }

  /** The chunk as it goes on the wire; the chunk itself where nothing is to be doubled. */
  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length === 0) return chunk;
    const framed = this.#stuff ? this.#double(chunk) : chunk;
    this.#beforeLast = chunk.length > 1 ? (chunk[chunk.length - 2] ?? 0) : this.#last;
    this.#last = chunk[chunk.length - 1] ?? 0;
    return framed;
  }

  /** What ends the content: the final dot, behind a CRLF where the content does not end in one. */
  end(): string {
    return this.#beforeLast === CR && this.#last === LF ? '.\r\n' : '\r\n.\r\n';
  }

  #double(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const dots = bytes[0] === DOT && (this.#last === LF || this.#last === CR) ? [0] : [];
    addDots(bytes, LF_THEN_DOT, dots);
    const found = dots.length;
    addDots(bytes, CR_THEN_DOT, dots);
    if (dots.length === 0) return chunk;
    if (dots.length > found) dots.sort((a, b) => a - b);
    const pieces: Buffer[] = [];
    let from = 0;
    for (const dot of dots) {
      // Each piece ends with its dot and the next begins with it again.
      pieces.push(bytes.subarray(from, dot + 1));
      from = dot;
    }
    pieces.push(bytes.subarray(from));
    return Buffer.concat(pieces);
  }
}

/** Adds where the dot of each `pattern` lies. */
function addDots(bytes: Buffer, pattern: Buffer, dots: number[]): void {
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + 1)) dots.push(at + 1);
}
