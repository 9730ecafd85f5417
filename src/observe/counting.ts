import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Event, Events } from './events.ts';

/** How often what was counted is written, in ms: a crash loses the counts of this time. */
const EVERY_MS = 1_000;

/** What counting needs, whatever it counts. */
export interface CountingOptions {
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Log;
}

/** Counts events, and writes the counts to the store. */
export interface Counting {
  /** Stops counting, and writes the remaining counts. */
  stop(): Promise<void>;
}

/** What is counted. */
interface Counted {
  /** Adds an event to the counts in memory. */
  readonly note: (event: Event) => void;
  /** Writes the counts that wait; `isLast`: there is no later time. Keeps those that it could not write, and rejects. */
  readonly write: (isLast: boolean) => Promise<void>;
  /** Tells the log of such a failure. */
  readonly tellFailure: (message: string) => void;
}

/** Begins to count in memory and to write once a second, so that a flood of events costs one transaction a second. */
export function countEvents({ note, write, tellFailure }: Counted, options: CountingOptions): Counting {
  const { events, clock } = options;
  const stopping = new AbortController();
  const unsubscribe = events.on(note);
  const run = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(EVERY_MS, stopping.signal);
      try {
        await write(stopping.signal.aborted);
      } catch (error) {
        tellFailure(error instanceof Error ? error.message : String(error));
      }
    }
  };
  const running = run();
  return {
    stop: () => {
      unsubscribe();
      stopping.abort();
      return running;
    },
  };
}
