import { NO_AFTERMATH, ownBounce } from '../../../../domain/aftermath.ts';
import type { ApiKey } from '../../../../domain/key.ts';
import type { MessageRecord } from '../../../../domain/message.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { messageUuid, readMessageId } from '../../../../lib/id.ts';
import type { ListPage, ListQuery, MessageDetail, RecipientRecord } from '../../../../store/views.ts';
import type { Call } from '../../call.ts';
import { findReadable } from '../../find-message.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import type { ProviderDeps } from '../provider.ts';
import { ownerFor, wordsOf } from '../reading.ts';
import { newerThan, type Page, pageAsked, pageParameters, type Span } from './paging.ts';

/** How Resend shows messages: `GET /emails/{id}` and `GET /emails` (contract-2 §C2). */

/** What became of a message, in Resend's words, the worst first: of several recipients the worst is told. */
const EVENTS = [
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
  'delivery_delayed',
  'scheduled',
  'queued',
  'sent',
  'delivered',
] as const;

type LastEvent = (typeof EVENTS)[number];

/** Answers with one email. */
export async function showEmail({ exchange, caller, params }: Call, deps: ProviderDeps): Promise<void> {
  readParameters(exchange.query, NO_PARAMETERS);
  const detail = await findReadable(params['id'] ?? '', caller.key, deps.views);
  exchange.json(200, {
    object: 'email',
    ...emailJson(detail, deps),
    ...(await bodiesOf(detail, caller.key, deps)),
  });
}

/** Answers with emails, the newest first. */
export async function listEmails({ exchange, caller }: Call, deps: ProviderDeps): Promise<void> {
  const { limit, after, before } = pageAsked(readParameters(exchange.query, pageParameters(readMessageId)));
  const all = { owner: ownerFor(caller.key), asker: caller.key.id, statuses: [] };
  const { items, hasMore } =
    before === null
      ? await olderThan(after, limit, all, deps)
      : await newerThan(before, limit, deps.clock.wall(), (span, count) => newestIn(span, count, all, deps));
  const details = await Promise.all(items.map(({ id }) => deps.views.message(id)));
  exchange.json(200, {
    object: 'list',
    has_more: hasMore,
    data: details.flatMap((detail) => (detail === null ? [] : [emailJson(detail, deps)])),
  });
}

/** Whose emails are listed. */
type Whose = Pick<ListQuery, 'owner' | 'asker' | 'statuses'>;

async function olderThan(
  before: string | null,
  limit: number,
  whose: Whose,
  { views }: Pick<ProviderDeps, 'views'>,
): Promise<Page<MessageRecord>> {
  const { messages, next } = await views.list({ ...whose, before, limit });
  return { items: messages, hasMore: next !== null };
}

/** The most messages in a page of ours. */
const PAGE = 200;
const NO_FILTER = { tag: null, to: null, from: null, subject: null };

async function newestIn(
  span: Span,
  count: number,
  whose: Whose,
  { views }: Pick<ProviderDeps, 'views'>,
): Promise<MessageRecord[]> {
  const found: MessageRecord[] = [];
  let before: string | null = null;
  do {
    const limit = Math.min(PAGE, count - found.length);
    const page: ListPage = await views.list({ ...whose, filter: { ...NO_FILTER, ...span }, before, limit });
    found.push(...page.messages);
    before = page.next;
  } while (before !== null && found.length < count);
  return found;
}

function emailJson(detail: MessageDetail, deps: Pick<ProviderDeps, 'sending' | 'clock'>) {
  const { message } = detail;
  return {
    id: messageUuid(message.id),
    to: message.to,
    from: message.header.from,
    created_at: formatTimestamp(message.createdAt),
    subject: message.header.subject,
    bcc: message.bcc,
    cc: message.cc,
    reply_to: [],
    last_event: lastEventOf(detail, deps),
    scheduled_at: message.sendAt === null ? null : formatTimestamp(message.sendAt),
    message_id: message.header.messageId,
    tags: message.tags.map(tagJson),
  };
}

/** A tag is `name:value` here. */
function tagJson(tag: string) {
  const colon = tag.indexOf(':');
  return colon < 0 ? { name: tag, value: '' } : { name: tag.slice(0, colon), value: tag.slice(colon + 1) };
}

/** What is read from the contents. */
async function bodiesOf({ message }: MessageDetail, key: ApiKey, deps: Pick<ProviderDeps, 'readWords'>) {
  const words = await wordsOf(message, key, deps);
  if (words === null) return { html: null, text: null };
  const replyTo = words.headers.find(({ name }) => name.toLowerCase() === 'reply-to')?.value;
  return { html: words.html, text: words.text, ...(replyTo !== undefined && { reply_to: [replyTo] }) };
}

function lastEventOf(detail: MessageDetail, deps: Pick<ProviderDeps, 'sending' | 'clock'>): LastEvent {
  const direct = new Set(deps.sending().relays.flatMap(({ name, type }) => (type === 'mx' ? [name] : [])));
  const isScheduled = (detail.message.sendAt ?? 0) > deps.clock.wall();
  const events = new Set(detail.recipients.map((one) => eventOf(one, detail, { direct, isScheduled })));
  return EVENTS.find((event) => events.has(event)) ?? 'queued';
}

function eventOf(
  recipient: RecipientRecord,
  { aftermath, message }: MessageDetail,
  { direct, isScheduled }: { readonly direct: ReadonlySet<string>; readonly isScheduled: boolean },
): LastEvent {
  const known = aftermath.find(({ index }) => index === recipient.index) ?? NO_AFTERMATH;
  const { state, outcome, relay } = recipient;
  if (state === 'failed') {
    if (outcome === 'suppressed') return 'suppressed';
    if (outcome === 'cancelled') return 'canceled';
    const bounce = known.bounce ?? ownBounce(recipient, message.updatedAt);
    return bounce !== null && outcome !== 'expired' ? 'bounced' : 'failed';
  }
  if (known.complainedAt !== null) return 'complained';
  if (state === 'delivered')
    // Whoever delivers directly has given it to the recipient's own server.
    return known.confirmedAt !== null || (relay !== null && direct.has(relay)) ? 'delivered' : 'sent';
  if (state === 'retrying') return 'delivery_delayed';
  return isScheduled ? 'scheduled' : 'queued';
}
