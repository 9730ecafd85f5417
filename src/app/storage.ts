import { holdDirectory } from '../control/hold.ts';
import { layoutOf } from '../control/layout.ts';
import type { Clock } from '../lib/clock.ts';
import { openSegmentSpool } from '../spool/segments/segment-spool.ts';
import type { Spool } from '../spool/spool.ts';
import type { Accounts } from '../store/accounts.ts';
import type { Journal } from '../store/journal.ts';
import type { Keyring } from '../store/keyring.ts';
import type { Registry } from '../store/registry.ts';
import type { Store } from '../store/store.ts';
import type { Views } from '../store/views.ts';
import { type StoreThread, startStoreThread } from '../threads/store-client.ts';
import { startViewsThread } from '../threads/views-client.ts';

/** Everything that lies in the data directory, held by this process. */
export interface Storage {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly views: Views;
  readonly spool: Spool;
  readonly thread: StoreThread;
  close(): Promise<void>;
}

/** Opens facts and bytes. `onFailure` is told once of a failure after which nothing may be written. */
export async function openStorage(
  dataDir: string,
  clock: Clock,
  onFailure: (error: Error & { readonly code: string }) => void,
): Promise<Storage> {
  const lock = await holdDirectory(dataDir, clock);
  const layout = layoutOf(dataDir);
  const opened: { close(): Promise<void> }[] = [];
  const closeAll = async () => {
    for (const part of opened.reverse()) await part.close();
    lock.release();
  };
  try {
    const thread = await startStoreThread({ path: layout.database, clock, onDeath: onFailure });
    opened.push(thread.store);
    const views = await startViewsThread({ path: layout.database, clock, onDeath: onFailure });
    opened.push(views);
    const spool = await openSegmentSpool({ directory: layout.spool, onFailure });
    opened.push(spool);
    const { store, keyring, registry, accounts, journal } = thread;
    return { store, keyring, registry, accounts, journal, views, spool, thread, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
