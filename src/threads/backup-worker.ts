import { parentPort, workerData } from 'node:worker_threads';
import { type BackupTask, takeBackup } from '../backup/take.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { BackupMessage } from './backup-client.ts';

/** Takes one backup and ends: hashing and copying would block anything else in the thread. */

/** Bytes read and written per second, so that most of the disk's time is left for mail. */
const BYTES_PER_SECOND = 64 * 1024 * 1024;

const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');
const post = (message: BackupMessage) => port.postMessage(message);
const abort = new AbortController();
port.once('message', () => abort.abort(new Error('nobody waits for the backup any more')));
try {
  const pace = {
    clock: systemClock,
    signal: abort.signal,
    tell: (step: Extract<BackupMessage, { readonly kind: 'step' }>['step']) => post({ kind: 'step', step }),
    bytesPerSecond: BYTES_PER_SECOND,
  };
  post({ kind: 'taken', backup: await takeBackup(workerData as BackupTask, pace, systemRandom) });
} catch (error) {
  post({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}
port.close();
