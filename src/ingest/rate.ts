/**
 * The rate limit of a key (contract §6): a sliding window of 60 one-second buckets, one for sends and one for
 * reads, so that a poller of statuses never blocks a send. Time is an argument, monotonic milliseconds.
 *
 * Every authenticated request takes a unit, also one that is refused later; only what the limit itself refuses
 * takes none, for else Retry-After would be no promise.
 */

const BUCKET_MS = 1000;

/** What the limit says of one request. */
export interface RateVerdict {
  readonly window: RateWindow;
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left after this one. */
  readonly remaining: number;
  /**
   * Seconds until the oldest counted request leaves the window and `remaining` grows; when refused, until a
   * request will be let through.
   */
  readonly resetSeconds: number;
}

/** What was taken in a key's window. */
interface Taken {
  readonly keyId: string;
  readonly window: RateWindow;
  readonly units: number;
}

/** What another node let through in a key's window, in one second of the time that both go by. */
export interface Heard extends Taken {
  /** Whole seconds since the epoch. */
  readonly second: number;
}

/** How windows are kept. */
interface RateLimiterOptions {
  /** At most so many windows are kept; the longest unused one makes room. */
  readonly maxWindows: number;
  /** Whether others count in the same windows: what is taken is kept to be told. Default: no. */
  readonly isShared?: boolean;
}

/** The windows of all keys. */
export class RateLimiter {
  readonly #windows = new Map<string, SlidingWindow>();
  /** By window: what was taken and not been told yet. As many as windows at most. */
  readonly #untold = new Map<string, Taken>();
  readonly #options: RateLimiterOptions;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Counts a request of a key, or several units at once or none. Null: the key has no limit (`limit` 0). */
  take(keyId: string, window: RateWindow, limit: number, nowMs: number, units = 1): RateVerdict | null {
    if (limit === 0) return null;
    const second = Math.floor(nowMs / BUCKET_MS);
    const counts = this.#windowOf(nameOf(keyId, window), second);
    counts.advance(second);
    const allowed = counts.used + units <= limit;
    if (allowed) {
      counts.add(units);
      if (this.#options.isShared) this.#note({ keyId, window, units });
    }
    const enough = allowed ? counts.used : limit - units + 1;
    const waitSeconds = counts.secondsUntilLess(enough);
    const remaining = Math.max(0, limit - counts.used);
    // A fraction of the running second has passed already.
    const resetSeconds = Math.max(1, Math.ceil(waitSeconds - (nowMs / BUCKET_MS - second)));
    return { window, allowed, limit, remaining, resetSeconds };
  }

  /** What was taken since it was asked for last, of at most `max` windows; the rest is given the next time. */
  untold(max: number): Taken[] {
    const told = [...this.#untold.values()].slice(0, max);
    for (const { keyId, window } of told) this.#untold.delete(nameOf(keyId, window));
    return told;
  }

  /** Keeps what could not be told, for the next time. */
  notTold(taken: readonly Taken[]): void {
    for (const one of taken) this.#note(one);
  }

  /**
   * Counts what others let through; `nowSecond` is the second in which it is heard, by the clock of `Heard.second`. May be
   * told of the same second again, with more.
   */
  hear(heard: readonly Heard[], nowSecond: number, nowMs: number): void {
    const second = Math.floor(nowMs / BUCKET_MS);
    for (const { keyId, window, second: theirs, units } of heard) {
      const counts = this.#windowOf(nameOf(keyId, window), second);
      counts.advance(second);
      counts.hear(theirs, units, nowSecond - theirs);
    }
  }

  #note({ keyId, window, units }: Taken): void {
    const name = nameOf(keyId, window);
    const sum = units + (this.#untold.get(name)?.units ?? 0);
    this.#untold.set(name, { keyId, window, units: sum });
    if (this.#untold.size > this.#options.maxWindows) deleteFirst(this.#untold);
  }

  #windowOf(name: string, second: number): SlidingWindow {
    let window = this.#windows.get(name);
    if (window) this.#windows.delete(name);
    else window = new SlidingWindow(second);
    // Deleted and set again: the map's order is the order of last use.
    this.#windows.set(name, window);
    if (this.#windows.size > this.#options.maxWindows) deleteFirst(this.#windows);
    return window;
  }
}

function nameOf(keyId: string, window: RateWindow): string {
  return `${window}:${keyId}`;
}

function deleteFirst(map: Map<string, unknown>): void {
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}

/** Seconds that the window spans. */
export const WINDOW_SECONDS = 60;

/** Which of a key's windows a request counts in; the messages of its batches have one besides. */
export const RATE_WINDOWS = ['send', 'read', 'batch'] as const;

/** See {@link RATE_WINDOWS}. */
export type RateWindow = (typeof RATE_WINDOWS)[number];

/** Requests counted per second over the last minute. */
class SlidingWindow {
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
