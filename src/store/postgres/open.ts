import type { Accounts } from '../accounts.ts';
import type { Journal } from '../journal.ts';
import type { Keyring } from '../keyring.ts';
import type { Registry } from '../registry.ts';
import type { Store } from '../store.ts';
import type { Views } from '../views.ts';
import { accountsOver } from './accounts.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { journalOver } from './journal.ts';
import { keyringOver } from './keyring.ts';
import type { ListLimits } from './list.ts';
import { type Migration, migrate, migrations } from './migrate.ts';
import { registryOver } from './registry.ts';
import { storeOver } from './verbs.ts';
import { viewsOver } from './views.ts';

/** What differs from the ordinary. */
export interface PostgresOptions extends DatabaseOptions, ListLimits {
  /** The schema's steps. */
  readonly migrations?: readonly Migration[];
}

/** The stores over one database. Closing the store closes all. */
export interface PostgresStores {
  readonly store: Store;
  readonly views: Views;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
}

/**
 * Opens the stores over a database, whose tables are made or migrated. Readers have connections of their own. Throws
 * `StoreError`.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStores> {
  const database = new Database(options);
  const reading = new Database(options);
  const close = async () => void (await Promise.all([database.close(), reading.close()]));
  try {
    await migrate(database, options.migrations ?? migrations());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store: storeOver(database, close),
    views: viewsOver(reading, options),
    keyring: keyringOver(database),
    registry: registryOver(database),
    accounts: accountsOver(database),
    journal: journalOver(database),
  };
}
