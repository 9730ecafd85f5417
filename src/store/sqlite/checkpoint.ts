import type { Driver } from './driver.ts';
import { storeErrorOf } from './errors.ts';

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
