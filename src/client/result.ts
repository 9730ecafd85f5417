import type { FieldFault } from './types.ts';

/**
 * What every call resolves to: its value, or an error as a value. Look at `ok` to tell them apart, or let
 * {@link unwrap} throw.
 */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ClientError };

/** Why a call failed; `kind` tells which way. */
export type ClientError =
  | ProblemError
  | NetworkError
  | TimeoutError
  | AbortedError
  | ProtocolError
  | InputError;

/** What every error says. */
interface ErrorBase {
  /** A sentence for people, of bounded length. */
  readonly message: string;
  /**
   * A message may have been accepted all the same: by this try or an earlier one, whose answer was lost. Sending
   * the same again under {@link idempotencyKey} finds out, and never sends twice. False for calls that send
   * nothing.
   */
  readonly maybeAccepted: boolean;
  /** The key under which a message was being sent; absent when nothing was. */
  readonly idempotencyKey?: string;
}

/** The API refused, and says why. */
export interface ProblemError extends ErrorBase {
  readonly kind: 'problem';
  /** HTTP status. */
  readonly status: number;
  /** What to tell problems apart by, such as `invalid_submission` or `rate_limited`; stable. */
  readonly code: string;
  readonly detail: string;
  /** Every faulty field, where fields were at fault. */
  readonly errors: readonly FieldFault[];
  /** Names the request in the server's log; `null` when the answer has none. */
  readonly requestId: string | null;
  /** When to ask again, in milliseconds from now; `null` when the answer does not say. */
  readonly retryAfterMs: number | null;
}

/** The server could not be reached, or the connection was lost before the answer had come. */
export interface NetworkError extends ErrorBase {
  readonly kind: 'network';
  /** What the platform's `fetch` threw. */
  readonly cause: unknown;
}

/** The answer did not come within the time that the call had. */
export interface TimeoutError extends ErrorBase {
  readonly kind: 'timeout';
}

/** The caller's signal ended the call. */
export interface AbortedError extends ErrorBase {
  readonly kind: 'aborted';
}

/** What answered is not the API: a proxy, another program, a page to sign in at. */
export interface ProtocolError extends ErrorBase {
  readonly kind: 'protocol';
  /** HTTP status. */
  readonly status: number;
}

/** What was given cannot be sent: a file that cannot be read, a key that no header can carry. */
export interface InputError extends ErrorBase {
  readonly kind: 'input';
}

/** An error before it is known what was being sent, and how earlier tries ended. */
export type Failure = Bare<ClientError>;
type Bare<E> = E extends ClientError ? Omit<E, 'maybeAccepted' | 'idempotencyKey'> : never;

/** What a call that sent something tells besides the API's answer. */
export interface Sent {
  /** The key it was sent under: the given one, or the one that was made for this call. */
  readonly idempotencyKey: string;
  /** Nothing new was accepted: this is the answer of an earlier call or try. */
  readonly replayed: boolean;
}

/** A {@link ClientError} where one has to be thrown: by {@link unwrap} and by lists while they are gone through. */
export class WaybillError extends Error {
  readonly error: ClientError;
  constructor(error: ClientError) {
    super(error.message, 'cause' in error ? { cause: error.cause } : undefined);
    this.name = 'WaybillError';
    this.error = error;
  }
}

/** The value of a result; throws {@link WaybillError} when there is none. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new WaybillError(result.error);
}

/** A result with a value. */
export function succeeded<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** A result with an error. */
export function failed(error: ClientError): Result<never> {
  return { ok: false, error };
}

// What callers give, told apart from what can be sent; types alone do not hold where programs are JavaScript.

/** What was given cannot be sent. The message names it, says the rule, and how to do it right. */
export class InputFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputFault';
  }
}

/** What was thrown while a request was made, as the error that the caller gets. */
export function inputFailure(thrown: unknown): Failure {
  const message = thrown instanceof InputFault ? thrown.message : `This cannot be sent: ${String(thrown)}`;
  return { kind: 'input', message };
}

/** Throws {@link InputFault} unless `value` is a number of milliseconds. */
export function checkMs(name: string, value: number): void {
  // Written this way round, NaN fails too.
  if (typeof value === 'number' && value >= 0) return;
  throw new InputFault(`${name} must be a number of milliseconds, 0 or more; Infinity for no end.`);
}
