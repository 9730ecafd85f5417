import type { z } from 'zod';
import type { capturedMessageSchema, capturedPageSchema } from '../operator-answers.ts';
import * as examples from './examples.ts';
import { schemaRef } from './json-schema.ts';
import { type Descriptions, jsonAnswer, jsonBody } from './operation.ts';

/** The endpoints of captured mail. */

const WHOSE =
  'A test key sees its own captured mail; a live key, whose mail is captured if it is routed to the inbox, also needs `messages:content`.';
const LATEST = 'The id may be `latest`: the newest that the filters find.';

/** A captured message, and what it says. */
const MESSAGE: z.infer<typeof capturedMessageSchema> = {
  message: {
    ...examples.DELIVERED,
    subject: 'Your code',
    box: 'worker-1',
    relay: 'inbox',
    outcome: 'captured',
  },
  text: 'Your code is 135790.',
  html: '<p>Your code is <b>135790</b>. <a href="https://example.com/in">Sign in</a></p>',
  links: [{ url: 'https://example.com/in', text: 'Sign in' }],
  codes: ['135790'],
  headers: [
    ['From', 'Waybill Shop <orders@example.com>'],
    ['Subject', 'Your code'],
  ],
  envelope: { from: 'orders@example.com', to: ['bob@example.org'] },
  listUnsubscribe: null,
  attachments: [],
};

const PAGE: z.infer<typeof capturedPageSchema> = {
  messages: [{ ...MESSAGE.message, snippet: 'Your code is 135790.', attachments: 0 }],
  hasMore: false,
};

const FILE = {
  status: 200,
  description: 'The bytes.',
  headers: ['Content-Disposition', 'Content-Security-Policy'] as const,
};
const BYTES = { type: 'string', format: 'binary' };

/** What waiting for messages may find. */
const WAITED = {
  anyOf: [
    schemaRef('CapturedMessage'),
    {
      type: 'object',
      required: ['messages'],
      properties: { messages: { type: 'array', items: schemaRef('CapturedMessage') } },
      additionalProperties: false,
    },
    {
      type: 'object',
      required: ['captured'],
      properties: { captured: { const: 0 } },
      additionalProperties: false,
    },
  ],
};

export const CAPTURED = {
  listCaptured: {
    tag: 'Inbox',
    summary: 'List captured messages',
    description: `The calling key’s captured messages that are kept, newest first, page by page, with how each begins. ${WHOSE} A page with \`text\` or \`has\` reads at most 500 messages: it may be short although there is a next one.`,
    answers: [
      jsonAnswer(
        'CapturedPage',
        'A page of captured messages.',
        { one: { summary: 'A code to sign in with', value: PAGE } },
        { headers: ['Link'] },
      ),
    ],
  },
  getCaptured: {
    tag: 'Inbox',
    summary: 'Read a captured message',
    description: `A captured message with its text, HTML, links, codes, header and files. ${LATEST} ${WHOSE}`,
    answers: [
      jsonAnswer('CapturedMessage', 'The message, and what it says.', {
        code: { summary: 'A code to sign in with', value: MESSAGE },
      }),
    ],
    problems: {
      404: ['message_not_found', 'content_expired'],
      409: ['unreadable_content'],
      503: ['unreadable_content'],
    },
  },
  getCapturedRaw: {
    tag: 'Inbox',
    summary: 'Get a captured message as it is',
    description: `The bytes of the message. ${LATEST}`,
    answers: [
      {
        ...FILE,
        content: {
          'message/rfc822': {
            schema: BYTES,
            examples: { message: { summary: 'A message', value: examples.RAW_MESSAGE } },
          },
        },
      },
    ],
    problems: { 404: ['message_not_found', 'content_expired'] },
  },
  getCapturedFile: {
    tag: 'Inbox',
    summary: 'Get a file of a captured message',
    description: `The bytes of one of its \`attachments\`, by its \`index\`. ${LATEST}`,
    answers: [
      {
        ...FILE,
        content: {
          '*/*': { schema: BYTES, examples: { text: { summary: 'A small file', value: 'Hello\n' } } },
        },
      },
    ],
    problems: {
      404: ['message_not_found', 'content_expired', 'attachment_not_found'],
      409: ['unreadable_content'],
      503: ['unreadable_content'],
    },
  },
  removeCaptured: {
    tag: 'Inbox',
    summary: 'Delete a captured message',
    description: `Removes its contents, and takes it out of the inbox; its record stays in the list of messages. ${LATEST}`,
    answers: [{ status: 204, description: 'It is gone.', headers: [], content: {} }],
    problems: { 400: ['body_not_empty'], 404: ['message_not_found'] },
  },
  removeAllCaptured: {
    tag: 'Inbox',
    summary: 'Delete captured messages',
    description:
      'Deletes what the filters find; with `all=true`, everything that the key captured. What comes in meanwhile stays.',
    answers: [
      jsonAnswer(
        {
          type: 'object',
          required: ['deleted'],
          properties: { deleted: { type: 'integer', minimum: 0 } },
          additionalProperties: false,
        },
        'How many are gone.',
        { three: { summary: 'Three', value: { deleted: 3 } } },
      ),
    ],
    problems: { 400: ['body_not_empty'] },
  },
  releaseCaptured: {
    tag: 'Inbox',
    summary: 'Send a captured message on',
    description:
      'Sends it by a relay as a new message, to its recipients or to others. What a test key sent never leaves. Needs a live key with the scope `admin`; with `messages:read_all`, also for other keys’ messages.',
    body: jsonBody('CapturedRelease', 'By which relay, and to whom.', {
      release: { summary: 'To one address', value: { relay: 'out', to: ['ann@example.net'] } },
    }),
    answers: [
      jsonAnswer(
        'Receipt',
        'It is a new message.',
        {
          queued: {
            summary: 'Queued',
            value: { id: examples.OTHER_ID, message: 'Queued for delivery.', status: 'queued' },
          },
        },
        { status: 202, headers: ['Location'] },
      ),
    ],
    problems: {
      400: ['invalid_request'],
      404: ['message_not_found', 'not_found'],
      409: ['test_key', 'refused', 'content_expired'],
    },
  },
  waitForCaptured: {
    tag: 'Inbox',
    summary: 'Wait for captured messages',
    description: `For tests of other programs: the newest message that the local inbox captured and that matches, as soon as it is there, with what it says; with \`count\`, so many; with \`not=true\`, that none comes. ${WHOSE}`,
    answers: [
      jsonAnswer(WAITED, 'What came, or that nothing did.', {
        code: { summary: 'A code to sign in with', value: MESSAGE },
        several: { summary: 'With count=1', value: { messages: [MESSAGE] } },
        none: { summary: 'With not=true', value: { captured: 0 } },
      }),
    ],
    problems: {
      404: ['nothing_captured', 'content_expired'],
      409: ['unreadable_content', 'unexpected_mail'],
      503: ['unreadable_content', 'unavailable'],
    },
  },
} satisfies Descriptions;
