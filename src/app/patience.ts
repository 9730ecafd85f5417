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
}

/**
 * Opens a database's storage; retries for {@link PATIENCE_MS} while nobody answers. Rejects with the error of `open`,
 * at once if it is of another kind.
 */
export async function openPatiently<T>(open: () => Promise<T>, { clock, say }: PatienceOptions): Promise<T> {
  const giveUpAt = clock.mono() + PATIENCE_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreError) || !isLost(error.cause)) throw error;
      if (clock.mono() >= giveUpAt)
        throw new StoreError('store_unavailable', `${silence(error)} Nothing was started.`, { cause: error });
      if (tries === 1) say(`${silence(error)} Trying again for ${PATIENCE_MS / 1000} seconds.`);
      await clock.sleep(TRY_EVERY_MS);
    }
  }
}

function silence({ message }: StoreError): string {
  return `The PostgreSQL of database.url cannot be reached: ${message}.`;
}
