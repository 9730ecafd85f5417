/** A file of its own, because database.ts is long, and this is decided without a database. */
import type { Clock } from '../lib/clock.ts';
import { isConflict, isLost } from './errors.ts';

/** How often a transaction is tried that others made impossible: at once, then after 4 ms, then after twice as long each time. */
const MAX_TRIES = 10;
/** For how long a server that was lost is tried again, in ms, before whoever waits is told. */
const RECONNECT_MS = 5_000;
const RECONNECT_PAUSE_MS = 100;

/** How far a transaction came. */
export interface Progress {
  /** There was a connection for it. */
  isConnected: boolean;
  hasBegun: boolean;
  /** It may have happened. */
  isInDoubt: boolean;
}

/**
 * Does a transaction until it is done, or fails for good. Again is done what others made impossible, a few times; and, once,
 * what is known not to have happened because its connection was lost, if another can be made in a short time.
 */
export async function untilDone<T>(
  once: (progress: Progress) => Promise<T>,
  clock: Pick<Clock, 'mono' | 'sleep'>,
): Promise<T> {
  let tries = 1;
  let lostAt: number | null = null;
  for (;;) {
    const progress: Progress = { isConnected: false, hasBegun: false, isInDoubt: false };
    try {
      return await once(progress);
    } catch (error) {
      if (isConflict(error) && tries < MAX_TRIES) {
        if (tries > 1) await clock.sleep(2 ** tries);
        tries++;
        continue;
      }
      if (!isLost(error) || progress.isInDoubt) throw error;
      // Of a server that cannot be reached whoever asks hears at once; of one that was there, when it stays away.
      const isFinal: boolean =
        lostAt === null ? !progress.isConnected : progress.hasBegun || clock.mono() - lostAt >= RECONNECT_MS;
      if (isFinal) throw error;
      lostAt ??= clock.mono();
      await clock.sleep(RECONNECT_PAUSE_MS);
    }
  }
}
