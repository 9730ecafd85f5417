import type { PhaseStep } from '../backup/pace.ts';
import type { BackupTask, TakenBackup } from '../backup/take.ts';
import { ArchiveError } from '../backup/tar.ts';
import { startThread } from '../lib/thread.ts';
import { workerUrl } from './wire.ts';

/** It hands pages and pieces of files on. */
const MEMORY = { maxYoungGenerationSizeMb: 24 };

/** The messages of a backup's thread. */
export type BackupMessage =
  | { readonly kind: 'step'; readonly step: PhaseStep }
  | { readonly kind: 'taken'; readonly backup: TakenBackup }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Takes a backup in a thread of its own, which ends with it. Interrupts it when `signal` aborts. Throws `ArchiveError`
 * for every failure.
 */
export async function backUpInThread(
  task: BackupTask,
  tell: (step: PhaseStep) => void,
  signal: AbortSignal,
): Promise<TakenBackup> {
  const end = Promise.withResolvers<TakenBackup>();
  const worker = startThread(workerUrl('backup-worker'), { workerData: task, resourceLimits: MEMORY });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  const fail = (message: string) => end.reject(new ArchiveError(message));
  worker.on('message', (message: BackupMessage) => {
    if (message.kind === 'step') tell(message.step);
    else if (message.kind === 'taken') end.resolve(message.backup);
    else fail(message.message);
  });
  worker.once('error', (error) => fail(`the backup's thread died: ${String(error)}`));
  worker.once('exit', () => fail("the backup's thread ended without a result"));
  const breakOff = () => worker.postMessage('abort');
  signal.addEventListener('abort', breakOff, { once: true });
  try {
    if (signal.aborted) breakOff();
    return await end.promise;
  } finally {
    signal.removeEventListener('abort', breakOff);
    await exited;
  }
}
