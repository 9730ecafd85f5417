import { type FileHandle, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST, type Manifest, readManifest } from '../backup/contents.ts';
import { BLOCK_BYTES, readTarHeader } from '../backup/tar.ts';
import { OperationError } from '../operations/call.ts';
import type { BackupView } from '../operations/system.ts';

/** Backups that lie in the data directory's own folder, and the note of the last one that was taken anywhere. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.tar$/;
/** Names under which `takeBackup` writes what is to become one of these. */
const UNFINISHED = /\.tar\.part(?:-db(?:-journal|-wal|-shm)?)?$/;
/** Files of the folder that are shown, the newest. */
const MAX_LISTED = 200;
const LAST = 'last-backup.json';

/** The data directory's folder of backups. */
export function backupFolder(dataDir: string): string {
  return join(dataDir, 'backups');
}

/** The path of a backup in that folder. Throws `OperationError` for what is no name of one. */
function backupPath(dataDir: string, name: string): string {
  if (NAME.test(name)) return join(backupFolder(dataDir), name);
  throw new OperationError('invalid', `${JSON.stringify(name)} is no name of a backup.`);
}

/** The backups in that folder, newest first. A file that is none is left out. */
export async function listBackups(dataDir: string): Promise<BackupView[]> {
  const names = await readdir(backupFolder(dataDir)).catch(() => []);
  const newest = names
    .filter((name) => NAME.test(name))
    .sort()
    .reverse();
  const views: BackupView[] = [];
  const last = await lastBackup(dataDir);
  for (const name of newest.slice(0, MAX_LISTED)) {
    const view = await viewOf(name, join(backupFolder(dataDir), name));
    if (view !== null) views.push(isSame(view, last) ? { ...view, ...foundIn(last) } : view);
  }
  return views.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** Removes from that folder what backups left that were killed. To be asked while none is being taken. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  const names = await readdir(backupFolder(dataDir)).catch(() => []);
  for (const name of names.filter((one) => UNFINISHED.test(one)))
    await rm(join(backupFolder(dataDir), name), { force: true });
}

/** Removes one of them. Throws `OperationError`. */
export async function deleteBackup(dataDir: string, name: string): Promise<BackupView> {
  const path = backupPath(dataDir, name);
  const view = await viewOf(name, path);
  if (view === null) throw new OperationError('not_found', `There is no backup ${name}.`);
  await rm(path);
  return view;
}

/** Remembers which backup was taken last. */
export async function noteLastBackup(dataDir: string, view: BackupView): Promise<void> {
  await writeFile(join(dataDir, LAST), JSON.stringify(view), { mode: 0o600 });
}

/** The backup that was taken last, wherever it is now; null when none was. */
export async function lastBackup(dataDir: string): Promise<BackupView | null> {
  try {
    // Sound because nobody but `noteLastBackup` writes it.
    return JSON.parse(await readFile(join(dataDir, LAST), 'utf8')) as BackupView;
  } catch {
    return null;
  }
}

function isSame(view: BackupView, last: BackupView | null): last is BackupView {
  return last !== null && view.name === last.name && view.createdAt === last.createdAt;
}

/** What its reading back found, which no archive says of itself. */
function foundIn({ verified, damaged }: BackupView): Pick<BackupView, 'verified' | 'damaged'> {
  return { verified, ...(damaged === undefined ? {} : { damaged }) };
}

async function viewOf(name: string, path: string): Promise<BackupView | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    const { createdAt, messages, withSecretKey } = await manifestOf(file);
    // A backup has its name only when it has been read back.
    return {
      name,
      path,
      sizeBytes: (await file.stat()).size,
      createdAt,
      messages,
      withSecretKey,
      verified: true,
    };
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** What an archive says of itself, by its first file. */
async function manifestOf(file: FileHandle): Promise<Manifest> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  const entry = readTarHeader(buffer.subarray(0, BLOCK_BYTES));
  if (entry?.name !== MANIFEST || BLOCK_BYTES + entry.size > bytesRead) throw new Error('no backup');
  return readManifest(buffer.toString('utf8', BLOCK_BYTES, BLOCK_BYTES + entry.size));
}
