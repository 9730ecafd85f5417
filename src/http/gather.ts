/** A taker of a body's pieces. */
export type Sink = (chunk: Buffer) => void;

const DIRECT_CHUNKS = 64;
/** Of the first block; each further one is twice as large as the one before. */
const BLOCK_BYTES = 64 * 1024;
/** What is so large has its memory from the system by itself, and back there once it is of no use (`waybill`). */
const MAX_BLOCK_BYTES = 1024 * 1024;
/** A piece keeps all of the memory that it is a view of: one that is a smaller part of it is copied. */
const LEAST_PART = 1 / 2;

/**
 * Stands before a sink that keeps what it gets. A client may send its body byte by byte, and every piece kept
 * costs some hundred bytes besides its own: so the first pieces pass as they are, and those after them are
 * copied together into blocks. A small view of much memory would keep all of it, so it is copied at once.
 */
export class Gatherer {
  readonly #sink: Sink;
  #direct = DIRECT_CHUNKS;
  #block: Buffer | null = null;
  #blockBytes = BLOCK_BYTES;
  #used = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Takes a piece of any size. */
  push(chunk: Buffer): void {
    if (this.#direct > 0) {
      this.#direct -= 1;
      this.#sink(chunk.length < chunk.buffer.byteLength * LEAST_PART ? copyOf(chunk) : chunk);
      return;
    }
    for (let from = 0; from < chunk.length; ) {
      this.#block ??= Buffer.allocUnsafeSlow(this.#blockBytes);
      const copied = chunk.copy(this.#block, this.#used, from);
      from += copied;
      this.#used += copied;
      if (this.#used === this.#blockBytes) this.#next();
    }
  }

  #next(): void {
    this.flush();
    this.#blockBytes = Math.min(2 * this.#blockBytes, MAX_BLOCK_BYTES);
  }

  /** Hands on what has been gathered; to be called once at the end. */
  flush(): void {
    if (this.#block === null) return;
    this.#sink(this.#block.subarray(0, this.#used));
    this.#block = null;
    this.#used = 0;
  }
}

/** In memory of its own: small buffers would share some with others. */
function copyOf(chunk: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(chunk.length);
  chunk.copy(copy);
  return copy;
}
