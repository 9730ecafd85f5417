import { bounceTypeOfReply } from './bounce.ts';
import type { DeliveryState } from './delivery.ts';
import type { BounceType, FeedbackSource } from './feedback.ts';
import type { RecipientKind, Source } from './message.ts';
import type { OutcomeName, Reply } from './outcome.ts';
import type { Transition } from './settle.ts';
import type { Suppression } from './suppression.ts';

/**
 * Events (contract-2 §B1): each fact of a message's story, of the suppression list and of relays, told once, in the
 * order in which facts became true. An event keeps only what its message does not say; the rest is read from the message.
 */

interface EventKind {
  /** Stores keep this number. It never changes. */
  readonly code: number;
  /** Mail that goes well has these; with `events.keep: exceptional` they are not kept. */
  readonly isUsual: boolean;
}

/**
 * The types of events. `message.queued` occurs once per message, all others of messages once per recipient concerned;
 * those of the suppression list, of relays and of webhooks have no message.
 */
// biome-ignore format: a table
export const EVENT_TYPES = {
  'message.queued':       { code: 1,  isUsual: true  },
  'message.delivered':    { code: 2,  isUsual: true  },
  'message.captured':     { code: 3,  isUsual: true  },
  'message.deferred':     { code: 4,  isUsual: false },
  'message.failed':       { code: 5,  isUsual: false },
  'message.suppressed':   { code: 6,  isUsual: false },
  'message.bounced':      { code: 7,  isUsual: false },
  'message.confirmed':    { code: 8,  isUsual: true  },
  'message.delayed':      { code: 9,  isUsual: false },
  'message.complained':   { code: 10, isUsual: false },
  'message.unsubscribed': { code: 11, isUsual: false },
  'suppression.added':    { code: 20, isUsual: false },
  'suppression.removed':  { code: 21, isUsual: false },
  'suppression.guarded':  { code: 22, isUsual: false },
  'relay.resting':        { code: 30, isUsual: false },
  'relay.recovered':      { code: 31, isUsual: false },
  'webhook.disabled':     { code: 40, isUsual: false },
  // Posted to one endpoint when somebody tests it, and in no log.
  'webhook.test':         { code: 41, isUsual: false },
} as const satisfies Record<string, EventKind>;

/** See {@link EVENT_TYPES}. */
export type EventType = keyof typeof EVENT_TYPES;
/** The types of events that are about a message. */
export type MessageEventType = Extract<EventType, `message.${string}`>;
/** The types of events that are about the suppression list. */
export type SuppressionEventType = Extract<EventType, `suppression.${string}`>;
/** The types of events that are about a relay. */
export type RelayEventType = Extract<EventType, `relay.${string}`>;
/** The types of events that are about an endpoint of webhooks. */
export type WebhookEventType = Extract<EventType, `webhook.${string}`>;

const TYPES = Object.keys(EVENT_TYPES) as readonly EventType[];
const BY_CODE = new Map<number, EventType>(TYPES.map((type) => [EVENT_TYPES[type].code, type]));

/** The type with this number; null for one that this program does not know. */
export function eventTypeOf(code: number): EventType | null {
  return BY_CODE.get(code) ?? null;
}

/** Whether events of this type are about a message. */
export function isOfMessage(type: EventType): type is MessageEventType {
  return type.startsWith('message.');
}

/** Whether events of this type are about the suppression list. */
export function isOfSuppressions(type: EventType): type is SuppressionEventType {
  return type.startsWith('suppression.');
}

/** Whether events of this type are about an endpoint of webhooks. */
export function isOfWebhooks(type: EventType): type is WebhookEventType {
  return type.startsWith('webhook.');
}

/** Which events are kept: all of them, or without those of mail that goes well. */
export type EventsKept = 'all' | 'exceptional';

/** Whether events of this type are kept. */
export function isKept(type: EventType, kept: EventsKept): boolean {
  return kept === 'all' || !EVENT_TYPES[type].isUsual;
}

/** The types that a filter names: a type, or all types of a subject, such as `message.*`. Null if it names none. */
export function typesNamed(filter: string): readonly EventType[] | null {
  const named = TYPES.filter((type) =>
    filter.endsWith('.*') ? type.startsWith(filter.slice(0, -1)) : type === filter,
  );
  return named.length === 0 ? null : named;
}

/** What an event says of an entry of the suppression list. */
export interface EntryFacts
  extends Pick<Suppression, 'id' | 'address' | 'scope' | 'stream' | 'reason' | 'source'> {}

/** What an event says itself. Absent: does not apply. */
export interface EventFacts {
  readonly relay?: string;
  /** Of a recipient that is final; of what becomes known later, the outcome that it has then. */
  readonly outcome?: OutcomeName;
  readonly code?: number;
  readonly enhanced?: string;
  /** The reply's text, one line. Hostile: written by a peer. */
  readonly text?: string;
  readonly providerMessageId?: string;
  /** Wall ms. */
  readonly nextAttemptAt?: number;
  /** What the failure means for the recipient's address: of a refusal in our own SMTP dialogue, an expiry, a bounce. */
  readonly bounce?: BounceType;
  /** How it became known; absent: in our own SMTP dialogue, or at the end of its time. */
  readonly source?: FeedbackSource;
  /** The id of the entry that stopped the recipient, or that the event led to. */
  readonly suppression?: string;
  /** Of a recipient that was not final when something was told of it: where it was. */
  readonly state?: DeliveryState;
  /** Wall ms at which it happened, if it was told later than that. */
  readonly happenedAt?: number;
  /** Of `suppression.added` and `suppression.removed`: the entry. */
  readonly entry?: EntryFacts;
  /** Of `suppression.guarded`: the domain of the recipients that came out hard. */
  readonly domain?: string;
  /** Of events of webhooks: the id of the endpoint, and of the key that it belongs to (null: an administrator's). */
  readonly webhook?: { readonly id: string; readonly keyId: string | null };
}

/** The type of the event that a delivery's transition is. */
export function eventOf({ state, outcome }: Transition): EventType {
  if (state === 'retrying') return 'message.deferred';
  if (state === 'failed') return outcome === 'suppressed' ? 'message.suppressed' : 'message.failed';
  return outcome === 'captured' ? 'message.captured' : 'message.delivered';
}

/** What the event of a delivery's transition says; `relay` is the one that it was at. */
export function factsOf(
  { outcome, reply, providerMessageId, nextAttemptAt }: Transition,
  relay: string | null,
): EventFacts {
  const bounce = bounceIn(outcome, reply);
  return {
    ...(relay !== null && { relay }),
    ...(outcome !== null && { outcome }),
    ...(reply.code !== null && { code: reply.code }),
    ...(reply.enhanced !== null && { enhanced: reply.enhanced }),
    text: reply.text,
    ...(providerMessageId !== null && { providerMessageId }),
    ...(nextAttemptAt !== null && { nextAttemptAt }),
    ...(bounce !== null && { bounce }),
  };
}

function bounceIn(outcome: OutcomeName | null, reply: Reply): BounceType | null {
  const isRefusal = outcome === 'rejected' && reply.cause === 'smtp_reply';
  return isRefusal || outcome === 'expired' ? bounceTypeOfReply(reply, outcome === 'expired') : null;
}

/** An event as read back. */
export interface Event {
  /** Rises in the order in which events became visible, with gaps. */
  readonly sequence: number;
  readonly type: EventType;
  /** When it became known here (wall ms): events lie nearly in this order. */
  readonly at: number;
  /** Null for an event of the suppression list, of a relay or of a webhook, and for no other. */
  readonly message: EventMessage | null;
  /** The name of the key whose scope `facts.entry` has; null if it has none, or the key is gone. */
  readonly scopeKey: string | null;
  /** Null for an event of the whole message, or of none. */
  readonly recipient: { readonly address: string; readonly kind: RecipientKind } | null;
  /** The number of the attempt that it followed from; null for none. */
  readonly attempt: number | null;
  readonly facts: EventFacts;
}

/** The id of the key that an event is about, by its message, entry or endpoint; null: of none. */
export function keyOfEvent({ message, facts: { entry, webhook } }: Event): string | null {
  if (message !== null) return message.keyId;
  if (entry?.scope.startsWith(KEY_SCOPE) === true) return entry.scope.slice(KEY_SCOPE.length);
  return webhook?.keyId ?? null;
}

const KEY_SCOPE = 'key:';

/** What an event tells of its message. */
export interface EventMessage {
  readonly id: string;
  /** The Message-ID with its angle brackets. */
  readonly messageId: string;
  /** The From mailbox as written into the message. */
  readonly from: string;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** In the form of `streamKey`. */
  readonly stream: string | null;
  /** The key that submitted it, and its name if it still exists; null without a key. */
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly source: Source;
  readonly createdAt: number;
}
