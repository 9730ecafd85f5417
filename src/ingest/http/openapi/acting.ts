import { NO_PARAMETERS } from '../query.ts';
import * as examples from './examples.ts';
import { EMPTY_BODY, type Example, type Operation, type Success } from './operation.ts';
import { mergeProblems, NO_BODY_PROBLEMS } from './refusals.ts';

/** What the document says of acting on messages that are already accepted. */

const ACT = { scheme: 'bearer', scopes: ['messages:send'] } as const;

/** Both answer with the message's record, read anew. */
function messageNow(shown: Readonly<Record<string, Example>>): Success {
  return {
    status: 200,
    description: 'The message, as it is now.',
    headers: [],
    content: { 'application/json': { schema: 'StatusRecord', examples: shown } },
  };
}

const CANCEL: Operation = {
  method: 'post',
  path: '/api/v1/messages/{id}/cancel',
  operationId: 'cancelMessage',
  tag: 'Acting',
  summary: 'Cancel a message',
  description:
    'Ends what has not been sent: queued and retrying recipients fail with the outcome `cancelled`. Those in processing finish their attempt, and are not tried again. Another key’s message needs the scope `admin`.',
  access: ACT,
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: EMPTY_BODY,
  answers: [messageNow({ cancelled: { summary: 'Cancelled', value: examples.CANCELLED } })],
  problems: mergeProblems(NO_BODY_PROBLEMS, {
    404: ['message_not_found'],
    409: ['not_cancellable', 'refused'],
  }),
};

const RETRY: Operation = {
  method: 'post',
  path: '/api/v1/messages/{id}/retry',
  operationId: 'retryMessage',
  tag: 'Acting',
  summary: 'Try a message again now',
  description:
    'Failed and retrying recipients are tried again now, with a new age and back-off. Delivered ones are never touched. Another key’s message needs the scope `admin`.',
  access: ACT,
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: EMPTY_BODY,
  answers: [messageNow({ queued: { summary: 'Queued again', value: examples.RETRIED } })],
  problems: mergeProblems(NO_BODY_PROBLEMS, {
    404: ['message_not_found'],
    409: ['nothing_to_retry', 'content_expired', 'test_key', 'refused'],
  }),
};

/** The operations that act. */
export const ACTING: readonly Operation[] = [CANCEL, RETRY];
