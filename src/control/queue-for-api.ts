import { Problem } from '../http/problem.ts';
import type { QueueOperations } from '../ingest/queue-door.ts';
import { type QueueDeps, queueOperations } from './local-queue.ts';
import { OperationError, type OperationErrorCode } from './operations.ts';

/** What a refusal of an operation is over HTTP. */
const PROBLEMS: Readonly<Record<OperationErrorCode, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'relay_not_found'],
  refused: [409, 'relay_disabled'],
  unavailable: [503, 'store_unavailable'],
  forbidden: [403, 'scope_missing'],
};

/** The operations on the queue for the API: their refusals are problems. */
export function queueForApi(deps: QueueDeps): QueueOperations {
  const operations = queueOperations(deps);
  return {
    queue: (request) => orProblem(operations.queue(request)),
    hold: (request) => orProblem(operations.hold(request)),
    actOnQueue: (request) => orProblem(operations.actOnQueue(request)),
  };
}

async function orProblem<T>(done: Promise<T>): Promise<T> {
  return await done.catch((error: unknown) => {
    if (!(error instanceof OperationError)) throw error;
    const [status, code] = PROBLEMS[error.code];
    throw new Problem(status, code, error.message);
  });
}
