import { readWholeBody } from '../../http/body.ts';
import { StepLines, wantsSteps } from '../../http/exchange.ts';
import { parseJson } from '../../http/json.ts';
import { internalError, Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import type { AdminDoor } from '../service.ts';
import type { Call } from './call.ts';
import type { IngestLimits } from './options.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { requireType } from './read-fields.ts';

/** `POST /api/v1/admin/{operation}`: every operation of the dashboard, for scripts (docs/administering.md). */

/** What the endpoint needs. */
export interface AdminDeps {
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly limits: () => Pick<IngestLimits, 'maxJsonDepth' | 'maxJsonValues'>;
}

const ADVICE = 'Ask for less at once.';

/** Answers with the operation's result, at once or after its steps. */
export async function answerAdmin(call: Call, deps: AdminDeps): Promise<void> {
  const { exchange, caller, sourceAddress } = call;
  const operation = call.params['operation'] ?? '';
  const maxBytes = deps.admin.maxRequestBytes(operation);
  if (maxBytes === null) throw new Problem(404, 'not_found', 'There is no such operation.');
  const request = await readRequest(call, maxBytes, deps);
  const who = { keyName: caller.key.name, sourceAddress };
  if (!wantsSteps(exchange)) {
    const progress = { tell() {}, signal: exchange.signal };
    exchange.json(200, (await deps.admin.call(who, operation, request, progress)) ?? null);
    return;
  }
  const lines = new StepLines(exchange);
  try {
    lines.finish(await deps.admin.call(who, operation, request, lines));
  } catch (error) {
    const told = lines.fail(error instanceof Problem ? error : internalError());
    // After progress lines the error was reported in a line and needs no answer. Anything but a refusal is logged.
    if (!told || !(error instanceof Problem)) throw error;
  }
}

/** Runs an operation as the calling key, within its rights: the activity records the key's name and address. */
export async function askAsKey(
  operation: string,
  { caller, sourceAddress }: Call,
  { admin }: Pick<AdminDeps, 'admin'>,
  request: object,
): Promise<unknown> {
  const who = { keyName: caller.key.name, sourceAddress };
  return await admin.act(who, operation, { ...request, as: caller.key.id });
}

async function readRequest(
  { exchange, caller }: Call,
  maxBytes: number,
  { budget, limits }: AdminDeps,
): Promise<unknown> {
  readParameters(exchange.query, NO_PARAMETERS);
  requireType(exchange, ['application/json']);
  const bounds = { maxBytes, advice: ADVICE, budget: budget.share(caller.key.id) };
  const body = await readWholeBody(exchange, bounds);
  const { maxJsonDepth: maxDepth, maxJsonValues: maxValues } = limits();
  return parseJson(body, { maxDepth, maxValues });
}
