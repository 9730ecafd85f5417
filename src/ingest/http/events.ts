import { z } from 'zod';
import { EVENT_TYPES, type Event, typesNamed } from '../../domain/event.ts';
import { eventBody } from '../../domain/event-body.ts';
import type { ApiKey } from '../../domain/key.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';
import type { Clock } from '../../lib/clock.ts';
import { eventId, readMessageId } from '../../lib/id.ts';
import type { Shown } from '../../operations/operation.ts';
import type { EventPage, EventQuery } from '../../store/events.ts';
import type { Views } from '../../store/views.ts';
import type { Call } from './call.ts';
import type { eventSchema, eventsPageSchema } from './event-answers.ts';
import { streamEvents, wantsStream } from './event-stream.ts';
import type { EventReader, EventTail } from './event-tail.ts';
import { FILTER_PARAMETERS, LIST_PARAMETERS, nextLink } from './list.ts';
import { asInteger, invalidQuery, type ParameterValues, parameterFault, readParameters } from './query.ts';

/** `GET /api/v1/events`: the log of events, page by page, or as a stream (contract-2 §B1). */

const MAX_WAIT_SECONDS = 60;
const RETRY_SECONDS = 5;

const typesSchema = z.string().transform((text, context) => {
  const named = text.split(',').map((one) => typesNamed(one.trim()));
  const types = named.flatMap((one) => one ?? []);
  if (!named.includes(null)) return [...new Set(types)];
  context.issues.push({ code: 'custom', input: text, message: 'no types' });
  return z.NEVER;
});

/** The whole address of a recipient. */
export const recipientSchema = z.string().transform((text, context) => {
  const mailbox = parseMailbox(text);
  if (mailbox.ok && mailbox.value.name === null) return mailbox.value.address;
  context.issues.push({ code: 'custom', input: text, message: 'not an address' });
  return z.NEVER;
});

const messageSchema = z.string().transform((text, context) => {
  const id = readMessageId(text);
  if (id !== null) return id;
  context.issues.push({ code: 'custom', input: text, message: 'not an id' });
  return z.NEVER;
});

const { tag, since, until } = FILTER_PARAMETERS;
const { limit } = LIST_PARAMETERS;
const TYPES_RULE = `types of events, separated by commas: ${Object.keys(EVENT_TYPES).join(', ')}; message.* names all that begin so`;

/** Which events, by everything but their place in the log. */
// biome-ignore format: a table
export const EVENT_FILTER_PARAMETERS = {
  types: { schema: typesSchema.optional(), code: 'event_type', rule: TYPES_RULE, meaning: 'Only events of these types, separated by commas; `message.*` for all that begin so.', example: 'message.failed,message.deferred' },
  message: { schema: messageSchema.optional(), code: 'message_id', rule: 'the id of a message: msg_ and 26 characters, or the same as a UUID', meaning: 'Only events of this message.', example: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6' },
  recipient: { schema: recipientSchema.optional(), code: 'address_syntax', rule: 'a whole address such as ann@example.com', meaning: 'Only events of recipients, and of suppression entries, with this address. Case-insensitive.', example: 'bob@example.org' },
  tag: { ...tag, meaning: 'Only events of messages with exactly this tag.' },
  since: { ...since, meaning: 'Only events that Waybill knew of at this time or later (RFC 3339): what was told later than it happened counts from then.' },
  until: { ...until, meaning: 'Only events that Waybill knew of before this time (RFC 3339).' },
};

/** Every parameter of the endpoint. */
// biome-ignore format: a table
export const EVENT_PARAMETERS = {
  ...EVENT_FILTER_PARAMETERS,
  limit: { ...limit, meaning: 'The most events that a page may have. Without effect on a stream.' },
  after: { schema: z.int().min(0).optional(), fromText: asInteger, code: 'out_of_range', rule: 'the nextAfter of a page, or the sequence of an event', meaning: 'Oldest first, what comes after this sequence; 0 begins with the oldest that is kept.', example: '4711' },
  cursor: { schema: z.int().min(1).optional(), fromText: asInteger, code: 'bad_cursor', rule: 'the nextCursor of a page of events', meaning: 'Newest first, continues after a page: its nextCursor.', example: '4711' },
  wait: { schema: z.int().min(0).max(MAX_WAIT_SECONDS).optional(), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_WAIT_SECONDS}`, meaning: 'With `after`: answers when there is an event, or after that many seconds without one.', example: '30' },
};

/** An event as the API shows it. */
type EventJson = Shown<typeof eventSchema>;
/** A page of events as the API shows it. */
type EventsPageJson = Shown<typeof eventsPageSchema>;

/** An event as the API shows it. */
function eventJson(event: Event): EventJson {
  return eventBody(event, eventId(event.at, event.sequence));
}

/** A page as the API shows it. */
export function eventsPageJson({ events, next, more }: EventPage, from: EventQuery['from']): EventsPageJson {
  const shown = events.map(eventJson);
  if ('after' in from) return { events: shown, hasMore: more, nextAfter: next ?? from.after };
  const nextCursor = next === null ? undefined : String(next);
  // From the newest one on. Without any, nothing was seen, and all there will be comes after 0.
  const newest = events[0]?.sequence ?? (more ? undefined : 0);
  return {
    events: shown,
    hasMore: nextCursor !== undefined,
    nextCursor,
    nextAfter: from.before === null ? newest : undefined,
  };
}

/** What a query asks for besides its place, from what {@link EVENT_FILTER_PARAMETERS} read. */
export function eventFilter(
  values: ParameterValues<typeof EVENT_FILTER_PARAMETERS>,
): Omit<EventQuery, 'owner' | 'from' | 'limit'> {
  return {
    types: values.types ?? [],
    message: values.message ?? null,
    recipient: values.recipient ?? null,
    tag: values.tag ?? null,
    since: values.since ?? null,
    until: values.until ?? null,
  };
}

/** What the endpoint needs. */
export interface EventsDeps {
  readonly views: Pick<Views, 'events'>;
  readonly tail: EventTail;
  readonly clock: Clock;
}

/** Answers with a page, at once or when there is something; or with a stream. */
export async function answerEvents(call: Call, deps: EventsDeps): Promise<void> {
  const { exchange, caller } = call;
  const values = readParameters(exchange.query, EVENT_PARAMETERS);
  const filter = { ...eventFilter(values), owner: ownerFor(caller.key) };
  if (wantsStream(exchange)) {
    const after = streamStart(values, exchange.headers['last-event-id']);
    const join = () => joinTail(deps.tail);
    return await streamEvents(call, { ...filter, after }, { ...deps, join, show: eventJson });
  }
  const { after, cursor, wait = 0 } = checkedPlace(values);
  const query = { ...filter, limit: values.limit };
  const from = after === undefined ? { before: cursor ?? null } : { after };
  const body =
    after !== undefined && wait > 0
      ? await waited(call, { ...query, after }, wait * 1000, deps)
      : eventsPageJson(await deps.views.events({ ...query, from }), from);
  exchange.json(200, body, nextLink(exchange.path, exchange.query, body.nextCursor));
}

/** Whose messages' events a key may see. */
function ownerFor({ id, scopes }: ApiKey): EventQuery['owner'] {
  return scopes.includes('messages:read_all') ? 'all' : { keyId: id };
}

type Values = ParameterValues<typeof EVENT_PARAMETERS>;

/** Throws 400 for places that contradict each other. */
function checkedPlace({ after, cursor, wait }: Values): Pick<Values, 'after' | 'cursor' | 'wait'> {
  const faults: FieldFault[] = [];
  if (after !== undefined && cursor !== undefined) faults.push(cursorWithAfter());
  if (wait !== undefined && after === undefined)
    faults.push(
      parameterFault('wait', 'combination', 'Needs after: only a reader that goes on can wait for news.'),
    );
  if (faults.length > 0) throw invalidQuery(faults);
  return { after, cursor, wait };
}

function cursorWithAfter(): FieldFault {
  return parameterFault(
    'cursor',
    'combination',
    'Must not be given with after: cursor leads to older events, after to newer ones.',
  );
}

/** The sequence after which a stream begins: a client that was cut off says where it was, in the header. */
function streamStart({ after, cursor }: Values, lastEventId: string | string[] | undefined): number {
  if (cursor !== undefined) throw invalidQuery([cursorWithAfter()]);
  if (lastEventId === undefined) {
    if (after !== undefined) return after;
    const detail = `Is required for a stream, unless Last-Event-ID is given: ${EVENT_PARAMETERS.after.rule}.`;
    throw invalidQuery([parameterFault('after', 'required', detail)]);
  }
  const id = asInteger(String(lastEventId));
  if (typeof id === 'number') return id;
  const detail = 'Must be the id of an event of such a stream, which is a whole number.';
  throw invalidQuery([parameterFault('Last-Event-ID', 'out_of_range', detail)]);
}

/** The first page with events, or the last one when the time is up. */
async function waited(
  { exchange, checkKey }: Call,
  { after, ...query }: Omit<EventQuery, 'from'> & { readonly after: number },
  waitMs: number,
  { views, tail, clock }: EventsDeps,
): Promise<EventsPageJson> {
  const reader = joinTail(tail);
  exchange.onEnd(() => reader.leave());
  const deadline = clock.mono() + waitMs;
  let from = { after };
  for (;;) {
    const page = await views.events({ ...query, from });
    const leftMs = deadline - clock.mono();
    if (page.events.length > 0 || reader.stopped || leftMs <= 0) {
      reader.leave();
      await checkKey();
      return eventsPageJson(page, from);
    }
    from = { after: page.next ?? from.after };
    if (!page.more) await reader.newer(from.after, leftMs);
  }
}

/** A place among the readers that wait. Throws 503 when there is none. */
function joinTail(tail: EventTail): EventReader {
  const reader = tail.join();
  if (reader !== null) return reader;
  throw new Problem(
    503,
    'too_many_event_readers',
    'As many readers as limits.max_event_readers allows wait for events; ask without wait, or try again later.',
    { headers: { 'Retry-After': String(RETRY_SECONDS) } },
  );
}
