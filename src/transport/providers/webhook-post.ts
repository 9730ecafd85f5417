/** Posts events to the endpoints of webhooks, signed by Standard Webhooks (contract-2 §B3). */
import { createHmac } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { PostWebhook, WebhookPost, WebhookTry } from '../../domain/webhook.ts';
import type { Clock } from '../../lib/clock.ts';
import { retryAfterMs } from '../../lib/decode.ts';
import { callsOver } from './calls.ts';
import { Connections } from './connections.ts';
import { type Resolve, systemResolve } from './dial.ts';
import type { Exchanged } from './exchange.ts';
import { shortTimeouts } from './limits.ts';
import { ProviderTrace } from './trace.ts';
import { webhookKey } from './webhook.ts';

/** What it needs. */
export interface WebhookPostDeps {
  readonly clock: Clock;
  readonly version: string;
  /** The secrets of an endpoint that sign now, as texts; null: they cannot be opened. */
  readonly secretsOf: (post: WebhookPost) => readonly string[] | null;
  /** Whether this endpoint may lead to private addresses, and be plain HTTP. */
  readonly mayBePrivate: (endpoint: WebhookPost['endpoint']) => boolean;
  /** `dns.servers`; absent or null: the system's. Names of URLs that may be private are looked up as the system does. */
  readonly dnsServers?: () => readonly string[] | null;
  /** Overrides the time that all of it may take, in ms. */
  readonly wholeMs?: number;
}

/** A post to an address that others chose. */
export interface OutwardPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Default JSON. */
  readonly contentType?: string;
  /** It may lead to private addresses, and be plain HTTP. */
  readonly allowPrivate: boolean;
  /** Says after a comma what would allow it, if anything does. */
  readonly unlessPrivate?: string;
  /** No text may show them. */
  readonly secrets: readonly string[];
}

/** Of endpoints, and of channels that alerts are sent to. */
export const UNLESS_LISTED = 'unless webhooks.private_urls lists its URL';

/** What failed because private addresses, and plain HTTP, are not allowed. */
const FORBIDDEN: ReadonlySet<string> = new Set(['private_address', 'plain_http']);

const SECOND = 1000;
/** All of it together has {@link WHOLE_MS}. */
const TIMEOUTS = shortTimeouts(10 * SECOND, 20 * SECOND);
/** For one question to one server, and how often each is asked. */
const DNS = { timeout: 3 * SECOND, tries: 2 };
/** For all of it. */
const WHOLE_MS = 20 * SECOND;
/** Most of an answer that is kept. */
const MAX_ANSWER = 1024;

/** Makes what posts. Every request has a connection of its own: what is slow holds up nothing else. */
export function createWebhookPost(deps: WebhookPostDeps): PostWebhook {
  return async (post, stopping) => {
    const { clock } = deps;
    const at = clock.wall();
    const nothing = { at, status: null, answer: '', retryAfterMs: null, durationMs: 0 };
    const secrets = deps.secretsOf(post);
    if (secrets === null)
      return { ...nothing, error: 'Its secret was sealed with another secret.key; rotate it.' };
    const { endpoint, id, body } = post;
    const { url, headers } = endpoint;
    const signed = { ...headers, ...signatureHeaders(id, secrets, at, body) };
    const allowPrivate = deps.mayBePrivate(endpoint);
    const outward = { url, headers: signed, body, allowPrivate, unlessPrivate: UNLESS_LISTED, secrets };
    return await postOutwards(outward, deps, stopping);
  };
}

/**
 * Posts over a connection of its own, to an address that is public unless it may be private. Never rejects; ends soon
 * after `stopping` aborts.
 */
export async function postOutwards(
  post: OutwardPost,
  deps: Pick<WebhookPostDeps, 'clock' | 'version' | 'dnsServers' | 'wholeMs'>,
  stopping: AbortSignal,
): Promise<WebhookTry> {
  const { clock } = deps;
  const at = clock.wall();
  const startedAt = clock.mono();
  const exchanged = await within(deps.wholeMs ?? WHOLE_MS, clock, stopping, (signal) =>
    send(post, deps, signal),
  );
  return {
    at,
    ...toldOf(exchanged, at, post.unlessPrivate),
    durationMs: Math.round(clock.mono() - startedAt),
  };
}

/** The headers of Standard Webhooks, for a message of this id. */
export function signatureHeaders(
  id: string,
  secrets: readonly string[],
  now: number,
  body: Uint8Array,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(now / SECOND);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => signature(secret, id, seconds, body)).join(' '),
  };
}

async function send(
  { url, headers, body, contentType = 'application/json', allowPrivate, secrets }: OutwardPost,
  { clock, version, dnsServers }: Pick<WebhookPostDeps, 'clock' | 'version' | 'dnsServers'>,
  signal: AbortSignal,
): Promise<Exchanged> {
  const resolve: Resolve = allowPrivate
    ? systemResolve
    : (host) => publicAddresses(host, dnsServers?.() ?? null);
  const terms = { allowPrivate, resolve, clock, timeouts: TIMEOUTS };
  const connections = new Connections(1, terms);
  const call = callsOver({ connections, secret: () => secrets });
  const request = {
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': contentType, 'user-agent': `Waybill/${version}` },
    body: [body],
  } as const;
  try {
    return await call(request, new ProviderTrace(new URL(url).hostname, clock), signal);
  } finally {
    await connections.close();
  }
}

/**
 * Asks the DNS itself. The system's resolver has two of this process's threads: names that are never answered would take
 * both, and then mail would wait for the name of its smarthost.
 */
async function publicAddresses(
  host: string,
  servers: readonly string[] | null,
): Promise<{ address: string; family: number }[]> {
  const resolver = new Resolver(DNS);
  if (servers !== null) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0 && four.status === 'rejected') throw four.reason;
  return found;
}

/** Of Standard Webhooks: over id, timestamp and body. */
function signature(secret: string, id: string, seconds: number, body: Uint8Array): string {
  const hmac = createHmac('sha256', webhookKey(secret)).update(`${id}.${seconds}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

function toldOf(
  exchanged: Exchanged,
  now: number,
  unlessPrivate?: string,
): Pick<WebhookTry, 'status' | 'error' | 'answer' | 'retryAfterMs'> {
  if (exchanged.kind === 'none') {
    const { cause, text } = exchanged.trouble.reply;
    const error = unlessPrivate && FORBIDDEN.has(cause) ? `${text}, ${unlessPrivate}` : text;
    return { status: null, error, answer: '', retryAfterMs: null };
  }
  const { status, headers, body } = exchanged.answer;
  const asks = status === 429 || status === 503 ? retryAfterMs(headers['retry-after'], now) : null;
  return { status, error: null, answer: body.slice(0, MAX_ANSWER), retryAfterMs: asks };
}

/** Work with a time limit, which also ends when told to stop. */
async function within<T>(
  ms: number,
  clock: Clock,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const done = new AbortController();
  const end = () => over.abort();
  stopping.addEventListener('abort', end, { once: true });
  if (stopping.aborted) end();
  void clock.sleep(ms, done.signal).then(end);
  try {
    return await work(over.signal);
  } finally {
    done.abort();
    stopping.removeEventListener('abort', end);
  }
}
