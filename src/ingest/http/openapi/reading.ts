import type { z } from 'zod';
import type { routeExplanationSchema } from '../operator-answers.ts';
import type { requestsPageSchema } from '../request-answers.ts';
import * as examples from './examples.ts';
import { FAULTS } from './fault-codes.ts';
import { type Descriptions, jsonAnswer } from './operation.ts';
import { PROBLEMS } from './problem-codes.ts';

const BOUNCE = {
  id: 'fbk_01kaj3v7q8x5m2c9t4r6w0ybzn',
  at: '2026-11-20T11:15:00.123Z',
  source: 'dsn',
  kind: 'bounce',
  message: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6',
  recipient: 'bob@example.org',
  contentType: 'message/rfc822',
};

const REQUESTS: z.infer<typeof requestsPageSchema> = {
  requests: [
    {
      at: '2026-11-20T11:15:00.123Z',
      key: 'shop',
      method: 'POST',
      path: '/emails',
      status: 422,
      code: 'invalid_submission',
      meaning: PROBLEMS.invalid_submission.meaning,
      cure: PROBLEMS.invalid_submission.cure,
      faults: [{ pointer: '/to/0', code: 'address_syntax', ...FAULTS.address_syntax }],
      durationMs: 2,
      requestId: 'GRr2Ie8bYYzD-1f',
      standsFor: 1,
    },
  ],
  hasMore: false,
};

/** The endpoints that read. */
export const READING = {
  listMessages: {
    tag: 'Reading',
    summary: 'List messages',
    description:
      'The calling key’s messages, newest first, page by page. A page looks at no more than 20,000 messages: with a sparse filter it may be short although there is a next one. An index answers `to` and `from`.',
    answers: [
      jsonAnswer(
        'MessagesPage',
        'A page of messages.',
        { page: { summary: 'A page with a next one', value: examples.MESSAGES_PAGE } },
        { headers: ['Link'] },
      ),
    ],
  },
  getMessage: {
    tag: 'Reading',
    summary: 'Get the status of a message',
    description:
      'The status record, with each recipient. A message of another key is the same 404 as one that does not exist, unless the key has `messages:read_all`. Here and wherever else a path has `{id}`, the id works as a UUID, too (the same 128 bits in hex), and so does the Message-ID, in angle brackets and percent-encoded; if there are several, the newest is meant.',
    answers: [
      jsonAnswer('StatusRecord', 'The message in its present state.', {
        delivered: { summary: 'Delivered', value: examples.STATUS_RECORD },
      }),
    ],
    problems: { 404: ['message_not_found'], 409: ['refused'] },
  },
  listAttempts: {
    tag: 'Reading',
    summary: 'See every attempt to deliver a message',
    description:
      'Each attempt with the host, the time it took, the conversation, and the result for each recipient. A page has at most 200, and fewer large ones.',
    answers: [
      jsonAnswer(
        'AttemptsPage',
        'A page of attempts, oldest first.',
        { delivered: { summary: 'Delivered at once', value: examples.ATTEMPTS_PAGE } },
        { headers: ['Link'] },
      ),
    ],
    problems: { 404: ['message_not_found'], 409: ['refused'] },
  },
  getContent: {
    tag: 'Reading',
    summary: 'Get a message as it is sent',
    description:
      'The exact bytes, header and body; where recipients have copies of their own, those of the first recipient, or of the one that is asked for. They are kept for `retention.content_days` (default 7) after the final status.',
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
  },
  listEvents: {
    tag: 'Reading',
    summary: 'Follow what happens',
    description:
      'The events of the calling key’s messages, of every key’s with `messages:read_all`. With `after` they come oldest first, from above that sequence: whoever goes on with `nextAfter` misses nothing. Otherwise they come newest first. With `Accept: text/event-stream`, and `after` or `Last-Event-ID`, the answer is a stream of server-sent events that goes on until one side ends it: the `id` of each is its sequence, `event` its type, `data` its JSON. A page looks at no more than 5,000 events: with a sparse filter it may be short although there is a next one. Events are kept for `retention.events_days` (default 30).',
    requestHeaders: ['Last-Event-ID'],
    answers: [
      {
        status: 200,
        description: 'A page of events, or a stream.',
        headers: ['Link', 'Cache-Control', 'X-Accel-Buffering'],
        content: {
          'application/json': {
            schema: 'EventsPage',
            examples: { failed: { summary: 'One that failed', value: examples.EVENTS_PAGE } },
          },
          'text/event-stream': {
            schema: { type: 'string' },
            examples: { failed: { summary: 'The same as a stream', value: examples.EVENT_STREAM } },
          },
        },
      },
    ],
    problems: { 503: ['too_many_event_readers'] },
  },
  listFeedback: {
    tag: 'Reading',
    summary: 'See what others told of a message',
    description:
      'Bounces, complaints and other feedback, the newest first; at most 100. They are kept for `retention.feedback_days` (default 30).',
    answers: [
      jsonAnswer('FeedbackList', 'What was told.', {
        bounce: { summary: 'A bounce', value: { feedback: [BOUNCE] } },
      }),
    ],
    problems: { 404: ['message_not_found'], 409: ['refused'] },
  },
  getFeedback: {
    tag: 'Reading',
    summary: 'Get a piece of feedback as it came',
    description:
      'The first 64 KiB of it. One about a message of another key, or about none, is the same 404 as one that does not exist, unless the key has `messages:read_all`.',
    answers: [
      jsonAnswer('FeedbackDetail', 'What was told, and how it came.', {
        bounce: {
          summary: 'A bounce',
          value: { ...BOUNCE, content: 'RnJvbTogTUFJTEVSLURBRU1PTkBteC5leGFtcGxlLm9yZw0K' },
        },
      }),
    ],
    problems: { 404: ['not_found'] },
  },
  listRequests: {
    tag: 'Reading',
    summary: 'See why requests failed',
    description:
      'What became of the calling key’s requests, to this API and to those of providers, newest first. A request is there about a second after its answer, without anything of its body, for `retention.requests_days` (default 3). If there were more than 100 in a second, a line stands for several; refused ones are kept first.',
    answers: [
      jsonAnswer(
        'RequestsPage',
        'A page of requests.',
        { refused: { summary: 'One that was refused', value: REQUESTS } },
        { headers: ['Link'] },
      ),
    ],
  },
} satisfies Descriptions;

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

/** The endpoint of routes. */
export const ROUTING = {
  explainRoute: {
    tag: 'Routing',
    summary: 'Ask where mail would go, and why',
    description:
      'Describe mail, and see which rules of the routing table match it, which relays it may use, the state of each, and which would be tried first. Nothing is sent.',
    answers: [
      jsonAnswer('RouteExplanation', 'How it would be routed at this moment.', {
        second: { summary: 'By the second relay of a group', value: EXPLANATION },
      }),
    ],
  },
} satisfies Descriptions;

/** The endpoints that need no key. */
export const SERVICE = {
  getReady: {
    tag: 'Service',
    summary: 'Ask whether messages are accepted',
    description: 'For a load balancer. Needs no key, and gives no details.',
    answers: [
      {
        status: 200,
        description: 'Messages are accepted.',
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
        description: 'Messages are not accepted now, or soon will not be.',
        headers: [],
        content: {
          'text/plain': {
            schema: { const: 'not ready\n' },
            examples: { notReady: { summary: 'Not ready', value: 'not ready\n' } },
          },
        },
      },
    ],
  },
  getDescription: {
    tag: 'Service',
    summary: 'Get this document',
    description: 'The description of this API (OpenAPI 3.1). Needs no key.',
    requestHeaders: ['If-None-Match'],
    answers: [
      jsonAnswer(
        {
          type: 'object',
          required: ['openapi', 'info', 'paths'],
          properties: { openapi: { type: 'string', pattern: '^3\\.1\\.' } },
          additionalProperties: true,
        },
        'This document.',
        {
          beginning: {
            summary: 'How it begins',
            value: { openapi: '3.1.1', info: { title: 'Waybill', version: 'v1' }, paths: {} },
          },
        },
        { headers: ['ETag', 'Cache-Control'] },
      ),
      {
        status: 304,
        description: 'The document that the request’s If-None-Match names is still current.',
        headers: ['ETag', 'Cache-Control'],
        content: {},
      },
    ],
    problems: { 400: ['invalid_query'] },
  },
} satisfies Descriptions;
