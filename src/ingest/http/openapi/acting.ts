import * as examples from './examples.ts';
import type { SchemaName } from './json-schema.ts';
import {
  type Description,
  type Descriptions,
  EMPTY_BODY,
  type Example,
  jsonAnswer,
  jsonBody,
  type Success,
} from './operation.ts';
import { JSON_PROBLEMS, mergeProblems, NO_BODY_PROBLEMS } from './refusals.ts';

/** Both acts on a message answer with its record, read anew. */
function messageNow(shown: Readonly<Record<string, Example>>): Success {
  return jsonAnswer('StatusRecord', 'The message in its present state.', shown);
}

/** A bounce that came elsewhere. */
const FEEDBACK = {
  kind: 'bounce',
  recipient: 'bob@example.org',
  messageId: '<1@example.com>',
  code: 550,
  enhancedCode: '5.1.1',
  text: 'no such user',
  at: '2026-11-20T11:15:00Z',
};

/** A delivery status notification that came elsewhere. */
const DSN = [
  'From: MAILER-DAEMON@mx.example.org',
  'To: jane@example.com',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.org',
  '',
  'Final-Recipient: rfc822; bob@example.org',
  'Action: failed',
  'Status: 5.1.1',
  '',
  '--b',
  'Content-Type: text/rfc822-headers',
  '',
  'Message-ID: <1@example.com>',
  '',
  '--b--',
  '',
].join('\r\n');

/** The answer to feedback about nothing that the key may see. */
const FEEDBACK_RECEIPT = { id: 'fbk_01kaj3v7q8x5m2c9t4r6w0ybzn', matched: false, changed: false };

/** The endpoints that act on messages. */
export const ACTING = {
  rescheduleMessage: {
    tag: 'Acting',
    summary: 'Move the time of a scheduled message',
    description:
      'Gives a message that waits for its `sendAt` another one; it then has the full time for its delivery from there on. What is due, or was tried, is left as it is. Its text, with the Date field, stays. Another key’s message needs the scope `admin`.',
    body: jsonBody('Rescheduling', 'The new time.', {
      later: { summary: 'Another time', value: { sendAt: '2026-11-21T08:00:00Z' } },
    }),
    answers: [messageNow({ moved: { summary: 'Moved', value: examples.RESCHEDULED } })],
    problems: mergeProblems(JSON_PROBLEMS, {
      400: ['invalid_request'],
      404: ['message_not_found'],
      409: ['not_reschedulable', 'refused'],
    }),
  },
  cancelMessage: {
    tag: 'Acting',
    summary: 'Cancel a message',
    description:
      'Queued and retrying recipients fail with the outcome `cancelled`. Processing ones finish their attempt, and are not tried again. Another key’s message needs the scope `admin`.',
    body: EMPTY_BODY,
    answers: [messageNow({ cancelled: { summary: 'Cancelled', value: examples.CANCELLED } })],
    problems: mergeProblems(NO_BODY_PROBLEMS, {
      404: ['message_not_found'],
      409: ['not_cancellable', 'refused'],
    }),
  },
  retryMessage: {
    tag: 'Acting',
    summary: 'Try a message again now',
    description:
      'Failed and retrying recipients are tried again now, with a new age and back-off. Delivered ones are never touched. Another key’s message needs the scope `admin`.',
    body: EMPTY_BODY,
    answers: [messageNow({ queued: { summary: 'Queued again', value: examples.RETRIED } })],
    problems: mergeProblems(NO_BODY_PROBLEMS, {
      404: ['message_not_found'],
      409: ['nothing_to_retry', 'content_expired', 'test_key', 'refused'],
    }),
  },
  tellFeedback: {
    tag: 'Acting',
    summary: 'Tell what became of mail after its delivery',
    description:
      'Bounces, complaints and other reports that came elsewhere: a report as a message, such as from a mailbox that is piped, or its facts as JSON. It does what a webhook of a provider or mail to a return path does: the record of the message goes on, and addresses may be added to the suppression list. It is kept as evidence. What matches no message that the key may see is no error: the answer has `matched: false`. Without `messages:read_all`, a key’s feedback is about its own messages only.',
    body: {
      required: true,
      description: 'A report as it came, or what it says.',
      content: {
        'application/json': {
          schema: 'Feedback',
          examples: { bounce: { summary: 'A bounce', value: FEEDBACK } },
        },
        'message/rfc822': {
          schema: { type: 'string', contentMediaType: 'message/rfc822' },
          examples: { dsn: { summary: 'A delivery status notification', value: DSN } },
        },
      },
    },
    answers: [
      jsonAnswer(
        'FeedbackReceipt',
        'It is on disk, and done.',
        { unmatched: { summary: 'About no message of the key', value: FEEDBACK_RECEIPT } },
        { status: 202 },
      ),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'] }),
  },
} satisfies Descriptions;

const HOLD = { target: 'inbox', kind: 'pause' };
const HELD = { ...HOLD, changed: true, waiting: 3, processing: 1 };

/** The endpoint that administers. */
export const ADMINISTERING = {
  callOperation: {
    tag: 'Administering',
    summary: 'Do what the dashboard does',
    description:
      'Every operation of the dashboard by its name, with the same request and result; docs/administering.md lists them. The activity records every change under the key’s name. With `Accept: application/x-ndjson` the answer comes line by line: `{"step": …}` for each step as it happens, then `{"result": …}` or `{"error": …}`, the error being a problem. A test key may administer nothing.',
    body: jsonBody({ type: 'object' }, 'The operation’s request; `{}` if it has no fields.', {
      hold: { summary: 'The request of `hold`', value: HOLD },
    }),
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
      409: ['refused'],
      503: ['unavailable'],
    }),
  },
} satisfies Descriptions;

const LANE = {
  lane: 'inbox',
  relay: 'inbox',
  state: 'ready',
  restsUntil: null,
  restsSince: null,
  waiting: 3,
  processing: 1,
  inFlight: 1,
  concurrency: 16,
  oldestSeconds: 12,
  perMinute: 40,
  lastReply: { code: 250, enhancedCode: '2.0.0', reply: 'Ok', at: '2026-11-20T11:15:00.123Z' },
};

const VIEW = {
  time: '2026-11-20T11:15:01.000Z',
  lanes: [LANE],
  more: false,
  totals: { waiting: 3, processing: 1, inFlight: 1, oldestSeconds: 12, perMinute: 40 },
  withoutRoute: { waiting: 0, more: false },
};

const PARTS =
  'Each call works on a bounded part: while `more` is true, call again with the `cursor` of the answer. A dry run only counts. At least one condition must be given, or `all`.';

/** The endpoints of the queue. */
export const QUEUE = {
  getQueue: {
    tag: 'Queue',
    summary: 'Show the queue, lane by lane',
    description:
      'Each lane with what waits, the age of the oldest, attempts in progress, pace and last reply, over all running nodes.',
    answers: [
      jsonAnswer('Queue', 'The queue at this moment.', { queue: { summary: 'One lane', value: VIEW } }),
    ],
    problems: { 404: ['relay_not_found'] },
  },
  pauseQueue: holding('pause', {
    summary: 'Send nothing through a lane or relay',
    description:
      'Attempts in progress finish; mail routed there waits until it is resumed. Survives a restart.',
  }),
  drainQueue: holding('drain', {
    summary: 'Route nothing new to a lane or relay',
    description: 'Mail that waits there is still sent. Survives a restart.',
  }),
  resumeQueue: holding(null, {
    summary: 'End a pause or a drain',
    description: 'The lane or relay sends again. One that was not held stays as it is.',
  }),
  retrySelection: acting('QueueSelection', {
    summary: 'Try messages again now',
    description: `Messages with retrying recipients are due now; with the status \`failed\`, those that have failed. ${PARTS}`,
    value: { selection: { relay: 'inbox', olderThanSeconds: 3600 } },
  }),
  cancelSelection: acting('QueueSelection', {
    summary: 'Cancel messages',
    description: `Waiting recipients fail; an attempt in progress is the last. ${PARTS}`,
    value: { selection: { tag: 'newsletter' }, dryRun: true },
  }),
  rerouteSelection: acting('QueueReroute', {
    summary: 'Reroute waiting recipients',
    description: `They get the relay that \`toRelay\` names; without it, the routing table decides anew. Mail of test keys stays in the inbox. ${PARTS}`,
    value: { selection: { to: '@example.net' }, toRelay: 'inbox' },
  }),
} satisfies Descriptions;

/** Holds a lane or relay, or (null) lets it go. */
function holding(kind: string | null, said: Pick<Description, 'summary' | 'description'>): Description {
  return {
    tag: 'Queue',
    ...said,
    body: jsonBody('QueueTarget', 'A lane or a relay.', {
      relay: { summary: 'A relay', value: { target: 'inbox' } },
    }),
    answers: [
      jsonAnswer('QueueHold', 'Its present hold.', {
        held: { summary: 'Done', value: { ...HELD, kind } },
      }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'], 404: ['relay_not_found'] }),
  };
}

/** Acts on a selection. */
function acting(
  schema: SchemaName,
  { value, ...said }: Pick<Description, 'summary' | 'description'> & { readonly value: unknown },
): Description {
  const done = { matched: 12, acted: 12, more: false, cursor: null };
  return {
    tag: 'Queue',
    ...said,
    body: jsonBody(schema, 'The selected mail.', { some: { summary: 'Some of it', value } }),
    answers: [
      jsonAnswer('QueueAct', 'What was done to this part.', { all: { summary: 'All at once', value: done } }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, {
      400: ['invalid_request'],
      ...(schema === 'QueueReroute' && { 404: ['relay_not_found'], 409: ['relay_disabled'] }),
    }),
  };
}
