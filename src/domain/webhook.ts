import { EVENT_TYPES, type Event, type EventType, keyOfEvent } from './event.ts';

/**
 * Webhooks out (contract-2 §B2, §B3): which events an endpoint is told of, when a try is repeated, and how an endpoint
 * fares. An event is told at least once, in no promised order.
 */

/** Where events are posted to. */
export interface WebhookEndpoint {
  /** `whe_…`; sorts by time. */
  readonly id: string;
  /** The key that it belongs to, and whose events alone it is told of; null: an administrator's, of everybody's. */
  readonly keyId: string | null;
  /** Its name in the configuration file; null: it does not stand there. */
  readonly inFile: string | null;
  readonly url: string;
  /** Types, or `message.*` for all that begin so. */
  readonly types: readonly string[];
  /** Ids of keys, of whose messages alone it is told; empty: of all. */
  readonly keys: readonly string[];
  /** Only of messages with one of these tags; empty: of all. */
  readonly tags: readonly string[];
  readonly description: string;
  /** It is told the subjects of messages, too. */
  readonly includesSubject: boolean;
  readonly enabled: boolean;
  /** Sent with every request, besides our own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Most endpoints of one key, and in all. */
export const WEBHOOK_LIMITS = { ofKey: 20, all: 200 } as const;

/** How an endpoint fares. Times are wall ms. */
export interface WebhookHealth {
  readonly state: 'healthy' | 'failing' | 'disabled';
  /** Failed tries in a row, over all events. */
  readonly failures: number;
  /** Since when every try has failed; null: the last one succeeded. */
  readonly failingSince: number | null;
  /** Why, as a line for people; null: there is nothing to say. */
  readonly reason: string | null;
}

/** As of an endpoint that nothing was posted to yet. */
export const HEALTHY: WebhookHealth = { state: 'healthy', failures: 0, failingSince: null, reason: null };

/** What came of one try. */
export interface WebhookTry {
  /** Wall ms at which it began. */
  readonly at: number;
  readonly durationMs: number;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  /** Why there was none, or why it does not count; null: it succeeded, or its status says it. */
  readonly error: string | null;
  /** The first 1 KiB of the answer's body. Hostile. */
  readonly answer: string;
  /** How long the endpoint asks to wait (429, 503), in ms; null: it does not. */
  readonly retryAfterMs: number | null;
}

/** Where an event is on its way to an endpoint. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** What becomes of an event for an endpoint. */
export interface WebhookDelivery {
  readonly endpoint: string;
  /** Of the event. */
  readonly sequence: number;
  readonly type: EventType;
  readonly state: (typeof DELIVERY_STATES)[number];
  /** The oldest first. */
  readonly tries: readonly WebhookTry[];
  /** Tries that count for the schedule: a replay begins anew. */
  readonly attempts: number;
  /** Wall ms; null unless it is pending. */
  readonly nextTryAt: number | null;
}

/** Posts an event to an endpoint. Never rejects; ends soon after `signal` aborts. */
export type PostWebhook = (post: WebhookPost, signal: AbortSignal) => Promise<WebhookTry>;

/** What is posted. */
export interface WebhookPost {
  readonly endpoint: WebhookEndpoint;
  /** Of the event: the same on every try. */
  readonly id: string;
  readonly body: Uint8Array;
  /** Sealed. */
  readonly secrets: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The pause before each try, in ms: ten over three days. */
const PAUSES = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** A pause is longer or shorter by up to this share. */
const JITTER = 0.1;
/** The longest pause that an endpoint may ask for. */
const MAX_RETRY_AFTER_MS = HOUR;
/** So many failures in a row make an endpoint failing. */
const FAILING_AFTER = 10;
/** So long without a success makes it disabled. */
const DISABLED_AFTER_MS = 5 * DAY;
/** An endpoint that answers so wants no more. */
const GONE = 410;

/** Whether types that an endpoint may name are known. */
export function isWebhookType(text: string): boolean {
  return Object.hasOwn(EVENT_TYPES, text) || typesLike(text).length > 0;
}

function typesLike(pattern: string): readonly EventType[] {
  if (!pattern.endsWith('.*')) return [];
  const start = pattern.slice(0, -1);
  return (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => type.startsWith(start));
}

/** Whether an endpoint is told of an event. */
export function isToldOf(endpoint: WebhookEndpoint, event: Event): boolean {
  const { types, keyId, keys, tags } = endpoint;
  const { type, message } = event;
  if (!types.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1)))))
    return false;
  if (keyId !== null && keyOfEvent(event) !== keyId) return false;
  if (keys.length > 0 && !keys.includes(message?.keyId ?? '')) return false;
  return tags.length === 0 || tags.some((tag) => message?.tags.includes(tag) === true);
}

/** What decides whether an endpoint is told of anything. */
interface Switches {
  readonly endpoint: Pick<WebhookEndpoint, 'enabled'>;
  readonly health: Pick<WebhookHealth, 'state'>;
  /** Wall ms from which on its key is not valid; null: never. */
  readonly keyEndsAt: number | null;
}

/** Whether an endpoint is told of events at `now`: neither it nor its key is switched off. */
export function isTold({ endpoint, health, keyEndsAt }: Switches, now: number): boolean {
  return endpoint.enabled && health.state !== 'disabled' && (keyEndsAt === null || now < keyEndsAt);
}

/** Whether a try succeeded: a 2xx, and nothing else. */
export function hasSucceeded({ status, error }: WebhookTry): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

/**
 * When the next try is made after `attempts` of them (wall ms); null: there is none. `dice` is in [0, 1): the jitter.
 */
export function nextTryAt(
  attempts: number,
  last: WebhookTry | null,
  now: number,
  dice: number,
): number | null {
  const pause = PAUSES[attempts];
  if (pause === undefined) return null;
  const jittered = pause * (1 + JITTER * (2 * dice - 1));
  const asked = Math.min(last?.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return Math.round(now + Math.max(jittered, asked));
}

/** How an endpoint fares after a try that began at `one.at`. What was under way when it was disabled does not enable it. */
export function healthAfter(health: WebhookHealth, one: WebhookTry): WebhookHealth {
  if (health.state === 'disabled') return health;
  if (hasSucceeded(one)) return HEALTHY;
  const failures = health.failures + 1;
  const failingSince = health.failingSince ?? one.at;
  const reason = one.error ?? `It answered ${one.status}.`;
  if (one.status === GONE)
    return { state: 'disabled', failures, failingSince, reason: 'It answered 410: it wants no more events.' };
  if (one.at - failingSince >= DISABLED_AFTER_MS)
    return {
      state: 'disabled',
      failures,
      failingSince,
      reason: `Nothing was taken for five days. ${reason}`,
    };
  return { state: failures >= FAILING_AFTER ? 'failing' : health.state, failures, failingSince, reason };
}
