import { z } from 'zod';
import { type FieldFault, Problem } from '../http/problem.ts';
import { type Progress, UNWATCHED } from './operation.ts';
import { faultLines, requestFaults } from './request-faults.ts';
import { OPERATIONS, type Operations, operationNamed } from './table.ts';

/** An operation that was not done. The message says why, and what to do next. */
export class OperationError extends Error {
  /**
   * - `invalid`: the request is wrong in itself.
   * - `not_found`: it names what does not exist.
   * - `refused`: it cannot be done in the present state.
   * - `unavailable`: it could not be done now.
   * - `forbidden`: who asks may not.
   */
  readonly code: OperationErrorCode;
  /** The fields that are at fault, of a request whose shape is wrong; the message names them as well. */
  readonly faults: readonly FieldFault[];
  constructor(
    code: OperationErrorCode,
    message: string,
    { faults = [], ...options }: ErrorOptions & { readonly faults?: readonly FieldFault[] } = {},
  ) {
    super(message, options);
    this.name = 'OperationError';
    this.code = code;
    this.faults = faults;
  }
}

const ERROR_CODES = ['invalid', 'not_found', 'refused', 'unavailable', 'forbidden'] as const;

/** See {@link OperationError.code}. */
export type OperationErrorCode = (typeof ERROR_CODES)[number];

/** Of a request with more faults, these are told. */
const MAX_FAULTS = 20;

/** An error as it travels through the socket. */
export const errorSchema = z.object({ code: z.enum(ERROR_CODES), message: z.string() });

/** Calls an operation by name with a request whose shape is not yet known to be right. */
export async function callByName(
  operations: Operations,
  name: string,
  request: unknown,
  progress: Progress<unknown> = UNWATCHED,
): Promise<unknown> {
  const operation = operationNamed(name);
  if (operation === null)
    throw new OperationError(
      'invalid',
      `The running server does not know the operation ${name}; restart it.`,
    );
  const parsed = OPERATIONS[operation].request.safeParse(request, { reportInput: true });
  if (!parsed.success) throw faultyRequest(requestFaults(parsed.error.issues.slice(0, MAX_FAULTS)));
  // Sound because the request has just been parsed by this very operation's schema.
  const call = operations[operation] as (request: unknown, progress: Progress<unknown>) => Promise<unknown>;
  return await call(parsed.data, progress);
}

function faultyRequest(faults: readonly FieldFault[]): OperationError {
  return new OperationError('invalid', faultLines(faults), { faults });
}

/** What the API answers with other statuses is wrong in itself. */
const CODES: Readonly<Record<number, OperationErrorCode>> = {
  404: 'not_found',
  409: 'refused',
  503: 'unavailable',
};

/** A refusal of the API's as one of an operation, which keeps it as its cause; any other error as it is. */
export function asOperationError(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const faults = error.errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const message = faults.length > 0 ? faults.join('\n') : error.detail;
  return new OperationError(CODES[error.status] ?? 'invalid', message, { cause: error });
}
