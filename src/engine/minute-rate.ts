const SLOTS = 6;
const SLOT_MS = 10_000;

/** Counts what happens, and tells how often it did within about the last minute. */
export class MinuteRate {
  readonly #counts = new Uint32Array(SLOTS);
  #slot = Number.NEGATIVE_INFINITY;

  /** Counts one at `now` (monotonic ms). */
  add(now: number): void {
    this.#turn(now);
    const place = this.#slot % SLOTS;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

  /** How many in the last minute. */
  perMinute(now: number): number {
    this.#turn(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  #turn(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    for (let old = Math.max(this.#slot + 1, slot - SLOTS + 1); old <= slot; old++)
      this.#counts[old % SLOTS] = 0;
    this.#slot = Math.max(this.#slot, slot);
  }
}
