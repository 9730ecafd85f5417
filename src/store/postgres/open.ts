import type { EventsKept } from '../../domain/event.ts';
import { systemClock } from '../../lib/clock.ts';
import { Pseudonyms } from '../../lib/pseudonym.ts';
import { Database, type DatabaseOptions } from '../../postgres/database.ts';
import type { Cluster } from '../cluster.ts';
import { StoreError } from '../store.ts';
import type { Views } from '../views.ts';
import type { StoreWriter } from '../writer.ts';
import { clusterOver } from './cluster.ts';
import { type Migration, migrate, migrations } from './migrate.ts';
import { Partitions } from './partitions.ts';
import { type PlainStores, plainStores } from './plain.ts';
import type { ListLimits } from './search.ts';
import { type PostgresStore, storeOver } from './verbs.ts';
import { viewsOver } from './views.ts';

/** Deviations from the defaults. */
export interface PostgresOptions extends DatabaseOptions, ListLimits {
  /** Which events are kept; default: all. */
  readonly eventsKept?: EventsKept;
  /** The steps of the schema. */
  readonly migrations?: readonly Migration[];
  /** Accepts a server that may lose what it committed: only for tests and measurements. */
  readonly allowUnsafe?: boolean;
  /** UTC days whose partitions are made in advance; null: no day has its own. Default 3. */
  readonly daysAhead?: number | null;
}

/** Connections, and the part of them that only read: lists and search never delay accepting mail. */
const CONNECTIONS = 8;
const READING_SHARE = 0.25;

/** The stores over one database. Closing the store closes all. */
export interface PostgresStores extends PlainStores {
  readonly store: PostgresStore;
  readonly views: Views;
  readonly cluster: Cluster;
  /** The state of the writing side. */
  readonly writer: StoreWriter;
  /**
   * Names the secret key that this node seals with. Rejects with `store_other_key` if the other nodes' is different:
   * then nothing may be sealed or opened.
   */
  holdSecretKey(keyId: string): Promise<void>;
  /** From now on, people who were erased are found by their pseudonyms (`lib/pseudonym.ts`). */
  holdPseudonymKey(key: Uint8Array): Promise<void>;
  /** For other data in the same database. */
  readonly database: Database;
}

/**
 * Opens the stores over a database, after creating or migrating its tables. Readers have connections of their own.
 * Throws `StoreError`.
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
  const pseudonyms = new Pseudonyms();
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
    store: storeOver(database, partitions, { eventsKept: options.eventsKept ?? 'all', pseudonyms }, close),
    views: viewsOver(reading, options, options.clock ?? systemClock),
    ...plainStores(database, pseudonyms),
    holdPseudonymKey: async (key) => pseudonyms.hold(key),
    cluster,
    writer: { commits: () => database.commits, waitingMs: () => database.waitingMs() },
    holdSecretKey: (keyId) => holdSecretKey(database, keyId),
    database,
  };
}

/**
 * Holds every node to one secret key: the first to start writes the name of its key, which reveals nothing of it.
 * Rejects with `store_other_key` if the stored one is different.
 */
async function holdSecretKey(database: Database, keyId: string): Promise<void> {
  const known = await database.transact(async (db) => {
    await db.run('INSERT INTO secret_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keyId]);
    const [row] = await db.rows<{ keyId: string }>('SELECT key_id AS "keyId" FROM secret_key');
    return row?.keyId;
  });
  if (known === keyId) return;
  throw new StoreError(
    'store_other_key',
    `This database's secrets were sealed under another secret key: this node's is ${keyId}, theirs is ${known}. ` +
      'All nodes need the same one: set secrets.key_file to a copy of the secret.key of the node that was started first.',
  );
}

/** What the server reports of itself. */
export interface ServerFacts {
  /** As `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  /** The database's. */
  readonly encoding: string;
  /** It is a read-only standby of another server. */
  readonly standby: boolean;
  readonly fsync: string;
  /** The default of new sessions, by the configuration, the database, the user or the address. */
  readonly synchronousCommit: string;
}

const OLDEST = 14;

/**
 * Refuses with `store_unsuitable` a server that could lose what it committed, or cannot hold what is stored.
 * `allowUnsafe` permits a loss: for tests and measurements, whose data does not matter.
 */
async function assertSuitable(database: Database, allowUnsafe: boolean): Promise<void> {
  const [facts] = await database.rows<ServerFacts>(FACTS);
  const refusal = facts === undefined ? null : refusalOf(facts, allowUnsafe);
  if (refusal !== null) throw new StoreError('store_unsuitable', refusal);
}

/** Why such a server is refused, and what to do; null if it is not. */
export function refusalOf(facts: ServerFacts, allowUnsafe: boolean): string | null {
  const { version, encoding, standby, fsync, synchronousCommit } = facts;
  if (version < OLDEST * 10_000)
    return `PostgreSQL ${Math.floor(version / 10_000)} is too old: ${OLDEST} or newer is needed. Upgrade the server.`;
  if (standby)
    return 'This PostgreSQL is a standby, which is read-only. Set database.url to the primary server.';
  if (encoding !== 'UTF8')
    return `The database is encoded in ${encoding}, which cannot hold every text. Create one with ENCODING 'UTF8' TEMPLATE template0.`;
  if (allowUnsafe) return null;
  if (fsync !== 'on')
    return 'PostgreSQL runs with fsync off: a power failure would lose mail that was accepted. Set fsync = on in postgresql.conf.';
  if (synchronousCommit === 'off')
    return 'PostgreSQL commits before it writes: synchronous_commit is off, in postgresql.conf, for this database, for this user or in database.url. Set it to on.';
  return null;
}

// What this session has set since does not count.
const FACTS = `SELECT current_setting('server_version_num')::integer AS version,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby, current_setting('fsync') AS fsync,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit"`;
