/** A file of its own, because only an installation on PostgreSQL loads it. */
import type { Clock } from '../lib/clock.ts';
import { isLost } from '../postgres/errors.ts';
import { StoreError } from '../store/store.ts';

/** How long to wait at the start for a database that does not answer, in ms: it may be starting too. */
export const PATIENCE_MS = 30_000;
const TRY_EVERY_MS = 1_000;

export interface PatienceOptions {
  readonly clock: Clock;
  /** Tells a person, once. */
  readonly say: (text: string) => void;
  /** Told to stop: nothing is waited for any more. */
  readonly signal?: AbortSignal;
}

/**
 * Opens a database's storage; retries for {@link PATIENCE_MS} while nobody answers. Rejects with the error of `open`,
 * at once if it is of another kind; with `store_closed` as soon as it is told to stop, even while `open` is under way.
 */
export async function openPatiently<T>(open: () => Promise<T>, options: PatienceOptions): Promise<T> {
  const { signal } = options;
  if (signal === undefined) return await openInTime(open, options);
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(toldToStop());
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([openInTime(open, options), stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function toldToStop(): StoreError {
  return new StoreError('store_closed', 'The server was told to stop before its database answered.');
}

async function openInTime<T>(open: () => Promise<T>, { clock, say, signal }: PatienceOptions): Promise<T> {
  const giveUpAt = clock.mono() + PATIENCE_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreError) || !isLost(error.cause)) throw error;
      if (clock.mono() >= giveUpAt)
        throw new StoreError('store_unavailable', `${silence(error)} Nothing was started.`, { cause: error });
      if (tries === 1) say(`${silence(error)} Trying again for ${PATIENCE_MS / 1000} seconds.`);
      await clock.sleep(TRY_EVERY_MS, signal);
      if (signal?.aborted) throw toldToStop();
    }
  }
}

function silence({ message }: StoreError): string {
  return `The PostgreSQL of database.url cannot be reached: ${message}.`;
}
