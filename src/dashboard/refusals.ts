import { OperationError, type OperationErrorCode } from '../control/operations.ts';
import { Problem } from '../http/problem.ts';

/** What a refusal of an operation is over HTTP; its code is the problem's. */
const STATUSES: Readonly<Record<OperationErrorCode, number>> = {
  invalid: 400,
  not_found: 404,
  refused: 409,
  unavailable: 503,
  forbidden: 403,
};

/** A refused operation as the problem that tells of it; anything else as it is. */
export function asProblem(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  return new Problem(STATUSES[error.code], error.code, error.message);
}

/** The refusal of whoever is not signed in. */
export function signedOut(): Problem {
  return new Problem(401, 'signed_out', 'Sign in first.', { headers: { 'WWW-Authenticate': 'Session' } });
}
