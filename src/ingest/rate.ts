/**
 * The rate limit of a key (contract §6): a sliding window of 60 one-second buckets, one window for sends and one for
 * reads, so that polling statuses never blocks a send. Time is an argument, monotonic milliseconds.
 *
 * Every authenticated request takes a unit, even one refused later. Only a refusal by the limit itself takes none, or
 * Retry-After would be wrong.
 */

const BUCKET_MS = 1000;

/** The limit's verdict on one request. */
export interface RateVerdict {
  readonly window: RateWindow;
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left after this one. */
  readonly remaining: number;
  /** Seconds until the oldest counted request leaves the window; when refused, until a request will pass. */
  readonly resetSeconds: number;
}

/** Units taken in a key's window. */
interface Taken {
  readonly keyId: string;
  readonly window: RateWindow;
  readonly units: number;
}

/** Units that another node granted in a key's window, in one second of the shared time. */
export interface Heard extends Taken {
  /** Whole seconds since the epoch. */
  readonly second: number;
}

interface RateLimiterOptions {
  /** The most windows to keep; the least recently used one makes room. */
  readonly maxWindows: number;
  /** Whether other nodes or threads count in the same windows, so that units taken are kept to report. Default: no. */
  readonly isShared?: boolean;
}

/** The windows of all keys. */
export class RateLimiter {
  readonly #windows = new Map<string, SlidingWindow>();
  /** By window: units not reported yet. At most as many as windows. */
  readonly #untold = new Map<string, Taken>();
  readonly #options: RateLimiterOptions;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Counts one request of a key, several units, or none. Null: the key has no limit (`limit` 0). */
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
    // Part of the current second has passed already.
    const resetSeconds = Math.max(1, Math.ceil(waitSeconds - (nowMs / BUCKET_MS - second)));
    return { window, allowed, limit, remaining, resetSeconds };
  }

  /** Units taken since the last call, of at most `max` windows; the rest follows next time. */
  untold(max: number): Taken[] {
    const told = [...this.#untold.values()].slice(0, max);
    for (const { keyId, window } of told) this.#untold.delete(nameOf(keyId, window));
    return told;
  }

  /** Keeps what could not be reported for the next time. */
  notTold(taken: readonly Taken[]): void {
    for (const one of taken) this.#note(one);
  }

  /**
   * Counts units that others granted; `nowSecond` is the current second by the clock of `Heard.second`. The same second
   * may be reported again, with more units.
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
    // Deleted and set again: the map keeps the order of last use.
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

/** The windows in which requests count; messages of batches have their own. */
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

  /** Drops what has left the window by `second`. Time that goes back changes nothing. */
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

  /** Counts requests in the current second. */
  add(units: number): void {
    this.#addTo(this.#second, units);
  }

  /**
   * Counts units that others granted in a second of their clock, `age` seconds ago; units already known of that second
   * are not counted again. Seconds of two clocks start at different moments: the units count in the later of the two
   * possible seconds, so that none leaves the window too early.
   */
  hear(theirs: number, units: number, age: number): void {
    if (age > WINDOW_SECONDS) return;
    this.#others ??= new Others();
    const more = this.#others.learn(theirs, units);
    if (more > 0) this.#addTo(this.#second - Math.min(WINDOW_SECONDS - 1, Math.max(0, age - 1)), more);
  }

  /** Whole seconds from the start of the current one until the window has fewer than `count` requests. */
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

/** Slots for others' seconds: more than a window has, so that none still counted is overwritten. */
const PLACES = 64;

/** What is known of others' requests, by their seconds. */
class Others {
  readonly #seconds = new Float64Array(PLACES);
  readonly #units = new Uint32Array(PLACES);

  /** Records the units of a second; returns how many more that is than known before. */
  learn(second: number, units: number): number {
    const place = second % PLACES;
    const known = this.#seconds[place] === second ? (this.#units[place] ?? 0) : 0;
    if (units <= known) return 0;
    this.#seconds[place] = second;
    this.#units[place] = units;
    return units - known;
  }
}
