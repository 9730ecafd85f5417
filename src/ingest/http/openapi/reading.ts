import type { z } from 'zod';
import { ATTEMPTS_PARAMETERS } from '../attempts.ts';
import { EXPLAIN_PARAMETERS } from '../explain.ts';
import { LIST_PARAMETERS } from '../list.ts';
import type { routeExplanationSchema } from '../operator-answers.ts';
import { NO_PARAMETERS } from '../query.ts';
import { STATUS_PARAMETERS } from '../record.ts';
import * as examples from './examples.ts';
import type { Operation } from './operation.ts';

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

const EXPLANATION: z.infer<typeof routeExplanationSchema> = {
  from: 'ann@example.com',
  to: 'bob@example.org',
  at: '2026-11-20T11:15:00.123Z',
  tableVersion: 7,
  rules: [
    { rule: 'news', matched: false, unmet: 'tag' },
    { rule: 'partners', matched: true, unmet: null },
  ],
  rule: 'partners',
  weighted: false,
  group: [
    { relay: 'out', fitness: 'paused' },
    { relay: 'direct', fitness: 'usable' },
  ],
  relay: 'direct',
};

const EXPLAIN_ROUTE: Operation = {
  method: 'get',
  path: '/api/v1/routes/explain',
  operationId: 'explainRoute',
  tag: 'Routing',
  summary: 'Ask where mail would go, and why',
  description:
    'Describes mail, and is told what each rule of the routing table makes of it, which relays it may go by, how each of them is now, and which would be tried first. Nothing is sent.',
  access: { scheme: 'bearer', scopes: ['admin'] },
  query: EXPLAIN_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'How it would be routed at this moment.',
      headers: [],
      content: {
        'application/json': {
          schema: 'RouteExplanation',
          examples: { second: { summary: 'By the second relay of a group', value: EXPLANATION } },
        },
      },
    },
  ],
  problems: {},
};

/** The operations on routes. */
export const ROUTING: readonly Operation[] = [EXPLAIN_ROUTE];

const GET_READY: Operation = {
  method: 'get',
  path: '/api/v1/ready',
  operationId: 'getReady',
  tag: 'Service',
  summary: 'Ask whether messages are taken',
  description: 'For a load balancer. Needs no key, and tells no details.',
  access: null,
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [
    {
      status: 200,
      description: 'Messages are taken.',
      headers: [],
      content: {
        'text/plain': {
          schema: { const: 'ready\n' },
          examples: { ready: { summary: 'Ready', value: 'ready\n' } },
        },
      },
    },
    {
      status: 503,
      description: 'Messages are not taken now, or will soon not be.',
      headers: [],
      content: {
        'text/plain': {
          schema: { const: 'not ready\n' },
          examples: { notReady: { summary: 'Not ready', value: 'not ready\n' } },
        },
      },
    },
  ],
  problems: {},
};

const GET_DESCRIPTION: Operation = {
  method: 'get',
  path: '/api/v1/openapi.json',
  operationId: 'getDescription',
  tag: 'Service',
  summary: 'Get this document',
  description: 'The description of this API (OpenAPI 3.1). Needs no key.',
  access: null,
  query: NO_PARAMETERS,
  requestHeaders: ['If-None-Match'],
  body: null,
  answers: [
    {
      status: 200,
      description: 'This document.',
      headers: ['ETag', 'Cache-Control'],
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['openapi', 'info', 'paths'],
            properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' } },
            additionalProperties: true,
          },
          examples: {
            beginning: {
              summary: 'How it begins',
              value: { openapi: '3.1.1', info: { title: 'Waybill', version: 'v1' }, paths: {} },
            },
          },
        },
      },
    },
    {
      status: 304,
      description: 'The document that the request’s If-None-Match names still holds.',
      headers: ['ETag', 'Cache-Control'],
      content: {},
    },
  ],
  problems: { 400: ['invalid_query'] },
};

/** The operations that need no key. */
export const SERVICE: readonly Operation[] = [GET_READY, GET_DESCRIPTION];
