import type { Config } from '../config/schema.ts';
import type { EventsKept } from '../domain/event.ts';
import type { SharedClock } from '../lib/shared-clock.ts';
import { refuseMoved } from '../migrate/derived.ts';
import type { DatabaseOptions } from '../postgres/database.ts';
import { openPostgresSpool } from '../spool/postgres/postgres-spool.ts';
import type { ContentKeys } from '../spool/sealing.ts';
import type { Spool } from '../spool/spool.ts';
import { openPostgres, type PostgresStores } from '../store/postgres/open.ts';
import type { Taking } from '../store/taking.ts';

/** Facts and contents that several nodes share. */
export interface SharedStorage extends Omit<PostgresStores, 'database'> {
  readonly spool: Spool;
  readonly taking: Taking;
  /** Closes the connections after pending requests. */
  close(): Promise<void>;
}

/** What opening them needs. */
export interface SharedStorageOptions {
  readonly database: Config['database'];
  readonly eventsKept: EventsKept;
  /** This process's name, new at every start. */
  readonly node: string;
  /** Of encrypted contents; null: there are none. */
  readonly keys: ContentKeys | null;
  /** Follows the database's time from here on, which all nodes share. */
  readonly clock: SharedClock;
}

/** Opens the storage in PostgreSQL, whose tables are created or migrated. Throws `StoreError`, `SpoolError`. */
export async function openSharedStorage(options: SharedStorageOptions): Promise<SharedStorage> {
  const { node, clock, keys } = options;
  const { database, ...stores } = await openPostgres({
    ...databaseOptions(options.database),
    eventsKept: options.eventsKept,
  });
  try {
    await refuseMoved(stores.registry);
    await clock.follow(() => stores.cluster.time());
    const spool = await openPostgresSpool({ database, node, clock, keys });
    const close = async () => {
      await spool.close();
      await stores.store.close();
    };
    return { ...stores, spool, taking: spool.takingWith(stores.store), close };
  } catch (error) {
    await stores.store.close();
    throw error;
  }
}

/** How to reach PostgreSQL, by the configuration. */
export function databaseOptions(database: Config['database']): DatabaseOptions {
  const { url, schema, tls, tlsCaFile, poolSize, statementTimeoutSeconds } = database;
  const statementTimeoutMs = statementTimeoutSeconds * 1000;
  return { url, schema, tls, tlsCaFile, connections: poolSize, statementTimeoutMs };
}
