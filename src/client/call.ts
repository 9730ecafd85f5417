import { type Answer, errorOf } from './answer.ts';
import { Deadline } from './deadline.ts';
import type { Machine } from './machine.ts';
import { type ClientError, failed, type Result, succeeded } from './result.ts';
import { isPassing, readRetryAfter, waitBefore } from './retry.ts';

/** One request to the API: tried, and tried again while that can help and there is time. */

/** What every call may be told. */
export interface CallOptions {
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call, with all its tries. */
  readonly timeoutMs?: number | undefined;
}

/** A request as it goes out with every try. */
export interface Request {
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`, with its query. */
  readonly path: string;
  readonly body?: { readonly type: string; readonly content: string | Uint8Array<ArrayBuffer> | Blob };
  readonly idempotencyKey?: string;
  /** Milliseconds that the server may take longer than usual for the answer, because it was asked to wait. */
  readonly patienceMs?: number;
  /** Say what the first answer was, whatever it was. */
  readonly once?: true;
}

/** How a call ended. */
export interface Called {
  readonly result: Result<Answer>;
  /** An earlier try may have done what was asked, although its answer never came. */
  readonly doneBefore: boolean;
}

/** What a {@link Caller} works with; the client's options with their defaults filled in. */
export interface CallerOptions {
  /** Where the server answers, without a slash at the end. */
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly tryTimeoutMs: number;
  readonly maxRetries: number;
  readonly machine: Machine;
}

/** One try's end. */
interface Try {
  readonly result: Result<Answer>;
  /** Another try may end better. */
  readonly passing: boolean;
  /** The server may have done what was asked. */
  readonly maybeDone: boolean;
  readonly retryAfterMs: number | null;
}

/** Statuses that come from whatever stands before the server, so that nobody knows how far the request got. */
const UNSURE_STATUSES = [408, 502, 504];

/** Makes the calls of one client. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Makes one call; its result tells of the last try. Never rejects. */
  async call(request: Request, options: CallOptions = {}): Promise<Called> {
    const { machine, maxRetries } = this.#options;
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs;
    const endsAt = machine.mono() + timeoutMs;
    const whole = new Deadline(timeoutMs, options.signal, machine);
    let doneBefore = false;
    try {
      for (let tries = 1; ; tries += 1) {
        const { result, passing, maybeDone, retryAfterMs } = await this.#try(request, whole);
        const end = { result, doneBefore };
        if (!passing || request.once || tries > maxRetries) return end;
        const waitMs = waitBefore(tries, retryAfterMs, machine);
        // There is no time for another try: what this one said tells more than a time-out would.
        if (machine.mono() + waitMs >= endsAt) return end;
        doneBefore ||= maybeDone;
        await machine.sleep(waitMs, whole.signal);
        if (whole.ended !== null) return { result: failed(overError(whole, request)), doneBefore };
      }
    } finally {
      whole.release();
    }
  }

  async #try(request: Request, whole: Deadline): Promise<Try> {
    const { machine, tryTimeoutMs } = this.#options;
    const bound = new Deadline(tryTimeoutMs + (request.patienceMs ?? 0), whole.signal, machine);
    try {
      if (whole.ended !== null) return lost(overError(whole, request), false);
      const answer = await this.#exchange(request, bound.signal);
      if (answer.status >= 200 && answer.status < 300) return taken(answer);
      return this.#refused(answer, request);
    } catch (cause) {
      if (whole.ended !== null) return lost(overError(whole, request), false);
      if (bound.ended !== null) return lost(timedOut(request), true);
      const message = `The server at ${this.#options.url} could not be reached, or the connection was lost${reasonOf(cause)}.`;
      return lost({ kind: 'network', message, cause, ...keyOf(request) }, true);
    } finally {
      bound.release();
    }
  }

  async #exchange(request: Request, signal: AbortSignal): Promise<Answer> {
    const { url, key, fetch } = this.#options;
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (request.body) headers['content-type'] = request.body.type;
    if (request.idempotencyKey !== undefined) headers['idempotency-key'] = request.idempotencyKey;
    const response = await fetch(`${url}/api/v1${request.path}`, {
      method: request.method,
      headers,
      signal,
      // A redirect would carry the key elsewhere, and turn a POST into a GET.
      redirect: 'manual',
      credentials: 'omit',
      ...(request.body ? { body: request.body.content } : {}),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  }

  #refused(answer: Answer, request: Request): Try {
    const retryAfterMs = readRetryAfter(answer.headers.get('retry-after'), this.#options.machine.wall());
    const error = errorOf(answer, retryAfterMs, keyOf(request));
    return {
      result: failed(error),
      passing: isPassing(answer.status, error.kind === 'problem' ? error.code : null),
      maybeDone: UNSURE_STATUSES.includes(answer.status),
      retryAfterMs,
    };
  }
}

/** What the platform says of a failed request, where it does: it hides the reason in causes of causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const reason = 'code' in error ? String(error.code) : error.message;
  return reason === '' ? '' : ` (${reason})`;
}

/** The part of an error that says under which key something was being sent. */
export function keyOf({ idempotencyKey }: { readonly idempotencyKey?: string | undefined }): {
  readonly idempotencyKey?: string;
} {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

function taken(answer: Answer): Try {
  return { result: succeeded(answer), passing: false, maybeDone: true, retryAfterMs: null };
}

function lost(error: ClientError, passing: boolean): Try {
  return { result: failed(error), passing, maybeDone: true, retryAfterMs: null };
}

function overError(whole: Deadline, request: Request): ClientError {
  if (whole.ended !== 'aborted') return timedOut(request);
  return { kind: 'aborted', message: 'The call was ended by its signal.', ...keyOf(request) };
}

function timedOut(request: Request): ClientError {
  return { kind: 'timeout', message: 'The answer did not come in time.', ...keyOf(request) };
}
