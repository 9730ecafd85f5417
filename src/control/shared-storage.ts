import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { DatabaseOptions } from '../postgres/database.ts';
import { openPostgresSpool } from '../spool/postgres/postgres-spool.ts';
import type { Spool } from '../spool/spool.ts';
import { openPostgres, type PostgresStores } from '../store/postgres/open.ts';

/** Facts and bytes that several nodes share. */
export interface SharedStorage extends Omit<PostgresStores, 'database'> {
  readonly spool: Spool;
  /** Closes the connections, once what was asked is done. */
  close(): Promise<void>;
}

/** What opening them takes. */
export interface SharedStorageOptions {
  readonly database: Config['database'];
  /** This process's name; another at every start. */
  readonly node: string;
  readonly clock: Clock;
}

/** Opens what lies in a PostgreSQL, whose tables are made or migrated. Throws `StoreError`, `SpoolError`. */
export async function openSharedStorage(options: SharedStorageOptions): Promise<SharedStorage> {
  const { node, clock } = options;
  const { database, ...stores } = await openPostgres(databaseOptions(options.database));
  try {
    const spool = await openPostgresSpool({ database, node, clock });
    const close = async () => {
      await spool.close();
      await stores.store.close();
    };
    return { ...stores, spool, close };
  } catch (error) {
    await stores.store.close();
    throw error;
  }
}

/** How the configuration says that PostgreSQL is reached. */
function databaseOptions(database: Config['database']): DatabaseOptions {
  const { url, schema, tls, tlsCaFile, poolSize, statementTimeoutSeconds } = database;
  const statementTimeoutMs = statementTimeoutSeconds * 1000;
  return { url, schema, tls, tlsCaFile, connections: poolSize, statementTimeoutMs };
}
