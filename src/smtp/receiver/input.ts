/** Bytes that have arrived and are not yet read. */

const EMPTY = Buffer.alloc(0);
/** Room for the rest of a line when a piece of one is kept. */
const MIN_ROOM = 256;

/**
 * What is left of the chunks that came in. A chunk is only referred to; it is copied when something is still unread
 * at the next one, into a buffer that grows by doubling, so that bytes that come one by one are not copied again and
 * again. What was read stays as it was: slices of it may be passed on.
 */
export class InputBuffer {
  #bytes: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** The buffer is ours, and may be written behind `end`. */
  #owned = false;

  /** Holds what is unread between {@link start} and {@link end}. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Bytes unread. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Adds a chunk, which must not be written to from now on. */
  push(chunk: Buffer): void {
    if (this.#start === this.#end) {
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#owned = false;
      return;
    }
    // A chunk of the peer's has no room behind its end.
    if (this.#bytes.length - this.#end < chunk.length)
      this.#move(Math.max(MIN_ROOM, 2 * (this.length + chunk.length)));
    this.#end += chunk.copy(this.#bytes, this.#end);
  }

  /** Marks everything before this place as read. */
  readTo(place: number): void {
    this.#start = place;
    if (place === this.#end) this.clear();
  }

  /** Drops what is unread. */
  clear(): void {
    this.#bytes = EMPTY;
    this.#start = 0;
    this.#end = 0;
    this.#owned = false;
  }

  /** Copies a small rest, so that an idle session does not keep a large chunk alive for it. */
  shrink(): void {
    if (!this.#owned && this.length > 0) this.#move(Math.max(MIN_ROOM, this.length));
  }

  #move(room: number): void {
    const roomier = Buffer.allocUnsafe(room);
    const length = this.#bytes.copy(roomier, 0, this.#start, this.#end);
    this.#bytes = roomier;
    this.#start = 0;
    this.#end = length;
    this.#owned = true;
  }
}
