/** Tells a channel of an alert. */
import { type AlertChannel, CHANNEL_SECRETS } from '../domain/alert-channel.ts';
import { hasSucceeded, type WebhookTry } from '../domain/webhook.ts';
import type { Clock } from '../lib/clock.ts';
import type { StoredChannel } from '../store/alerts.ts';
import { postOutwards, signatureHeaders, UNLESS_LISTED } from '../transport/providers/webhook-post.ts';
import { type AlertMailDeps, mailAlert } from './mail.ts';
import { oneLine, type Post, SHAPES, type Telling } from './shapes.ts';

/** What it needs. */
export interface TellingDeps extends AlertMailDeps {
  readonly clock: Clock;
  readonly version: string;
  /** Opens the secret of a channel; null: it was sealed with another key. */
  readonly open: (stored: StoredChannel) => string | null;
  /** Whether a URL may lead to private addresses, and be plain HTTP. */
  readonly mayBePrivate: (url: string) => boolean;
  readonly dnsServers: () => readonly string[] | null;
}

/** Tells a channel. Returns why that failed; null: it was told. Never rejects; ends soon after `signal` aborts. */
export type Tell = (telling: Telling, stored: StoredChannel, signal: AbortSignal) => Promise<string | null>;

/** Characters of an error that are kept. */
const MAX_ERROR = 300;

/** Makes what tells. */
export function createTell(deps: TellingDeps): Tell {
  return async (telling, stored, signal) => {
    try {
      const error = await tellOnce(telling, stored, deps, signal);
      return error === null ? null : error.slice(0, MAX_ERROR);
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, MAX_ERROR) : 'It failed.';
    }
  };
}

async function tellOnce(
  telling: Telling,
  stored: StoredChannel,
  deps: TellingDeps,
  signal: AbortSignal,
): Promise<string | null> {
  const { channel } = stored;
  if (channel.kind === 'mail') return await mailAlert(telling, channel, deps);
  const secret = stored.secret === null ? '' : deps.open(stored);
  if (secret === null) return 'Its secret was sealed with another secret.key; give it again.';
  const error = await post(
    SHAPES[channel.kind](telling, channel, secret),
    telling,
    channel,
    secret,
    deps,
    signal,
  );
  if (error !== null || channel.kind !== 'pagerduty' || telling.kind !== 'test') return error;
  // A test that stayed open would wake somebody.
  const over = { ...telling, kind: 'resolved' } as const;
  return await post(SHAPES.pagerduty(over, channel, secret), over, channel, secret, deps, signal);
}

async function post(
  { url, headers, body }: Post,
  { kind, alert, now }: Telling,
  channel: AlertChannel,
  secret: string,
  deps: TellingDeps,
  signal: AbortSignal,
): Promise<string | null> {
  const bytes = Buffer.from(JSON.stringify(body));
  const signed =
    channel.kind === 'webhook' ? signatureHeaders(`${alert.id}_${kind}`, [secret], now, bytes) : {};
  const outward = {
    url,
    headers: { ...headers, ...signed },
    body: bytes,
    // Of ntfy the URL of the topic is what operators list; posts go to the root of its server.
    allowPrivate: deps.mayBePrivate(channel.url ?? url),
    unlessPrivate: UNLESS_LISTED,
    secrets: partsOf(secret),
  };
  return errorOf(await postOutwards(outward, deps, signal), secret, channel);
}

/** What must not be read of a secret: of a URL its path, too, which is what answers repeat. */
function partsOf(secret: string): readonly string[] {
  if (secret === '') return [];
  if (!URL.canParse(secret)) return [secret];
  const { pathname, search } = new URL(secret);
  return [secret, `${pathname}${search}`, pathname].filter((part) => part.length > 1);
}

/** Of an answer its first words; never the secret, which some repeat. */
function errorOf(tried: WebhookTry, secret: string, { kind }: AlertChannel): string | null {
  if (hasSucceeded(tried)) return null;
  const said = oneLine(tried.answer);
  const text = tried.error ?? `It answered ${tried.status}${said === '' ? '.' : `: ${said}`}`;
  const name = `(${CHANNEL_SECRETS[kind] ?? 'secret'})`;
  return partsOf(secret).reduce((shown, part) => shown.replaceAll(part, name), text);
}
