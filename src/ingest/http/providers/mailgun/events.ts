import { z } from 'zod';
import { EVENT_TYPES, type Event, type EventMessage, type EventType } from '../../../../domain/event.ts';
import type { SuppressionReason } from '../../../../domain/suppression.ts';
import { clientOrigin } from '../../../../http/exchange.ts';
import { Problem } from '../../../../http/problem.ts';
import { eventId } from '../../../../lib/id.ts';
import { parseDate } from '../../../../mail/trace.ts';
import type { EventPage, EventQuery } from '../../../../store/events.ts';
import type { MessageDetail } from '../../../../store/views.ts';
import type { Access, Call } from '../../call.ts';
import { recipientSchema } from '../../events.ts';
import { namedId } from '../../find-message.ts';
import { FILTER_PARAMETERS } from '../../list.ts';
import { asInteger, NO_PARAMETERS, type ParameterValues, readParameters } from '../../query.ts';
import type { ProviderDeps, ProviderEndpoint } from '../provider.ts';
import { ownerFor } from '../reading.ts';

/**
 * `GET /v3/{domain}/events` (contract-2 §C5): our log of events in Mailgun's words. The domain selects nothing: the log
 * has the events of the key's messages. `accepted` occurs once a message, all others once a recipient.
 */

const READ: Access = { scheme: 'basic', scopes: ['events:read'], window: 'read' };

/** The calls about events. A page has a path of its own: clients take the last segment of a link, and no more. */
export const EVENT_ENDPOINTS: readonly ProviderEndpoint[] = [
  { method: 'GET', path: '/v3/{domain}/events', access: READ, handle: showEvents },
  { method: 'GET', path: '/v3/{domain}/events/{page}', access: READ, handle: showPage },
];

/** What Mailgun calls an event of ours. */
interface Kind {
  readonly event: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly severity?: 'temporary' | 'permanent';
}

/** Others of ours have no counterpart: they tell again, or less, of what one of these has told. */
// biome-ignore format: a table
const KINDS: Partial<Record<EventType, Kind>> = {
  'message.queued':       { event: 'accepted',     level: 'info' },
  'message.delivered':    { event: 'delivered',    level: 'info' },
  'message.captured':     { event: 'delivered',    level: 'info' },
  'message.deferred':     { event: 'failed',       level: 'warn',  severity: 'temporary' },
  'message.failed':       { event: 'failed',       level: 'error', severity: 'permanent' },
  'message.bounced':      { event: 'failed',       level: 'error', severity: 'permanent' },
  'message.suppressed':   { event: 'failed',       level: 'error', severity: 'permanent' },
  'message.complained':   { event: 'complained',   level: 'warn' },
  'message.unsubscribed': { event: 'unsubscribed', level: 'info' },
};
/** Mailgun's other events, which never occur here. */
const NEVER = ['rejected', 'opened', 'clicked', 'stored'];
const NAMES = new Set([...Object.values(KINDS).map(({ event }) => event), ...NEVER]);

const TIME_RULE = 'seconds since 1970, or a time such as "Fri, 20 Nov 2026 11:15:00 +0000"';
const SECONDS = /^\d{1,10}(?:\.\d{1,9})?$/;

const timeSchema = z.string().transform((text, context) => {
  const ms = SECONDS.test(text) ? Math.floor(Number(text) * 1000) : parseDate(text);
  if (ms !== null) return ms;
  context.issues.push({ code: 'custom', input: text, message: 'not a time' });
  return z.NEVER;
});
const namesSchema = z.string().transform((text, context) => {
  const names = text.trim().split(/ +OR +/i, NAMES.size + 1);
  if (names.every((name) => NAMES.has(name))) return names;
  context.issues.push({ code: 'custom', input: text, message: 'no event' });
  return z.NEVER;
});
const yesNo = { schema: z.boolean().optional(), fromText: asYesNo, code: 'type', rule: 'yes or no' };

function asYesNo(text: string): unknown {
  return /^(?:yes|true)$/i.test(text) || (/^(?:no|false)$/i.test(text) ? false : text);
}

// biome-ignore format: a table
const EVENT_PARAMETERS = {
  begin: { schema: timeSchema.optional(), code: 'timestamp', rule: TIME_RULE, meaning: 'Where the log is read from.', example: '1763640900' },
  end: { schema: timeSchema.optional(), code: 'timestamp', rule: TIME_RULE, meaning: 'Where it is read to.', example: '1763640900' },
  ascending: { ...yesNo, meaning: 'The oldest first.', example: 'yes' },
  limit: { schema: z.int().min(1).max(300).default(100), fromText: asInteger, code: 'out_of_range', rule: 'an integer from 1 to 300', meaning: 'The most events of a page.', example: '100' },
  event: { schema: namesSchema.optional(), code: 'event_type', rule: `one of ${[...NAMES].join(', ')}, or several with OR between them`, meaning: 'Only these.', example: 'delivered OR failed' },
  severity: { schema: z.enum(['temporary', 'permanent']).optional(), code: 'type', rule: 'temporary or permanent', meaning: 'Only failures of this kind.', example: 'permanent' },
  recipient: { schema: recipientSchema.optional(), code: 'address_syntax', rule: 'a whole address', meaning: 'Only of this recipient.', example: 'ann@example.org' },
  tags: { ...FILTER_PARAMETERS.tag, meaning: 'Only of messages with this tag.' },
  'message-id': { schema: z.string().max(1000).optional(), code: 'message_id', rule: 'a Message-ID', meaning: 'Only of this message.', example: '1@example.com' },
  pretty: { ...yesNo, meaning: 'Without effect.', example: 'yes' },
};

type Values = ParameterValues<typeof EVENT_PARAMETERS>;

/** From where, and in which direction, the log is read for a page. */
type Place = EventQuery['from'];

/** Answers with the first page. */
async function showEvents(call: Call, deps: ProviderDeps): Promise<void> {
  const { query } = call.exchange;
  const values = readParameters(query, EVENT_PARAMETERS);
  await answerPage(call, values, isAscending(values) ? { after: 0 } : { before: null }, query, deps);
}

/** Answers with the page of a link. */
async function showPage(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const [, direction = '', sequence = '', text = ''] =
    TOKEN.exec(Buffer.from(call.params['page'] ?? '', 'base64url').toString('utf8')) ?? [];
  if (direction === '') throw new Problem(404, 'not_found', 'There is no such page of events.');
  const query = new URLSearchParams(text);
  const number = sequence === '' ? null : Number(sequence);
  const place = direction === 'after' ? { after: number ?? 0 } : { before: number };
  await answerPage(call, readParameters(query, EVENT_PARAMETERS), place, query, deps);
}

/** What a link's last segment says, in base64: from where on, and the parameters of the first page. */
const TOKEN = /^(after|before):(\d{0,15})\?(.*)$/s;

function tokenOf(place: Place, query: URLSearchParams): string {
  const at = 'after' in place ? `after:${place.after}` : `before:${place.before ?? ''}`;
  return Buffer.from(`${at}?${query}`).toString('base64url');
}

/** Mailgun reads from `begin`, which is now where it is not given, in the direction of `end`. */
function isAscending({ ascending, begin, end }: Values): boolean {
  return ascending ?? (begin !== undefined && (end === undefined || begin <= end));
}

function periodOf(values: Values): Pick<EventQuery, 'since' | 'until'> {
  const { begin, end } = values;
  if (begin !== undefined && end !== undefined)
    return { since: Math.min(begin, end), until: Math.max(begin, end) };
  return isAscending(values)
    ? { since: begin ?? null, until: end ?? null }
    : { since: end ?? null, until: begin ?? null };
}

/** Our types of the events that are asked for. */
function typesOf({ event, severity }: Values): EventType[] {
  const types = Object.keys(EVENT_TYPES) as EventType[];
  return types.filter((type) => {
    const kind = KINDS[type];
    if (kind === undefined || (event !== undefined && !event.includes(kind.event))) return false;
    return severity === undefined || kind.severity === severity;
  });
}

const NOTHING: EventPage = { events: [], next: null, more: false };

async function answerPage(
  call: Call,
  values: Values,
  place: Place,
  query: URLSearchParams,
  deps: ProviderDeps,
): Promise<void> {
  const { exchange, caller } = call;
  const owner = ownerFor(caller.key);
  const named = values['message-id'];
  const message = named === undefined ? null : await namedId(namedBy(named), owner, deps.views);
  const types = typesOf(values);
  const filter = {
    owner,
    types,
    message,
    recipient: values.recipient ?? null,
    tag: values.tags ?? null,
    ...periodOf(values),
    limit: values.limit,
  };
  const isNothing = types.length === 0 || (named !== undefined && message === null);
  const page = isNothing ? NOTHING : await firstWithEvents(filter, place, deps);
  const isReversed = isAscending(values) !== 'after' in place;
  const events = isReversed ? page.events.toReversed() : page.events;
  const path = `${clientOrigin(exchange, deps.options.trustedProxies)}${exchange.path.replace(/\/events(?:\/[^/]*)?$/, '/events')}`;
  const link = (to: Place) => `${path}/${tokenOf(to, query)}`;
  const [start, end]: [Place, Place] = [{ after: 0 }, { before: null }];
  const { older, newer } = neighboursOf(page, place);
  exchange.json(200, {
    items: await itemsOf(events, deps),
    paging: isAscending(values)
      ? { first: link(start), last: link(end), next: link(newer), previous: link(older) }
      : { first: link(end), last: link(start), next: link(older), previous: link(newer) },
  });
}

/** Mailgun leaves out the brackets of a Message-ID; an id of ours has no at sign. */
function namedBy(text: string): string {
  return text.includes('@') ? `<${text.replace(/^<|>$/g, '')}>` : text;
}

/** Where the pages before and after a page begin: what is between it and them was examined, and not wanted. */
function neighboursOf({ events, next }: EventPage, place: Place): { older: Place; newer: Place } {
  const [first, last] = [events[0]?.sequence, events.at(-1)?.sequence];
  if ('after' in place)
    return { older: { before: first ?? place.after + 1 }, newer: { after: next ?? last ?? place.after } };
  // Before the oldest one there is nothing.
  const older = { before: next ?? last ?? place.before ?? 0 };
  return { older, newer: { after: first ?? Math.max((place.before ?? next ?? 1) - 1, 0) } };
}

/**
 * Pages of the log that are examined for one of ours. One without events is the last to many clients; but a key that
 * sends little on a busy installation would keep others waiting, and its next page goes on where this one stopped.
 */
const MAX_EXAMINED = 4;

async function firstWithEvents(
  filter: Omit<EventQuery, 'from'>,
  place: Place,
  { views }: ProviderDeps,
): Promise<EventPage> {
  let page = await views.events({ ...filter, from: place });
  for (let pages = 1; pages < MAX_EXAMINED; pages++) {
    if (page.events.length > 0 || !page.more || page.next === null) return page;
    const from = 'after' in place ? { after: page.next } : { before: page.next };
    page = await views.events({ ...filter, from });
  }
  return page;
}

/** Events as Mailgun shows them; with a look at each message. */
async function itemsOf(events: readonly Event[], { views }: ProviderDeps): Promise<object[]> {
  const messages = new Map<string, Seen | null>();
  const items: object[] = [];
  for (const event of events) {
    const kind = KINDS[event.type];
    if (kind === undefined || event.message === null) continue;
    const { id } = event.message;
    if (!messages.has(id)) messages.set(id, seenOf(await views.message(id)));
    items.push(itemOf(event, event.message, kind, messages.get(id) ?? null));
  }
  return items;
}

/** Characters of a header To in an event: it may name very many. */
const MAX_TO = 1000;

/** What is told of a message that its events do not say: little of it, as a page may be about many large ones. */
interface Seen {
  readonly to: string;
  readonly first: string;
  readonly sender: string;
  readonly sizeBytes: number;
  readonly test: boolean;
}

function seenOf(detail: MessageDetail | null): Seen | null {
  if (detail === null) return null;
  const { to, envelopeFrom, sizeBytes, test } = detail.message;
  const first = detail.recipients[0]?.address ?? '';
  return { to: to.join(', ').slice(0, MAX_TO), first, sender: envelopeFrom, sizeBytes, test };
}

function itemOf(event: Event, message: EventMessage, kind: Kind, seen: Seen | null): object {
  const { type, at, sequence, facts } = event;
  const recipient = event.recipient?.address ?? seen?.first ?? '';
  const failure = kind.severity === undefined ? null : failureOf(event);
  return {
    event: kind.event,
    id: eventId(at, sequence),
    timestamp: (facts.happenedAt ?? at) / 1000,
    'log-level': kind.level,
    recipient,
    'recipient-domain': recipient.slice(recipient.lastIndexOf('@') + 1),
    ...(failure !== null && { severity: kind.severity, reason: failure.reason }),
    ...((failure !== null || kind.event === 'delivered') && {
      'delivery-status': {
        code: facts.code ?? failure?.code ?? 250,
        message: facts.text ?? '',
        description: '',
        'attempt-no': event.attempt ?? 1,
      },
    }),
    message: {
      headers: {
        'message-id': message.messageId.replace(/^<|>$/g, ''),
        from: message.from,
        to: seen?.to ?? recipient,
        subject: message.subject,
      },
      size: seen?.sizeBytes ?? 0,
      attachments: [],
    },
    tags: message.tags,
    'user-variables': message.metadata,
    flags: { 'is-test-mode': seen?.test ?? type === 'message.captured' },
    envelope: { sender: seen?.sender ?? '', targets: recipient, transport: 'smtp' },
  };
}

/** Mailgun's words and code for a failure; 0: nobody gave a code. */
function failureOf({ type, facts }: Event): { readonly reason: string; readonly code: number } {
  if (type === 'message.suppressed') {
    // The reply ends in the reason of the entry.
    const [reason = ''] = /\w+$/.exec(facts.text ?? '') ?? [];
    return SUPPRESSED[reason as SuppressionReason] ?? { reason: 'suppress-bounce', code: 605 };
  }
  if (facts.outcome === 'expired') return { reason: 'old', code: 602 };
  const isBounce = type === 'message.bounced' || facts.bounce === 'hard';
  return { reason: isBounce ? 'bounce' : 'generic', code: 0 };
}

const SUPPRESSED: Partial<Record<SuppressionReason, { readonly reason: string; readonly code: number }>> = {
  unsubscribe: { reason: 'suppress-unsubscribe', code: 606 },
  complaint: { reason: 'suppress-complaint', code: 607 },
};
