import { z } from 'zod';
import { Problem } from '../../../http/problem.ts';
import type { Budget } from '../../../lib/budget.ts';
import type { AdminDoor } from '../../service.ts';
import type { Call } from '../call.ts';
import { type Findable, findReadable, refuseTestMessage } from '../find-message.ts';
import { type ObjectBounds, readObject } from '../json-object.ts';
import { invalidQuery, parameterFault, readParameters } from '../query.ts';
import { readNoBody } from '../read-fields.ts';
import type { CapturedMail } from './captured-mail.ts';
import { CAPTURED_REMOVAL_PARAMETERS, capturedFilter, requireContent } from './filter.ts';
import { named, readBox } from './reading.ts';

/** Removing captured mail, and sending it on (contract-2 §G1). */

/** What the endpoints need. */
export interface CapturedActDeps {
  readonly captured: CapturedMail;
  readonly views: Findable;
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
}

/** Removes one message: its record stays. */
export async function answerCapturedRemoval(call: Call, deps: CapturedActDeps): Promise<void> {
  await readNoBody(call.exchange, deps.budget.share(call.caller.key.id));
  const { id } = await named(call, deps.captured, readBox(call));
  await deps.captured.remove([id]);
  call.exchange.empty(204);
}

/** Removes the messages of a filter. */
export async function answerCapturedRemovals(
  call: Call,
  { captured, budget }: CapturedActDeps,
): Promise<void> {
  const { exchange, caller } = call;
  await readNoBody(exchange, budget.share(caller.key.id));
  const { all, ...filters } = readParameters(exchange.query, CAPTURED_REMOVAL_PARAMETERS);
  requireContent(caller.key);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  if (isFiltered === all) {
    const detail = all
      ? 'Leave it out to remove only what the filters find, or leave those out to remove all.'
      : 'Give a filter, or all=true to remove all captured messages of the key.';
    throw invalidQuery([parameterFault('all', 'combination', detail)]);
  }
  const search = { keyId: caller.key.id, filter: capturedFilter(filters) };
  exchange.json(200, { deleted: await captured.removeAll(search, exchange.signal) });
}

/** The most recipients that a message is sent on to. */
const MAX_RECIPIENTS = 50;

/** The body of a release. */
export const releaseSchema = z.strictObject({
  relay: z.string().min(1).max(64).describe('The relay by which it is sent.'),
  to: z
    .array(z.string().max(1000))
    .min(1)
    .max(MAX_RECIPIENTS)
    .nullable()
    .default(null)
    .describe('Who gets it instead of its recipients; null: its recipients.'),
});

const BOUNDS: ObjectBounds = {
  maxBytes: 64 * 1024,
  json: { maxDepth: 3, maxValues: MAX_RECIPIENTS + 10 },
  advice: 'Send it on to fewer recipients at once.',
};

/** Sends a captured message on, as a new one, by a relay. Never with a test key. */
export async function answerRelease(call: Call, deps: CapturedActDeps): Promise<void> {
  const { exchange, caller, sourceAddress, params } = call;
  const request = await readObject(call, releaseSchema, BOUNDS, deps.budget);
  if (caller.key.mode === 'test') throw new Problem(409, 'test_key', NEVER_LEAVES);
  if (!caller.key.scopes.includes('admin'))
    throw new Problem(403, 'scope_missing', 'Releasing captured mail needs a key with the scope admin.');
  const { message } = await findReadable(params['id'] ?? '', caller.key, deps.views);
  refuseTestMessage(message);
  const who = { keyName: caller.key.name, sourceAddress };
  const released = await deps.admin.act(who, 'releaseCaptured', { id: message.id, ...request });
  // Sound because the operation of this name answers so.
  const { id } = released as { readonly id: string };
  const answer = { id, message: 'Queued for delivery.', status: 'queued' } as const;
  exchange.json(202, answer, { Location: `/api/v1/messages/${id}` });
}

const NEVER_LEAVES =
  'A test key releases nothing: what it sent never leaves. Submit the message again with a live key.';
