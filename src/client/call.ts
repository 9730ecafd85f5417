import { type Answer, isSuccess, refusalOf, strange } from './answer.ts';
import type { Machine } from './machine.ts';
import type { CallOptions } from './options.ts';
import { checkMs, type Failure, failed, InputFault, inputFailure, type Result, succeeded } from './result.ts';
import type { Settings } from './settings.ts';

/** One request to the API: tried, and tried again while that can help and there is time. */

/** A request as it goes out with every try, and how its answer is read. */
export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly content: string | Uint8Array<ArrayBuffer> | Blob };
  /** Set for what sends, and for nothing else. */
  readonly idempotencyKey?: string;
  /** Milliseconds that the server may take longer than usual for the answer, because it was asked to wait. */
  readonly patienceMs?: number;
  /** Say what the first answer was, whatever it was. */
  readonly once?: true;
  /** A status besides those of success whose answer has a value. */
  readonly alsoReads?: number;
  /** The value that an answer has; `null` when it is not the API's. */
  read(answer: Answer): T | null;
}

/** How a call ended. */
export interface Called<T> {
  readonly result: Result<T>;
  /** An earlier try may have done what was asked, although its answer never came. */
  readonly doneBefore: boolean;
  /** It failed for a reason that may be over soon. */
  readonly passing: boolean;
}

/** One try's end. */
type Try<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** Another try may end better. */
      readonly passing: boolean;
      /** The server may have done what was asked. */
      readonly maybeDone: boolean;
      readonly retryAfterMs: number | null;
    };

const TIMEOUT_MS = 90_000;
const TRY_TIMEOUT_MS = 30_000;
/** What is sent gets more time by its size: a second for so many bytes. */
const BYTES_A_SECOND = 65_536;

/** Makes the calls of one client. */
export class Caller {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Makes the call that `build` gives; its result tells of the last try. Never rejects. */
  async call<T>(
    build: () => Call<T> | Promise<Call<T>>,
    given: CallOptions | null | undefined,
  ): Promise<Called<T>> {
    let call: Call<T>;
    const options = given ?? {};
    try {
      checkOptions(options);
      call = await build();
    } catch (thrown) {
      const result = failed({ ...inputFailure(thrown), maybeAccepted: false });
      return { result, doneBefore: false, passing: false };
    }
    const { machine } = this.#settings;
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs ?? TIMEOUT_MS + uploadMs(call);
    const whole = new Deadline(timeoutMs, options.signal ?? undefined, machine);
    try {
      return await this.#tryAgain(call, whole, machine.mono() + timeoutMs);
    } finally {
      whole.release();
    }
  }

  async #tryAgain<T>(call: Call<T>, whole: Deadline, endsAt: number): Promise<Called<T>> {
    const { machine, maxRetries } = this.#settings;
    let doneBefore = false;
    for (let tries = 1; ; tries += 1) {
      const tried = await this.#try(call, whole);
      if (tried.ok) return { result: succeeded(tried.value), doneBefore, passing: false };
      const { failure, passing, maybeDone, retryAfterMs } = tried;
      const waitMs = waitBefore(tries, retryAfterMs, machine);
      // Where there is no time for another try, what this one said tells more than a time-out would.
      const isLast = !passing || call.once || tries > maxRetries || machine.mono() + waitMs >= endsAt;
      if (isLast) return { result: told(failure, call, doneBefore || maybeDone), doneBefore, passing };
      doneBefore ||= maybeDone;
      await machine.sleep(waitMs, whole.signal);
      if (whole.ended !== null)
        return { result: told(overFailure(whole), call, doneBefore), doneBefore, passing };
    }
  }

  async #try<T>(call: Call<T>, whole: Deadline): Promise<Try<T>> {
    const { machine, url, tryTimeoutMs } = this.#settings;
    if (whole.ended !== null) return over(whole, false);
    const ms = (tryTimeoutMs ?? TRY_TIMEOUT_MS + uploadMs(call)) + (call.patienceMs ?? 0);
    const bound = new Deadline(ms, whole.signal, machine);
    try {
      return this.#read(await this.#exchange(call, bound.signal), call);
    } catch (cause) {
      if (whole.ended !== null) return over(whole, true);
      if (bound.ended !== null) return lost(TIMED_OUT, true, true);
      const { message, passing, maybeDone } = lossOf(cause, url);
      return lost({ kind: 'network', message, cause }, passing, maybeDone);
    } finally {
      bound.release();
    }
  }

  async #exchange(call: Call<unknown>, signal: AbortSignal): Promise<Answer> {
    const { url, key, fetch } = this.#settings;
    const headers: Record<string, string> = { ...call.headers, authorization: `Bearer ${key}` };
    if (call.body) headers['content-type'] = call.body.type;
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
    const response = await fetch(`${url}/api/v1${call.path}`, {
      method: call.method,
      headers,
      signal,
      // A redirect would carry the key elsewhere, and turn a POST into a GET.
      redirect: 'manual',
      credentials: 'omit',
      ...(call.body ? { body: call.body.content } : {}),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  }

  #read<T>(answer: Answer, call: Call<T>): Try<T> {
    const { status, headers } = answer;
    const value = isSuccess(status) || status === call.alsoReads ? call.read(answer) : null;
    if (value !== null) return { ok: true, value };
    if (isSuccess(status)) return lost(strange(status), false, true);
    const retryAfterMs = readRetryAfter(headers.get('retry-after'), this.#settings.machine.wall());
    const failure = refusalOf(answer, retryAfterMs);
    const code = failure.kind === 'problem' ? failure.code : null;
    const passing = isPassing(status, code);
    return { ok: false, failure, passing, maybeDone: isUnsure(status, code), retryAfterMs };
  }
}

const TIMED_OUT: Failure = { kind: 'timeout', message: 'The answer did not come in time.' };

function overFailure(whole: Deadline): Failure {
  return whole.ended === 'aborted'
    ? { kind: 'aborted', message: 'The call was ended by its signal.' }
    : TIMED_OUT;
}

/** The end of a try that the end of the whole call ended; after a time-out another call may end better. */
function over(whole: Deadline, maybeDone: boolean): Try<never> {
  return lost(overFailure(whole), whole.ended === 'timeout', maybeDone);
}

function lost(failure: Failure, passing: boolean, maybeDone: boolean): Try<never> {
  return { ok: false, failure, passing, maybeDone, retryAfterMs: null };
}

/** A failure as the caller gets it. */
function told(failure: Failure, { idempotencyKey }: Call<unknown>, maybeDone: boolean): Result<never> {
  if (idempotencyKey === undefined) return failed({ ...failure, maybeAccepted: false });
  return failed({ ...failure, maybeAccepted: maybeDone, idempotencyKey });
}

function uploadMs({ body }: Call<unknown>): number {
  if (body === undefined) return 0;
  const { content } = body;
  // A string may have up to three bytes a character; the base64 that makes strings long has one.
  const bytes =
    typeof content === 'string' ? content.length : 'size' in content ? content.size : content.length;
  return Math.floor(bytes / BYTES_A_SECOND) * 1000;
}

function checkOptions({ signal, timeoutMs }: CallOptions): void {
  if (timeoutMs !== undefined && timeoutMs !== null) checkMs('timeoutMs', timeoutMs);
  if (signal && typeof signal.addEventListener !== 'function')
    throw new InputFault('signal must be an AbortSignal, such as AbortSignal.timeout(5000).');
}

/** Why a {@link Deadline} is over. */
type DeadlineEnd = 'timeout' | 'aborted';

/**
 * A bound in time that also ends when another signal does. `AbortSignal.any` and `AbortSignal.timeout` would do,
 * were they in every runtime the client is for. To be released when it is not needed any more.
 */
class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #follow = () => this.#end('aborted');
  #ended: DeadlineEnd | null = null;

  constructor(ms: number, outer: AbortSignal | undefined, machine: Machine) {
    this.#outer = outer;
    if (outer?.aborted) this.#end('aborted');
    outer?.addEventListener('abort', this.#follow, { once: true });
    void machine.sleep(ms, this.signal).then(() => this.#end('timeout'));
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it is over; `null` while it is not. */
  get ended(): DeadlineEnd | null {
    return this.#ended;
  }

  /** Forgets the timer and the other signal. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#follow);
    // Ends the sleep; nobody listens to the signal any more.
    this.#controller.abort();
  }

  #end(why: DeadlineEnd): void {
    if (this.#controller.signal.aborted) return;
    this.#ended = why;
    this.#controller.abort();
  }
}

// When a call is made again, how long to wait before, and what a failed try may have done. Pure but for the dice.

/** Answers that may be another one soon: overload, time-outs, a server on its way up or down. */
const PASSING_STATUSES = [408, 429, 502, 503, 504];
/** The first try is still being worked on; its answer can be had soon. */
const PASSING_CODE = 'idempotency_in_progress';
/** Answers that do not say how far the request got: they come from whatever stands before the server, or it failed. */
const UNSURE_STATUSES = [408, 500, 502, 504];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Whether an answer says: not now. */
export function isPassing(status: number, code: string | null): boolean {
  return PASSING_STATUSES.includes(status) || code === PASSING_CODE;
}

/** Whether what was asked may have been done, or be done yet, although this was the answer; no code: not the API's. */
export function isUnsure(status: number, code: string | null): boolean {
  if (UNSURE_STATUSES.includes(status) || code === PASSING_CODE) return true;
  // The API's own 503 says that nothing was accepted; of anybody else's nobody knows.
  return code === null && status >= 500;
}

/**
 * Milliseconds to wait before the next try, after `tries` of them: anything up to a bound that doubles, so that
 * many clients that failed together do not come back together. What the server asked for comes on top.
 */
export function waitBefore(
  tries: number,
  retryAfterMs: number | null,
  dice: Pick<Machine, 'random'>,
): number {
  const bound = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
  return (retryAfterMs ?? 0) + dice.random() * bound;
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date, as milliseconds from now; `null` when it is absent or
 * neither.
 */
export function readRetryAfter(text: string | null, wallMs: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - wallMs);
}

// Why a request had no answer, from what `fetch` threw: platforms hide it in causes of causes.

/** What a request's failure means. */
interface Loss {
  /** A sentence for people, with the cure where there is one. */
  readonly message: string;
  /** Another try may end better. */
  readonly passing: boolean;
  /** The server may have got the request. */
  readonly maybeDone: boolean;
}

/** No connection was ever made. */
const NOT_CONNECTED = [
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

const UNTRUSTED =
  'its certificate is not trusted here. Trust it (for Node.js: NODE_EXTRA_CA_CERTS=tls.crt), or give the server one that is trusted.';
const OUTDATED = 'its certificate is not valid at this time. Renew it, or set the clock.';
const MISNAMED =
  'its certificate is for another name. Use a name that is in it, or give the server another one.';
const NO_TLS = 'there is no TLS at this port. Use http://, or the port of TLS (8026).';
const BAD_PORT = 'programs may not connect to this port over HTTP. Let the server use another (api.port).';

/** Faults that no other try mends, and how to mend them. All of them come before a request is written. */
const CURES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: OUTDATED,
  CERT_NOT_YET_VALID: OUTDATED,
  ERR_TLS_CERT_ALTNAME_INVALID: MISNAMED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  'bad port': BAD_PORT,
};

/** Reads what `fetch` threw for a request to the server at `url`. */
export function lossOf(thrown: unknown, url: string): Loss {
  const reason = reasonOf(thrown);
  const cure = CURES[reason];
  if (cure !== undefined) {
    const message = `The server at ${url} could not be talked to: ${cure} (${reason})`;
    return { message, passing: false, maybeDone: false };
  }
  const isConnected = !NOT_CONNECTED.includes(reason);
  const what = isConnected ? 'could not be reached, or the connection was lost' : 'could not be reached';
  const why = reason === '' ? '' : ` (${reason})`;
  return { message: `The server at ${url} ${what}${why}.`, passing: true, maybeDone: isConnected };
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return '';
  if (thrown.cause instanceof Error) return reasonOf(thrown.cause);
  return 'code' in thrown ? String(thrown.code) : thrown.message;
}
