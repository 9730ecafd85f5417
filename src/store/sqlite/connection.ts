import { StoreError } from '../store.ts';
import type { Driver, OpenDriver } from './driver.ts';
import { storeErrorOf } from './errors.ts';

/** Older versions could lose or damage a write-ahead log in ways since mended. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** How long a statement waits for a lock that another connection holds, before `store_unavailable`. */
const BUSY_TIMEOUT_MS = 10_000;

/** Bounds the page cache of a connection. */
const CACHE_KIB = 16 * 1024;

/** Bytes to which the write-ahead log's file is cut when it starts anew. */
const WAL_KEEP_BYTES = 64 * 1024 * 1024;

/** Opens the connection that writes. Only one of a process may. */
export function openWriter(path: string, open: OpenDriver): Driver {
  return guarded(() => {
    const db = open(path);
    assertVersion(db);
    // The page size holds only for a new file, and only if it is set before the journal mode.
    db.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;');
    configure(db);
    // Checkpoints are done elsewhere, so that no commit pays for one.
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${WAL_KEEP_BYTES};`);
    return db;
  });
}

/** Opens a connection that reads, and may do checkpoints. The file must have been made by a writer. */
export function openReader(path: string, open: OpenDriver): Driver {
  return guarded(() => {
    const db = open(path);
    configure(db);
    db.exec('PRAGMA query_only = ON;');
    return db;
  });
}

/**
 * Asserts that commits reach stable storage before they return. To be asked after the connection's first
 * write: a library may set its own default when the write-ahead log is first used.
 */
export function assertDurable(db: Driver): void {
  const level = db.prepare<[], [number]>('PRAGMA synchronous').get()?.[0];
  if (level !== 2) throw new StoreError('store_bug', `synchronous is ${level}, not 2 (FULL)`);
}

function configure(db: Driver): void {
  db.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
    PRAGMA secure_delete = OFF;
    PRAGMA foreign_keys = OFF;
  `);
}

function assertVersion(db: Driver): void {
  const version = db.prepare<[], [string]>('SELECT sqlite_version()').get()?.[0] ?? '';
  const parts = version.split('.').map(Number);
  for (const [place, least] of OLDEST_SQLITE.entries()) {
    const part = parts[place] ?? 0;
    if (part > least) return;
    if (part < least)
      throw new StoreError('store_bug', `SQLite ${version} is older than ${OLDEST_SQLITE.join('.')}`);
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** A write-ahead log longer than this, in pages of 4 KiB, is made to start anew: 64 MiB. */
const MAX_WAL_PAGES = 16 * 1024;

type Result = [busy: number, walPages: number, copiedPages: number];

/**
 * Copies what is committed from the write-ahead log into the database. Ordinarily it waits for nobody; once the
 * log has grown too long it stops the writer for as long as the last few pages take, so that the log can start
 * anew; not while somebody reads an older state for long, as a backup does, for whom the writer would wait. Throws `StoreError` when the disk fails; want of room or a lock is left for the next time.
 */
export function checkpoint(db: Driver): void {
  const result = run(db, 'PASSIVE');
  if (result === undefined) return;
  const [, walPages, copiedPages] = result;
  // What an older state needs cannot be copied over.
  if (walPages > MAX_WAL_PAGES && copiedPages === walPages) run(db, 'RESTART');
}

function run(db: Driver, mode: 'PASSIVE' | 'RESTART'): Result | undefined {
  try {
    return db.prepare<[], Result>(`PRAGMA wal_checkpoint(${mode})`).get();
  } catch (thrown) {
    const error = storeErrorOf(thrown);
    if (error.code === 'store_full' || error.code === 'store_unavailable') return undefined;
    throw error;
  }
}

/** Runs several reads over one state of the database. */
export type InSnapshot = <T>(read: () => T) => T;

/** Makes {@link InSnapshot} for a connection. */
export function snapshots(db: Driver): InSnapshot {
  return (read) => {
    db.exec('BEGIN');
    try {
      return read();
    } finally {
      db.exec('COMMIT');
    }
  };
}
