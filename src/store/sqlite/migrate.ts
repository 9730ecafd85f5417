import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { StoreError } from '../store.ts';
import type { Driver } from './driver.ts';

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

/**
 * Brings a database to the newest schema, each step in a transaction of its own. An older database with data
 * is first copied to `<path>.v<version>`. A newer one is refused with `store_newer`.
 */
export function migrate(db: Driver, path: string, steps: readonly Migration[]): void {
  const version = db.prepare<[], [number]>('PRAGMA user_version').get()?.[0] ?? 0;
  const newest = steps.at(-1)?.version ?? 0;
  if (version > newest)
    throw new StoreError(
      'store_newer',
      `the database has schema ${version}; this program knows ${newest}. Start the newer program.`,
    );
  const due = steps.filter((step) => step.version > version);
  if (version > 0 && due.length > 0 && path !== ':memory:') copyAside(db, `${path}.v${version}`);
  for (const step of due)
    db.exec(`BEGIN IMMEDIATE;\n${step.sql}\nPRAGMA user_version = ${step.version};\nCOMMIT;`);
}

function copyAside(db: Driver, copy: string): void {
  // What an interrupted migration left is replaced: the database is still the old one.
  rmSync(copy, { force: true });
  db.prepare<[string]>('VACUUM INTO ?').run(copy);
}
