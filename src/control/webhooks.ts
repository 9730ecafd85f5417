import type { Vault } from '../config/secrets.ts';
import {
  newWebhookSecret,
  rotatedSecrets,
  sealedSecrets,
  signingSecrets,
} from '../config/webhook-secrets.ts';
import { feedbackText } from '../domain/feedback.ts';
import type { ApiKey } from '../domain/key.ts';
import {
  HEALTHY,
  isToldOf,
  isWebhookType,
  type WebhookEndpoint,
  type WebhookTry,
} from '../domain/webhook.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource, eventId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOf } from '../operations/table.ts';
import type {
  WebhookDeliveriesView,
  WebhookOperations,
  WebhookSecretView,
  WebhookTryView,
  WebhookView,
} from '../operations/webhooks.ts';
import { EVERY_EVENT } from '../store/events.ts';
import type { NewDelivery, StoredEndpoint, Webhooks } from '../store/webhooks.ts';
import { createWebhookPost } from '../transport/providers/webhook-post.ts';
import type { LocalDeps } from './deps.ts';
import { faulty, timeIn } from './suppression-view.ts';

/** The operations on webhooks. */

/** What they need. */
export interface WebhookDeps
  extends Pick<LocalDeps, 'keyring' | 'views' | 'webhooks' | 'clock' | 'random' | 'resolution' | 'server'> {}

/** Most endpoints. */
const LIMITS = { ofKey: 200, all: 200 };
const MAX_HEADERS = 5;
const MAX_HEADER_BYTES = 1_000;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const OURS = /^(?:host|content-.*|transfer-encoding|connection|webhook-.*|user-agent)$/i;
/** Events that one replay tells again at most. */
const MAX_REPLAYED = 100_000;
const PAGE = 1_000;

/** See {@link WebhookOperations}. */
export function webhookOperations(deps: WebhookDeps): WebhookOperations {
  const nextId = createIdSource(deps.clock, deps.random, 'whe_');
  return {
    listWebhooks: async () => {
      const [stored, views] = [await deps.webhooks.webhookEndpoints(), await viewing(deps)];
      return { webhooks: stored.map(views) };
    },
    addWebhook: (request) => addWebhook(request, nextId(), deps),
    changeWebhook: (request) => changeWebhook(request, deps),
    removeWebhook: async ({ which }) => {
      if (!(await deps.webhooks.removeWebhookEndpoint(which))) throw noWebhook(which);
      return { removed: which };
    },
    rotateWebhook: (request) => rotateWebhook(request, deps),
    testWebhook: (request) => testWebhook(request, deps),
    webhookDeliveries: (request) => webhookDeliveries(request, deps),
    replayWebhook: (request) => replayWebhook(request, deps),
  };
}

/** Shows endpoints, with names of keys in place of ids. */
async function viewing({ webhooks, keyring }: WebhookDeps): Promise<(stored: StoredEndpoint) => WebhookView> {
  const [pending, keys] = [await webhooks.pendingDeliveries(), await keyring.list()];
  const nameOf = (id: string) => keys.find((key) => key.id === id)?.name ?? id;
  return ({ endpoint, health }) => ({
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    keys: endpoint.keys.map(nameOf),
    tags: endpoint.tags,
    description: endpoint.description,
    include: endpoint.includesSubject ? ['subject'] : [],
    enabled: endpoint.enabled,
    headers: endpoint.headers,
    health: { ...health, failingSince: timeOrNull(health.failingSince) },
    pending: pending.get(endpoint.id) ?? 0,
    createdAt: formatTimestamp(endpoint.createdAt),
    updatedAt: formatTimestamp(endpoint.updatedAt),
  });
}

async function storedOf(which: string, { webhooks }: Pick<WebhookDeps, 'webhooks'>): Promise<StoredEndpoint> {
  const found = (await webhooks.webhookEndpoints()).find(({ endpoint }) => endpoint.id === which);
  if (found === undefined) throw noWebhook(which);
  return found;
}

async function addWebhook(
  request: RequestOf<'addWebhook'>,
  id: string,
  deps: WebhookDeps,
): Promise<WebhookSecretView> {
  const vault = vaultOf(deps);
  const now = deps.clock.wall();
  const keys = await deps.keyring.list();
  const endpoint: WebhookEndpoint = {
    id,
    keyId: null,
    url: urlIn(request.url, deps),
    types: typesIn(request.types ?? ['message.*']),
    keys: keysIn(request.keys ?? [], keys),
    tags: request.tags ?? [],
    description: feedbackText(request.description ?? ''),
    includesSubject: (request.include ?? []).length > 0,
    enabled: request.enabled ?? true,
    headers: headersIn(request.headers ?? {}),
    createdAt: now,
    updatedAt: now,
  };
  const secret = newWebhookSecret(deps.random);
  const stored = { endpoint, secrets: sealedSecrets(secret, id, vault), health: HEALTHY };
  if ((await deps.webhooks.addWebhookEndpoint(stored, LIMITS)) === 'too_many')
    throw new OperationError(
      'refused',
      `There are ${LIMITS.all} endpoints, which is as many as there may be; remove one.`,
    );
  return { webhook: (await viewing(deps))(stored), secret };
}

async function changeWebhook(request: RequestOf<'changeWebhook'>, deps: WebhookDeps): Promise<WebhookView> {
  const stored = await storedOf(request.which, deps);
  const { url, types, keys, tags, description, include, headers, enabled } = request;
  const endpoint: WebhookEndpoint = {
    ...stored.endpoint,
    ...(url !== undefined && { url: urlIn(url, deps) }),
    ...(types !== undefined && { types: typesIn(types) }),
    ...(keys !== undefined && { keys: keysIn(keys, await deps.keyring.list()) }),
    ...(tags !== undefined && { tags }),
    ...(description !== undefined && { description: feedbackText(description) }),
    ...(include !== undefined && { includesSubject: include.length > 0 }),
    ...(headers !== undefined && { headers: headersIn(headers) }),
    ...(enabled !== undefined && { enabled }),
    updatedAt: deps.clock.wall(),
  };
  if (!(await deps.webhooks.changeWebhookEndpoint(endpoint, stored.secrets))) throw noWebhook(request.which);
  if (enabled === true) await deps.webhooks.setWebhookHealth(endpoint.id, HEALTHY);
  return (await viewing(deps))(await storedOf(request.which, deps));
}

async function rotateWebhook(
  { which }: RequestOf<'rotateWebhook'>,
  deps: WebhookDeps,
): Promise<WebhookSecretView> {
  const vault = vaultOf(deps);
  const stored = await storedOf(which, deps);
  const secret = newWebhookSecret(deps.random);
  const now = deps.clock.wall();
  const endpoint = { ...stored.endpoint, updatedAt: now };
  const secrets = rotatedSecrets(stored.secrets, secret, which, vault, now);
  if (!(await deps.webhooks.changeWebhookEndpoint(endpoint, secrets))) throw noWebhook(which);
  return { webhook: (await viewing(deps))({ ...stored, endpoint }), secret };
}

/** It is in no log: only this endpoint is told of it. */
async function testWebhook({ which }: RequestOf<'testWebhook'>, deps: WebhookDeps): Promise<WebhookTryView> {
  const { endpoint, secrets } = await storedOf(which, deps);
  const now = deps.clock.wall();
  const id = eventId(now, 0);
  const body = { type: 'webhook.test', timestamp: formatTimestamp(now), data: { id, endpoint: which } };
  const post = createWebhookPost({
    clock: deps.clock,
    version: deps.server()?.version ?? '0',
    secretsOf: (one) =>
      signingSecrets(one.secrets, one.endpoint.id, deps.resolution().vault, deps.clock.wall()),
    mayBePrivate: (url) => isPrivateUrl(url, deps),
    dnsServers: () => deps.resolution().config.dns.servers,
  });
  const bytes = Buffer.from(JSON.stringify(body));
  return tryView(await post({ endpoint, id, body: bytes, secrets }, new AbortController().signal));
}

async function webhookDeliveries(
  { which, status = null, limit = 50, cursor = null }: RequestOf<'webhookDeliveries'>,
  deps: WebhookDeps,
): Promise<WebhookDeliveriesView> {
  await storedOf(which, deps);
  const before = cursor === null ? null : Number(cursor);
  if (before !== null && !Number.isSafeInteger(before))
    throw faulty('/cursor', 'bad_cursor', 'Must be the nextCursor of a page of this list.');
  const page = await deps.webhooks.deliveries({ endpoint: which, state: status, before, from: 0, limit });
  const deliveries = await Promise.all(
    page.deliveries.map(async ({ sequence, type, state, tries, nextTryAt }) => ({
      eventId: await idOf(sequence, deps),
      sequence,
      type,
      status: state,
      tries: tries.map(tryView),
      nextTryAt: timeOrNull(nextTryAt),
    })),
  );
  const { next } = page;
  return { deliveries, hasMore: next !== null, nextCursor: next === null ? null : String(next) };
}

/** The id of an event has its time in it; of one that is gone only its sequence is known. */
async function idOf(sequence: number, { views }: Pick<WebhookDeps, 'views'>): Promise<string> {
  const { events } = await views.events({ ...EVERY_EVENT, from: { after: sequence - 1 }, limit: 1 });
  const [event] = events;
  return eventId(event?.sequence === sequence ? event.at : 0, sequence);
}

async function replayWebhook(
  { which, since, until = null, types = [], only = 'failed' }: RequestOf<'replayWebhook'>,
  deps: WebhookDeps,
): Promise<{ replayed: number }> {
  const { endpoint } = await storedOf(which, deps);
  const [from, to] = [timeIn(since, '/since'), timeIn(until, '/until')];
  const asked = types.length === 0 ? endpoint : { ...endpoint, types: typesIn(types) };
  const told = new Set<number>();
  let after = 0;
  const found: NewDelivery[] = [];
  for (let more = true; more; ) {
    const page = await deps.views.events({
      ...EVERY_EVENT,
      since: from,
      until: to,
      from: { after },
      limit: PAGE,
    });
    const events = page.events.filter((event) => isToldOf(endpoint, event) && isToldOf(asked, event));
    if (only === 'failed')
      await noteTold(
        which,
        events.map(({ sequence }) => sequence),
        told,
        deps,
      );
    for (const { sequence, type } of events)
      if (!told.has(sequence)) found.push({ endpoint: which, sequence, type });
    if (found.length > MAX_REPLAYED)
      throw new OperationError(
        'refused',
        `These are more than ${MAX_REPLAYED} events. Replay a shorter time first: until ${formatTimestamp(events[0]?.at ?? deps.clock.wall())}.`,
      );
    after = page.next ?? after;
    more = page.more;
  }
  const now = deps.clock.wall();
  for (let place = 0; place < found.length; place += PAGE)
    await deps.webhooks.replayDeliveries(which, found.slice(place, place + PAGE), now);
  return { replayed: found.length };
}

/** Notes which of these events the endpoint was told, or is about to be. */
async function noteTold(
  endpoint: string,
  sequences: readonly number[],
  told: Set<number>,
  { webhooks }: Pick<WebhookDeps, 'webhooks'>,
): Promise<void> {
  const [first, last] = [sequences[0], sequences.at(-1)];
  if (first === undefined || last === undefined) return;
  let before: number | null = last + 1;
  while (before !== null) {
    const page: Awaited<ReturnType<Webhooks['deliveries']>> = await webhooks.deliveries({
      endpoint,
      state: null,
      before,
      from: first,
      limit: PAGE,
    });
    for (const { sequence, state } of page.deliveries) if (state !== 'failed') told.add(sequence);
    before = page.next;
  }
}

function tryView({ at, durationMs, status, error, answer }: WebhookTry): WebhookTryView {
  return { at: formatTimestamp(at), durationMs, status, error, answer };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : formatTimestamp(at);
}

function vaultOf({ resolution }: Pick<WebhookDeps, 'resolution'>): Vault {
  const { vault } = resolution();
  if (vault !== null) return vault;
  throw new OperationError(
    'unavailable',
    'The key that encrypts secrets cannot be read. See: waybill config',
  );
}

function noWebhook(which: string): OperationError {
  return new OperationError('not_found', `There is no webhook ${which}. See: waybill webhooks list`);
}

/** Whether a URL may lead to private addresses, and be plain HTTP: the operator has listed it. */
function isPrivateUrl(url: string, { resolution }: Pick<WebhookDeps, 'resolution'>): boolean {
  return resolution().config.webhooks.privateUrls.includes(url);
}

function urlIn(text: string, deps: WebhookDeps): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '')
    throw faulty(
      '/url',
      'url',
      'Must be a URL such as https://shop.example.com/waybill, without a user name and a fragment.',
    );
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isPrivateUrl(url.href, deps)))
    return url.href;
  throw faulty('/url', 'url', 'Must begin with https://, unless webhooks.private_urls lists it.');
}

function typesIn(types: readonly string[]): readonly string[] {
  const unknown = types.findIndex((type) => !isWebhookType(type));
  if (unknown >= 0)
    throw faulty(
      `/types/${unknown}`,
      'event_type',
      'Must be a type of event, or such as message.* for all that begin so.',
    );
  return [...new Set(types)];
}

function keysIn(names: readonly string[], keys: readonly ApiKey[]): readonly string[] {
  return names.map((name, place) => {
    const key =
      keys.find((one) => one.name === name && one.revokedAt === null) ?? keys.find(({ id }) => id === name);
    if (key === undefined) throw faulty(`/keys/${place}`, 'key', `There is no key ${name}.`);
    return key.id;
  });
}

function headersIn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const given = Object.entries(headers);
  if (given.length > MAX_HEADERS)
    throw faulty('/headers', 'too_many', `There may be at most ${MAX_HEADERS} headers.`);
  for (const [name, value] of given) {
    const isOurs = OURS.test(name) && name.toLowerCase() !== 'authorization';
    if (!HEADER_NAME.test(name) || isOurs)
      throw faulty(`/headers/${name}`, 'header_name', 'This header cannot be set.');
    if (!HEADER_VALUE.test(value) || value.length > MAX_HEADER_BYTES)
      throw faulty(
        `/headers/${name}`,
        'header_value',
        `Must be at most ${MAX_HEADER_BYTES} printable ASCII characters.`,
      );
  }
  return headers;
}
