import type { Exchange } from '../../../../http/exchange.ts';
import type { Problem } from '../../../../http/problem.ts';

/**
 * SendGrid's errors: `{"errors": [{"message", "field", "help"}]}`, one for each faulty field, which its SDKs hand on as
 * they are (contract-2 §C4). The status is ours. The table of a provider's
 * errors is a file of its own.
 */

interface SendgridError {
  readonly message: string;
  readonly field: string | null;
  readonly help: string | null;
}

/** What SendGrid says whatever the reason; what is to be done is in `help`. */
export const FIXED: Readonly<Record<number, string>> = {
  401: 'The provided authorization grant is invalid, expired, or revoked',
  403: 'access forbidden',
  429: 'too many requests',
};

/** The most faults that are told. */
const MAX_TOLD = 100;

/** Answers a refusal as SendGrid does. */
export function refuseAsSendgrid(exchange: Exchange, problem: Problem): void {
  exchange.json(problem.status, { errors: errorsOf(problem) }, problem.headers);
}

function errorsOf({ status, detail, errors }: Problem): SendgridError[] {
  const message = FIXED[status];
  if (message !== undefined) {
    const [fault] = errors;
    // An unknown key learns nothing more.
    const help = status === 401 ? null : detail;
    return [{ message, field: fault === undefined ? null : fieldOf(fault.pointer), help }];
  }
  if (errors.length === 0) return [{ message: detail, field: null, help: null }];
  return errors
    .slice(0, MAX_TOLD)
    .map((fault) => ({ message: fault.detail, field: fieldOf(fault.pointer), help: null }));
}

/** `/personalizations/0/to/0/email` is `personalizations.0.to.0.email`; null: the body. */
function fieldOf(pointer: string): string | null {
  const field = pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  return field === '' ? null : field;
}
