import { INBOX } from '../../domain/relay.ts';
import { WakeUp } from '../../lib/clock.ts';
import type { Event, Events, Unsubscribe } from '../../observe/events.ts';

/** In place of a message id: the next message that the local inbox captures. */
export const CAPTURED = 'captured';

/** One reader that waits for news of a message. */
export interface Watch {
  readonly wake: WakeUp;
  readonly stopped: boolean;
  stop(): void;
}

/**
 * Readers that wait for news of messages, at most `max`. One listener on the bus serves them all, and exists only while
 * a reader waits, so that other threads need not forward events in vain. When `signal` aborts, all stop waiting.
 */
export class Watchers {
  readonly #byMessage = new Map<string, Set<Watch>>();
  readonly #events: Events;
  readonly #max: number;
  readonly #signal: AbortSignal;
  #count = 0;
  #unsubscribe: Unsubscribe | null = null;

  constructor(events: Events, options: { readonly max: number; readonly signal: AbortSignal }) {
    this.#events = events;
    this.#max = options.max;
    this.#signal = options.signal;
    options.signal.addEventListener('abort', () => {
      for (const watches of this.#byMessage.values()) for (const watch of watches) watch.stop();
    });
  }

  /** Begins to watch a message, or {@link CAPTURED}. Null when too many wait already: the reader answers at once. */
  watch(messageId: string): Watch | null {
    if (this.#count >= this.#max || this.#signal.aborted) return null;
    this.#count++;
    this.#unsubscribe ??= this.#events.on((event) => this.#heard(event));
    const wake = new WakeUp();
    let stopped = false;
    const watch: Watch = {
      wake,
      get stopped() {
        return stopped;
      },
      stop: () => {
        if (stopped) return;
        stopped = true;
        this.#remove(messageId, watch);
        wake.wake();
      },
    };
    const watches = this.#byMessage.get(messageId) ?? new Set();
    this.#byMessage.set(messageId, watches.add(watch));
    return watch;
  }

  #heard(event: Event): void {
    if (event.type !== 'attempted' && event.type !== 'cancelled' && event.type !== 'acted') return;
    for (const watch of this.#byMessage.get(event.messageId) ?? []) watch.wake.wake();
    if (event.type !== 'attempted' || event.relay !== INBOX) return;
    if (event.results.some(({ outcome }) => outcome.kind === 'delivered'))
      for (const watch of this.#byMessage.get(CAPTURED) ?? []) watch.wake.wake();
  }

  #remove(messageId: string, watch: Watch): void {
    this.#count--;
    if (this.#count === 0) {
      this.#unsubscribe?.();
      this.#unsubscribe = null;
    }
    const watches = this.#byMessage.get(messageId);
    watches?.delete(watch);
    if (watches?.size === 0) this.#byMessage.delete(messageId);
  }
}
