import { z } from 'zod';
import type { MessageRecord } from '../../domain/message.ts';
import type { Acts } from '../../engine/contract.ts';
import { Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import { readSendAt } from '../message-rules.ts';
import type { AdminDoor, Outlook } from '../service.ts';
import type { Call } from './call.ts';
import { faultyFields } from './fields.ts';
import {
  contentExpired,
  type Findable,
  findActionable,
  messageNotFound,
  refuseTestMessage,
} from './find-message.ts';
import { type ObjectBounds, readObject } from './json-object.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { readNoBody } from './read-fields.ts';
import { statusJson } from './record.ts';

/**
 * `POST /api/v1/messages/{id}/cancel` and `…/retry`, and `PATCH /api/v1/messages/{id}`: acts on an accepted message
 * (contract §3.3).
 */

/** What the endpoints need. */
export interface ActDeps {
  readonly acts: Acts;
  readonly views: Findable;
  readonly outlook: Outlook;
  /** An administrator acts on another key's message through it, so that the activity records it. */
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
  readonly clock: Pick<Clock, 'wall'>;
}

/** Acts on one message, by operation name. Each throws a `Problem` when it cannot be done. */
const ACTS = { cancelMessage, retryMessage };

/** The body of another send time. */
export const reschedulingSchema = z.strictObject({
  sendAt: z
    .string()
    .max(100)
    .meta({ format: 'date-time' })
    .describe('When it is sent instead, at most 30 days ahead; a past time means now.'),
});

/** A body has one short field. */
const BOUNDS: ObjectBounds = {
  maxBytes: 1024,
  json: { maxDepth: 4, maxValues: 100 },
  advice: 'Only sendAt is needed.',
};

/** Acts, and answers with the resulting record. */
export async function answerAct(call: Call, act: keyof typeof ACTS, deps: ActDeps): Promise<void> {
  const { exchange, caller } = call;
  await readNoBody(exchange, deps.budget.share(caller.key.id));
  readParameters(exchange.query, NO_PARAMETERS);
  await answerWith(call, deps, { operation: act, request: {} }, ACTS[act]);
}

/** Moves the send time, and answers with the resulting record. */
export async function answerReschedule(call: Call, deps: ActDeps): Promise<void> {
  const request = await readObject(call, reschedulingSchema, BOUNDS, deps.budget);
  const sendAt = newSendAt(request.sendAt, deps.clock.wall());
  await answerWith(call, deps, { operation: 'rescheduleMessage', request }, (message, acts) =>
    rescheduleMessage(message, sendAt, acts),
  );
}

/** As an operation does it to a message of another key; its id is added to the request. */
interface AsOperation {
  readonly operation: string;
  readonly request: object;
}

type Act = (message: MessageRecord, acts: Acts) => Promise<void>;

async function answerWith(call: Call, deps: ActDeps, asOperation: AsOperation, act: Act): Promise<void> {
  const { exchange } = call;
  const { id, answer } = await actOn(call, deps, asOperation, act);
  if (answer !== null) {
    exchange.json(200, answer);
    return;
  }
  const detail = await deps.views.message(id);
  if (detail === null) throw messageNotFound();
  exchange.json(200, await statusJson(detail, deps.outlook));
}

/**
 * Acts on the message that the path names. Returns its id, and what the operation answered as which it was done; null
 * if the message is the key's own. Throws a `Problem`: 404, 403, and those of the act.
 */
export async function actOn(
  { caller, sourceAddress, params }: Call,
  { acts, views, admin }: Pick<ActDeps, 'acts' | 'views' | 'admin'>,
  { operation, request }: AsOperation,
  act: Act,
): Promise<{ readonly id: string; readonly answer: unknown }> {
  const { message } = await findActionable(params['id'] ?? '', caller.key, views);
  const { id, keyId } = message;
  if (keyId !== caller.key.id) {
    const who = { keyName: caller.key.name, sourceAddress };
    return { id, answer: await admin.act(who, operation, { ...request, id }) };
  }
  await act(message, acts);
  return { id, answer: null };
}

/** Cancels the waiting recipients of a message. Throws the problems 404 and 409 `not_cancellable`. */
export async function cancelMessage(message: MessageRecord, acts: Acts): Promise<void> {
  const answer = await acts.cancel(message.id);
  if (answer === 'not_found') throw messageNotFound();
  if (answer === 'final') throw notCancellable();
}

/** A new send time in wall ms, now for a past one; `pointer` is where it is given. Throws the problem 400. */
export function newSendAt(text: string, now: number, pointer = '/sendAt'): number {
  const read = readSendAt(text, now);
  if (read.ok) return read.value ?? now;
  const { code, detail } = read;
  throw faultyFields('invalid_request', [{ pointer, code, detail }]);
}

/**
 * Gives a message that waits for its send time another one (wall ms). Throws the problems 404 and 409
 * `not_reschedulable`.
 */
export async function rescheduleMessage(message: MessageRecord, sendAt: number, acts: Acts): Promise<void> {
  const answer = await acts.reschedule(message.id, sendAt);
  if (answer === 'not_found') throw messageNotFound();
  if (answer !== 'rescheduled') throw notReschedulable(answer === 'final');
}

/** Retries the failed and waiting recipients of a message. Throws the problems 404 and 409. */
export async function retryMessage(message: MessageRecord, acts: Acts): Promise<void> {
  refuseTestMessage(message);
  const answer = await acts.retry(message.id);
  if (answer === 'not_found') throw messageNotFound();
  if (answer === 'content_expired') throw contentExpired(409);
  if (answer === 'nothing_to_retry') throw nothingToRetry();
}

function notCancellable(): Problem {
  const detail =
    'Only waiting recipients can be cancelled, but every recipient of this message is delivered or failed.';
  return new Problem(409, 'not_cancellable', detail);
}

function notReschedulable(isFinal: boolean): Problem {
  const why = isFinal ? 'every recipient of this message is delivered or failed' : 'this message is due';
  const detail = `Only a message that still waits for its sendAt can be given another, but ${why}.`;
  return new Problem(409, 'not_reschedulable', detail);
}

function nothingToRetry(): Problem {
  const detail =
    'Only failed and retrying recipients can be retried, and there are none. To send it to all of them once more: POST …/resend, waybill messages resend, or Resend in the dashboard.';
  return new Problem(409, 'nothing_to_retry', detail);
}
