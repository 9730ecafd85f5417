import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import type { Events } from './events.ts';

/** What tallying needs. */
export interface DenialOptions {
  readonly events: Events;
  readonly store: Pick<Store, 'tally'>;
  /** The node that counts. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Carries refusals into the store. */
export interface Denials {
  /** Stops counting, and writes what is not yet written. */
  stop(): Promise<void>;
}

const EVERY_MS = 1000;

/**
 * Counts refusals in memory and adds them to the store's figures once a second, so that a flood of strangers
 * costs one transaction a second. What the store does not take now is kept and tried again.
 */
export function tallyDenials(options: DenialOptions): Denials {
  const { events, store, node, clock, log } = options;
  const stopping = new AbortController();
  let pending = 0;
  const unsubscribe = events.on((event) => {
    if (event.type === 'denied') pending += event.count;
  });

  const write = async () => {
    const count = pending;
    if (count === 0) return;
    pending = 0;
    try {
      await store.tally([{ event: 'denied', count }], { node, now: clock.wall() });
    } catch (error) {
      pending += count;
      log.debug('denials.not_tallied', { error: error instanceof Error ? error.message : String(error) });
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(EVERY_MS, stopping.signal);
      await write();
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
