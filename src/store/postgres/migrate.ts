import { readdirSync, readFileSync } from 'node:fs';
import type { Database, Queries } from '../../postgres/database.ts';
import { StoreError } from '../store.ts';

/** One step of the schema. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);

/** The migrations of this program, in order; the file `0001_….sql` takes a database to version 1. */
export function migrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      sql: readFileSync(new URL(name, FOLDER), 'utf8'),
    }));
}

/** Any number: whoever migrates holds the lock of this number, so that nodes that start together do it once. */
const LOCK = 8_420;

/**
 * Brings the database to the newest schema, all steps in one transaction. A newer one is refused with `store_newer`, one
 * that does not hold every text with `store_bug`.
 */
export function migrate(database: Database, steps: readonly Migration[]): Promise<void> {
  return database.transact(async (db) => {
    const [server] = await db.rows<{ encoding: string }>(
      `SELECT current_setting('server_encoding') AS encoding`,
    );
    if (server?.encoding !== 'UTF8')
      throw new StoreError('store_bug', `the database is encoded in ${server?.encoding}; it must be UTF8`);
    await db.rows('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await db.run('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
    await step(db, steps);
  });
}

async function step(db: Queries, steps: readonly Migration[]): Promise<void> {
  const [row] = await db.rows<{ version: number }>('SELECT version FROM schema_version');
  const version = row?.version ?? 0;
  const newest = steps.at(-1)?.version ?? 0;
  if (version > newest)
    throw new StoreError(
      'store_newer',
      `the database has schema ${version}; this program knows ${newest}. Start the newer program.`,
    );
  for (const { sql } of steps.filter((one) => one.version > version)) await db.script(sql);
  if (row === undefined) await db.run('INSERT INTO schema_version VALUES ($1)', [newest]);
  else if (newest > version) await db.run('UPDATE schema_version SET version = $1', [newest]);
}
