import type { MessageRecord } from '../../domain/message.ts';
import type { Acts } from '../../engine/contract.ts';
import { Problem } from '../../http/problem.ts';
import type { Budget } from '../../lib/budget.ts';
import type { AdminDoor, Outlook } from '../service.ts';
import type { Call } from './call.ts';
import {
  contentExpired,
  type Findable,
  findActionable,
  messageNotFound,
  refuseTestMessage,
} from './find-message.ts';
import { NO_PARAMETERS, readParameters } from './query.ts';
import { readNoBody } from './read-fields.ts';
import { statusJson } from './record.ts';

/** `POST /api/v1/messages/{id}/cancel` and `…/retry`: acts on an accepted message (contract §3.3). */

/** What the endpoints need. */
export interface ActDeps {
  readonly acts: Acts;
  readonly views: Findable;
  readonly outlook: Outlook;
  /** An administrator acts on another key's message through it, so that the activity records it. */
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
}

/** Acts on one message, by operation name. Each throws a `Problem` when it cannot be done. */
const ACTS = { cancelMessage, retryMessage };

/** Acts, and answers with the resulting record. */
export async function answerAct(call: Call, act: keyof typeof ACTS, deps: ActDeps): Promise<void> {
  const { exchange, caller, sourceAddress, params } = call;
  await readNoBody(exchange, deps.budget.share(caller.key.id));
  readParameters(exchange.query, NO_PARAMETERS);
  const { message } = await findActionable(params['id'] ?? '', caller.key, deps.views);
  const { id } = message;
  if (message.keyId !== caller.key.id) {
    const who = { keyName: caller.key.name, sourceAddress };
    exchange.json(200, await deps.admin.act(who, act, { id }));
    return;
  }
  await ACTS[act](message, deps.acts);
  const detail = await deps.views.message(id);
  if (detail === null) throw messageNotFound();
  exchange.json(200, await statusJson(detail, deps.outlook));
}

/** Cancels the waiting recipients of a message. Throws the problems 404 and 409 `not_cancellable`. */
export async function cancelMessage(message: MessageRecord, acts: Acts): Promise<void> {
  const answer = await acts.cancel(message.id);
  if (answer === 'not_found') throw messageNotFound();
  if (answer === 'final') throw notCancellable();
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

function nothingToRetry(): Problem {
  const detail =
    'Only failed and retrying recipients can be retried, and there are none. To send it to all of them once more: POST …/resend, or Resend in the dashboard.';
  return new Problem(409, 'nothing_to_retry', detail);
}
