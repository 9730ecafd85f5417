import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../store.ts';
import { openBetterSqlite3 } from './better-sqlite3.ts';
import type { Driver } from './driver.ts';
import { storeErrorOf } from './errors.ts';

/** The data directory is another process's. */
export class DirectoryInUse extends StoreError {
  /** The holder's process id; null when it has not written it yet. */
  readonly pid: number | null;
  constructor(folder: string, pid: number | null) {
    super('store_in_use', `${folder} is in use by ${pid === null ? 'another process' : `process ${pid}`}`);
    this.name = 'DirectoryInUse';
    this.pid = pid;
  }
}

/** A data directory that is ours. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes a data directory for this process. Node cannot lock a file, but SQLite can: an exclusive transaction
 * on a small database is held open for life, and the kernel ends it with the process, however that dies.
 * Throws {@link DirectoryInUse}, `StoreError` when the disk fails, or the system's error.
 */
export function lockDirectory(folder: string, pid: number): DirectoryLock {
  const db = openBetterSqlite3(join(folder, 'lock.db'));
  const pidFile = join(folder, 'lock.pid');
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (thrown) {
    throw refusal(db, thrown, folder, pidFile);
  }
  try {
    writeFileSync(pidFile, `${pid}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    throw isFailing(error) ? new StoreError('store_failed', error.message, { cause: error }) : error;
  }
  return { release: () => db.close() };
}

/** Whether the disk fails, or was turned read-only because it does; SQLite takes a lock even then. */
function isFailing(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'EROFS' || error.code === 'EIO');
}

function refusal(db: Driver, thrown: unknown, folder: string, pidFile: string): StoreError {
  db.close();
  const error = storeErrorOf(thrown);
  return error.code === 'store_unavailable' ? new DirectoryInUse(folder, readPid(pidFile)) : error;
}

function readPid(pidFile: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    return Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}
