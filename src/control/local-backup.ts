import { mkdir } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { ArchiveError } from '../backup/archive-error.ts';
import { version } from '../cli/context.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type { BackupStep, BackupView, SystemOperations } from '../operations/system.ts';
import type { RequestOf } from '../operations/table.ts';
import { backUpInThread } from '../threads/backup-client.ts';
import { ASKING } from './actor.ts';
import { backupFolder, deleteBackup, listBackups, noteLastBackup, removeUnfinished } from './backup-files.ts';
import { layoutOf } from './layout.ts';
import type { LocalDeps } from './local-deps.ts';

type BackupOperation = 'backup' | 'backups' | 'removeBackup' | 'decideRestored';

/** The operations on backups, and on what came back with one. */
export function backupOperations(deps: LocalDeps): Pick<SystemOperations, BackupOperation> {
  let underWay = false;
  return {
    backup: async (request, progress = UNWATCHED) => {
      refusePath(request);
      refuseDatabase(deps);
      if (underWay)
        throw new OperationError('refused', 'A backup is being taken already. Wait until it is done.');
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

/** Whoever asks from elsewhere may not say where on this machine files are written, or learn which there are. */
function refusePath({ file }: RequestOf<'backup'>): void {
  const kind = ASKING.getStore()?.kind;
  if (file !== null && (kind === 'user' || kind === 'key'))
    throw new OperationError(
      'forbidden',
      'Only the command line may say where a backup is written. Leave file null: it lies in the data directory’s folder backups then, and can be downloaded.',
    );
}

/** What others keep is theirs to copy: they do it while it is being written to, without our help. */
function refuseDatabase({ cluster, resolution, dataDir }: LocalDeps): void {
  if (cluster === null) return;
  const { database, secrets } = resolution().config;
  const key = secrets.keyFile ?? join(dataDir, 'secret.key');
  throw new OperationError(
    'refused',
    `Facts and contents lie in PostgreSQL, whose own tools copy them while all goes on: pg_dump --format=custom --schema=${database.schema} --file=waybill.dump. Keep ${key} beside it: only that opens the passwords and signing keys in it. See docs/backup.md.`,
  );
}

async function backUp(
  { file, passphrase }: RequestOf<'backup'>,
  deps: LocalDeps,
  progress: Progress<BackupStep>,
): Promise<BackupView> {
  const { dataDir, clock } = deps;
  if (file !== null && !isAbsolute(file))
    throw new OperationError('invalid', `${file} is no absolute path: it must begin with a slash.`);
  const now = clock.wall();
  await removeUnfinished(dataDir);
  if (file === null) await mkdir(backupFolder(dataDir), { recursive: true, mode: 0o700 });
  const path = file ?? join(backupFolder(dataDir), nameAt(now));
  const layout = layoutOf(dataDir);
  const task = {
    ...{ database: layout.database, spool: layout.spool, file: path, version: version(), createdAt: now },
    secrets: passphrase === null ? null : { passphrase, files: secretFiles(deps) },
  };
  // Before the database is copied: what that refers to is there until the end.
  const release = await deps.collection.hold();
  try {
    await deps.written();
    const taken = await backUpInThread(task, (step) => progress.tell(step), progress.signal);
    const { sizeBytes, messages, withSecretKey, damaged } = taken;
    const view: BackupView = {
      ...{ name: basename(path), path, sizeBytes, createdAt: formatTimestamp(now), messages, withSecretKey },
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

/** Sorts by time, and may be the name of a file anywhere. */
function nameAt(now: number): string {
  return `waybill-${formatTimestamp(now)
    .replace(/[-:]/g, '')
    .replace(/\.(\d{3})Z$/, '$1Z')}.tar`;
}

/** What opens the sealed secrets of the database, and what only its owner may read. */
function secretFiles({ dataDir, resolution }: LocalDeps): { name: string; path: string }[] {
  const { config } = resolution();
  const own = ['tls.key', 'tls.crt', 'tls-uploaded.pem', 'waybill.yaml'].map((name) => ({
    ...{ name, path: join(dataDir, name) },
  }));
  return [{ name: 'secret.key', path: config.secrets.keyFile ?? join(dataDir, 'secret.key') }, ...own];
}
