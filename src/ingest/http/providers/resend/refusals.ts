import type { Exchange } from '../../../../http/exchange.ts';
import type { FieldFault, Problem } from '../../../../http/problem.ts';
import { faultsText } from '../submitting.ts';

/** Resend's errors: `{"statusCode", "name", "message"}`, which its SDK hands on as they are (contract-2 §C2). */

interface Row {
  readonly status: number;
  readonly name: string;
}

/** By our codes. */
// biome-ignore format: a table
export const BY_CODE: Readonly<Record<string, Row>> = {
  source_not_allowed:      { status: 403, name: 'invalid_api_key' },
  key_source_not_allowed:  { status: 403, name: 'invalid_api_key' },
  scope_missing:           { status: 401, name: 'restricted_api_key' },
  sender_not_allowed:      { status: 403, name: 'validation_error' },
  idempotency_mismatch:    { status: 409, name: 'invalid_idempotent_request' },
  idempotency_in_progress: { status: 409, name: 'concurrent_idempotent_requests' },
  not_cancellable:         { status: 422, name: 'validation_error' },
  not_reschedulable:       { status: 422, name: 'validation_error' },
  complaint:               { status: 422, name: 'validation_error' },
};

/** By our statuses, where the code says nothing else. */
// biome-ignore format: a table
export const BY_STATUS: Readonly<Record<number, Row>> = {
  400: { status: 422, name: 'validation_error' },
  401: { status: 403, name: 'invalid_api_key' },
  403: { status: 403, name: 'validation_error' },
  404: { status: 404, name: 'not_found' },
  405: { status: 405, name: 'method_not_allowed' },
  409: { status: 409, name: 'validation_error' },
  413: { status: 413, name: 'validation_error' },
  415: { status: 415, name: 'validation_error' },
  429: { status: 429, name: 'rate_limit_exceeded' },
  500: { status: 500, name: 'application_error' },
  503: { status: 503, name: 'application_error' },
};

const MISSING = 'missing_api_key';

/** Answers a refusal as Resend does. */
export function refuseAsResend(exchange: Exchange, problem: Problem): void {
  const { status, name, message } = refusalOf(problem, exchange.headers.authorization === undefined);
  exchange.json(status, { statusCode: status, name, message }, problem.headers);
}

/** What is wrong with one email of several. */
export function refusalText(problem: Problem): string {
  return refusalOf(problem, false).message;
}

function refusalOf(problem: Problem, hasNoKey: boolean): Row & { readonly message: string } {
  const { code, detail, errors } = problem;
  if (problem.status === 401 && hasNoKey) return { status: 401, name: MISSING, message: detail };
  const row = BY_CODE[code] ??
    BY_STATUS[problem.status] ?? { status: problem.status, name: 'application_error' };
  if (problem.status !== 400 || errors.length === 0) return { ...row, message: detail };
  const [first] = errors;
  if (first?.pointer === '/Idempotency-Key')
    return { status: 400, name: 'invalid_idempotency_key', message: first.detail };
  const missing = errors.find((fault) => fault.code === 'required' && isTopLevel(fault));
  if (missing !== undefined)
    return {
      ...row,
      name: 'missing_required_field',
      message: `Missing \`${missing.pointer.slice(1)}\` field.`,
    };
  const isAttachment = errors.every(({ pointer }) => pointer.includes('attachments/'));
  const message = faultsText(errors);
  return { ...row, ...(isAttachment && { name: 'invalid_attachment' }), message };
}

function isTopLevel({ pointer }: FieldFault): boolean {
  return pointer.lastIndexOf('/') === 0;
}
