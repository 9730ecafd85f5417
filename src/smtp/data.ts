/** The content of a message between 354 and the final dot (RFC 5321 §4.5.2). */

const CR = 13;
const LF = 10;
const DOT = 46;
const LINE_THEN_DOT = Buffer.from('\r\n.');

/**
 * Makes the wire form of contents that come in chunks cut anywhere: doubles a dot at the beginning of a line
 * and knows how the content must be ended.
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
    const dots = this.#dotsAtStart(bytes);
    for (let at = bytes.indexOf(LINE_THEN_DOT); at >= 0; at = bytes.indexOf(LINE_THEN_DOT, at + 1))
      dots.push(at + 2);
    if (dots.length === 0) return chunk;
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

  /** Where a line that began in an earlier chunk has its first character in this one. */
  #dotsAtStart(bytes: Buffer): number[] {
    if (bytes[0] === DOT && this.#beforeLast === CR && this.#last === LF) return [0];
    if (bytes[0] === LF && bytes[1] === DOT && this.#last === CR) return [1];
    return [];
  }
}
