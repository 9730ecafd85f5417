import type { Clock } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Store } from '../store/store.ts';

/** Messages whose words are entered by one transaction: a few milliseconds of the store. */
const BATCH = 100;
/** Between two batches, so many times as long as the last one took: whoever else waits for the store has nine tenths of it. */
const REST = 9;
/** At least so long, in ms. */
const MIN_REST_MS = 5;

/** What entering words takes. */
export interface IndexingDeps {
  readonly store: Pick<Store, 'index'>;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly events: Pick<Events, 'on'>;
}

/** Enters the words of messages, so that they are found by them. */
export class Indexing {
  readonly #deps: IndexingDeps;
  /** Something may be left to enter: from before the start, or accepted since the last look. */
  #isBehind = true;

  constructor(deps: IndexingDeps) {
    this.#deps = deps;
    deps.events.on((event) => {
      if (event.type === 'accepted') this.#isBehind = true;
    });
  }

  /**
   * Enters words until there are none left to enter; asks nothing of the store when nothing has come. Where the store has
   * much to do a batch waits long for its turn, and so the next one comes late: mail is accepted and delivered first, and
   * found by words when there is time.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    while (this.#isBehind && !signal.aborted) {
      const start = clock.mono();
      // What is accepted from here on may come too late for this batch. It waits for the next turn, not to cost a commit each.
      this.#isBehind = false;
      const { more } = await store.index(BATCH).catch((error: unknown) => {
        this.#isBehind = true;
        throw error;
      });
      if (!more) return;
      this.#isBehind = true;
      await clock.sleep(Math.max(MIN_REST_MS, REST * (clock.mono() - start)), signal);
    }
  }
}
