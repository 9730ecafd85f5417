/** Apart from the other parts of the engine: nothing else writes news of relays. */
import type { Clock } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Store } from '../store/store.ts';
import type { RelayNews } from '../store/telling.ts';

/** News that waits to be written. Beyond it, the oldest is dropped: what a relay does now says more. */
const MAX_WAITING = 1_000;

interface RelayStoryDeps {
  readonly store: Pick<Store, 'tellRelays'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly events: Events;
  readonly node: string;
  readonly fault: (code: string, error: unknown) => void;
}

/** Writes into the log of events when relays rest, and when they work again. */
export class RelayStory {
  readonly #deps: RelayStoryDeps;
  readonly #waiting: RelayNews[] = [];
  #writing: Promise<void> | null = null;

  constructor(deps: RelayStoryDeps) {
    this.#deps = deps;
    deps.events.on((event) => {
      const at = deps.clock.wall();
      if (event.type === 'relay_rests') {
        const { relay, reply, pauseMs } = event;
        this.#add({ type: 'relay.resting', relay, reply, until: pauseMs === null ? null : at + pauseMs, at });
      } else if (event.type === 'relay_recovered')
        this.#add({ type: 'relay.recovered', relay: event.relay, reply: null, until: null, at });
    });
  }

  /** Resolves when all that was heard is written, or failed. */
  async written(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  #add(news: RelayNews): void {
    this.#waiting.push(news);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    const { store, clock, node, fault } = this.#deps;
    while (this.#waiting.length > 0) {
      const news = this.#waiting.splice(0);
      try {
        await store.tellRelays(news, { node, now: clock.wall() });
      } catch (error) {
        fault('relay_story_failed', error);
      }
    }
    // At once, not when the promise has ended: what is added in between would wait for the next.
    this.#writing = null;
  }
}
