import type { ContentRef } from '../../domain/message.ts';

/** Which segments there are, and which of their records the store has not decided on. Numbers only, no I/O. */
export class Ledger {
  readonly #segments: Set<number>;
  /** Offsets of undecided records, per segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();
  #highest: number;

  /** `found` are the segments on disk. */
  constructor(found: readonly number[]) {
    this.#segments = new Set(found);
    this.#highest = found.reduce((highest, segment) => Math.max(highest, segment), 0);
  }

  /** The number of the next segment: never one that was used before. */
  next(): number {
    return this.#highest + 1;
  }

  /** The segment of number {@link next} has been created. */
  add(segment: number): void {
    this.#segments.add(segment);
    this.#highest = segment;
  }

  /** A record has been written and waits for the store's decision. */
  hold(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets === undefined) this.#undecided.set(ref.segment, new Set([ref.offset]));
    else offsets.add(ref.offset);
  }

  /** The store has decided. Saying so twice, or about a record of an earlier run, changes nothing. */
  decided(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets?.delete(ref.offset) && offsets.size === 0) this.#undecided.delete(ref.segment);
  }

  /**
   * Segments that will not change and wait for no decision, in ascending order. Never the highest: it may be
   * written to, and while it stands its number cannot come back.
   */
  idle(): number[] {
    return [...this.#segments].filter((segment) => this.isIdle(segment)).sort((a, b) => a - b);
  }

  /** Whether `segment` is idle in the sense of {@link idle}. */
  isIdle(segment: number): boolean {
    return segment < this.#highest && !this.#undecided.has(segment);
  }

  /** A segment's file is gone. */
  remove(segment: number): void {
    this.#segments.delete(segment);
  }
}
