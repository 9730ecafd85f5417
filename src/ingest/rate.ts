import { type RateWindow, SlidingWindow } from './sliding-window.ts';

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
export interface Taken {
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
export interface RateLimiterOptions {
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
