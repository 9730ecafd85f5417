/** Reads the content of a message up to its final dot, from chunks cut anywhere (RFC 5321 §4.5.2). */
export class ContentReader {
  readonly #keep: boolean;
  readonly #chunks: Buffer[] = [];
  /** The last bytes seen, for an end that lies across chunks; begins as the CRLF of the DATA command. */
  #tail = Buffer.from('\r\n');

  constructor(keep: boolean) {
    this.#keep = keep;
  }

  /** Takes a chunk. Returns how many of its bytes belong to the content and its end, or null: not yet ended. */
  push(chunk: Buffer): number | null {
    const seen = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const at = seen.indexOf('\r\n.\r\n');
    const used = at < 0 ? chunk.length : at + 5 - this.#tail.length;
    if (this.#keep) this.#chunks.push(chunk.subarray(0, used));
    this.#tail = Buffer.from(seen.subarray(-4));
    return at < 0 ? null : used;
  }

  /** The content with its dots unstuffed, without the final dot. */
  content(): Buffer {
    const text = Buffer.concat(this.#chunks).toString('latin1').slice(0, -3);
    return Buffer.from(text.replace(/(^|\r\n)\./g, '$1'), 'latin1');
  }
}

/** Reads a content that comes in chunks of announced sizes (RFC 3030 §2). */
export class ChunkReader {
  readonly #keep: boolean;
  readonly #chunks: Buffer[] = [];
  #left = 0;
  /** The chunk that is being read is the last. */
  isLast = false;

  constructor(keep: boolean) {
    this.#keep = keep;
  }

  /** A BDAT came: `123` or `123 LAST`. */
  announce(argument: string): void {
    this.#left = Number.parseInt(argument, 10);
    this.isLast = / LAST$/i.test(argument);
  }

  /** Takes a piece of input; how many of its bytes belong to the chunk. */
  push(piece: Buffer): number {
    const used = Math.min(piece.length, this.#left);
    if (this.#keep) this.#chunks.push(piece.subarray(0, used));
    this.#left -= used;
    return used;
  }

  /** The announced bytes have come. */
  get isComplete(): boolean {
    return this.#left === 0;
  }

  /** All chunks. */
  content(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
