import type { z } from 'zod';
import type {
  batchReceiptSchema,
  messageRecordSchema,
  receiptSchema,
  statusRecordSchema,
  verdictSchema,
} from '../answers.ts';
import type { attemptsPageSchema } from '../attempt-answers.ts';
import type { eventSchema, eventsPageSchema } from '../event-answers.ts';

/** Bodies of requests and answers as they really are; a test sends the former, and holds all to the schemas. */

const ID = 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6';
export const OTHER_ID = 'msg_01k9f5y7f1x3n5p7q9r1s3t5v7';

/** The smallest submission. */
export const SMALL_SUBMISSION = {
  from: 'orders@example.com',
  to: ['bob@example.org'],
  subject: 'Your order',
  text: 'Thank you for your order.',
};

/** A submission with every field. */
export const FULL_SUBMISSION = {
  from: 'Waybill Shop <orders@example.com>',
  to: ['Bob <bob@example.org>', '"Doe, Jane" <jane@example.org>'],
  cc: 'sales@example.net, Ann Lee <ann@example.net>',
  bcc: ['archive@example.com'],
  subject: 'Your order 1001',
  text: 'Thank you for your order.',
  html: '<p>Thank you for your order.</p><img src="cid:logo">',
  headers: { 'Reply-To': 'help@example.com', 'X-Order': '1001' },
  attachments: [
    { filename: 'invoice.txt', content: 'SW52b2ljZSAxMDAx', contentType: 'text/plain' },
    {
      filename: 'logo.png',
      content: 'iVBORw0KGgo=',
      contentType: 'image/png',
      contentId: 'logo',
      disposition: 'inline',
    },
  ],
  tags: ['orders'],
  metadata: { orderId: '1001' },
  priority: 'high',
};

/** A submission that is only checked. */
export const DRY_RUN_SUBMISSION = { ...SMALL_SUBMISSION, dryRun: true };

/** Several submissions, the second of which will be refused, the third only checked. */
export const BATCH = {
  messages: [SMALL_SUBMISSION, { ...SMALL_SUBMISSION, to: ['bob(at)example.org'] }, DRY_RUN_SUBMISSION],
};

/** A submission as a form; an array is a repeated field. */
export const FORM = {
  from: 'orders@example.com',
  to: ['bob@example.org, Ann Lee <ann@example.net>'],
  subject: 'Your order',
  text: 'Thank you for your order.',
  attachment: ['Invoice 1001'],
  'o:tag': ['orders'],
  'h:Reply-To': 'help@example.com',
  'v:orderId': '1001',
};

/** A finished message. */
export const RAW_MESSAGE = [
  'From: Waybill Shop <orders@example.com>',
  'To: bob@example.org',
  'Subject: Your order',
  '',
  'Thank you for your order.',
  '',
].join('\r\n');

/** An accepted message. */
export const RECEIPT: z.infer<typeof receiptSchema> = {
  id: ID,
  message: 'Queued for delivery.',
  status: 'queued',
};

/** An accepted message that stays here. */
export const CAPTURED_RECEIPT: z.infer<typeof receiptSchema> = {
  id: ID,
  message: 'Captured in the local inbox; nothing will be sent.',
  status: 'queued',
};

/** The answer to a dry run. */
export const VERDICT: z.infer<typeof verdictSchema> = {
  dryRun: true,
  message: 'Valid. Nothing was stored, nothing will be sent.',
  captured: false,
  sizeBytes: 512,
  from: 'orders@example.com',
  recipients: [
    {
      address: 'bob@example.org',
      type: 'to',
      relay: 'out',
      rule: null,
      alignment: {
        verdict: 'aligned',
        dkim: 'aligned',
        dkimDomain: 'example.com',
        spf: 'aligned',
        spfDomain: 'example.com',
        detail: 'Signed for example.com, which aligns with From.',
      },
    },
  ],
  findings: [],
};

const FAULT = {
  pointer: '/to/0',
  code: 'address_syntax',
  detail:
    'bob(at)example.org is not an address of the form local@domain, such as "Jane Doe <jane@example.com>".',
};
const REFUSAL = `to/0: ${FAULT.detail}`;

/** The answer to {@link BATCH}. */
export const BATCH_RECEIPT: z.infer<typeof batchReceiptSchema> = {
  results: [
    { index: 0, ...RECEIPT },
    {
      index: 1,
      error: {
        type: 'urn:waybill:problem:invalid_submission',
        title: 'Bad request',
        status: 400,
        detail: REFUSAL,
        code: 'invalid_submission',
        error: REFUSAL,
        errors: [FAULT],
      },
    },
    { index: 2, verdict: VERDICT },
  ],
};

/** A message that has been delivered. */
export const DELIVERED: z.infer<typeof messageRecordSchema> = {
  id: ID,
  status: 'delivered',
  providerMessageId: '0100019a-7c1e-4b6f',
  timestamp: '2026-11-20T11:15:00.935Z',
  durationMs: 812,
  createdAt: '2026-11-20T11:15:00.123Z',
  updatedAt: '2026-11-20T11:15:00.935Z',
  deliveredAt: '2026-11-20T11:15:00.935Z',
  from: 'Waybill Shop <orders@example.com>',
  to: ['bob@example.org'],
  cc: [],
  bcc: [],
  subject: 'Your order 1001',
  tags: ['orders'],
  metadata: { orderId: '1001' },
  sizeBytes: 5123,
  messageId: '<01k9f5y7f0e2c4a8b6d0e2f4g5@mail.example.com>',
  source: 'api',
  box: null,
  priority: 'normal',
  relay: 'ses',
  attempts: 1,
  outcome: 'accepted',
};

/** A message that waits for another try. */
const RETRYING: z.infer<typeof messageRecordSchema> = {
  id: OTHER_ID,
  status: 'retrying',
  timestamp: '2026-11-20T11:16:01.004Z',
  createdAt: '2026-11-20T11:16:00.410Z',
  updatedAt: '2026-11-20T11:16:01.004Z',
  nextAttemptAt: '2026-11-20T11:16:31.004Z',
  waitingFor: 'backoff',
  from: 'orders@example.com',
  to: ['ann@example.net'],
  cc: [],
  bcc: [],
  subject: 'Your order 1002',
  tags: [],
  metadata: {},
  sizeBytes: 1020,
  messageId: '<01k9f5y7f1x3n5p7q9r1s3t5v6@mail.example.com>',
  source: 'api',
  box: null,
  priority: 'normal',
  relay: 'ses',
  attempts: 1,
  lastError: {
    code: 'smtp_reply',
    class: 'transient',
    message: '4.2.2 The mailbox is full',
    recipient: 'ann@example.net',
    replyCode: 452,
    enhancedCode: '4.2.2',
  },
};

/** A page of messages. */
export const MESSAGES_PAGE = {
  messages: [RETRYING, DELIVERED],
  hasMore: true,
  nextCursor: 'bXNnXzAxazlmNXk3ZjBlMmM0YThiNmQwZTJmNGc2LkFiQ2RFZkdoSWpLbE1uT3A',
};

/** Nothing more is known of a recipient than what the next hop said. */
const NOTHING_MORE = {
  confirmedAt: null,
  bounce: null,
  complainedAt: null,
  unsubscribedAt: null,
  suppression: null,
} as const;

/** A status record. */
export const STATUS_RECORD: z.infer<typeof statusRecordSchema> = {
  ...DELIVERED,
  recipients: [
    {
      address: 'bob@example.org',
      type: 'to',
      status: 'delivered',
      outcome: 'accepted',
      relay: 'ses',
      attempts: 1,
      providerMessageId: '0100019a-7c1e-4b6f',
      lastCode: 250,
      lastEnhancedCode: '2.0.0',
      lastReply: 'Ok 0100019a-7c1e-4b6f',
      nextAttemptAt: null,
      waitingFor: null,
      ...NOTHING_MORE,
      confirmedAt: '2026-11-20T11:15:04.210Z',
    },
  ],
};

/** A recipient's server refused the message. */
const FAILED_EVENT: z.infer<typeof eventSchema> = {
  type: 'message.failed',
  timestamp: '2026-11-20T11:15:00.910Z',
  data: {
    id: 'evt_01m7wanene00000000000004k7',
    sequence: 4711,
    message: {
      id: DELIVERED.id,
      messageId: DELIVERED.messageId,
      from: DELIVERED.from,
      tags: DELIVERED.tags,
      metadata: DELIVERED.metadata,
      stream: null,
      key: 'shop',
      source: 'api',
      createdAt: DELIVERED.createdAt,
    },
    recipient: { address: 'bob@example.org', type: 'to', status: 'failed', outcome: 'rejected' },
    relay: 'ses',
    attempt: 1,
    providerMessageId: null,
    nextAttemptAt: null,
    reply: { code: 550, enhancedCode: '5.1.1', text: 'No such user' },
    bounce: { type: 'hard', source: 'smtp' },
    suppression: null,
  },
};

/** A page of events, after 4700. */
export const EVENTS_PAGE: z.infer<typeof eventsPageSchema> = {
  events: [FAILED_EVENT],
  hasMore: false,
  nextAfter: 4711,
};

/** The same as a stream. */
export const EVENT_STREAM = `id: 4711\nevent: message.failed\ndata: ${JSON.stringify(FAILED_EVENT)}\n\n`;

/** {@link STATUS_RECORD}'s attempts. */
export const ATTEMPTS_PAGE: z.infer<typeof attemptsPageSchema> = {
  attempts: [
    {
      number: 1,
      startedAt: '2026-11-20T11:15:00.201Z',
      relay: 'ses',
      host: 'smtp.example.net',
      address: '192.0.2.25',
      localAddress: '198.51.100.7',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      security: { verdict: 'verified', mtaSts: null, dane: null },
      dns: [
        {
          name: 'smtp.example.net',
          type: 'A',
          result: 'found',
          answers: ['192.0.2.25'],
          authenticated: false,
        },
      ],
      reused: false,
      timings: {
        queueMs: 78,
        dnsMs: 12,
        connectMs: 31,
        tlsMs: 64,
        mailMs: 90,
        transferMs: 48,
        replyMs: 298,
        totalMs: 702,
      },
      steps: [
        { verb: 'MAIL FROM', reply: '250 2.1.0 Ok', atMs: 310 },
        { verb: 'RCPT TO', reply: '250 2.1.5 Ok', atMs: 355 },
        { verb: 'DATA', reply: '250 2.0.0 Ok 0100019a-7c1e-4b6f', atMs: 701 },
      ],
      results: [
        {
          recipient: 'bob@example.org',
          outcome: 'delivered',
          class: 'success',
          code: 250,
          enhancedCode: '2.0.0',
          reply: 'Ok 0100019a-7c1e-4b6f',
          providerMessageId: '0100019a-7c1e-4b6f',
        },
      ],
    },
  ],
  hasMore: false,
};

const { nextAttemptAt: _, waitingFor: __, ...ENDED } = RETRYING;
const RECIPIENT = {
  address: 'ann@example.net',
  type: 'to',
  relay: 'ses',
  attempts: 1,
  providerMessageId: null,
  lastCode: 452,
  lastEnhancedCode: '4.2.2',
  lastReply: 'The mailbox is full',
  ...NOTHING_MORE,
} as const;

/** A message that was cancelled while it waited for another try. */
export const CANCELLED: z.infer<typeof statusRecordSchema> = {
  ...ENDED,
  status: 'failed',
  outcome: 'cancelled',
  durationMs: 9420,
  recipients: [
    { ...RECIPIENT, status: 'failed', outcome: 'cancelled', nextAttemptAt: null, waitingFor: null },
  ],
};

/** The same message, tried again instead. */
export const RETRIED: z.infer<typeof statusRecordSchema> = {
  ...RETRYING,
  status: 'queued',
  nextAttemptAt: '2026-11-20T11:16:09.830Z',
  waitingFor: 'turn',
  recipients: [
    {
      ...RECIPIENT,
      status: 'queued',
      outcome: null,
      nextAttemptAt: '2026-11-20T11:16:09.830Z',
      waitingFor: 'turn',
    },
  ],
};

const AT = '2026-11-21T08:00:00.000Z';
const SCHEDULED = { nextAttemptAt: AT, waitingFor: 'scheduled', attempts: 0 } as const;

/** One that waits for its new time. */
export const RESCHEDULED: z.infer<typeof statusRecordSchema> = {
  ...RETRIED,
  ...SCHEDULED,
  sendAt: AT,
  recipients: RETRIED.recipients.map((recipient) => ({ ...recipient, ...SCHEDULED, lastReply: null })),
};
