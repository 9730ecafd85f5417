/**
 * Handles the remains of an interrupted restore. A file of its own, because it is loaded at every start and restoring
 * is not.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from './contents.ts';
import { ArchiveError } from './tar.ts';

/** Everything is unpacked and checked here first; only a whole restore is moved to its place. */
export const STAGING = '.restoring';

/**
 * Call this first after locking a data directory. Throws `ArchiveError` if a restore was killed before everything was
 * in its place: a server would take it for an empty installation, and remove the contents that its new database does
 * not know. Removes the remains of a restore that was killed just after.
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const staging = join(dataDir, STAGING);
  if (!existsSync(staging)) return;
  if (!existsSync(join(dataDir, DATABASE))) throw unfinished(dataDir);
  rmSync(staging, { recursive: true });
}

/** The refusal that tells of it. */
export function unfinished(dataDir: string): ArchiveError {
  return new ArchiveError(
    `A restore into ${dataDir} was broken off, and what is there is not whole. Remove the directory, and restore again.`,
  );
}
