import { ANY_URL } from '../config/settings-webhooks.ts';
/** Webhooks as seen by the one who asks: whose endpoints they may see and change, with names of keys in place of ids. */
import type { ApiKey } from '../domain/key.ts';
import { isWebhookType, type WebhookEndpoint, type WebhookTry } from '../domain/webhook.ts';
import { Problem } from '../http/problem.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { WebhookTryView, WebhookView } from '../operations/webhooks.ts';
import type { StoredEndpoint } from '../store/webhooks.ts';
import type { LocalDeps } from './deps.ts';
import type { InForce } from './in-force.ts';
import { asRefusal, faulty } from './suppression-view.ts';

/** What the operations need. */
export interface WebhookDeps
  extends Pick<LocalDeps, 'keyring' | 'views' | 'webhooks' | 'clock' | 'random' | 'server'> {
  readonly resolution: () => Pick<InForce, 'config' | 'vault'>;
  /** Events that one replay tells again at most; absent: 100,000. */
  readonly maxReplayed?: number;
}

/** Endpoints as seen by the one who asks. */
export interface Sight {
  /** The id of the key whose endpoints alone are seen, and that new ones belong to; null: all are. */
  readonly keyId: string | null;
  /** Those that are seen, oldest first. */
  endpoints(): Promise<StoredEndpoint[]>;
  /** One of them. Throws `OperationError` (`not_found`). */
  endpoint(id: string): Promise<StoredEndpoint>;
  /** The same, of one that may be changed here. Throws `OperationError` (`refused`) too. */
  changeable(id: string): Promise<StoredEndpoint>;
  /** Ids of the keys with these names. Throws `OperationError`. */
  keysIn(names: readonly string[]): readonly string[];
  /** `pending`: of each endpoint. */
  show(stored: Shown, pending: ReadonlyMap<string, number>): WebhookView;
}

/** What is shown of an endpoint. */
type Shown = Pick<StoredEndpoint, 'endpoint' | 'health' | 'keyEndsAt'>;

/** See {@link Sight}; `as`: the id of a key, or (null) somebody who may do everything. Throws `OperationError`. */
export async function sightOf(
  as: string | null,
  { keyring, webhooks, clock }: Pick<WebhookDeps, 'keyring' | 'webhooks' | 'clock'>,
): Promise<Sight> {
  const keys = await keyring.list();
  const key = as === null ? null : keys.find(({ id }) => id === as);
  if (key === undefined) throw new OperationError('not_found', `There is no key ${as}.`);
  const keyId = key === null || key.scopes.includes('admin') ? null : key.id;
  const endpoints = async () =>
    (await webhooks.webhookEndpoints()).filter((one) => keyId === null || one.endpoint.keyId === keyId);
  const endpoint = async (id: string) => {
    const found = (await endpoints()).find((one) => one.endpoint.id === id);
    if (found === undefined) throw noWebhook(id);
    return found;
  };
  return {
    keyId,
    endpoints,
    endpoint,
    changeable: async (id) => {
      const found = await endpoint(id);
      if (found.endpoint.inFile === null) return found;
      const detail = `The webhook ${found.endpoint.inFile} stands in the configuration file; change it there.`;
      throw asRefusal('refused', new Problem(409, 'webhook_in_file', detail));
    },
    keysIn: (names) => {
      if (names.length === 0 || keyId === null) return keysIn(names, keys);
      const detail = 'To name keys, a key needs the scope admin; its own webhooks are told of its own mail.';
      throw asRefusal('forbidden', new Problem(403, 'scope_missing', detail));
    },
    show: (stored, pending) => shown(stored, pending, keys, clock.wall()),
  };
}

function shown(
  { endpoint, health, keyEndsAt }: Shown,
  pending: ReadonlyMap<string, number>,
  keys: readonly ApiKey[],
  now: number,
): WebhookView {
  const { id, url, types, tags, description, enabled, headers, inFile } = endpoint;
  const nameOf = (keyId: string) => keys.find((key) => key.id === keyId)?.name ?? keyId;
  const key = endpoint.keyId === null ? null : nameOf(endpoint.keyId);
  const hasEnded = keyEndsAt !== null && keyEndsAt <= now;
  return {
    id,
    url,
    types,
    key,
    keys: endpoint.keys.map(nameOf),
    tags,
    description,
    include: endpoint.includesSubject ? ['subject'] : [],
    enabled,
    headers,
    source: inFile === null ? 'api' : 'file',
    health: {
      ...health,
      ...(hasEnded && { state: 'disabled', reason: `Its key ${key} is revoked or has expired.` }),
      failingSince: timeOrNull(health.failingSince),
    },
    pending: pending.get(id) ?? 0,
    createdAt: formatTimestamp(endpoint.createdAt),
    updatedAt: formatTimestamp(endpoint.updatedAt),
  };
}

/** A try as it is shown. */
export function tryView({ at, durationMs, status, error, answer }: WebhookTry): WebhookTryView {
  return { at: formatTimestamp(at), durationMs, status, error, answer };
}

/** A time as it is shown. */
export function timeOrNull(at: number | null): string | null {
  return at === null ? null : formatTimestamp(at);
}

/** The refusal for an endpoint that is not there, or not seen. */
export function noWebhook(id: string): OperationError {
  const problem = new Problem(404, 'webhook_not_found', `There is no webhook ${id}.`);
  return asRefusal('not_found', problem, `There is no webhook ${id}. See: waybill webhooks list`);
}

function keysIn(names: readonly string[], keys: readonly ApiKey[]): readonly string[] {
  return names.map((name, place) => {
    const key =
      keys.find((one) => one.name === name && one.revokedAt === null) ?? keys.find(({ id }) => id === name);
    if (key === undefined) throw faulty(`/keys/${place}`, 'key', `There is no key ${name}.`);
    return key.id;
  });
}

const MAX_HEADERS = 5;
const MAX_HEADER_BYTES = 1_000;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const OURS =
  /^(?:host|content-.*|transfer-encoding|connection|webhook-.*|user-agent|expect|keep-alive|upgrade|te|trailer|proxy-.*)$/i;

/** Whether an endpoint may lead to private addresses, and be plain HTTP: the configuration file says so. */
export function mayBePrivate(
  { url, inFile }: Pick<WebhookEndpoint, 'url' | 'inFile'>,
  { resolution }: Pick<WebhookDeps, 'resolution'>,
): boolean {
  const { privateUrls, endpoints } = resolution().config.webhooks;
  if (privateUrls.includes(url) || privateUrls.includes(ANY_URL)) return true;
  // What a row of the file may, no other endpoint with its URL may.
  return (
    inFile !== null && endpoints.some((one) => one.allowPrivate && one.name === inFile && one.url === url)
  );
}

/** The URL of an endpoint. Throws `OperationError`, as the others do. */
export function urlIn(text: string, deps: WebhookDeps): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '')
    throw faulty(
      '/url',
      'url',
      'Must be a URL such as https://shop.example.com/waybill, without a user name and a fragment.',
    );
  if (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && mayBePrivate({ url: url.href, inFile: null }, deps))
  )
    return url.href;
  throw faulty('/url', 'url', 'Must begin with https://, unless webhooks.private_urls lists it.');
}

/** The types of events that an endpoint is told of. */
export function typesIn(types: readonly string[]): readonly string[] {
  const unknown = types.findIndex((type) => !isWebhookType(type));
  if (unknown >= 0)
    throw faulty(
      `/types/${unknown}`,
      'event_type',
      'Must be a type of event, or such as message.* for all that begin so.',
    );
  return [...new Set(types)];
}

/** The headers of an endpoint's own. */
export function headersIn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
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
