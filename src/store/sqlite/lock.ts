import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../store.ts';
import { type Driver, openBetterSqlite3 } from './driver.ts';
import { storeErrorOf } from './errors.ts';

/** Another process holds the data directory. */
export class DirectoryInUse extends StoreError {
  /** The holder's process id; null if it has not written it yet. */
  readonly pid: number | null;
  constructor(folder: string, pid: number | null) {
    const holder = pid === null ? 'another process' : `process ${pid} (${commandOf(pid)})`;
    const end = pid === null ? '' : ` (kill ${pid}, or systemctl stop waybill if that runs it)`;
    super(
      'store_in_use',
      `${folder} is in use by ${holder}. One process at a time works on a data directory: wait until it is done or end it${end}, or name another directory with --data.`,
    );
    this.name = 'DirectoryInUse';
    this.pid = pid;
  }
}

/** Which of our commands a process runs, such as `waybill serve`: only the first word, since others may be secret. */
function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const main = words.findIndex((word) => /(^|\/)main\.[jt]s$/.test(word));
    const command = words.slice(main + 1).find((word) => /^[a-z][a-z-]*$/.test(word));
    return main < 0 || command === undefined ? (words[0] ?? '').replace(/.*\//, '') : `waybill ${command}`;
  } catch {
    return 'not to be seen from here: in another container?';
  }
}

/** A data directory that this process holds. */
export interface DirectoryLock {
  release(): void;
}

/** Held locks: a database that nothing refers to is closed by the garbage collector, and its lock ends with it. */
const HELD = new Set<Driver>();

/**
 * Locks a data directory for this process. Node cannot lock a file, but SQLite can: an exclusive transaction on a small
 * database stays open for life, and the kernel ends it with the process, however that dies. Throws {@link
 * DirectoryInUse}, `StoreError` if the disk fails, or the system's error.
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
  HELD.add(db);
  return {
    release: () => {
      HELD.delete(db);
      db.close();
    },
  };
}

/** Whether the disk fails, or was turned read-only because of that; SQLite takes a lock even then. */
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
