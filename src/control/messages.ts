import { sendingOf } from '../config/bounces.ts';
import type { Submission } from '../domain/message.ts';
import { quote } from '../http/problem.ts';
import { cancelMessage, newSendAt, rescheduleMessage, retryMessage } from '../ingest/http/acts.ts';
import { attemptsJson } from '../ingest/http/attempts.ts';
import { EVENT_FILTER_PARAMETERS, eventFilter, eventsPageJson } from '../ingest/http/events.ts';
import { feedbackDetailJson, feedbackListJson } from '../ingest/http/feedback.ts';
import { readContent } from '../ingest/http/find-message.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { FILTER_PARAMETERS, listFilter, MAX_LIMIT } from '../ingest/http/list.ts';
import { type ParameterTable, type ParameterValues, readParameters } from '../ingest/http/query.ts';
import { messagesJson, statusJson } from '../ingest/http/record.ts';
import { fieldsFromJson } from '../ingest/http/schema.ts';
import { buildSubmission } from '../ingest/http/submission.ts';
import { asksForTemplate, RenderableTemplates, withTemplate } from '../ingest/http/templating.ts';
import { verdictOf } from '../ingest/http/verdict.ts';
import { inSlices } from '../lib/clock.ts';
import { createTokenSource, isMessageId } from '../lib/id.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import type {
  Attempts,
  EventsPage,
  KeptContent,
  MessageOperations,
  MessagesPage,
  SubmitOperations,
  Submitted,
} from '../operations/messages.ts';
import type { Operations, RequestOf, ResultOf } from '../operations/table.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { findNamed } from './found-mail.ts';
import { outlookOf, wayOf } from './outlook.ts';
import { operatorContext, submitRaw } from './submitting.ts';

/** Largest content returned at once, in bytes: in base64, it is one string in memory. */
const MAX_CONTENT = 128 * 1024 * 1024;

/** The operations on messages. */
export function messageOperations(
  deps: LocalDeps,
): SubmitOperations &
  MessageOperations &
  Pick<Operations, 'submitRaw' | 'events' | 'messageFeedback' | 'feedbackText'> {
  const nextToken = createTokenSource(deps.clock, deps.random);
  return {
    submit: ({ message }) => submit(message, nextToken(), deps),
    submitRaw: (request) => submitRaw(request, deps),
    checkMessage: async ({ message }) =>
      verdictOf(await compose(message, nextToken(), deps), {
        ...deps,
        sending: () => sendingOf(deps.resolution().config),
      }),
    message: async ({ id }) => statusJson(await findMessage(id, deps), outlookOf(deps)),
    ways: async ({ id }) => (await findMessage(id, deps)).recipients.map((one) => wayOf(one, deps)),
    messages: (request) => listMessages(request, deps),
    events: (request) => listEvents(request, deps),
    attempts: (request) => listAttempts(request, deps),
    messageFeedback: async ({ id }) => {
      const { message } = await findMessage(id, deps);
      return feedbackListJson(await deps.views.feedbackAbout(message.id));
    },
    feedbackText: ({ id }) => feedbackText(id, deps),
    messageContent: ({ id }) => content(id, deps),
    ...messageActs(deps),
  };
}

async function feedbackText(id: string, { views }: LocalDeps): Promise<ResultOf<'feedbackText'>> {
  const found = await views.feedback(id);
  if (found === null)
    throw new OperationError('not_found', 'There is no such evidence, or it is no longer kept.');
  const { content, ...entry } = feedbackDetailJson(found);
  // Bytes that are no UTF-8 are shown as such; nothing is decoded further.
  return { ...entry, text: Buffer.from(content, 'base64').toString('utf8') };
}

/** What acting on one message needs. */
type MessageActDeps = Pick<LocalDeps, 'views' | 'acts' | 'clock'> & Parameters<typeof outlookOf>[0];

/** The operations on one message; if an act cannot be done, the error's cause is the API's refusal. */
export function messageActs(
  deps: MessageActDeps,
): Pick<Operations, 'cancelMessage' | 'rescheduleMessage' | 'retryMessage'> {
  const act = async (id: string, one: typeof cancelMessage) => {
    const { message } = await findMessage(id, deps);
    await orOperationError(one(message, deps.acts));
    return statusJson(await findMessage(message.id, deps), outlookOf(deps));
  };
  return {
    cancelMessage: ({ id }) => act(id, cancelMessage),
    rescheduleMessage: ({ id, sendAt }) =>
      act(id, async (message, all) => rescheduleMessage(message, newSendAt(sendAt, deps.clock.wall()), all)),
    retryMessage: ({ id }) => act(id, retryMessage),
  };
}

async function submit(message: unknown, token: string, deps: LocalDeps): Promise<Submitted> {
  const submission = await compose(message, token, deps);
  const { id, message: text } = await orOperationError(handOver(submission, deps));
  return { id, message: text };
}

/** Makes a submission as the API does, but without an owner. Throws `OperationError`. */
export async function compose(
  message: unknown,
  token: string,
  deps: Pick<LocalDeps, 'templates' | 'resolution' | 'intake' | 'clock' | 'random'>,
): Promise<Submission> {
  const context = operatorContext(token, deps);
  const { api } = deps.resolution().config;
  // People send few messages: nothing is worth keeping.
  const templates = new RenderableTemplates(deps.templates);
  try {
    const given = fieldsFromJson(message);
    const read = asksForTemplate(given) ? await withTemplate(given, { templates }) : given;
    const submission = await inSlices(buildSubmission(read, context, api));
    return { ...submission, source: 'cli', sourceAddress: null, keyId: null, keyName: null };
  } catch (error) {
    throw asOperationError(error);
  }
}

/** Does what the API would do; turns its refusal into an operation's error. */
export async function orOperationError<T>(done: Promise<T>): Promise<T> {
  return await done.catch((error: unknown) => {
    throw asOperationError(error);
  });
}

function findMessage(id: string, { views }: Pick<LocalDeps, 'views'>): Promise<MessageDetail> {
  return findNamed(id, views, ' See: waybill messages list');
}

async function listMessages(request: RequestOf<'messages'>, deps: LocalDeps): Promise<MessagesPage> {
  const { statuses, limit, before } = request;
  if (before !== null && !isMessageId(before))
    throw new OperationError(
      'invalid',
      `before: must be the id in the last line of a page, not ${quote(before)}.`,
    );
  const filter = listFilter(readFilter(request, FILTER_PARAMETERS));
  const page = await deps.views.list({ owner: 'all', statuses, filter, before, limit });
  return { messages: await messagesJson(page.messages, outlookOf(deps)), next: page.next };
}

async function listEvents(request: RequestOf<'events'>, { views }: LocalDeps): Promise<EventsPage> {
  const { limit, after, before } = request;
  if (after !== null && before !== null)
    throw new OperationError('invalid', 'before: must be null with after: one leads back, the other on.');
  const from = after === null ? { before } : { after };
  const filter = eventFilter(readFilter(request, EVENT_FILTER_PARAMETERS));
  return eventsPageJson(await views.events({ ...filter, owner: 'all', limit, from }), from);
}

/** The API's parameters of a request. */
function readFilter<Table extends ParameterTable>(
  { filter }: { readonly filter: Readonly<Record<string, string>> },
  table: Table,
): ParameterValues<Table> {
  try {
    return readParameters(new URLSearchParams(filter), table);
  } catch (error) {
    throw asOperationError(error);
  }
}

async function listAttempts({ id, cursor }: RequestOf<'attempts'>, deps: LocalDeps): Promise<Attempts> {
  const { message, recipients } = await findMessage(id, deps);
  const after = Number(cursor ?? 0);
  return attemptsJson(await deps.views.attempts(message.id, { after, limit: MAX_LIMIT }), after, recipients);
}

async function content(id: string, deps: LocalDeps): Promise<KeptContent> {
  const { message } = await findMessage(id, deps);
  if (message.content !== null && message.sizeBytes > MAX_CONTENT)
    throw new OperationError(
      'refused',
      `The message has ${message.sizeBytes} bytes, but this operation returns at most ${MAX_CONTENT}. Read it at GET /api/v1/messages/${message.id}/content.`,
    );
  const bytes = await orOperationError(readContent(message, deps.spool, 404));
  return { id: message.id, sizeBytes: bytes.length, content: bytes.toString('base64') };
}
