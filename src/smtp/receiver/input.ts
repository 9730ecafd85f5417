/** Bytes received but not yet read. */

const EMPTY = Buffer.alloc(0);
/** Room for the rest of a line when part of one is kept. */
const MIN_ROOM = 256;

/**
 * The unread rest of the input. A chunk is kept by reference; only what is still unread when the next one arrives is
 * copied, into a buffer that doubles, so that bytes that arrive one by one are not copied repeatedly. Read bytes never
 * change: slices of them may be passed on.
 */
export class InputBuffer {
  #bytes: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** The buffer is ours, and may be written after `end`. */
  #owned = false;

  /** Holds the unread bytes between {@link start} and {@link end}. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** Number of unread bytes. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Adds a chunk, which must not be changed from now on. */
  push(chunk: Buffer): void {
    if (this.#start === this.#end) {
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#owned = false;
      return;
    }
    // The peer's own chunk has no room after its end.
    if (this.#bytes.length - this.#end < chunk.length)
      this.#move(Math.max(MIN_ROOM, 2 * (this.length + chunk.length)));
    this.#end += chunk.copy(this.#bytes, this.#end);
  }

  /** Marks everything before this position as read. */
  readTo(place: number): void {
    this.#start = place;
    if (place === this.#end) this.clear();
  }

  /** Drops the unread bytes. */
  clear(): void {
    this.#bytes = EMPTY;
    this.#start = 0;
    this.#end = 0;
    this.#owned = false;
  }

  /** Copies a small remainder, so that an idle session does not keep a large chunk alive. */
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
