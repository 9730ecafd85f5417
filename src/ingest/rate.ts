/**
 * The rate limit of a key (contract §6): a sliding window of 60 one-second buckets, one for sends and one for
 * reads, so that a poller of statuses never blocks a send. Time is an argument, monotonic milliseconds.
 *
 * Every authenticated request takes a unit, also one that is refused later; only what the limit itself refuses
 * takes none, for else Retry-After would be no promise.
 */

/** Seconds that the window spans. */
export const WINDOW_SECONDS = 60;
const BUCKET_MS = 1000;

/** Which of a key's windows a request counts in; the messages of its batches have one besides. */
export type RateWindow = 'send' | 'read' | 'batch';

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

/** The windows of all keys. At most `maxWindows` are kept; the longest unused one makes room. */
export class RateLimiter {
  readonly #windows = new Map<string, SlidingWindow>();
  readonly #maxWindows: number;

  constructor(options: { readonly maxWindows: number }) {
    this.#maxWindows = options.maxWindows;
  }

  /** Counts a request of a key, or several units at once or none. Null: the key has no limit (`limit` 0). */
  take(keyId: string, window: RateWindow, limit: number, nowMs: number, units = 1): RateVerdict | null {
    if (limit === 0) return null;
    const second = Math.floor(nowMs / BUCKET_MS);
    const counts = this.#windowOf(`${window}:${keyId}`, second);
    counts.advance(second);
    const allowed = counts.used + units <= limit;
    if (allowed) counts.add(units);
    const enough = allowed ? counts.used : limit - units + 1;
    const waitSeconds = counts.secondsUntilLess(enough);
    const remaining = Math.max(0, limit - counts.used);
    // A fraction of the running second has passed already.
    const resetSeconds = Math.max(1, Math.ceil(waitSeconds - (nowMs / BUCKET_MS - second)));
    return { window, allowed, limit, remaining, resetSeconds };
  }

  #windowOf(name: string, second: number): SlidingWindow {
    let window = this.#windows.get(name);
    if (window) this.#windows.delete(name);
    else window = new SlidingWindow(second);
    // Deleted and set again: the map's order is the order of last use.
    this.#windows.set(name, window);
    if (this.#windows.size > this.#maxWindows) {
      for (const oldest of this.#windows.keys()) {
        this.#windows.delete(oldest);
        break;
      }
    }
    return window;
  }
}

/** Requests counted per second over the last minute. */
class SlidingWindow {
  readonly #counts = new Uint32Array(WINDOW_SECONDS);
  #second: number;
  #used = 0;

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

  add(units: number): void {
    const bucket = this.#second % WINDOW_SECONDS;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + units;
    this.#used += units;
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
}
