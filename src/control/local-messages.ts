import type { Submission } from '../domain/message.ts';
import { quote } from '../http/quote.ts';
import { cancelMessage, retryMessage } from '../ingest/http/acts.ts';
import { attemptsJson } from '../ingest/http/attempts.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { FILTER_PARAMETERS, listFilter } from '../ingest/http/list-query.ts';
import { MAX_LIMIT } from '../ingest/http/paging.ts';
import { readParameters } from '../ingest/http/query.ts';
import { messageJson, statusJson } from '../ingest/http/record.ts';
import { fieldsFromJson } from '../ingest/http/schema.ts';
import { buildSubmission } from '../ingest/http/submission.ts';
import { verdictOf } from '../ingest/http/verdict.ts';
import { createTokenSource, isMessageId } from '../lib/id.ts';
import { inSlices } from '../lib/slices.ts';
import type { ListFilter, MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { asOperationError } from './operation-error.ts';
import {
  type Attempts,
  type AttemptsRequest,
  type MessageOperations,
  type MessagesPage,
  type MessagesRequest,
  OperationError,
  type StatusRecord,
  type SubmitOperations,
  type Submitted,
} from './operations.ts';
import { operatorContext } from './operator-context.ts';
import { wayOf } from './ways.ts';

/** The operations on messages. */
export function messageOperations(deps: LocalDeps): SubmitOperations & MessageOperations {
  const nextToken = createTokenSource(deps.clock, deps.random);
  return {
    submit: ({ message }) => submit(message, nextToken(), deps),
    checkMessage: async ({ message }) =>
      verdictOf(await compose(message, nextToken(), deps), {
        ...deps,
        sending: () => deps.resolution().config,
      }),
    message: async ({ id }) => statusJson(await findMessage(id, deps)),
    ways: async ({ id }) => (await findMessage(id, deps)).recipients.map((one) => wayOf(one, deps)),
    messages: (request) => listMessages(request, deps),
    attempts: (request) => listAttempts(request, deps),
    cancelMessage: ({ id }) => cancel(id, deps),
    retryMessage: ({ id }) => retry(id, deps),
  };
}

async function submit(message: unknown, token: string, deps: LocalDeps): Promise<Submitted> {
  const submission = await compose(message, token, deps);
  const { id, message: text } = await orOperationError(handOver(submission, deps));
  return { id, message: text };
}

/** Makes a submission as the API does, but in nobody's name. */
async function compose(message: unknown, token: string, deps: LocalDeps): Promise<Submission> {
  const context = operatorContext(token, deps);
  const { api } = deps.resolution().config;
  try {
    const submission = await inSlices(buildSubmission(fieldsFromJson(message), context, api));
    return { ...submission, source: 'cli', sourceAddress: null, keyId: null, keyName: null };
  } catch (error) {
    throw asOperationError(error);
  }
}

/** What the API would do; its refusal becomes one of an operation. */
async function orOperationError<T>(done: Promise<T>): Promise<T> {
  return await done.catch((error: unknown) => {
    throw asOperationError(error);
  });
}

async function findMessage(id: string, deps: LocalDeps): Promise<MessageDetail> {
  const detail = isMessageId(id) ? await deps.views.message(id) : null;
  if (detail === null) throw notFound(id);
  return detail;
}

async function listMessages(request: MessagesRequest, deps: LocalDeps): Promise<MessagesPage> {
  const { statuses, limit, before } = request;
  if (before !== null && !isMessageId(before))
    throw new OperationError(
      'invalid',
      `before: must be the id in the last line of a page, not ${quote(before)}.`,
    );
  const page = await deps.views.list({ owner: 'all', statuses, filter: readFilter(request), before, limit });
  return { messages: page.messages.map(messageJson), next: page.next };
}

function readFilter({ filter }: MessagesRequest): ListFilter {
  try {
    return listFilter(readParameters(new URLSearchParams(filter), FILTER_PARAMETERS));
  } catch (error) {
    throw asOperationError(error);
  }
}

async function listAttempts({ id, cursor }: AttemptsRequest, deps: LocalDeps): Promise<Attempts> {
  const { recipients } = await findMessage(id, deps);
  const after = Number(cursor ?? 0);
  return attemptsJson(await deps.views.attempts(id, { after, limit: MAX_LIMIT }), after, recipients);
}

async function cancel(id: string, deps: LocalDeps): Promise<StatusRecord> {
  const { message } = await findMessage(id, deps);
  await orOperationError(cancelMessage(message, deps.acts));
  return statusJson(await findMessage(id, deps));
}

async function retry(id: string, deps: LocalDeps): Promise<StatusRecord> {
  const { message } = await findMessage(id, deps);
  await orOperationError(retryMessage(message, deps.acts));
  return statusJson(await findMessage(id, deps));
}

function notFound(id: string): OperationError {
  return new OperationError('not_found', `There is no message ${id}. See: waybill messages list`);
}
