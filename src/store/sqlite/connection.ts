import { StoreError } from '../store.ts';
import type { Driver, OpenDriver } from './driver.ts';
import { storeErrorOf } from './errors.ts';

/** Older versions have bugs that could lose or damage a write-ahead log. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** How long a statement waits for another connection's lock, in ms, before `store_unavailable`. */
const BUSY_TIMEOUT_MS = 10_000;

/** Limits the page cache of a connection. */
const CACHE_KIB = 16 * 1024;

/** Size in bytes to which the write-ahead log's file is truncated when it restarts. */
const WAL_KEEP_BYTES = 64 * 1024 * 1024;

/** Opens the connection that writes. A process may have only one. */
export function openWriter(path: string, open: OpenDriver): Driver {
  return guarded(() => {
    const db = open(path);
    assertVersion(db);
    // The page size only applies to a new file, and only if set before the journal mode.
    db.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;');
    configure(db);
    // Checkpoints are done elsewhere, so that no commit pays for one.
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${WAL_KEEP_BYTES};`);
    return db;
  });
}

/** Opens a connection that reads, and may checkpoint. The file must have been made by a writer. */
export function openReader(path: string, open: OpenDriver): Driver {
  return guarded(() => {
    const db = open(path);
    configure(db);
    db.exec('PRAGMA query_only = ON;');
    return db;
  });
}

/**
 * Asserts that commits reach stable storage before they return. Call it after the connection's first write: a library
 * may set its own default when the write-ahead log is first used.
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

/** A write-ahead log longer than this, in pages of 4 KiB, is made to restart: 64 MiB. */
const MAX_WAL_PAGES = 16 * 1024;

type Result = [busy: number, walPages: number, copiedPages: number];

/**
 * Copies committed pages from the write-ahead log into the database. It normally makes nobody wait. If the log has
 * grown too long, it stops the writer while the last few pages are copied, so that the log can restart; but not while
 * somebody reads an older state for long, as a backup does, since the writer would wait for that reader. Throws
 * `StoreError` if the disk fails; a lack of room or a lock is left for the next time.
 */
export function checkpoint(db: Driver): void {
  const result = run(db, 'PASSIVE');
  if (result === undefined) return;
  const [, walPages, copiedPages] = result;
  // Pages behind an older state that is being read cannot be copied.
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

/** A larger database, in bytes, is not rebuilt while the server runs: everybody would wait for too long. */
const MAX_REBUILT_BYTES = 4 * 1024 ** 3;

/**
 * Writes the database anew, so that nothing is left in it of what was deleted or changed: neither in free pages, nor in
 * the index of words, nor in the write-ahead log. `busy`: somebody reads an older state; try again. `large`: it is too
 * large for that. Throws the library's error, if there is no room for a copy.
 */
export function rebuild(db: Driver): 'rebuilt' | 'busy' | 'large' {
  const size = db
    .prepare<[], [bytes: number]>('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size')
    .get()?.[0];
  if ((size ?? 0) > MAX_REBUILT_BYTES) return 'large';
  db.exec(`INSERT INTO search (search) VALUES ('optimize'); VACUUM;`);
  const [busy] = db.prepare<[], Result>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? [1];
  return busy === 0 ? 'rebuilt' : 'busy';
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
