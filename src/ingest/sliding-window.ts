/** Seconds that the window spans. */
export const WINDOW_SECONDS = 60;

/** Which of a key's windows a request counts in; the messages of its batches have one besides. */
export const RATE_WINDOWS = ['send', 'read', 'batch'] as const;

/** See {@link RATE_WINDOWS}. */
export type RateWindow = (typeof RATE_WINDOWS)[number];

/** Requests counted per second over the last minute. */
export class SlidingWindow {
  readonly #counts = new Uint32Array(WINDOW_SECONDS);
  #second: number;
  #used = 0;
  #others: Others | null = null;

  constructor(second: number) {
    this.#second = second;
  }

  /** Requests counted within the window. */
  get used(): number {
    return this.#used;
  }

  /** Forgets what has left the window by `second`. Time that goes back changes nothing. */
  advance(second: number): void {
    const steps = Math.min(second - this.#second, WINDOW_SECONDS);
    if (steps <= 0) return;
    for (let step = 1; step <= steps; step++) {
      const bucket = (this.#second + step) % WINDOW_SECONDS;
      this.#used -= this.#counts[bucket] ?? 0;
      this.#counts[bucket] = 0;
    }
    this.#second = second;
  }

  /** Counts requests in the running second. */
  add(units: number): void {
    this.#addTo(this.#second, units);
  }

  /**
   * Counts what others let through in a second of a clock of theirs, which is `age` seconds ago; what was heard of the same
   * second before is not counted again. Seconds of two clocks begin at different moments: theirs are counted in the later
   * of those that they may lie in, so that none leaves the window too early.
   */
  hear(theirs: number, units: number, age: number): void {
    if (age > WINDOW_SECONDS) return;
    this.#others ??= new Others();
    const more = this.#others.learn(theirs, units);
    if (more > 0) this.#addTo(this.#second - Math.min(WINDOW_SECONDS - 1, Math.max(0, age - 1)), more);
  }

  /** Whole seconds from the running one's beginning until fewer than `count` requests are in the window. */
  secondsUntilLess(count: number): number {
    let left = this.#used;
    for (let age = WINDOW_SECONDS - 1; age >= 0; age--) {
      left -= this.#counts[(this.#second - age + WINDOW_SECONDS) % WINDOW_SECONDS] ?? 0;
      if (left < count) return WINDOW_SECONDS - age;
    }
    return WINDOW_SECONDS;
  }

  #addTo(second: number, units: number): void {
    const bucket = (second + WINDOW_SECONDS) % WINDOW_SECONDS;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + units;
    this.#used += units;
  }
}

/** Places for what is known of others' seconds: more than a window has, so that none that still counts is overwritten. */
const PLACES = 64;

/** What is known of others' requests, by their seconds. */
class Others {
  readonly #seconds = new Float64Array(PLACES);
  readonly #units = new Uint32Array(PLACES);

  /** Notes how many there were in a second; how many more that is than was known. */
  learn(second: number, units: number): number {
    const place = second % PLACES;
    const known = this.#seconds[place] === second ? (this.#units[place] ?? 0) : 0;
    if (units <= known) return 0;
    this.#seconds[place] = second;
    this.#units[place] = units;
    return units - known;
  }
}
