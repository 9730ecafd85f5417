import { z } from 'zod';
import { Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import { type QueueOperations, selectionSchema } from '../../operations/queue.ts';
import type { RequestOf } from '../../operations/table.ts';
import type { AdminDoor } from '../service.ts';
import type { Call } from './call.ts';
import { type ObjectBounds, readObject } from './json-object.ts';
import { readParameters } from './query.ts';

/** `/api/v1/queue`: shows what waits where, holds it, and acts on many recipients; for administrators. */

/** What the endpoints need. */
export interface QueueDeps {
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
}

const BOUNDS: ObjectBounds = {
  maxBytes: 64 * 1024,
  json: { maxDepth: 4, maxValues: 100 },
  advice: 'Select less at once.',
};

/** The parameters of the view. */
// biome-ignore format: a table
export const QUEUE_PARAMETERS = {
  relay: { schema: z.string().min(1).optional(), code: 'name', rule: "a relay's name", meaning: 'Only the lanes of this relay.', example: 'inbox' },
};

/** The body of a hold. */
export const holdBodySchema = z.strictObject({
  target: z.string().min(1).max(1000).describe('A relay’s name, or a lane’s: `direct/example.com`.'),
});

const part = { dryRun: z.boolean().default(false), cursor: z.string().max(1000).nullable().default(null) };

/** A selection as written; absent conditions do not filter. */
const writtenSelection = z.strictObject({
  ...selectionSchema.extend({ all: z.boolean().default(false) }).partial().shape,
});

/** The body of an act on a selection. */
export const queueActBodySchema = z.strictObject({ selection: writtenSelection, ...part });

/** As {@link queueActBodySchema}, with the relay to reroute to. */
export const rerouteBodySchema = queueActBodySchema.extend({
  toRelay: z.string().min(1).nullable().default(null),
});

/** Answers with the view. */
export async function answerQueue(call: Call, deps: Pick<QueueDeps, 'admin'>): Promise<void> {
  const { relay = null } = readParameters(call.exchange.query, QUEUE_PARAMETERS);
  call.exchange.json(200, await ask('queue', { relay }, call, deps));
}

/** Pauses, drains or (null) resumes. */
export async function answerHold(
  call: Call,
  kind: RequestOf<'hold'>['kind'],
  deps: QueueDeps,
): Promise<void> {
  const { target } = await readObject(call, holdBodySchema, BOUNDS, deps.budget);
  call.exchange.json(200, await ask('hold', { target, kind }, call, deps));
}

/** Retries, cancels or reroutes a part of a selection. */
export async function answerQueueAct(
  call: Call,
  act: RequestOf<'actOnQueue'>['act'],
  deps: QueueDeps,
): Promise<void> {
  const schema =
    act === 'reroute' ? rerouteBodySchema : queueActBodySchema.extend({ toRelay: z.null().default(null) });
  const { selection, ...rest } = await readObject(call, schema, BOUNDS, deps.budget);
  const { lane = null, relay = null, statuses = [], tag = null, to = null, from = null } = selection;
  const { olderThanSeconds = null, all = false } = selection;
  const whole = { lane, relay, statuses, tag, to, from, olderThanSeconds, all };
  const request = { act, ...rest, selection: whole };
  const { matched, acted, next } = await ask('actOnQueue', request, call, deps);
  call.exchange.json(200, { matched, acted, more: next !== null, cursor: next });
}

/** The codes of these endpoints for refusals of the operation. */
const CODES: Readonly<Record<string, string>> = {
  not_found: 'relay_not_found',
  refused: 'relay_disabled',
  unavailable: 'store_unavailable',
};

/** Runs an operation as the calling key: the activity records the key's name and address. */
async function ask<K extends keyof QueueOperations>(
  operation: K,
  request: Parameters<QueueOperations[K]>[0],
  { caller, sourceAddress, exchange }: Call,
  { admin }: Pick<QueueDeps, 'admin'>,
): Promise<Awaited<ReturnType<QueueOperations[K]>>> {
  const who = { keyName: caller.key.name, sourceAddress };
  try {
    const answer = await admin.call(who, operation, request, { tell() {}, signal: exchange.signal });
    // Sound because the operation of this name answers so.
    return answer as Awaited<ReturnType<QueueOperations[K]>>;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, detail, errors, headers } = error;
    throw new Problem(status, CODES[code] ?? code, detail, { errors, headers });
  }
}
