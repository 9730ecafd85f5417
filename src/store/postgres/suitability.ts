import type { Database } from '../../postgres/database.ts';
import { StoreError } from '../store.ts';

/** What the server says of itself. */
export interface ServerFacts {
  /** As `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  /** The database's. */
  readonly encoding: string;
  /** It follows another server, which alone can be written to. */
  readonly standby: boolean;
  readonly fsync: string;
  /** What sessions of this user begin with, by the configuration, the database, the user or the address. */
  readonly synchronousCommit: string;
}

const OLDEST = 14;

/**
 * Refuses with `store_unsuitable` a server that would lose what it committed, or cannot hold what is stored. With
 * `allowUnsafe` one may lose it: for tests and measurements, whose data is nobody's.
 */
export async function assertSuitable(database: Database, allowUnsafe: boolean): Promise<void> {
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
    return 'This PostgreSQL is a standby, which cannot be written to. Let database.url name the primary server.';
  if (encoding !== 'UTF8')
    return `The database is encoded in ${encoding}, which cannot hold every text. Create one with ENCODING 'UTF8' TEMPLATE template0.`;
  if (allowUnsafe) return null;
  if (fsync !== 'on')
    return 'PostgreSQL runs with fsync off: a power failure would lose mail that was accepted. Set fsync = on in postgresql.conf.';
  if (synchronousCommit === 'off')
    return 'PostgreSQL commits before it writes: synchronous_commit is off, in postgresql.conf, for this database, for this user or in database.url. Set it to on.';
  return null;
}

// What this very session was told since does not count.
const FACTS = `SELECT current_setting('server_version_num')::integer AS version,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby, current_setting('fsync') AS fsync,
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit"`;
