import { type Clock, WakeUp } from '../../lib/clock.ts';
import { EVERY_EVENT } from '../../store/events.ts';
import type { Views } from '../../store/views.ts';

/** How often the log is looked at while somebody waits. */
const LOOK_MS = 200;

/** One reader of the end of the log: it reads pages by itself, and waits here when there is nothing more. */
export interface EventReader {
  /** It need not read on: it has left, or the service stops. */
  readonly stopped: boolean;
  /** Waits until there is an event above this sequence, it has stopped, or for `ms` milliseconds; or at times for less. */
  newer(after: number, ms: number): Promise<void>;
  leave(): void;
}

interface TailParts {
  readonly views: Pick<Views, 'events'>;
  readonly clock: Clock;
  /** Aborts when the service stops: then all readers stop. */
  readonly signal: AbortSignal;
}

/**
 * Readers that wait for newer events, at most `max`. However many wait, the log is looked at by one query at a time, and
 * only while one waits. It is looked at instead of listening to the bus, because another node may write events, too.
 */
export class EventTail {
  readonly #parts: TailParts;
  readonly #max: number;
  readonly #readers = new Set<EventReader>();
  /** Where each waiting reader has got to, by what wakes it. */
  readonly #places = new Map<WakeUp, number>();
  #isWatching = false;

  constructor(parts: TailParts, { max }: { readonly max: number }) {
    this.#parts = parts;
    this.#max = max;
    parts.signal.addEventListener('abort', () => {
      for (const reader of this.#readers) reader.leave();
    });
  }

  /** Takes one more reader, which must leave in the end. Null when there are too many, or the service stops. */
  join(): EventReader | null {
    if (this.#readers.size >= this.#max || this.#parts.signal.aborted) return null;
    const wake = new WakeUp();
    const readers = this.#readers;
    const reader: EventReader = {
      get stopped() {
        return !readers.has(reader);
      },
      newer: async (after, ms) => {
        if (reader.stopped) return;
        this.#places.set(wake, after);
        if (!this.#isWatching) void this.#watch();
        await wake.wait(this.#parts.clock, ms);
        this.#places.delete(wake);
      },
      leave: () => {
        readers.delete(reader);
        wake.wake();
      },
    };
    readers.add(reader);
    return reader;
  }

  async #watch(): Promise<void> {
    const { clock, signal } = this.#parts;
    this.#isWatching = true;
    while (this.#places.size > 0 && !signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      await this.#look();
    }
    this.#isWatching = false;
  }

  /** Wakes every waiting reader for which there is something. */
  async #look(): Promise<void> {
    const waiting = new Map(this.#places);
    while (waiting.size > 0) {
      const newest = await this.#newest(Math.min(...waiting.values()));
      const woken = [...waiting].filter(([, place]) => place < newest);
      // Most have got equally far, so a second round is rare.
      if (woken.length === 0) return;
      for (const [wake] of woken) {
        waiting.delete(wake);
        wake.wake();
      }
    }
  }

  /** A sequence that has become visible above this one; or this one. */
  async #newest(after: number): Promise<number> {
    try {
      const { events, next } = await this.#parts.views.events({ ...EVERY_EVENT, from: { after }, limit: 1 });
      return events[0]?.sequence ?? next ?? after;
    } catch {
      // The readers ask for themselves, and tell their clients what is wrong.
      return Number.POSITIVE_INFINITY;
    }
  }
}
