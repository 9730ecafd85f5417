import { OperationError } from '../../src/operations/call.ts';
import type { Progress } from '../../src/operations/operation.ts';
import { OPERATION_NAMES, type Operations } from '../../src/operations/table.ts';
/** Operations that only say that they were done. */

/** An operation that was done. */
export interface Done {
  readonly name: string;
  readonly request: unknown;
}

/** Notes what is done. `backup` tells of two steps, and fails after them where it is to; `removeBackup` is refused. */
export function recordingOperations(done: Done[]): Operations {
  const calls = OPERATION_NAMES.map((name) => [
    name,
    async (request: Readonly<Record<string, unknown>>, progress: Progress<unknown>) => {
      done.push({ name, request });
      if (name === 'removeBackup') throw new OperationError('refused', 'It is being written.');
      if (name === 'backup') for (const step of [1, 2]) progress.tell({ step });
      if (request['file'] === '/full') throw new OperationError('unavailable', 'The disk is full.');
      return { did: name };
    },
  ]);
  return Object.fromEntries(calls) as Operations;
}

/** Requests of the operations that take more than nothing: of the right shape, about things that need not exist. */
const REQUESTS: Readonly<Record<string, object>> = {
  backup: { file: null, passphrase: null },
  removeBackup: { name: 'x' },
  hold: { target: 'inbox', kind: 'pause' },
  revokeKey: { key: 'app' },
};

/** A request of the right shape for an operation, as far as tests call it; else an empty one. */
export function requestFor(name: string): object {
  return REQUESTS[name] ?? {};
}
