import { ACCESS } from '../control/access.ts';
import type { Actor } from '../control/actor.ts';
import type { Door } from '../control/door.ts';
import { OPERATION_NAMES, type OperationName } from '../control/operations.ts';
import { mayAct, type Role } from '../domain/account.ts';
import type { Exchange } from '../http/exchange.ts';
import { internalError, Problem } from '../http/problem.ts';
import { StepLines, wantsSteps } from '../http/steps.ts';
import type { Budget } from '../lib/budget.ts';
import { readJson } from './json-request.ts';
import { asProblem } from './refusals.ts';

/** What calling operations needs. */
export interface CallDeps {
  readonly door: Door;
  /** `api.max_message_bytes` */
  readonly maxMessageBytes: () => number;
  /** Bytes of requests in memory. */
  readonly budget: Budget;
}

/** A request of an operation that takes no message. */
const MAX_REQUEST_BYTES = 2 * 1024 * 1024;
/** How much larger a request may be than the message in it: base64, and the JSON around it. */
const MESSAGE_OVERHEAD = 1.5;
const WITH_MESSAGE: readonly OperationName[] = ['submit', 'checkMessage'];

/** Answers `POST /api/call/<operation>`. Throws problems. */
export async function answerCall(
  exchange: Exchange,
  actor: Actor,
  name: string,
  { door, maxMessageBytes, budget }: CallDeps,
): Promise<void> {
  const operation = operationOf(name);
  const maxBytes = maxRequestBytes(name, maxMessageBytes());
  if (operation === null || maxBytes === null)
    throw new Problem(404, 'not_found', 'There is no such operation.');
  requireRole(actor, ACCESS[operation].role);
  const request = await readJson(exchange, maxBytes, budget.share(actor.name));
  if (wantsSteps(exchange)) await answerInSteps(exchange, (lines) => door.call(actor, name, request, lines));
  else {
    const progress = { tell() {}, signal: exchange.signal };
    exchange.json(200, (await orProblem(door.call(actor, name, request, progress))) ?? null);
  }
}

/** Bytes that the request of an operation may have; null where there is no such operation. */
export function maxRequestBytes(name: string, maxMessageBytes: number): number | null {
  const operation = operationOf(name);
  if (operation === null) return null;
  return WITH_MESSAGE.includes(operation) ? Math.ceil(maxMessageBytes * MESSAGE_OVERHEAD) : MAX_REQUEST_BYTES;
}

function operationOf(name: string): OperationName | null {
  return OPERATION_NAMES.find((known) => known === name) ?? null;
}

/** Throws 403 for an actor whose role does not go so far. */
export function requireRole({ name, role }: Actor, from: Role): void {
  if (!mayAct(role, from))
    throw new Problem(403, 'forbidden', `This needs the role ${from}; ${name} has the role ${role}.`);
}

/** As the promise, but a refused operation is a problem. */
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
    // The server answers what was not told of, and logs what is no refusal.
    if (!told || !(problem instanceof Problem)) throw problem;
  }
}
