import type { Vault } from '../config/secrets.ts';
import {
  newWebhookSecret,
  rotatedSecrets,
  sealedSecrets,
  signingSecrets,
} from '../config/webhook-secrets.ts';
import { eventBody } from '../domain/event-body.ts';
import { feedbackText } from '../domain/feedback.ts';
import { HEALTHY, WEBHOOK_LIMITS, type WebhookEndpoint } from '../domain/webhook.ts';
import { Problem } from '../http/problem.ts';
import { createIdSource, eventId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type {
  WebhookOperations,
  WebhookSecretView,
  WebhookTryView,
  WebhookView,
} from '../operations/webhooks.ts';
import { createWebhookPost } from '../transport/providers/webhook-post.ts';
import { asRefusal } from './suppression-view.ts';
import { replayWebhook, retryWebhookDelivery, webhookDeliveries } from './webhook-deliveries.ts';
import {
  headersIn,
  mayBePrivate,
  noWebhook,
  type Sight,
  sightOf,
  tryView,
  typesIn,
  urlIn,
  type WebhookDeps,
} from './webhook-view.ts';

/** The operations on webhooks. */

/** See {@link WebhookOperations}. */
export function webhookOperations(deps: WebhookDeps): WebhookOperations {
  const nextId = createIdSource(deps.clock, deps.random, 'whe_');
  return {
    listWebhooks: async ({ as = null }) => {
      const [sight, pending] = [await sightOf(as, deps), await deps.webhooks.pendingDeliveries()];
      return { webhooks: (await sight.endpoints()).map((one) => sight.show(one, pending)) };
    },
    getWebhook: async ({ which, as = null }) => {
      const [sight, pending] = [await sightOf(as, deps), await deps.webhooks.pendingDeliveries()];
      return sight.show(await sight.endpoint(which), pending);
    },
    addWebhook: (request) => addWebhook(request, nextId(), deps),
    changeWebhook: (request) => changeWebhook(request, deps),
    removeWebhook: async ({ which, as = null }) => {
      await (await sightOf(as, deps)).changeable(which);
      if (!(await deps.webhooks.removeWebhookEndpoint(which))) throw noWebhook(which);
      return { removed: which };
    },
    rotateWebhook: (request) => rotateWebhook(request, deps),
    testWebhook: (request) => testWebhook(request, deps),
    webhookDeliveries: (request) => webhookDeliveries(request, deps),
    retryWebhookDelivery: (request) => retryWebhookDelivery(request, deps),
    replayWebhook: (request) => replayWebhook(request, deps),
  };
}

async function addWebhook(
  request: RequestOf<'addWebhook'>,
  id: string,
  deps: WebhookDeps,
): Promise<WebhookSecretView> {
  const vault = vaultOf(deps);
  const now = deps.clock.wall();
  const sight = await sightOf(request.as ?? null, deps);
  const endpoint: WebhookEndpoint = {
    id,
    keyId: sight.keyId,
    inFile: null,
    url: urlIn(request.url, deps),
    types: typesIn(request.types ?? ['message.*']),
    keys: sight.keysIn(request.keys ?? []),
    tags: request.tags ?? [],
    description: feedbackText(request.description ?? ''),
    includesSubject: (request.include ?? []).length > 0,
    enabled: request.enabled ?? true,
    headers: headersIn(request.headers ?? {}),
    createdAt: now,
    updatedAt: now,
  };
  const secret = newWebhookSecret(deps.random);
  const stored = { endpoint, secrets: sealedSecrets(secret, id, vault), health: HEALTHY, keyEndsAt: null };
  if ((await deps.webhooks.addWebhookEndpoint(stored, WEBHOOK_LIMITS)) === 'too_many')
    throw tooMany(endpoint);
  return { webhook: sight.show(stored, new Map()), secret };
}

function tooMany({ keyId }: WebhookEndpoint): OperationError {
  const { ofKey, all } = WEBHOOK_LIMITS;
  const ofAKey = keyId === null ? '' : ` ${ofKey} of a key and`;
  const detail = `There may be${ofAKey} ${all} webhooks in all; remove one.`;
  return asRefusal('refused', new Problem(409, 'webhooks_full', detail));
}

async function changeWebhook(request: RequestOf<'changeWebhook'>, deps: WebhookDeps): Promise<WebhookView> {
  const sight = await sightOf(request.as ?? null, deps);
  if (isOnlyEnabling(request)) return await enableAgain(request.which, sight, deps);
  const stored = await sight.changeable(request.which);
  const { url, types, keys, tags, description, include, headers, enabled } = request;
  const now = deps.clock.wall();
  const endpoint: WebhookEndpoint = {
    ...stored.endpoint,
    ...(url !== undefined && { url: urlIn(url, deps) }),
    ...(types !== undefined && { types: typesIn(types) }),
    ...(keys !== undefined && { keys: sight.keysIn(keys) }),
    ...(tags !== undefined && { tags }),
    ...(description !== undefined && { description: feedbackText(description) }),
    ...(include !== undefined && { includesSubject: include.length > 0 }),
    ...(headers !== undefined && { headers: headersIn(headers) }),
    ...(enabled !== undefined && { enabled }),
    updatedAt: now,
  };
  if (!(await deps.webhooks.changeWebhookEndpoint(endpoint, null))) throw noWebhook(request.which);
  if (enabled === true) await deps.webhooks.setWebhookHealth(endpoint.id, HEALTHY, now);
  return sight.show(await sight.endpoint(request.which), await deps.webhooks.pendingDeliveries());
}

/** Nothing but how it fares changes: that may be done to an endpoint of the file, too. */
function isOnlyEnabling({ which: _, as: __, enabled, ...others }: RequestOf<'changeWebhook'>): boolean {
  return enabled === true && Object.values(others).every((value) => value === undefined);
}

async function enableAgain(which: string, sight: Sight, deps: WebhookDeps): Promise<WebhookView> {
  const { endpoint, keyEndsAt } = await sight.endpoint(which);
  const now = deps.clock.wall();
  if (keyEndsAt !== null && keyEndsAt <= now) throw keyHasEnded(which);
  if (!endpoint.enabled) {
    await sight.changeable(which);
    await deps.webhooks.changeWebhookEndpoint({ ...endpoint, enabled: true, updatedAt: now }, null);
  }
  await deps.webhooks.setWebhookHealth(which, HEALTHY, now);
  return sight.show(await sight.endpoint(which), await deps.webhooks.pendingDeliveries());
}

function keyHasEnded(which: string): OperationError {
  const detail = `The key of the webhook ${which} is revoked or has expired, and with it the webhook. Add it with another key.`;
  return asRefusal('refused', new Problem(409, 'webhook_disabled', detail));
}

async function rotateWebhook(
  { which, as = null }: RequestOf<'rotateWebhook'>,
  deps: WebhookDeps,
): Promise<WebhookSecretView> {
  const vault = vaultOf(deps);
  const sight = await sightOf(as, deps);
  const stored = await sight.changeable(which);
  const secret = newWebhookSecret(deps.random);
  const now = deps.clock.wall();
  const endpoint = { ...stored.endpoint, updatedAt: now };
  const secrets = rotatedSecrets(stored.secrets, secret, which, vault, now);
  if (!(await deps.webhooks.changeWebhookEndpoint(endpoint, secrets))) throw noWebhook(which);
  const webhook = sight.show({ ...stored, endpoint }, await deps.webhooks.pendingDeliveries());
  return { webhook, secret };
}

/** It is in no log: only this endpoint is told of it. */
async function testWebhook(
  { which, as = null }: RequestOf<'testWebhook'>,
  deps: WebhookDeps,
): Promise<WebhookTryView> {
  const { endpoint, secrets } = await (await sightOf(as, deps)).endpoint(which);
  const now = deps.clock.wall();
  const id = eventId(now, 0);
  const about = { message: null, scopeKey: null, recipient: null, attempt: null };
  const facts = { webhook: { id: which, keyId: endpoint.keyId } };
  const body = eventBody({ sequence: 0, type: 'webhook.test', at: now, ...about, facts }, id);
  const post = createWebhookPost({
    clock: deps.clock,
    version: deps.server()?.version ?? '0',
    secretsOf: (one) =>
      signingSecrets(one.secrets, one.endpoint.id, deps.resolution().vault, deps.clock.wall()),
    mayBePrivate: (one) => mayBePrivate(one, deps),
    dnsServers: () => deps.resolution().config.dns.servers,
  });
  const bytes = Buffer.from(JSON.stringify(body));
  return tryView(await post({ endpoint, id, body: bytes, secrets }, new AbortController().signal));
}

function vaultOf({ resolution }: Pick<WebhookDeps, 'resolution'>): Vault {
  const { vault } = resolution();
  if (vault !== null) return vault;
  throw new OperationError(
    'unavailable',
    'The key that encrypts secrets cannot be read. See: waybill config',
  );
}
