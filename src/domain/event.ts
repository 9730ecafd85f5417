import { bounceTypeOfReply } from './bounce.ts';
import type { BounceType } from './feedback.ts';
import type { RecipientKind, Source } from './message.ts';
import type { OutcomeName, Reply } from './outcome.ts';
import type { Transition } from './settle.ts';

/**
 * Events (contract-2 §B1): each fact of a message's story, told once, in the order in which facts became true. An event
 * keeps only what its message does not say; the rest is read from the message.
 */

interface EventKind {
  /** Stores keep this number. It never changes. */
  readonly code: number;
  /** Mail that goes well has these; with `events.keep: exceptional` they are not kept. */
  readonly isUsual: boolean;
}

/** The types of events. `message.queued` occurs once per message, all others once per recipient concerned. */
// biome-ignore format: a table
export const EVENT_TYPES = {
  'message.queued':    { code: 1, isUsual: true  },
  'message.delivered': { code: 2, isUsual: true  },
  'message.captured':  { code: 3, isUsual: true  },
  'message.deferred':  { code: 4, isUsual: false },
  'message.failed':    { code: 5, isUsual: false },
} as const satisfies Record<string, EventKind>;

/** See {@link EVENT_TYPES}. */
export type EventType = keyof typeof EVENT_TYPES;

const TYPES = Object.keys(EVENT_TYPES) as readonly EventType[];
const BY_CODE = new Map<number, EventType>(TYPES.map((type) => [EVENT_TYPES[type].code, type]));

/** The type with this number; null for one that this program does not know. */
export function eventTypeOf(code: number): EventType | null {
  return BY_CODE.get(code) ?? null;
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

/** What an event says itself. Absent: does not apply. */
export interface EventFacts {
  readonly relay?: string;
  /** Of a recipient that is final. */
  readonly outcome?: OutcomeName;
  readonly code?: number;
  readonly enhanced?: string;
  /** The reply's text, one line. Hostile: written by a peer. */
  readonly text?: string;
  readonly providerMessageId?: string;
  /** Wall ms. */
  readonly nextAttemptAt?: number;
  /** What the failure means for the recipient's address: of a refusal in our own SMTP dialogue, and of an expiry. */
  readonly bounce?: BounceType;
}

/** The type of the event that a delivery's transition is. */
export function eventOf({ state, outcome }: Transition): EventType {
  if (state === 'retrying') return 'message.deferred';
  if (state === 'failed') return 'message.failed';
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
  /** When it happened (wall ms). */
  readonly at: number;
  readonly message: EventMessage;
  /** Null for an event of the whole message. */
  readonly recipient: { readonly address: string; readonly kind: RecipientKind } | null;
  /** The number of the attempt that it followed from; null for none. */
  readonly attempt: number | null;
  readonly facts: EventFacts;
}

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
  /** The key that submitted it, and its name if it still exists; null without a key. */
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly source: Source;
  readonly createdAt: number;
}
