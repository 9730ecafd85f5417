/** What a restore leaves that was broken off. Loaded at every start, so apart from what restores. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from './contents.ts';
import { ArchiveError } from './tar.ts';

/** Everything is unpacked and checked here first; only what is whole goes to its place. */
export const STAGING = '.restoring';

/**
 * To be asked by whoever has taken a data directory, before anything else. Throws `ArchiveError` where a restore was killed
 * before all was in its place: a server would take what is there for an empty installation, and remove the contents that its
 * new database does not know. Removes what one left that was killed just after.
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const staging = join(dataDir, STAGING);
  if (!existsSync(staging)) return;
  if (!existsSync(join(dataDir, DATABASE))) throw unfinished(dataDir);
  rmSync(staging, { recursive: true });
}

/** What is told of it. */
export function unfinished(dataDir: string): ArchiveError {
  return new ArchiveError(
    `A restore into ${dataDir} was broken off, and what is there is not whole. Remove the directory, and restore again.`,
  );
}
