import type { AttemptStep } from '../../domain/attempt.ts';

/** Steps kept of one attempt, the one that tells of those left out too. */
export const MAX_STEPS = 20;
/** Bytes kept of all their texts. */
export const MAX_STORY_BYTES = 4096;
/** Bytes of one text. */
const MAX_TEXT_BYTES = 256;
/** The first steps are always kept: how the connection came about. */
const BEGINNING = 6;

/**
 * The steps of one attempt, within bounds: the beginning, and as much of the end as there is room for. What a peer
 * says without end, or to a thousand recipients, falls out of the middle.
 */
export class Story {
  readonly #beginning: AttemptStep[] = [];
  readonly #end: AttemptStep[] = [];
  #bytes = 0;
  #leftOut = 0;

  /** Adds a step, its text cut. */
  add(step: AttemptStep): void {
    const kept = { ...step, reply: cut(step.reply) };
    this.#bytes += sizeOf(kept);
    if (this.#beginning.length < BEGINNING) {
      this.#beginning.push(kept);
      return;
    }
    this.#end.push(kept);
    // One place is for telling of those left out.
    while (BEGINNING + this.#end.length > MAX_STEPS - 1 || this.#bytes > MAX_STORY_BYTES) {
      const dropped = this.#end.shift();
      if (!dropped) return;
      this.#bytes -= sizeOf(dropped);
      this.#leftOut++;
    }
  }

  /** What is kept, in order. */
  steps(): readonly AttemptStep[] {
    if (this.#leftOut === 0) return [...this.#beginning, ...this.#end];
    const atMs = this.#end[0]?.atMs ?? this.#beginning.at(-1)?.atMs ?? 0;
    const gap = { verb: '…', reply: `${this.#leftOut} more`, atMs };
    return [...this.#beginning, gap, ...this.#end];
  }
}

function sizeOf({ verb, reply }: AttemptStep): number {
  return verb.length + Buffer.byteLength(reply);
}

/** No longer than {@link MAX_TEXT_BYTES} in UTF-8, and no half character. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const bytes = Buffer.from(text);
  let end = MAX_TEXT_BYTES;
  // A byte that continues a character must not be the first one left out.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
