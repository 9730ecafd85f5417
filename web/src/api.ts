import type { SessionCalls } from '../../src/dashboard/contract.ts';
import type { OperationName, RequestOf, ResultOf, StepOf } from '../../src/operations/table.ts';
import { answerCame, connectionLost } from './connection.ts';

/** Longer than the slowest call may take, except those whose steps are streamed. */
const CALL_TIMEOUT_MS = 60_000;

/** A call that failed. The message is for people, and says what to do next. */
export class ApiError extends Error {
  /** Of HTTP; 0 when no answer came. */
  readonly status: number;
  /** Such as `invalid`, `refused`, `forbidden`; `unreachable` when no answer came. */
  readonly code: string;
  /** By which the request is found in the log. */
  readonly requestId: string | null;
  /** Fields that are wrong, by their JSON pointer. */
  readonly fields: readonly FieldError[];

  constructor(status: number, problem: Problem, requestId: string | null = null) {
    super(problem.detail ?? problem.message ?? problem.title ?? 'The request failed.');
    this.name = 'ApiError';
    this.status = status;
    this.code = problem.code ?? 'failed';
    this.requestId = problem.requestId ?? requestId;
    this.fields = problem.errors ?? [];
  }
}

/** A field that is wrong. */
export interface FieldError {
  /** Such as `/cidrs/1`. */
  readonly pointer: string;
  readonly detail: string;
}

/** As in `application/problem+json`. */
interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly message?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
}

let onSignedOut: () => void = () => {};

/** Says what to do when the server no longer knows the session. */
export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler;
}

/** Calls an operation. */
export async function call<Name extends OperationName>(
  operation: Name,
  request: RequestOf<Name>,
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  return await post<ResultOf<Name>>(`/api/call/${operation}`, request, signal);
}

/** Calls an operation that takes a while, and tells of each step as it happens. */
export async function stream<Name extends OperationName>(
  operation: Name,
  request: RequestOf<Name>,
  onStep: (step: StepOf<Name>) => void,
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  const response = await send(`/api/call/${operation}`, {
    ...asPost(request, 'application/x-ndjson'),
    ...(signal && { signal }),
  });
  const requestId = response.headers.get('x-request-id');
  for await (const line of linesOf(response)) {
    const told = JSON.parse(line) as { step?: StepOf<Name>; result?: ResultOf<Name>; error?: Problem };
    if (told.error) throw new ApiError(response.status, told.error, requestId);
    if ('result' in told) return told.result as ResultOf<Name>;
    if ('step' in told) onStep(told.step as StepOf<Name>);
  }
  throw new ApiError(
    0,
    { code: 'unreachable', detail: 'The connection ended before the result arrived.' },
    requestId,
  );
}

/** Posts JSON and gives the JSON of the answer. */
async function post<Result>(path: string, body: unknown, signal?: AbortSignal): Promise<Result> {
  const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
  const response = await send(path, {
    ...asPost(body, 'application/json'),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  return (await response.json()) as Result;
}

/** One of the calls around signing in. */
export async function sessionCall<Name extends keyof SessionCalls>(
  name: Name,
  request: SessionCalls[Name]['request'],
): Promise<SessionCalls[Name]['answer']> {
  return await post<SessionCalls[Name]['answer']>(`/api/session/${name}`, request);
}

/** Gets JSON. */
export async function get<Result>(path: string, signal?: AbortSignal): Promise<Result> {
  const response = await send(path, { ...(signal && { signal }), headers: { accept: 'application/json' } });
  return (await response.json()) as Result;
}

/** Gets what is to be read bit by bit. */
export async function download(path: string, signal: AbortSignal): Promise<Response> {
  return await send(path, { signal });
}

/** The lines of an answer as they arrive; empty ones are left out. */
async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? '')).split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) if (line.trim() !== '') yield line;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function asPost(body: unknown, accept: string): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: `${accept}, application/problem+json` },
    body: JSON.stringify(body),
  };
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    const headers = withPresence(init.headers);
    response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...init, headers });
  } catch (error) {
    if (init.signal?.aborted && !isTimeout(init.signal.reason)) throw error;
    if (!isTimeout(error)) connectionLost();
    throw new ApiError(0, {
      code: 'unreachable',
      detail: isTimeout(error)
        ? 'The server did not answer in time. Try again.'
        : 'The server cannot be reached. It may be restarting; try again in a moment.',
    });
  }
  answerCame(response);
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && !path.startsWith('/api/session')) onSignedOut();
  throw new ApiError(response.status, problem, response.headers.get('x-request-id'));
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    return (await response.json()) as Problem;
  } catch {
    return { detail: `The server answered ${response.status} without saying why.` };
  }
}

// Whether somebody is there. A page fetches by itself what has changed; were that use of the session, one left open would
// never end by its idle time. So what is asked while nobody touched the page for a while says so.

/** The name of the header; the server goes by its presence alone. */
const BY_ITSELF = 'waybill-background';
/** Nobody has touched the page for so long: what it asks now, it asks by itself. */
const AWAY_MS = 60_000;

let touchedAt = performance.now();

for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])
  globalThis.addEventListener?.(
    kind,
    () => {
      touchedAt = performance.now();
    },
    { capture: true, passive: true },
  );

/** Headers of a request, with the note that the page makes it by itself where nobody is there. */
function withPresence(given: HeadersInit | undefined): Headers {
  const headers = new Headers(given);
  if (performance.now() - touchedAt > AWAY_MS) headers.set(BY_ITSELF, '1');
  return headers;
}
