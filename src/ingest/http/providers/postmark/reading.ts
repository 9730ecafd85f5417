import { z } from 'zod';
import type { MessageStatus } from '../../../../domain/delivery.ts';
import type { Event, EventType } from '../../../../domain/event.ts';
import type { MessageRecord } from '../../../../domain/message.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { messageUuid } from '../../../../lib/id.ts';
import type { Call } from '../../call.ts';
import { findReadable } from '../../find-message.ts';
import { FILTER_PARAMETERS } from '../../list.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import type { ProviderDeps } from '../provider.ts';
import { ownerFor, wordsOf } from '../reading.ts';
import { PAGE_PARAMETERS, PERIOD_PARAMETERS, partOf, readQuery } from './queries.ts';

/** How Postmark shows messages: `GET /messages/outbound`, `…/{id}/details` (contract-2 §C3). */

/** Postmark's words for what we call these. */
const STATUSES: Readonly<Record<'Queued' | 'Sent' | 'Processed', readonly MessageStatus[]>> = {
  Queued: ['queued', 'processing', 'retrying'],
  Sent: ['delivered'],
  // Done with, and not sent.
  Processed: ['failed'],
};
type Status = keyof typeof STATUSES;
const STATUS_NAMES = Object.keys(STATUSES) as readonly Status[];

const statusSchema = z.string().transform((text, context) => {
  const status = STATUS_NAMES.find((name) => name.toLowerCase() === text.toLowerCase());
  if (status !== undefined) return status;
  context.issues.push({ code: 'custom', input: text, message: 'no status' });
  return z.NEVER;
});

// biome-ignore format: a table
const LIST_PARAMETERS = {
  ...PAGE_PARAMETERS,
  ...PERIOD_PARAMETERS,
  recipient: FILTER_PARAMETERS.to,
  fromemail: FILTER_PARAMETERS.from,
  tag: FILTER_PARAMETERS.tag,
  subject: FILTER_PARAMETERS.subject,
  status: { schema: statusSchema.optional(), code: 'unknown_status', rule: 'queued, sent or processed', meaning: 'Only messages with this status.', example: 'sent' },
};

/** Messages that are read at once. */
const PAGE = 200;

/** Answers with messages, the newest first. */
export async function listOutbound({ exchange, caller }: Call, deps: ProviderDeps): Promise<void> {
  const values = readQuery(exchange.query, LIST_PARAMETERS);
  const { recipient, fromemail, tag, subject, status, fromdate, todate } = values;
  const query = {
    owner: ownerFor(caller.key),
    asker: caller.key.id,
    statuses: status === undefined ? [] : STATUSES[status],
    filter: {
      to: recipient ?? null,
      from: fromemail ?? null,
      tag: tag ?? null,
      subject: subject ?? null,
      since: fromdate ?? null,
      until: todate ?? null,
    },
    limit: Math.min(PAGE, values.offset + values.count + 1),
  };
  const { items, total } = await partOf(values, async (before: string | null) => {
    const { messages, next } = await deps.views.list({ ...query, before });
    return { items: messages, next, isCut: next !== null && messages.length < query.limit };
  });
  exchange.json(200, { TotalCount: total, Messages: items.map(messageJson) });
}

/** Answers with one message, and what became of it. */
export async function showOutbound({ exchange, caller, params }: Call, deps: ProviderDeps): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const { message } = await findReadable(params['id'] ?? '', caller.key, deps.views);
  const words = await wordsOf(message, caller.key, deps);
  exchange.json(200, {
    ...messageJson(message),
    TextBody: words?.text ?? null,
    HtmlBody: words?.html ?? null,
    Attachments: words?.attachments.map(({ filename }) => filename) ?? [],
    MessageEvents: await eventsOf(message, deps),
  });
}

function messageJson(message: MessageRecord) {
  const { to, cc, bcc, tags, metadata, status, header } = message;
  const [sent, copied, hidden] = [to, cc, bcc].map((list) => list.map(recipientJson));
  return {
    MessageID: messageUuid(message.id),
    To: sent,
    Cc: copied,
    Bcc: hidden,
    Recipients: [...new Set([...to, ...cc, ...bcc])],
    ReceivedAt: formatTimestamp(message.createdAt),
    From: header.from,
    Subject: header.subject,
    Attachments: [],
    Tag: tags[0] ?? '',
    Status: STATUS_NAMES.find((name) => STATUSES[name].includes(status)) ?? 'Queued',
    Metadata: metadata,
    MessageStream: 'outbound',
    TrackOpens: false,
    TrackLinks: 'None',
    Sandboxed: message.test,
  };
}

/** Names are not kept. */
function recipientJson(Email: string) {
  return { Email, Name: '' };
}

/** The most events of a message that are told: the first ones. */
const MAX_EVENTS = 200;

/** Postmark's words for what happened to a recipient; what has none is not told. */
const EVENTS: Partial<Record<EventType, 'Delivered' | 'Transient' | 'Bounced' | 'SubscriptionChanged'>> = {
  'message.delivered': 'Delivered',
  'message.captured': 'Delivered',
  'message.deferred': 'Transient',
  'message.delayed': 'Transient',
  'message.failed': 'Bounced',
  'message.bounced': 'Bounced',
  'message.suppressed': 'SubscriptionChanged',
  'message.complained': 'SubscriptionChanged',
  'message.unsubscribed': 'SubscriptionChanged',
};

async function eventsOf({ id }: MessageRecord, { views }: Pick<ProviderDeps, 'views'>) {
  const { events } = await views.events({
    owner: 'all',
    types: Object.keys(EVENTS) as EventType[],
    message: id,
    recipient: null,
    tag: null,
    since: null,
    until: null,
    from: { after: 0 },
    limit: MAX_EVENTS,
  });
  return events.map(eventJson);
}

function eventJson(event: Event) {
  const { type, at, facts, recipient } = event;
  return {
    Recipient: recipient?.address ?? '',
    Type: EVENTS[type],
    ReceivedAt: formatTimestamp(facts.happenedAt ?? at),
    Details: detailsOf(event),
  };
}

function detailsOf({ type, sequence, facts: { text = '', relay = '' } }: Event) {
  switch (EVENTS[type]) {
    case 'Bounced':
      return { Summary: text, BounceID: String(sequence) };
    case 'SubscriptionChanged':
      return { Origin: type === 'message.suppressed' ? 'Customer' : 'Recipient', SuppressSending: 'True' };
    default:
      return { DeliveryMessage: text, DestinationServer: relay, DestinationIP: '' };
  }
}
