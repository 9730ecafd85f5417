import { refuseUnfinishedRestore } from '../backup/unfinished.ts';
import type { Clock } from '../lib/clock.ts';
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '../store/sqlite/lock.ts';

/** How long another process on the data directory is waited for: one on its way out, or a short command. */
const WAIT_MS = 5_000;
const TRY_EVERY_MS = 50;

/**
 * Takes a data directory for this process; waits a little for whoever holds it. Rejects with `DirectoryInUse`, or with
 * `ArchiveError` where a restore was broken off.
 */
export async function holdDirectory(dataDir: string, clock: Clock): Promise<DirectoryLock> {
  const lock = await takeDirectory(dataDir, clock);
  try {
    refuseUnfinishedRestore(dataDir);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function takeDirectory(dataDir: string, clock: Clock): Promise<DirectoryLock> {
  const giveUpAt = clock.mono() + WAIT_MS;
  for (;;) {
    try {
      return lockDirectory(dataDir, process.pid);
    } catch (error) {
      if (!(error instanceof DirectoryInUse) || clock.mono() >= giveUpAt) throw error;
      await clock.sleep(TRY_EVERY_MS);
    }
  }
}
