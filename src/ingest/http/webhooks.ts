import { z } from 'zod';
import { DELIVERY_STATES } from '../../domain/webhook.ts';
import type { Budget } from '../../lib/budget.ts';
import { CHANGED_WEBHOOK, NEW_WEBHOOK, REPLAY, type WebhookOperations } from '../../operations/webhooks.ts';
import type { AdminDoor } from '../service.ts';
import { askAsKey } from './admin.ts';
import type { Call } from './call.ts';
import { type ObjectBounds, readObject } from './json-object.ts';
import { LIST_PARAMETERS, nextLink } from './list.ts';
import { NO_PARAMETERS, readParameters, TIMESTAMP_RULE } from './query.ts';
import { readNoBody } from './read-fields.ts';

/**
 * `/api/v1/webhooks`: endpoints that are told of events (contract-2 §B2). Which ones a key may see and change is decided
 * where the operations are carried out; these ask for them as the calling key.
 */

/** What the endpoints need. */
export interface WebhookDeps {
  readonly admin: AdminDoor;
  /** Bytes of bodies in memory. */
  readonly budget: Budget;
}

const BOUNDS: ObjectBounds = {
  maxBytes: 64 * 1024,
  json: { maxDepth: 3, maxValues: 500 },
  advice: 'Name less in it.',
};

/** The body of a new endpoint. */
export const newWebhookSchema = z.strictObject(NEW_WEBHOOK);
/** The body of a change: what is absent stays. */
export const webhookChangeSchema = z.strictObject(CHANGED_WEBHOOK);
/** The body of a replay. */
export const webhookReplayRequestSchema = z.strictObject(REPLAY);

const word = z.string().min(1).max(100);
const { limit } = LIST_PARAMETERS;

/** The parameters of the list of deliveries. */
// biome-ignore format: a table
export const DELIVERIES_PARAMETERS = {
  status: { schema: z.enum(DELIVERY_STATES).optional(), code: 'unknown_status', rule: `one of ${DELIVERY_STATES.join(', ')}`, meaning: 'Only deliveries with this status.', example: 'failed' },
  since: { schema: word.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only events that happened at this time or later (RFC 3339).', example: '2026-11-20T00:00:00Z' },
  until: { schema: word.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'Only events that happened before this time (RFC 3339).', example: '2026-11-21T00:00:00Z' },
  limit: { ...limit, meaning: 'The most deliveries that a page may have.' },
  cursor: { schema: word.optional(), code: 'bad_cursor', rule: 'the nextCursor of a page of this list', meaning: 'Continues after a page: its nextCursor, with the same parameters.', example: '4711' },
};

/** Answers with all endpoints that the key sees. */
export async function answerWebhooks(call: Call, deps: WebhookDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, await askOfWebhooks('listWebhooks', call, deps, {}));
}

/** Adds an endpoint. */
export async function answerNewWebhook(call: Call, deps: WebhookDeps): Promise<void> {
  const request = await readObject(call, newWebhookSchema, BOUNDS, deps.budget);
  await call.checkKey();
  const { webhook, secret } = await askOfWebhooks('addWebhook', call, deps, request);
  call.exchange.json(201, { ...webhook, secret });
}

/** Answers with an endpoint. */
export async function answerWebhook(call: Call, deps: WebhookDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, await askOfWebhooks('getWebhook', call, deps, { which: named(call) }));
}

/** Changes an endpoint. */
export async function answerWebhookChange(call: Call, deps: WebhookDeps): Promise<void> {
  const change = await readObject(call, webhookChangeSchema, BOUNDS, deps.budget);
  await call.checkKey();
  const request = { which: named(call), ...change };
  call.exchange.json(200, await askOfWebhooks('changeWebhook', call, deps, request));
}

/** Removes an endpoint. */
export async function answerWebhookRemoval(call: Call, deps: WebhookDeps): Promise<void> {
  await withoutBody(call, deps);
  await askOfWebhooks('removeWebhook', call, deps, { which: named(call) });
  call.exchange.empty(204);
}

/** Gives an endpoint another secret. */
export async function answerWebhookRotation(call: Call, deps: WebhookDeps): Promise<void> {
  await withoutBody(call, deps);
  const { webhook, secret } = await askOfWebhooks('rotateWebhook', call, deps, { which: named(call) });
  call.exchange.json(200, { ...webhook, secret });
}

/** Posts a test event to an endpoint, and answers with what came back. */
export async function answerWebhookTest(call: Call, deps: WebhookDeps): Promise<void> {
  await withoutBody(call, deps);
  call.exchange.json(200, await askOfWebhooks('testWebhook', call, deps, { which: named(call) }));
}

/** Answers with a page of what an endpoint was told. */
export async function answerWebhookDeliveries(call: Call, deps: WebhookDeps): Promise<void> {
  const { exchange } = call;
  const values = readParameters(exchange.query, DELIVERIES_PARAMETERS);
  const { status = null, since = null, until = null, cursor = null } = values;
  const request = { which: named(call), status, since, until, limit: values.limit, cursor };
  const page = await askOfWebhooks('webhookDeliveries', call, deps, request);
  exchange.json(200, page, nextLink(exchange.path, exchange.query, page.nextCursor));
}

/** Tells an endpoint of one event again. */
export async function answerWebhookRetry(call: Call, deps: WebhookDeps): Promise<void> {
  await withoutBody(call, deps);
  const request = { which: named(call), eventId: call.params['event'] ?? '' };
  call.exchange.json(202, await askOfWebhooks('retryWebhookDelivery', call, deps, request));
}

/** Tells an endpoint of the events of a time again. */
export async function answerWebhookReplay(call: Call, deps: WebhookDeps): Promise<void> {
  const replay = await readObject(call, webhookReplayRequestSchema, BOUNDS, deps.budget);
  await call.checkKey();
  const request = { which: named(call), ...replay };
  call.exchange.json(202, await askOfWebhooks('replayWebhook', call, deps, request));
}

/** Throws where the request has a body or parameters. */
async function withoutBody({ exchange, caller }: Call, { budget }: WebhookDeps): Promise<void> {
  await readNoBody(exchange, budget.share(caller.key.id));
  readParameters(exchange.query, NO_PARAMETERS);
}

function named({ params }: Call): string {
  return params['webhook'] ?? '';
}

/** See {@link askAsKey}. */
async function askOfWebhooks<K extends keyof WebhookOperations>(
  operation: K,
  call: Call,
  deps: Pick<WebhookDeps, 'admin'>,
  request: Omit<Parameters<WebhookOperations[K]>[0], 'as'>,
): Promise<Awaited<ReturnType<WebhookOperations[K]>>> {
  // Sound because the operation of this name answers so.
  return (await askAsKey(operation, call, deps, request)) as Awaited<ReturnType<WebhookOperations[K]>>;
}
