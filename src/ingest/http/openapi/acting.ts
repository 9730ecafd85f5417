import { NO_PARAMETERS } from '../query.ts';
import { QUEUE_PARAMETERS } from '../queue.ts';
import * as examples from './examples.ts';
import type { SchemaName } from './json-schema.ts';
import { EMPTY_BODY, type Example, type Operation, type Success } from './operation.ts';
import { JSON_PROBLEMS, mergeProblems, NO_BODY_PROBLEMS } from './refusals.ts';

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

const HOLD = { target: 'inbox', kind: 'pause' };
const HELD = { ...HOLD, changed: true, waiting: 3, processing: 1 };

const CALL: Operation = {
  method: 'post',
  path: '/api/v1/admin/{operation}',
  operationId: 'callOperation',
  tag: 'Administering',
  summary: 'Do what the dashboard does',
  description:
    'Every operation of the dashboard by its name, with the same request and result; docs/dashboard.md lists them. What changes something is written down in the activity under the key’s name. With `Accept: application/x-ndjson` the answer comes line by line: `{"step": …}` for each step as it happens, then `{"result": …}` or `{"error": …}`, the error being a problem. A test key may administer nothing.',
  access: { scheme: 'bearer', scopes: ['admin'] },
  query: NO_PARAMETERS,
  requestHeaders: [],
  body: {
    required: true,
    description: 'The operation’s request; `{}` where it takes nothing.',
    content: {
      'application/json': {
        schema: { type: 'object' },
        examples: { hold: { summary: 'The request of `hold`', value: HOLD } },
      },
    },
  },
  answers: [
    {
      status: 200,
      description: 'The operation’s result.',
      headers: [],
      content: {
        'application/json': {
          schema: {},
          examples: { held: { summary: 'The result of `hold`', value: HELD } },
        },
        'application/x-ndjson': {
          schema: { type: 'string' },
          examples: {
            steps: { summary: 'A step, and the result', value: '{"step":{}}\n{"result":{}}\n' },
          },
        },
      },
    },
  ],
  problems: mergeProblems(JSON_PROBLEMS, {
    400: ['invalid_request'],
    404: ['not_found'],
    409: ['refused', 'test_key'],
    503: ['unavailable'],
  }),
};

/** The operation that administers. */
export const ADMIN: readonly Operation[] = [CALL];

const ACCESS = { scheme: 'bearer', scopes: ['admin'] } as const;

const LANE = {
  ...{ lane: 'inbox', relay: 'inbox', state: 'ready', restsUntil: null, waiting: 3, processing: 1 },
  ...{ inFlight: 1, concurrency: 16, oldestSeconds: 12, perMinute: 40 },
  lastReply: { code: 250, enhancedCode: '2.0.0', reply: 'Ok', at: '2026-11-20T11:15:00.123Z' },
};

const VIEW = {
  time: '2026-11-20T11:15:01.000Z',
  lanes: [LANE],
  more: false,
  totals: { waiting: 3, processing: 1, inFlight: 1, oldestSeconds: 12, perMinute: 40 },
  withoutRoute: { waiting: 0, more: false },
};

const GET_QUEUE: Operation = {
  method: 'get',
  path: '/api/v1/queue',
  operationId: 'getQueue',
  tag: 'Queue',
  summary: 'See what waits where, and how each lane does',
  description:
    'Each lane with what waits, the age of the oldest, attempts under way, pace and last reply. Attempts, pace and reply are of this node.',
  access: ACCESS,
  query: QUEUE_PARAMETERS,
  requestHeaders: [],
  body: null,
  answers: [answer('Queue', 'The queue at this moment.', { queue: { summary: 'One lane', value: VIEW } })],
  problems: { 404: ['relay_not_found'] },
};

const PAUSE = holdOperation('pause', 'Send nothing by a lane or relay', {
  description: 'Attempts under way end; what is routed there waits, until it is resumed. Survives a restart.',
  kind: 'pause',
});
const DRAIN = holdOperation('drain', 'Route nothing new to a lane or relay', {
  description: 'What waits there is still sent. Survives a restart.',
  kind: 'drain',
});
const RESUME = holdOperation('resume', 'End a pause or a drain', {
  description: 'The lane or relay goes on. One that was not held stays as it is.',
  kind: null,
});

const PARTS =
  'Each call works on a bounded part: while `more` is true, call again with the `cursor` of the answer. A dry run only counts. At least one condition must be given, or `all`.';

const RETRY_QUEUE = actOperation('retry', 'Try messages again now', {
  description: `Messages with retrying recipients are due now; with the status \`failed\`, those that have failed. ${PARTS}`,
  schema: 'QueueSelection',
  value: { selection: { relay: 'inbox', olderThanSeconds: 3600 } },
});
const CANCEL_QUEUE = actOperation('cancel', 'Cancel messages', {
  description: `What of the messages waits fails; an attempt under way is the last. ${PARTS}`,
  schema: 'QueueSelection',
  value: { selection: { tag: 'newsletter' }, dryRun: true },
});
const REROUTE = actOperation('reroute', 'Give waiting recipients another way', {
  description: `They get the relay that \`toRelay\` names, or without it what the routing table says now. Mail of test keys stays in the inbox. ${PARTS}`,
  schema: 'QueueReroute',
  value: { selection: { to: '@example.net' }, toRelay: 'inbox' },
});

/** The operations on the queue. */
export const QUEUE: readonly Operation[] = [
  GET_QUEUE,
  PAUSE,
  DRAIN,
  RESUME,
  RETRY_QUEUE,
  CANCEL_QUEUE,
  REROUTE,
];

function holdOperation(
  name: string,
  summary: string,
  { description, kind }: { readonly description: string; readonly kind: string | null },
): Operation {
  const value = { target: 'inbox', kind, changed: true, waiting: 3, processing: 1 };
  return {
    method: 'post',
    path: `/api/v1/queue/${name}`,
    operationId: `${name}Queue`,
    tag: 'Queue',
    ...{ summary, description, access: ACCESS, query: NO_PARAMETERS, requestHeaders: [] },
    body: body('QueueTarget', 'A lane or a relay.', {
      relay: { summary: 'A relay', value: { target: 'inbox' } },
    }),
    answers: [answer('QueueHold', 'How it is held now.', { held: { summary: 'Done', value } })],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'], 404: ['relay_not_found'] }),
  };
}

function actOperation(
  name: string,
  summary: string,
  act: { readonly description: string; readonly schema: SchemaName; readonly value: unknown },
): Operation {
  const done = { matched: 12, acted: 12, more: false, cursor: null };
  return {
    method: 'post',
    path: `/api/v1/queue/${name}`,
    operationId: `${name}Selection`,
    tag: 'Queue',
    ...{ summary, description: act.description, access: ACCESS, query: NO_PARAMETERS, requestHeaders: [] },
    body: body(act.schema, 'What is meant.', { some: { summary: 'Some of it', value: act.value } }),
    answers: [
      answer('QueueAct', 'What was done to this part.', { all: { summary: 'All at once', value: done } }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, {
      400: ['invalid_request'],
      ...(name === 'reroute' && { 404: ['relay_not_found'], 409: ['relay_disabled'] }),
    }),
  };
}

function body(schema: SchemaName, description: string, examples: Readonly<Record<string, Example>>) {
  return { required: true, description, content: { 'application/json': { schema, examples } } };
}

function answer(schema: SchemaName, description: string, examples: Readonly<Record<string, Example>>) {
  return { status: 200, description, headers: [], content: { 'application/json': { schema, examples } } };
}
