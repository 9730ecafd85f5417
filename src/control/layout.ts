import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refuseUnfinishedRestore } from '../backup/unfinished.ts';
import type { Clock } from '../lib/clock.ts';
import { COMMAND, dataOption, ownerOf, ownUser, shellWord, sudoTo, userText } from '../lib/command.ts';
import { OperationError } from '../operations/call.ts';
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '../store/sqlite/lock.ts';

/** Where things lie in the data directory. */
interface Layout {
  readonly database: string;
  readonly spool: string;
  /** Describes the running server; written when all listeners accept. */
  readonly runtime: string;
}

/** The layout of a data directory. */
export function layoutOf(dataDir: string): Layout {
  return {
    database: join(dataDir, 'waybill.db'),
    spool: join(dataDir, 'spool'),
    runtime: join(dataDir, 'runtime.json'),
  };
}

/** Files that only this program makes. */
const OURS = ['waybill.db', 'secret.key'];
const OWNER_ALONE = 0o700;
/** The mode bits that admit others than the owner. */
const OTHERS = 0o077;

/**
 * Creates a missing data directory for its owner alone. An existing one is closed to others too, unless it contains
 * foreign files, as when a wrong directory was named. Throws as {@link requireDataDirectory}, or the system's error.
 */
export function makeDataDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: OWNER_ALONE });
  } catch (error) {
    throw notMade(dataDir, codeOf(error)) ?? error;
  }
  requireDataDirectory(dataDir);
  if ((statSync(dataDir).mode & OTHERS) === 0 || !isOurs(dataDir)) return;
  try {
    chmodSync(dataDir, OWNER_ALONE);
  } catch {
    // Another user's directory, such as a mounted volume: the files we write there are closed to others themselves.
  }
}

function isOurs(dataDir: string): boolean {
  const names = readdirSync(dataDir);
  return OURS.some((name) => names.includes(name)) || names.every((name) => name === 'waybill.yaml');
}

/**
 * Requires a data directory that this user can work with. Throws `OperationError`, which says what is there instead, or
 * who owns it, and what to do.
 */
export function requireDataDirectory(dataDir: string): void {
  if (isUsable(dataDir)) return;
  throw new OperationError(
    'not_found',
    `There is no data directory ${dataDir}. Name the right one with --data, or start a server, which creates it: ${COMMAND} serve${dataOption(dataDir)}`,
  );
}

/** Whether there is a data directory. Throws as {@link requireDataDirectory} if this user cannot use what is there. */
export function isUsable(dataDir: string): boolean {
  try {
    if (!statSync(dataDir).isDirectory()) throw noDirectory(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof OperationError) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR') throw noDirectory(dataDir);
    // A read-only mount can be read, and fails when written to.
    if (code === 'EACCES') throw notOurs(dataDir, error);
  }
  return true;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The path itself, or its nearest existing parent. */
function nearest(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    return nearest(dirname(path));
  }
}

function noDirectory(dataDir: string): OperationError {
  const file = nearest(dataDir);
  return new OperationError(
    'refused',
    `${file} is a file, not a directory, so ${file === dataDir ? 'it' : dataDir} cannot be the data directory. Name a directory with --data.`,
  );
}

/** A directory of another user's, or one closed to its owner. */
function notOurs(dataDir: string, cause: unknown): OperationError {
  const place = nearest(dataDir);
  const owner = ownerOf(place);
  const self = ownUser();
  const cure =
    owner.uid === self.uid
      ? `Give them access: chmod u+rwx ${shellWord(place)}`
      : `Run the command as its owner: ${sudoTo(owner)} ${COMMAND} … --data ${shellWord(dataDir)}; or name another directory with --data.`;
  const whose =
    owner.uid === self.uid ? 'but is closed to them' : `not to ${userText(self)}, who runs this command`;
  return new OperationError('refused', `${place} belongs to ${userText(owner)}, ${whose}. ${cure}`, {
    cause,
  });
}

/** Why the data directory could not be made; null if the system's words are the best there are. */
function notMade(dataDir: string, code: string): OperationError | null {
  if (code === 'ENOTDIR' || code === 'EEXIST') return noDirectory(dataDir);
  if (code !== 'EACCES') return null;
  const self = ownUser();
  const place = nearest(dataDir);
  return new OperationError(
    'refused',
    `The data directory ${dataDir} cannot be created: ${place} belongs to ${userText(ownerOf(place))}, and ${userText(self)} may not write there. Create it for them: sudo install -d -o ${self.name ?? self.uid} -m 700 ${shellWord(dataDir)}; or name another directory with --data.`,
  );
}

/** How long another process on the data directory is waited for: one on its way out, or a short command. */
const WAIT_MS = 5_000;
const TRY_EVERY_MS = 50;

/**
 * Takes a data directory for this process; waits briefly for its current holder. Rejects with `DirectoryInUse`, or with
 * `ArchiveError` after an interrupted restore.
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
