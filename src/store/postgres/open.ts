import { Database, type DatabaseOptions } from '../../postgres/database.ts';
import type { Accounts } from '../accounts.ts';
import type { Cluster } from '../cluster.ts';
import type { Journal } from '../journal.ts';
import type { Keyring } from '../keyring.ts';
import type { Registry } from '../registry.ts';
import type { Views } from '../views.ts';
import type { StoreWriter } from '../writer.ts';
import { accountsOver } from './accounts.ts';
import { clusterOver } from './cluster.ts';
import { journalOver } from './journal.ts';
import { keyringOver } from './keyring.ts';
import { type Migration, migrate, migrations } from './migrate.ts';
import { Partitions } from './partitions.ts';
import { registryOver } from './registry.ts';
import type { ListLimits } from './search.ts';
import { holdSecretKey } from './secret-key.ts';
import { assertSuitable } from './suitability.ts';
import { type PostgresStore, storeOver } from './verbs.ts';
import { viewsOver } from './views.ts';

/** What differs from the ordinary. */
export interface PostgresOptions extends DatabaseOptions, ListLimits {
  /** The schema's steps. */
  readonly migrations?: readonly Migration[];
  /** Takes a server that may lose what it committed: for tests and measurements alone. */
  readonly allowUnsafe?: boolean;
  /** UTC days whose part of the past is made before they begin; null: no day has one of its own. Default 3. */
  readonly daysAhead?: number | null;
}

/** Connections, and the part of them that only read: lists and search never keep mail from being accepted. */
const CONNECTIONS = 8;
const READING_SHARE = 0.25;

/** The stores over one database. Closing the store closes all. */
export interface PostgresStores {
  readonly store: PostgresStore;
  readonly views: Views;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly journal: Journal;
  readonly cluster: Cluster;
  /** How the writing side does. */
  readonly writer: StoreWriter;
  /**
   * Names the secret key that this node seals with. Rejects with `store_other_key` if the others' is another: nothing may be
   * sealed or opened then.
   */
  holdSecretKey(keyId: string): Promise<void>;
  /** For what else lies in the same database. */
  readonly database: Database;
}

/**
 * Opens the stores over a database, whose tables are made or migrated. Readers have connections of their own. Throws
 * `StoreError`.
 */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStores> {
  const { connections = CONNECTIONS, daysAhead } = options;
  const forReading = Math.max(1, Math.floor(connections * READING_SHARE));
  const database = new Database({
    ...options,
    byIndex: true,
    connections: Math.max(1, connections - forReading),
  });
  const reading = new Database({ ...options, byIndex: true, connections: forReading });
  const partitions = new Partitions(database, daysAhead);
  const cluster = clusterOver(database);
  const close = async () => void (await Promise.all([database.close(), reading.close()]));
  try {
    await assertSuitable(database, options.allowUnsafe ?? false);
    await migrate(database, options.migrations ?? migrations(), options.schema ?? null);
    await partitions.prepare(await cluster.time());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store: storeOver(database, partitions, close),
    views: viewsOver(reading, options),
    keyring: keyringOver(database),
    registry: registryOver(database),
    accounts: accountsOver(database),
    journal: journalOver(database),
    cluster,
    writer: { commits: () => database.commits, waitingMs: () => database.waitingMs() },
    holdSecretKey: (keyId) => holdSecretKey(database, keyId),
    database,
  };
}
