import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Database, Queries } from '../../postgres/database.ts';
import { quotedName } from '../../postgres/session.ts';
import { StoreError } from '../store.ts';

/** One step of the schema. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Its first line may be `-- compatible-with: N`. */
  readonly sql: string;
}

/** An applied step. */
interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** Programs whose newest step is this or a later one work with the schema that it led to. */
  readonly compatibleWith: number;
}

const FOLDER = new URL('./migrations/', import.meta.url);

/** The migrations of this program, in order; the file `0001_….sql` brings a database to version 1. */
export function migrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name: name.slice(0, -'.sql'.length),
      sql: readFileSync(new URL(name, FOLDER), 'utf8'),
    }));
}

/** An arbitrary number: its lock is held to migrate, so that nodes that start together migrate once. */
const LOCK = 8_420;

/** A step may have to rewrite a large table, and nodes that start meanwhile wait for it. */
const TIMEOUT_MS = 3_600_000;

/**
 * Brings the database to the newest schema, all steps in one transaction; creates the schema that holds them if it is
 * named and missing. A newer program's schema is left alone if this program can work with it, and otherwise refused
 * with `store_newer`. Applied steps that differ from this program's are refused with `store_unsuitable`.
 */
export function migrate(
  database: Database,
  steps: readonly Migration[],
  schema: string | null,
): Promise<void> {
  return database.transact(
    async (db) => {
      await db.rows('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      if (schema !== null) await makeSchema(db, schema);
      await db.script(MADE);
      for (const step of untaken(steps, await db.rows<Applied>(TAKEN))) await take(db, step);
    },
    { timeoutMs: TIMEOUT_MS },
  );
}

async function makeSchema(db: Queries, schema: string): Promise<void> {
  const [found] = await db.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  // Looked up first: a user without the right to create schemas is refused even if it exists.
  if (found === undefined) await db.script(`CREATE SCHEMA ${quotedName(schema)}`);
}

async function take(db: Queries, step: Migration): Promise<void> {
  const { version, name, sql } = step;
  await db.script(sql);
  await db.run(TOOK, [version, name, checksumOf(step), compatibleWith(step)]);
}

/** The steps still to apply. Throws `StoreError`. */
function untaken(steps: readonly Migration[], taken: readonly Applied[]): readonly Migration[] {
  const newest = steps.at(-1)?.version ?? 0;
  const reached = taken.at(-1)?.version ?? 0;
  const mine = steps.filter(({ version }) => version <= reached);
  const theirs = taken.filter(({ version }) => version <= newest);
  for (let place = 0; place < Math.max(mine.length, theirs.length); place++) {
    const [step, one] = [mine[place], theirs[place]];
    if (step !== undefined && step.version === one?.version && checksumOf(step) === one.checksum) continue;
    throw new StoreError(
      'store_unsuitable',
      `The database's schema differs from this program's: it has step ${one?.name ?? 'none'} where this program has ${step?.name ?? 'none'}, or that step was changed since. Start the program that made it, or choose another database.schema.`,
    );
  }
  const unknown = taken.filter(({ version }) => version > newest);
  const needed = Math.max(0, ...unknown.map((one) => one.compatibleWith));
  if (needed > newest)
    throw new StoreError(
      'store_newer',
      `The database has schema ${reached}, which needs a program that knows ${needed}; this one knows ${newest}. Start the newer program.`,
    );
  return steps.filter(({ version }) => version > reached);
}

/** The first line names the oldest schema version whose programs still work with it; by default its own. */
function compatibleWith({ version, sql }: Migration): number {
  const [, said] = /^-- compatible-with: (\d+)\n/.exec(sql) ?? [];
  return said === undefined ? version : Number(said);
}

function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}

const MADE = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version         integer PRIMARY KEY,
  name            text    NOT NULL,
  checksum        text    NOT NULL,                  -- SHA-256 of the step's text, in hex
  applied_at      bigint  NOT NULL,                  -- wall ms
  compatible_with integer NOT NULL
)`;

const TAKEN = `SELECT version, name, checksum, compatible_with AS "compatibleWith" FROM schema_migrations
  ORDER BY version`;

const TOOK = `INSERT INTO schema_migrations (version, name, checksum, applied_at, compatible_with)
  VALUES ($1, $2, $3, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, $4)`;
