import { ATTEMPTS_PARAMETERS } from '../attempts.ts';
import { LIST_PARAMETERS } from '../list-query.ts';
import { NO_PARAMETERS } from '../query.ts';
import { STATUS_PARAMETERS } from '../status.ts';
import * as examples from './examples.ts';
import type { Operation } from './operation.ts';

/** What the document says of reading messages. */

const READ = { scheme: 'bearer', scopes: ['messages:read', 'messages:read_all'] } as const;

const LIST_MESSAGES: Operation = {
  method: 'get',
  path: '/api/v1/messages',
  operationId: 'listMessages',
  tag: 'Reading',
  summary: 'List messages',
  description:
    'The calling key’s messages, newest first, page by page. A page looks at no more than 20,000 messages: with a sparse filter it may be short, and still have a next one. `to` and `from` are answered by an index.',
  access: READ,
  query: LIST_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'A page of messages.',
      headers: ['Link'],
      content: {
        'application/json': {
          schema: 'MessagesPage',
          examples: { page: { summary: 'A page with a next one', value: examples.MESSAGES_PAGE } },
        },
      },
    },
  ],
  problems: {},
};

const GET_MESSAGE: Operation = {
  method: 'get',
  path: '/api/v1/messages/{id}',
  operationId: 'getMessage',
  tag: 'Reading',
  summary: 'Ask what became of a message',
  description:
    'The status record, with each recipient. A message of another key is the same 404 as one that does not exist, unless the key has `messages:read_all`. Instead of the id, here and in every path below, the Message-ID will do, in angle brackets and percent-encoded; of several the newest is meant.',
  access: READ,
  query: STATUS_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'The message, as it is now.',
      headers: [],
      content: {
        'application/json': {
          schema: 'StatusRecord',
          examples: { delivered: { summary: 'Delivered', value: examples.STATUS_RECORD } },
        },
      },
    },
  ],
  problems: { 404: ['message_not_found'], 409: ['refused'] },
};

const LIST_ATTEMPTS: Operation = {
  method: 'get',
  path: '/api/v1/messages/{id}/attempts',
  operationId: 'listAttempts',
  tag: 'Reading',
  summary: 'See every attempt to deliver a message',
  description:
    'Each attempt with the host, the time it took, what was said, and what came of it for each recipient. A page has 200 at most, and fewer large ones.',
  access: READ,
  query: ATTEMPTS_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'A page of attempts, oldest first.',
      headers: ['Link'],
      content: {
        'application/json': {
          schema: 'AttemptsPage',
          examples: { delivered: { summary: 'Delivered at once', value: examples.ATTEMPTS_PAGE } },
        },
      },
    },
  ],
  problems: { 404: ['message_not_found'], 409: ['refused'] },
};

const GET_CONTENT: Operation = {
  method: 'get',
  path: '/api/v1/messages/{id}/content',
  operationId: 'getContent',
  tag: 'Reading',
  summary: 'Get a message as it is sent',
  description:
    'The very bytes, header and body. They are kept for `retention.content_days` (default 7) after the final status.',
  access: { scheme: 'bearer', scopes: ['messages:content'] },
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'The message.',
      headers: ['Content-Disposition'],
      content: {
        'message/rfc822': {
          schema: { type: 'string', format: 'binary' },
          examples: { message: { summary: 'A message', value: examples.RAW_MESSAGE } },
        },
      },
    },
  ],
  problems: { 404: ['message_not_found', 'content_expired'], 409: ['refused'] },
};

/** The operations that read. */
export const READING: readonly Operation[] = [LIST_MESSAGES, GET_MESSAGE, LIST_ATTEMPTS, GET_CONTENT];
