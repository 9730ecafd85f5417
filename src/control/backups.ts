import { type FileHandle, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { MANIFEST, type Manifest, readManifest } from '../backup/contents.ts';
import { ArchiveError, BLOCK_BYTES, readTarHeader } from '../backup/tar.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { version } from '../lib/command.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type { BackupStep, BackupView, SystemOperations } from '../operations/system.ts';
import type { RequestOf } from '../operations/table.ts';
import { backUpInThread } from '../threads/backup-client.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { layoutOf } from './layout.ts';

type BackupOperation = 'backup' | 'backups' | 'removeBackup' | 'decideRestored';

/** The operations on backups, and on what was restored from one. */
export function backupOperations(deps: LocalDeps): Pick<SystemOperations, BackupOperation> {
  let underWay = false;
  return {
    backup: async (request, progress = UNWATCHED) => {
      refusePath(request);
      refuseDatabase(deps);
      if (underWay)
        throw new OperationError('refused', 'Another backup is in progress. Wait until it is done.');
      underWay = true;
      try {
        return await backUp(request, deps, progress);
      } finally {
        underWay = false;
      }
    },
    backups: () => listBackups(deps.dataDir),
    removeBackup: ({ name }) => deleteBackup(deps.dataDir, name),
    decideRestored: async ({ act }) => ({ act, recipients: await deps.acts.decideRestored(act) }),
  };
}

/** A remote caller may neither choose where files are written on this machine, nor learn which exist. */
function refusePath({ file }: RequestOf<'backup'>): void {
  const kind = ASKING.getStore()?.kind;
  if (file !== null && (kind === 'user' || kind === 'key'))
    throw new OperationError(
      'forbidden',
      'Only the command line may choose where a backup is written. Leave file null: the backup then goes to the folder backups in the data directory, and can be downloaded.',
    );
}

/** A shared database is copied by its owner: it can be while in use, without our help. */
function refuseDatabase({ cluster, resolution, dataDir }: LocalDeps): void {
  if (cluster === null) return;
  const { database, secrets } = resolution().config;
  const key = secrets.keyFile ?? join(dataDir, 'secret.key');
  throw new OperationError(
    'refused',
    `Facts and contents lie in PostgreSQL, whose own tools copy them while the nodes run: pg_dump --format=custom --schema=${database.schema} --file=waybill.dump. Keep ${key} beside it: only that decrypts the passwords and signing keys in it. See docs/backup.md.`,
  );
}

async function backUp(
  { file, passphrase }: RequestOf<'backup'>,
  deps: LocalDeps,
  progress: Progress<BackupStep>,
): Promise<BackupView> {
  const { dataDir, clock } = deps;
  if (file !== null && !isAbsolute(file))
    throw new OperationError('invalid', `${file} is not an absolute path: it must begin with a slash.`);
  const now = clock.wall();
  await removeUnfinished(dataDir);
  if (file === null) await mkdir(backupFolder(dataDir), { recursive: true, mode: 0o700 });
  const path = file ?? join(backupFolder(dataDir), nameAt(now));
  const layout = layoutOf(dataDir);
  const task = {
    database: layout.database,
    spool: layout.spool,
    file: path,
    version: version(),
    createdAt: now,
    secrets: passphrase === null ? null : { passphrase, files: secretFiles(deps) },
  };
  // Taken before the database is copied: everything it refers to then stays until the end.
  const release = await deps.collection.hold();
  try {
    await deps.written();
    const taken = await backUpInThread(task, (step) => progress.tell(step), progress.signal);
    const { sizeBytes, messages, withSecretKey, damaged } = taken;
    const view: BackupView = {
      name: basename(path),
      path,
      sizeBytes,
      createdAt: formatTimestamp(now),
      messages,
      withSecretKey,
      verified: damaged === 0,
      ...(damaged === 0 ? {} : { damaged }),
    };
    await noteLastBackup(dataDir, view);
    return view;
  } catch (error) {
    if (error instanceof ArchiveError)
      throw new OperationError('unavailable', `No backup was taken: ${error.message}`, { cause: error });
    throw error;
  } finally {
    release();
  }
}

/** Sorts by time, and is a valid file name everywhere. */
function nameAt(now: number): string {
  return `waybill-${formatTimestamp(now)
    .replace(/[-:]/g, '')
    .replace(/\.(\d{3})Z$/, '$1Z')}.tar`;
}

/** The keys to the database's sealed secrets, and other files that only the owner may read. */
function secretFiles({ dataDir, resolution }: LocalDeps): { name: string; path: string }[] {
  const { config } = resolution();
  const own = ['tls.key', 'tls.crt', 'tls-uploaded.pem', 'waybill.yaml'].map((name) => ({
    name,
    path: join(dataDir, name),
  }));
  return [{ name: 'secret.key', path: config.secrets.keyFile ?? join(dataDir, 'secret.key') }, ...own];
}

// Backups in the data directory's own folder, and the note of the last backup taken anywhere.

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.tar$/;
/** Names under which `takeBackup` writes an unfinished one. */
const UNFINISHED = /\.tar\.part(?:-db(?:-journal|-wal|-shm)?)?$/;
/** Most files of the folder to show, newest first. */
const MAX_LISTED = 200;
const LAST = 'last-backup.json';

/** The data directory's folder of backups. */
function backupFolder(dataDir: string): string {
  return join(dataDir, 'backups');
}

/** The path of a backup in that folder. Throws `OperationError` for an invalid name. */
function backupPath(dataDir: string, name: string): string {
  if (NAME.test(name)) return join(backupFolder(dataDir), name);
  throw new OperationError('invalid', `${JSON.stringify(name)} is not the name of a backup.`);
}

/** The backups in that folder, newest first. Other files are left out. */
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

/** Removes from that folder the remains of killed backups. Call it only while none is being taken. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const names = await readdir(backupFolder(dataDir)).catch(() => []);
  for (const name of names.filter((one) => UNFINISHED.test(one)))
    await rm(join(backupFolder(dataDir), name), { force: true });
}

/** Removes a backup. Throws `OperationError`. */
async function deleteBackup(dataDir: string, name: string): Promise<BackupView> {
  const path = backupPath(dataDir, name);
  const view = await viewOf(name, path);
  if (view === null) throw new OperationError('not_found', `There is no backup ${name}.`);
  await rm(path);
  return view;
}

/** Records the last backup. */
async function noteLastBackup(dataDir: string, view: BackupView): Promise<void> {
  await writeFile(join(dataDir, LAST), JSON.stringify(view), { mode: 0o600 });
}

/** The last backup, wherever it is now; null if there is none. */
export async function lastBackup(dataDir: string): Promise<BackupView | null> {
  try {
    // Sound because only `noteLastBackup` writes it.
    return JSON.parse(await readFile(join(dataDir, LAST), 'utf8')) as BackupView;
  } catch {
    return null;
  }
}

function isSame(view: BackupView, last: BackupView | null): last is BackupView {
  return last !== null && view.name === last.name && view.createdAt === last.createdAt;
}

/** The result of reading it back, which no archive contains. */
function foundIn({ verified, damaged }: BackupView): Pick<BackupView, 'verified' | 'damaged'> {
  return { verified, ...(damaged === undefined ? {} : { damaged }) };
}

async function viewOf(name: string, path: string): Promise<BackupView | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    const { createdAt, messages, withSecretKey } = await manifestOf(file);
    // A backup gets its name only after it has been read back.
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

/** The manifest in an archive's first file. */
async function manifestOf(file: FileHandle): Promise<Manifest> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  const entry = readTarHeader(buffer.subarray(0, BLOCK_BYTES));
  if (entry?.name !== MANIFEST || BLOCK_BYTES + entry.size > bytesRead) throw new Error('no backup');
  return readManifest(buffer.toString('utf8', BLOCK_BYTES, BLOCK_BYTES + entry.size));
}
