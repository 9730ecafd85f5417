import { Problem } from '../http/problem.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';

/** What the API answers with other statuses is wrong in itself. */
const CODES: Readonly<Record<number, OperationErrorCode>> = {
  404: 'not_found',
  409: 'refused',
  503: 'unavailable',
};

/** A refusal of the API's as one of an operation; any other error as it is. */
export function asOperationError(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const faults = error.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const message = faults.length > 0 ? faults.join('\n') : error.detail;
  return new OperationError(CODES[error.status] ?? 'invalid', message);
}
