import type { Actor, Door } from '../control/door.ts';
import { mayAct, type Role } from '../domain/account.ts';
import { readWholeBody } from '../http/body.ts';
import { type Exchange, StepLines, wantsSteps } from '../http/exchange.ts';
import { parseJson } from '../http/json.ts';
import { isUtf8, parseMediaType } from '../http/media-type.ts';
import { internalError, Problem } from '../http/problem.ts';
import type { Budget, Share } from '../lib/budget.ts';
import { OperationError, type OperationErrorCode } from '../operations/call.ts';
import { OPERATIONS, operationNamed } from '../operations/table.ts';

/** What calling operations needs. */
export interface CallDeps {
  readonly door: Door;
  /** `api.max_message_bytes` */
  readonly maxMessageBytes: () => number;
  /** Bytes of requests in memory. */
  readonly budget: Budget;
}

/** Largest request of an operation without a message. */
const MAX_REQUEST_BYTES = 2 * 1024 * 1024;
/** How much larger a request may be than the message in it: base64, and the JSON around it. */
const MESSAGE_OVERHEAD = 1.5;

/** Answers `POST /api/call/<operation>`. Throws problems. */
export async function answerCall(
  exchange: Exchange,
  actor: Actor,
  name: string,
  { door, maxMessageBytes, budget }: CallDeps,
): Promise<void> {
  const operation = operationNamed(name);
  const maxBytes = maxRequestBytes(name, maxMessageBytes());
  if (operation === null || maxBytes === null)
    throw new Problem(404, 'not_found', 'There is no such operation.');
  requireRole(actor, OPERATIONS[operation].access.role);
  const request = await readJson(exchange, maxBytes, budget.share(actor.name));
  if (wantsSteps(exchange)) await answerInSteps(exchange, (lines) => door.call(actor, name, request, lines));
  else {
    const progress = { tell() {}, signal: exchange.signal };
    exchange.json(200, (await orProblem(door.call(actor, name, request, progress))) ?? null);
  }
}

/** Largest request of an operation, in bytes; null if it does not exist. */
export function maxRequestBytes(name: string, maxMessageBytes: number): number | null {
  const operation = operationNamed(name);
  if (operation === null) return null;
  const { takesMessage } = OPERATIONS[operation];
  return takesMessage ? Math.ceil(maxMessageBytes * MESSAGE_OVERHEAD) : MAX_REQUEST_BYTES;
}

/** Throws 403 for an actor whose role does not suffice. */
export function requireRole({ name, role }: Actor, from: Role): void {
  if (!mayAct(role, from))
    throw new Problem(403, 'forbidden', `This needs the role ${from}; ${name} has the role ${role}.`);
}

/** The promise's result; a refused operation becomes a problem. */
async function orProblem<T>(done: Promise<T>): Promise<T> {
  return await done.catch((error: unknown) => {
    throw asProblem(error);
  });
}

async function answerInSteps(
  exchange: Exchange,
  work: (lines: StepLines) => Promise<unknown>,
): Promise<void> {
  const lines = new StepLines(exchange);
  try {
    lines.finish(await work(lines));
  } catch (error) {
    const problem = asProblem(error);
    const told = lines.fail(problem instanceof Problem ? problem : internalError());
    // The server answers errors not reported yet, and logs those that are not refusals.
    if (!told || !(problem instanceof Problem)) throw problem;
  }
}

/** Far beyond any real request: the largest is a message with its fields. */
const JSON_LIMITS = { maxDepth: 32, maxValues: 100_000 };

/**
 * Throws 415 for a body not declared as JSON: forms on other sites send other types without a preflight, never this
 * one.
 */
export function requireJson({ headers }: Pick<Exchange, 'headers'>): void {
  const mediaType = parseMediaType(headers['content-type']);
  if (mediaType?.type === 'application/json' && isUtf8(mediaType)) return;
  throw new Problem(415, 'unsupported_media_type', 'Content-Type must be application/json.', {
    headers: { Accept: 'application/json' },
  });
}

/** Reads a JSON body. Throws the problems 415, 413, 400 and 503, and those of reading a body. */
export async function readJson(exchange: Exchange, maxBytes: number, budget: Share): Promise<unknown> {
  requireJson(exchange);
  return parseJson(await readWholeBody(exchange, { maxBytes, budget }), JSON_LIMITS);
}

/** The HTTP status of an operation's refusal; its code is the problem's. */
const STATUSES: Readonly<Record<OperationErrorCode, number>> = {
  invalid: 400,
  not_found: 404,
  refused: 409,
  unavailable: 503,
  forbidden: 403,
};

/** A refused operation as a problem; any other error unchanged. */
export function asProblem(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  return new Problem(STATUSES[error.code], error.code, error.message);
}

/** The refusal of a request without a session. */
export function signedOut(): Problem {
  return new Problem(401, 'signed_out', 'Sign in first.', { headers: { 'WWW-Authenticate': 'Session' } });
}
