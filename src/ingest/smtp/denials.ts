import type { Clock } from '../../lib/clock.ts';
import { sourceGroup } from '../../lib/network.ts';
import type { Event, Events } from '../../observe/events.ts';

/** Refusals of one source for one reason reported singly within a minute; further ones are summed up. */
export const MAX_TOLD = 60;
/** The same over all sources: a whole network has countless sources. */
export const MAX_TOLD_OF_ALL = 300;
/** The span over which they are counted, in ms. */
const WINDOW_MS = 60_000;
/** How often a sum is reported, in ms. */
const SUM_MS = 10_000;
/** Sources and reasons remembered, at about 250 bytes each; the oldest window makes room. */
export const MAX_WINDOWS = 10_000;

type Uncounted<E> = E extends { readonly count: number } ? Omit<E, 'count'> : never;

/** One refusal: a client was denied something, or a message was refused for its content. */
export type Told = Uncounted<
  Extract<Event, { type: 'denied' | 'refused' }> & { readonly sourceAddress: string }
>;

/** Refusals of one source (IPv6 by /64), or of all, for one reason within a minute. */
interface Window {
  readonly since: number;
  last: Told;
  told: number;
  summed: number;
}

/**
 * Reports denied clients for the metrics and the log, and refused messages for the log. The port is open to the world,
 * and a refusal costs a stranger one line of SMTP: so a flood from one source or from many is reported in sums, each
 * with its last address, and cannot fill a disk with log.
 */
export class Denials {
  readonly #events: Events;
  readonly #clock: Clock;
  /** By reason and source; the oldest first. */
  readonly #windows = new Map<string, Window>();
  /** By reason, over all sources. */
  readonly #all = new Map<string, Window>();

  constructor(events: Events, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  /** Reports a refusal, now or in a sum. */
  tell(told: Told): void {
    const what = `${told.type} ${told.reason}`;
    const all = this.#open(this.#all, what, told);
    const own = all.told < MAX_TOLD_OF_ALL ? this.#windowOf(what, told) : null;
    const window = own ?? all;
    if (own !== null && own.told < MAX_TOLD) {
      own.told += 1;
      all.told += 1;
      this.#events.emit({ ...told, count: 1 });
      return;
    }
    window.last = told;
    window.summed += 1;
    if (window.summed === 1) void this.#tellSumLater(window);
  }

  /** Reports the sums: the listener closes. */
  flush(): void {
    for (const window of [...this.#windows.values(), ...this.#all.values()]) this.#tellSum(window);
  }

  #windowOf(what: string, told: Told): Window {
    const window = this.#open(this.#windows, `${what} ${sourceGroup(told.sourceAddress)}`, told);
    if (this.#windows.size > MAX_WINDOWS) this.#dropOldest();
    return window;
  }

  /** The window with that name, or a new one. */
  #open(windows: Map<string, Window>, name: string, last: Told): Window {
    const now = this.#clock.mono();
    const known = windows.get(name);
    if (known !== undefined && now - known.since < WINDOW_MS) return known;
    const window = { last, since: now, told: 0, summed: 0 };
    if (known !== undefined) this.#drop(windows, name, known);
    windows.set(name, window);
    return window;
  }

  #dropOldest(): void {
    for (const [name, window] of this.#windows) {
      this.#drop(this.#windows, name, window);
      return;
    }
  }

  #drop(windows: Map<string, Window>, name: string, window: Window): void {
    windows.delete(name);
    this.#tellSum(window);
  }

  async #tellSumLater(window: Window): Promise<void> {
    await this.#clock.sleep(SUM_MS);
    this.#tellSum(window);
  }

  #tellSum(window: Window): void {
    // The others in the sum may belong to other sessions and keys.
    const { requestId: _, keyId: __, ...shared } = window.last;
    const count = window.summed;
    if (count === 0) return;
    window.summed = 0;
    this.#events.emit({ ...shared, count });
  }
}
