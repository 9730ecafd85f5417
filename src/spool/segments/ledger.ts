import type { ContentRef } from '../../domain/message.ts';

/** The existing segments, and which of their records the store has not decided on. Numbers only, no I/O. */
export class Ledger {
  readonly #segments: Set<number>;
  /** Those that are being written. */
  readonly #open = new Set<number>();
  /** Offsets of undecided records, for each segment that has any. */
  readonly #undecided = new Map<number, Set<number>>();
  #highest: number;

  /** `found` are the segments on disk. */
  constructor(found: readonly number[]) {
    this.#segments = new Set(found);
    this.#highest = found.reduce((highest, segment) => Math.max(highest, segment), 0);
  }

  /** How many segments exist. */
  get size(): number {
    return this.#segments.size;
  }

  /** The number of the next segment, which was never used before. */
  next(): number {
    return this.#highest + 1;
  }

  /** The segment numbered {@link next} was created, and is being written until it is {@link sealed}. */
  add(segment: number): void {
    this.#segments.add(segment);
    this.#open.add(segment);
    this.#highest = segment;
  }

  /** A segment will not change any more. */
  sealed(segment: number): void {
    this.#open.delete(segment);
  }

  /** A record was written and awaits the store's decision. */
  hold(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets === undefined) this.#undecided.set(ref.segment, new Set([ref.offset]));
    else offsets.add(ref.offset);
  }

  /** The store has decided. Repeating it, or naming a record of an earlier run, changes nothing. */
  decided(ref: ContentRef): void {
    const offsets = this.#undecided.get(ref.segment);
    if (offsets?.delete(ref.offset) && offsets.size === 0) this.#undecided.delete(ref.segment);
  }

  /** All of them, in ascending order. */
  existing(): number[] {
    return [...this.#segments].sort((a, b) => a - b);
  }

  /** Whether a segment exists. */
  has(segment: number): boolean {
    return this.#segments.has(segment);
  }

  /**
   * Segments that will not change and await no decision, in ascending order. Never the highest: while it exists its
   * number cannot be reused.
   */
  idle(): number[] {
    return this.existing().filter((segment) => this.isIdle(segment));
  }

  /** Whether `segment` is idle as in {@link idle}. */
  isIdle(segment: number): boolean {
    return segment < this.#highest && !this.#open.has(segment) && !this.#undecided.has(segment);
  }

  /** A segment's file is gone. */
  remove(segment: number): void {
    this.#segments.delete(segment);
  }
}
