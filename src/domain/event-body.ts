import type { Event, EventType } from './event.ts';
import type { BounceType } from './feedback.ts';
import type { RecipientKind, Source } from './message.ts';
import type { OutcomeName } from './outcome.ts';

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
  readonly message: EventMessageBody;
  /** Null for an event of the whole message. */
  readonly recipient: EventRecipientBody | null;
  readonly relay: string | null;
  readonly attempt: number | null;
  readonly providerMessageId: string | null;
  readonly nextAttemptAt: string | null;
  readonly reply: EventReplyBody | null;
  readonly bounce: EventBounceBody | null;
  readonly suppression: null;
  /** Something was cut, so that the event has at most {@link MAX_EVENT_BYTES}; absent: it is whole. */
  readonly truncated?: true;
}

interface EventMessageBody {
  readonly id: string;
  readonly messageId: string;
  readonly from: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly stream: null;
  /** The name of the key; null without one, or when it no longer exists. */
  readonly key: string | null;
  readonly source: Source;
  readonly createdAt: string;
}

interface EventRecipientBody {
  readonly address: string;
  readonly type: RecipientKind;
  /** Its status after the event. */
  readonly status: 'delivered' | 'retrying' | 'failed';
  /** Null while it is not final. */
  readonly outcome: OutcomeName | null;
}

/** What a failure means for the recipient's address; null for other events and other failures. */
interface EventBounceBody {
  readonly type: BounceType;
  /** How it became known: our own SMTP dialogue, or the end of its time. */
  readonly source: 'smtp';
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

function wholeBody({ sequence, type, at, message, recipient, attempt, facts }: Event, id: string): EventBody {
  const { id: messageId, keyName, from, tags, metadata, source } = message;
  const { nextAttemptAt } = facts;
  return {
    type,
    timestamp: timeText(at),
    data: {
      id,
      sequence,
      message: {
        id: messageId,
        messageId: message.messageId,
        from,
        tags,
        metadata,
        stream: null,
        key: keyName,
        source,
        createdAt: timeText(message.createdAt),
      },
      recipient: recipientBody(type, recipient, facts.outcome),
      relay: facts.relay ?? null,
      attempt,
      providerMessageId: facts.providerMessageId ?? null,
      nextAttemptAt: nextAttemptAt === undefined ? null : timeText(nextAttemptAt),
      reply: replyBody(facts),
      bounce: facts.bounce === undefined ? null : { type: facts.bounce, source: 'smtp' },
      suppression: null,
    },
  };
}

function recipientBody(
  type: EventType,
  recipient: Event['recipient'],
  outcome: OutcomeName | undefined,
): EventRecipientBody | null {
  if (recipient === null || type === 'message.queued') return null;
  return { address: recipient.address, type: recipient.kind, ...AFTER[type](outcome) };
}

type Ended = Pick<EventRecipientBody, 'status' | 'outcome'>;

/** What a recipient is after each type of event. */
// biome-ignore format: a table
const AFTER: Readonly<Record<Exclude<EventType, 'message.queued'>, (outcome: OutcomeName | undefined) => Ended>> = {
  'message.delivered': (outcome = 'accepted') => ({ status: 'delivered', outcome }),
  'message.captured':  () => ({ status: 'delivered', outcome: 'captured' }),
  'message.deferred':  () => ({ status: 'retrying', outcome: null }),
  'message.failed':    (outcome = 'rejected') => ({ status: 'failed', outcome }),
};

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

/** In the order in which parts of an event are given up. Each removes so many bytes, or all that it may. */
const CUTTERS: readonly Cutter[] = [
  (data, excess) => {
    const entries = withoutLast(Object.entries(data.message.metadata), excess, BRACKETS);
    return { ...data, message: { ...data.message, metadata: Object.fromEntries(entries) } };
  },
  (data, excess) => ({
    ...data,
    message: { ...data.message, tags: withoutLast(data.message.tags, excess, 0) },
  }),
  ({ reply, ...data }, excess) => ({
    ...data,
    reply: reply && { ...reply, text: withoutEnd(reply.text, excess) },
  }),
  // Beyond the contract's order, for what strangers and raw messages may make longer than anybody would.
  (data, excess) => ({
    ...data,
    message: { ...data.message, from: withoutEnd(data.message.from, excess) },
  }),
  (data, excess) => ({
    ...data,
    message: { ...data.message, messageId: withoutEnd(data.message.messageId, excess) },
  }),
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
