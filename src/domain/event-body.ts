import type { DeliveryState } from './delivery.ts';
import {
  type Event,
  type EventType,
  isOfMessage,
  isOfSuppressions,
  isOfWebhooks,
  type MessageEventType,
} from './event.ts';
import type { BounceType, FeedbackSource } from './feedback.ts';
import type { RecipientKind, Source } from './message.ts';
import type { OutcomeName } from './outcome.ts';
import { domainOfSuppressed } from './suppressed-address.ts';
import type { SuppressionReason } from './suppression.ts';

/** The most that the JSON of an event takes, in bytes of UTF-8. */
export const MAX_EVENT_BYTES = 20 * 1024;

/** An event as the outside sees it (contract-2 §B1). Every member is always there; what does not apply is null. */
export interface EventBody {
  readonly type: EventType;
  /** When it happened. */
  readonly timestamp: string;
  readonly data: EventData;
}

/** What an event is about, and what it says. */
interface EventData {
  readonly id: string;
  readonly sequence: number;
  /** Null for an event of the suppression list, of a relay or of a webhook. */
  readonly message: EventMessageBody | null;
  /** Null for an event of the whole message, or of none. */
  readonly recipient: EventRecipientBody | null;
  readonly relay: string | null;
  readonly attempt: number | null;
  readonly providerMessageId: string | null;
  readonly nextAttemptAt: string | null;
  readonly reply: EventReplyBody | null;
  readonly bounce: EventBounceBody | null;
  /** The id of the entry that stopped the recipient, or that the event is about or led to. */
  readonly suppression: string | null;
  /** The entry, and the domain that it is of or that is guarded; only events of the suppression list have both. */
  readonly entry?: EventEntryBody | null;
  readonly domain?: string | null;
  /** The id of the endpoint that the event is about; only events of webhooks have it. */
  readonly webhook?: string | null;
  /** Something was cut, so that the event has at most {@link MAX_EVENT_BYTES}; absent: it is whole. */
  readonly truncated?: true;
}

interface EventMessageBody {
  readonly id: string;
  readonly messageId: string;
  readonly from: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly stream: string | null;
  /** The name of the key; null without one, or when it no longer exists. */
  readonly key: string | null;
  readonly source: Source;
  readonly createdAt: string;
}

interface EventRecipientBody {
  readonly address: string;
  readonly type: RecipientKind;
  /** Its status after the event. */
  readonly status: DeliveryState;
  /** Null while it is not final. */
  readonly outcome: OutcomeName | null;
}

/** What a failure means for the recipient's address; null for other events and other failures. */
interface EventBounceBody {
  readonly type: BounceType;
  /** How it became known; `smtp`: our own SMTP dialogue, or the end of its time. */
  readonly source: FeedbackSource;
}

/** An entry of the suppression list. */
interface EventEntryBody {
  readonly address: string;
  /** With the name of a key in place of its id. */
  readonly scope: string;
  readonly stream: string | null;
  readonly reason: SuppressionReason;
  readonly source: string;
}

interface EventReplyBody {
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string;
}

/**
 * The event for the outside, under the id that it has there. The same event gives the same bytes every time. It has at
 * most {@link MAX_EVENT_BYTES} as JSON: whole metadata entries are left out from the end until it fits, then tags, then
 * the ends of texts, that of the reply first.
 */
export function eventBody(event: Event, id: string): EventBody {
  const body = wholeBody(event, id);
  return bytesOf(body) <= MAX_EVENT_BYTES ? body : cutBody(body);
}

function wholeBody(event: Event, id: string): EventBody {
  const { sequence, type, at, recipient, attempt, facts } = event;
  const { nextAttemptAt, bounce, entry } = facts;
  return {
    type,
    timestamp: timeText(facts.happenedAt ?? at),
    data: {
      id,
      sequence,
      message: messageBody(event.message),
      recipient: recipientBody(type, recipient, facts),
      relay: facts.relay ?? null,
      attempt,
      providerMessageId: facts.providerMessageId ?? null,
      nextAttemptAt: nextAttemptAt === undefined ? null : timeText(nextAttemptAt),
      reply: replyBody(facts),
      bounce: bounce === undefined ? null : { type: bounce, source: facts.source ?? 'smtp' },
      suppression: entry?.id ?? facts.suppression ?? null,
      ...(isOfSuppressions(type) && { entry: entryBody(event), domain: domainOf(facts) }),
      ...(isOfWebhooks(type) && { webhook: facts.webhook?.id ?? null }),
    },
  };
}

function messageBody(message: Event['message']): EventMessageBody | null {
  if (message === null) return null;
  const { id, messageId, from, tags, metadata, stream, keyName, source, createdAt } = message;
  return {
    id,
    messageId,
    from,
    tags,
    metadata,
    stream,
    key: keyName,
    source,
    createdAt: timeText(createdAt),
  };
}

function entryBody({ facts: { entry }, scopeKey }: Event): EventEntryBody | null {
  if (entry === undefined) return null;
  const { address, stream, reason, source } = entry;
  return { address, scope: scopeKey === null ? entry.scope : `key:${scopeKey}`, stream, reason, source };
}

function domainOf({ entry, domain }: Event['facts']): string | null {
  return domain ?? (entry === undefined ? null : domainOfSuppressed(entry.address));
}

function recipientBody(
  type: EventType,
  recipient: Event['recipient'],
  { outcome, state }: Event['facts'],
): EventRecipientBody | null {
  if (recipient === null || type === 'message.queued' || !isOfMessage(type)) return null;
  const after = state === undefined ? AFTER[type](outcome) : { status: state, outcome: null };
  return { address: recipient.address, type: recipient.kind, ...after };
}

type Ended = Pick<EventRecipientBody, 'status' | 'outcome'>;

/** What a recipient is after each type of event. */
// biome-ignore format: a table
const AFTER: Readonly<
  Record<Exclude<MessageEventType, 'message.queued'>, (outcome: OutcomeName | undefined) => Ended>
> = {
  'message.delivered':    (outcome = 'accepted') => ({ status: 'delivered', outcome }),
  'message.captured':     () => ({ status: 'delivered', outcome: 'captured' }),
  'message.deferred':     () => ({ status: 'retrying', outcome: null }),
  'message.failed':       (outcome = 'rejected') => ({ status: 'failed', outcome }),
  'message.suppressed':   () => ({ status: 'failed', outcome: 'suppressed' }),
  'message.bounced':      (outcome = 'bounced') => lastKnown(outcome),
  'message.confirmed':    lastKnown,
  'message.delayed':      lastKnown,
  'message.complained':   lastKnown,
  'message.unsubscribed': lastKnown,
};

/** What is told of a recipient after it was delivered changes nothing of how it ended. */
function lastKnown(outcome: OutcomeName = 'accepted'): Ended {
  return { status: outcome === 'accepted' || outcome === 'captured' ? 'delivered' : 'failed', outcome };
}

/** Null if nobody replied, and nothing was said in place of a reply. */
function replyBody({ code, enhanced, text = '' }: Event['facts']): EventReplyBody | null {
  if (code === undefined && enhanced === undefined && text === '') return null;
  return { code: code ?? null, enhancedCode: enhanced ?? null, text };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function cutBody(body: EventBody): EventBody {
  let cut: EventBody = { ...body, data: { ...body.data, truncated: true } };
  for (const cutter of CUTTERS) {
    const excess = bytesOf(cut) - MAX_EVENT_BYTES;
    if (excess <= 0) break;
    cut = { ...cut, data: cutter(cut.data, excess) };
  }
  return cut;
}

type Cutter = (data: EventData, excess: number) => EventData;

function ofMessage(cut: (message: EventMessageBody, excess: number) => EventMessageBody): Cutter {
  return (data, excess) => ({ ...data, message: data.message && cut(data.message, excess) });
}

/** In the order in which parts of an event are given up. Each removes so many bytes, or all that it may. */
const CUTTERS: readonly Cutter[] = [
  ofMessage((message, excess) => {
    const entries = withoutLast(Object.entries(message.metadata), excess, BRACKETS);
    return { ...message, metadata: Object.fromEntries(entries) };
  }),
  ofMessage((message, excess) => ({ ...message, tags: withoutLast(message.tags, excess, 0) })),
  ({ reply, ...data }, excess) => ({
    ...data,
    reply: reply && { ...reply, text: withoutEnd(reply.text, excess) },
  }),
  // Beyond the contract's order, for what strangers and raw messages may make longer than anybody would.
  ofMessage((message, excess) => ({ ...message, from: withoutEnd(message.from, excess) })),
  ofMessage((message, excess) => ({ ...message, messageId: withoutEnd(message.messageId, excess) })),
  ({ providerMessageId, ...data }, excess) => ({
    ...data,
    providerMessageId: providerMessageId && withoutEnd(providerMessageId, excess),
  }),
];

/** Bytes around the JSON of an entry, which as a member of an object has no brackets. */
const BRACKETS = 2;

/** The items without as many of the last as take `excess` bytes, or without all; the JSON of each has `shell` too many. */
function withoutLast<T>(items: readonly T[], excess: number, shell: number): readonly T[] {
  let left = items.length;
  // Commas count for nothing: one item too many is left out at most.
  for (let removed = 0; left > 0 && removed < excess; left--) removed += bytesOf(items[left - 1]) - shell;
  return items.slice(0, left);
}

/** The text without as many of its last characters as take `excess` bytes as JSON. */
function withoutEnd(text: string, excess: number): string {
  const characters = [...text];
  let left = characters.length;
  for (let removed = 0; left > 0 && removed < excess; left--)
    removed += bytesOf(characters[left - 1]) - QUOTE_BYTES;
  return characters.slice(0, left).join('');
}

/** Bytes around the JSON of a text. */
const QUOTE_BYTES = 2;

const UTF8 = new TextEncoder();

function bytesOf(value: unknown): number {
  return UTF8.encode(JSON.stringify(value)).length;
}
