/** What remains of a chunk from which bytes are left out, and into which some are put. */

const EMPTY = Buffer.alloc(0);
/** Bytes that may be put in before the copy must grow. */
const SPARE = 64;

/** Gives a view of the chunk as long as what is kept lies together; else one copy, however many changes there are. */
export class PieceWriter {
  #bytes: Buffer = EMPTY;
  /** The part kept so far, while nothing had to be copied. */
  #keptFrom = 0;
  #keptTo = 0;
  /** Where the part begins that is being read. */
  #from = 0;
  #copy: Buffer | null = null;
  #length = 0;
  #piece: Buffer = EMPTY;

  /** A new chunk, read from `start` on. */
  open(bytes: Buffer, start: number): void {
    this.#bytes = bytes;
    this.#from = start;
    this.#keptFrom = start;
    this.#keptTo = start;
    this.#copy = null;
    this.#length = 0;
  }

  /** Leaves out this many bytes at this place. */
  skip(at: number, count: number): void {
    this.#keep(at);
    this.#from = at + count;
  }

  /** Puts ASCII text before the byte at this place. */
  insert(at: number, text: string): void {
    this.#keep(at);
    const copy = this.#room(text.length);
    copy.write(text, this.#length, 'latin1');
    this.#length += text.length;
  }

  /** The chunk was read up to here. */
  close(at: number): void {
    this.#keep(at);
    this.#piece =
      this.#copy === null
        ? this.#bytes.subarray(this.#keptFrom, this.#keptTo)
        : this.#copy.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#copy = null;
  }

  /** What remains, once. */
  take(): Buffer {
    const piece = this.#piece;
    this.#piece = EMPTY;
    return piece;
  }

  /** Keeps what was read up to here. */
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

  /** The copy, with room for this many bytes more. */
  #room(count: number): Buffer {
    const kept = this.#copy ?? this.#bytes.subarray(this.#keptFrom, this.#keptTo);
    if (this.#copy === null) this.#length = kept.length;
    else if (this.#length + count <= this.#copy.length) return this.#copy;
    // Twice what is there: a chunk of nothing but bare LF doubles.
    const needed = Math.max(this.#bytes.length + SPARE, 2 * (this.#length + count));
    const roomier = Buffer.allocUnsafe(needed);
    kept.copy(roomier, 0, 0, this.#length);
    this.#copy = roomier;
    return roomier;
  }
}
