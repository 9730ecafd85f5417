import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { becomeOwnerOf } from '../lib/command.ts';
import { readError } from '../lib/error.ts';
import { lockDirectory } from '../store/sqlite/lock.ts';
import { openDatabase } from '../store/sqlite/open.ts';
import { forgetLog, forgetSessions, holdRestored } from '../store/sqlite/restored.ts';
import { type EntrySink, type PlacedEntry, readArchive } from './archive.ts';
import { DATABASE, MANIFEST, type Manifest, readManifest, SECRETS } from './contents.ts';
import { beginPhase, type PaceOptions } from './pace.ts';
import { refuseWithoutRoom } from './room.ts';
import { openSecrets } from './sealed-secrets.ts';
import { ArchiveError } from './tar.ts';
import { STAGING, unfinished } from './unfinished.ts';

/** A backup to be restored. */
export interface RestoreTask {
  readonly file: string;
  /** The data directory, absolute: empty, or missing. */
  readonly dataDir: string;
  /** Opens its secrets; null leaves them out. */
  readonly passphrase: string | null;
}

/** The result of a restore. */
export interface Restored {
  readonly manifest: Manifest;
  /** Recipients that wait for a decision. */
  readonly held: number;
  /** Names of the restored secret files. */
  readonly secrets: readonly string[];
  /** The archive has secrets, and no passphrase was given. */
  readonly secretsLeft: boolean;
}

const SPOOL = 'spool';
const LOCK_FILES = ['lock.db', 'lock.db-journal', 'lock.pid'];

/**
 * Restores a backup into an empty directory, and holds everything in it that was not sent yet. Leaves the directory as
 * it was if it fails. Throws `ArchiveError`, `DirectoryInUse`, `StoreError` or the system's error.
 */
export async function restoreBackup(task: RestoreTask, pace: PaceOptions): Promise<Restored> {
  const { dataDir } = task;
  const made = await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const archive = await openArchive(task.file).catch(async (error: unknown) => {
    if (made !== undefined) await rmdir(dataDir);
    throw error;
  });
  try {
    becomeOwnerOf(dataDir);
    await refuseUnlessEmpty(dataDir);
    const lock = lockDirectory(dataDir, process.pid);
    const placed: string[] = [];
    let done = false;
    try {
      await refuseUnlessEmpty(dataDir);
      const restored = await unpackAll(archive, task, pace);
      await moveIntoPlace(dataDir, restored.secrets, placed);
      done = true;
      return restored;
    } finally {
      try {
        // Before the lock is released: its next holder must not lose data.
        if (!done) await clear(dataDir, placed, made !== undefined);
      } finally {
        lock.release();
      }
    }
  } finally {
    await archive.close();
  }
}

async function openArchive(file: string): Promise<FileHandle> {
  const archive = await open(file, 'r').catch((error: unknown) => {
    throw new ArchiveError(`${file} cannot be read: ${readError(error)}.`, { cause: error });
  });
  const status = await archive.stat();
  if (status.isFile()) return archive;
  await archive.close();
  throw new ArchiveError(`${file} is no file.`);
}

async function refuseUnlessEmpty(dataDir: string): Promise<void> {
  const found = (await readdir(dataDir)).filter((name) => !LOCK_FILES.includes(name));
  if (found.includes(STAGING) && !found.includes(DATABASE)) throw unfinished(dataDir);
  if (found.length > 0)
    throw new ArchiveError(
      `${dataDir} is not empty: a backup is restored into an empty directory only. Name another with --data, or move what is there.`,
    );
}

async function unpackAll(archive: FileHandle, task: RestoreTask, pace: PaceOptions): Promise<Restored> {
  const staging = join(task.dataDir, STAGING);
  await mkdir(join(staging, SPOOL), { recursive: true, mode: 0o700 });
  const { size } = await archive.stat();
  await refuseWithoutRoom(task.dataDir, size);
  const steps = beginPhase(pace, 'unpack', size);
  const entries = await readArchive(archive, { begin: (entry) => sinkFor(entry, staging) }, steps);
  const names = new Set(entries.map(({ name }) => name));
  if (!names.has(DATABASE)) throw new ArchiveError('There is no database in the archive.');
  const manifest = readManifest(await readFile(join(staging, MANIFEST), 'utf8'));
  const secrets = await unpackSecrets(names.has(SECRETS), task.passphrase, staging);
  beginPhase(pace, 'mark', size);
  const held = markDatabase(join(staging, DATABASE), pace.clock);
  return { manifest, held, secrets, secretsLeft: names.has(SECRETS) && task.passphrase === null };
}

/** Names were checked to be those of a backup: none leads out of the directory. */
async function sinkFor({ name, size }: PlacedEntry, staging: string): Promise<EntrySink> {
  const file = await open(join(staging, name), 'wx', 0o600);
  let at = 0;
  return {
    write: async (piece) => {
      for (let from = 0; from < piece.length; ) {
        const { bytesWritten } = await file.write(piece, from, piece.length - from, at);
        from += bytesWritten;
        at += bytesWritten;
      }
    },
    end: async () => {
      if (at === size) await file.sync();
      await file.close();
    },
  };
}

async function unpackSecrets(
  present: boolean,
  passphrase: string | null,
  staging: string,
): Promise<readonly string[]> {
  if (!present && passphrase !== null)
    throw new ArchiveError('There are no secrets in the archive: leave the passphrase out.');
  if (!present || passphrase === null) return [];
  const files = await openSecrets(await readFile(join(staging, SECRETS), 'utf8'), passphrase);
  for (const [name, bytes] of files)
    await writeFile(join(staging, name), bytes, { mode: 0o600, flag: 'wx', flush: true });
  return [...files.keys()];
}

/** Migrates the database to this program's schema and holds what was not sent yet. */
function markDatabase(path: string, clock: Clock): number {
  const db = openDatabase(path);
  try {
    const held = holdRestored(db, clock.wall());
    forgetLog(db);
    forgetSessions(db);
    // Moves the write-ahead log into the file, which alone is moved.
    db.exec('PRAGMA journal_mode = DELETE;');
    return held;
  } finally {
    db.close();
  }
}

/**
 * The database goes last: without it the directory does not pass for a whole installation. Adds to `placed` what is in
 * its place.
 */
async function moveIntoPlace(dataDir: string, secrets: readonly string[], placed: string[]): Promise<void> {
  const staging = join(dataDir, STAGING);
  await syncFile(join(staging, DATABASE));
  for (const path of [join(staging, SPOOL), staging]) await syncFile(path);
  const place = async (name: string) => {
    await rename(join(staging, name), join(dataDir, basename(name)));
    placed.push(basename(name));
  };
  for (const name of [SPOOL, ...secrets]) await place(name);
  await syncFile(dataDir);
  await place(DATABASE);
  await syncFile(dataDir);
  await rm(staging, { recursive: true, force: true });
  await syncFile(dataDir);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes everything again. The directory held only what we made. */
async function clear(dataDir: string, placed: readonly string[], made: boolean): Promise<void> {
  for (const name of [...placed, STAGING, ...LOCK_FILES])
    await rm(join(dataDir, name), { recursive: true, force: true });
  if (made) await rmdir(dataDir).catch(() => {});
}
