import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { EventsKept } from '../../domain/event.ts';
import { StoreError } from '../store.ts';
import type { Views } from '../views.ts';
import { openWriter } from './connection.ts';
import { type Driver, type OpenDriver, openBetterSqlite3 } from './driver.ts';
import { storeErrorOf } from './errors.ts';
import { type Call, storesOver, viewsOver, type WritingStores } from './facade.ts';
import type { Verbs } from './verbs.ts';
import { createViews, type ViewVerbs } from './views.ts';
import { Writer } from './writer.ts';

/** Deviations from the defaults. */
export interface SqliteOptions {
  /** The library that drives SQLite. */
  readonly driver?: OpenDriver;
  /** The steps of the schema. */
  readonly migrations?: readonly Migration[];
  /** How many records a page of a list may examine: at least a few times what a page shows. */
  readonly maxExamined?: number;
  /** Which events are kept; default: all. */
  readonly eventsKept?: EventsKept;
  /** How many of them a slice of the page examines. */
  readonly sliceRecords?: number;
}

/** The stores over one database. Closing the store closes all. */
export interface SqliteStores extends WritingStores {
  readonly views: Views;
}

/** Opens the database at `path` for writing; creates or migrates it if needed. Throws `StoreError`. */
export function openDatabase(path: string, options: SqliteOptions = {}) {
  const db = openWriter(path, options.driver ?? openBetterSqlite3);
  try {
    migrate(db, path, options.migrations ?? migrations());
    return db;
  } catch (error) {
    db.close();
    throw storeErrorOf(error);
  }
}

/**
 * Opens the stores in this thread: a call is done when it returns its promise. For the command line and the simulation;
 * the server runs the same verbs in threads of their own. Throws `StoreError`.
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteStores {
  const db = openDatabase(path, options);
  const writer = new Writer(db, options.eventsKept);
  const views = createViews(db, options);
  const call: Call<Verbs> = async (verb, args) => {
    const answer = writer.commit([{ verb, args }])[0];
    if (answer?.ok !== true) throw answer?.error;
    return answer.value;
  };
  const look: Call<ViewVerbs> = async (verb, args) => {
    try {
      const read = views[verb] as (...args: readonly unknown[]) => unknown;
      return read(...args);
    } catch (error) {
      throw storeErrorOf(error);
    }
  };
  return { ...storesOver(call, async () => writer.close()), views: viewsOver(look, async () => {}) };
}

/** One step of the schema. */
export interface Migration {
  readonly version: number;
  readonly sql: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);

/** The migrations of this program, in order; the file `0001_….sql` brings a database to version 1. */
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
 * Brings a database to the newest schema, each step in a transaction of its own. Copies an older database with data to
 * `<path>.v<version>` first. Refuses a newer one with `store_newer`.
 */
function migrate(db: Driver, path: string, steps: readonly Migration[]): void {
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
  // Replaces what an interrupted migration left: the database is still the old one.
  rmSync(copy, { force: true });
  db.prepare<[string]>('VACUUM INTO ?').run(copy);
}
