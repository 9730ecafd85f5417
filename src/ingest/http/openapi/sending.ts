import { NO_PARAMETERS } from '../query.ts';
import { RAW_PARAMETERS } from '../raw.ts';
import * as examples from './examples.ts';
import { type Access, EMPTY_BODY, type Operation, type Success } from './operation.ts';
import {
  INTAKE_PROBLEMS,
  JSON_PROBLEMS,
  MULTIPART_PROBLEMS,
  mergeProblems,
  NO_BODY_PROBLEMS,
  SUBMISSION_PROBLEMS,
  URLENCODED_PROBLEMS,
} from './refusals.ts';

/** A key for sending. */
const SEND: Access = { scheme: 'bearer', scopes: ['messages:send'] };

/** The message is accepted. */
const ACCEPTED: Success = {
  status: 202,
  description: 'The message is on stable storage, and will be sent. A repeat gets this answer once more.',
  headers: ['Location', 'Idempotency-Replayed'],
  content: {
    'application/json': {
      schema: 'Receipt',
      examples: {
        queued: { summary: 'Queued', value: examples.RECEIPT },
        captured: {
          summary: 'A test key’s message, or no relay is set up',
          value: examples.CAPTURED_RECEIPT,
        },
      },
    },
  },
};

/** The message was only to be checked. */
const CHECKED: Success = {
  status: 200,
  description: 'A dry run: the submission is valid, and this is the way it would take.',
  headers: [],
  content: {
    'application/json': {
      schema: 'Verdict',
      examples: { valid: { summary: 'A valid submission', value: examples.VERDICT } },
    },
  },
};

/** How forms write fields that may be repeated. */
const FORM_ENCODING = {
  attachment: { contentType: '*/*' },
  inline: { contentType: '*/*' },
};

const SEND_MESSAGE: Operation = {
  method: 'post',
  path: '/api/v1/messages',
  operationId: 'sendMessage',
  tag: 'Sending',
  summary: 'Send a message',
  description:
    'Accepts one message, as JSON or as a form. 202 comes only when the message is on stable storage. A field that is not known is refused by name.',
  access: SEND,
  query: NO_PARAMETERS,
  requestHeaders: ['Idempotency-Key'],
  body: {
    required: true,
    description: 'The message. At most `api.max_message_bytes` (default 26214400).',
    content: {
      'application/json': {
        schema: 'Submission',
        examples: {
          small: { summary: 'The smallest', value: examples.SMALL_SUBMISSION },
          full: { summary: 'With every field', value: examples.FULL_SUBMISSION },
          dryRun: { summary: 'Only to be checked', value: examples.DRY_RUN_SUBMISSION },
        },
      },
      'multipart/form-data': {
        schema: 'SubmissionForm',
        encoding: FORM_ENCODING,
        examples: { form: { summary: 'With a file', value: examples.FORM } },
      },
    },
  },
  answers: [CHECKED, ACCEPTED],
  problems: mergeProblems(JSON_PROBLEMS, MULTIPART_PROBLEMS, SUBMISSION_PROBLEMS, INTAKE_PROBLEMS),
};

const SEND_BATCH: Operation = {
  method: 'post',
  path: '/api/v1/messages/batch',
  operationId: 'sendBatch',
  tag: 'Sending',
  summary: 'Send several messages',
  description:
    'Each message is accepted or refused by itself; the accepted ones in one commit. Counts as one request; its messages have a limit of their own, `api.batch_messages_per_minute` (default 10000). With an `Idempotency-Key`, a repeat accepts only what was not accepted before.',
  access: SEND,
  query: NO_PARAMETERS,
  requestHeaders: ['Idempotency-Key'],
  body: {
    required: true,
    description: 'The messages. At most `api.max_batch_bytes` (default 104857600).',
    content: {
      'application/json': {
        schema: 'Batch',
        examples: { mixed: { summary: 'One good, one faulty, one to be checked', value: examples.BATCH } },
      },
    },
  },
  answers: [
    {
      status: 202,
      description: 'What became of each message. It may be that all were refused.',
      headers: ['Idempotency-Replayed'],
      content: {
        'application/json': {
          schema: 'BatchReceipt',
          examples: { mixed: { summary: 'One of each', value: examples.BATCH_RECEIPT } },
        },
      },
    },
  ],
  problems: mergeProblems(JSON_PROBLEMS, INTAKE_PROBLEMS, {
    400: ['invalid_submission'],
    409: ['idempotency_mismatch', 'idempotency_in_progress'],
    429: ['batch_rate_limited'],
  }),
};

const SEND_AS_MAILGUN: Operation = {
  method: 'post',
  path: '/v3/{domain}/messages',
  operationId: 'sendMessageAsMailgun',
  tag: 'Mailgun',
  summary: 'Send a message with a client made for Mailgun',
  description:
    'The same as `sendMessage`, in the shape that clients written for Mailgun use: Basic authentication with the user name `api`, forms, and a Message-ID for an id.',
  access: { scheme: 'basic', scopes: ['messages:send'] },
  query: NO_PARAMETERS,
  requestHeaders: ['Idempotency-Key'],
  body: {
    required: true,
    description: 'The message. At most `api.max_message_bytes` (default 26214400).',
    content: {
      'multipart/form-data': {
        schema: 'SubmissionForm',
        encoding: FORM_ENCODING,
        examples: { form: { summary: 'With a file', value: examples.FORM } },
      },
      'application/x-www-form-urlencoded': {
        schema: 'MailgunForm',
        examples: { small: { summary: 'Without files', value: examples.SMALL_FORM } },
      },
    },
  },
  answers: [
    {
      status: 200,
      description:
        'The message is on stable storage, and will be sent; or, for a dry run, what would become of it.',
      headers: ['Idempotency-Replayed'],
      content: {
        'application/json': {
          schema: {
            anyOf: [
              { $ref: '#/components/schemas/MailgunReceipt' },
              { $ref: '#/components/schemas/Verdict' },
            ],
          },
          examples: {
            queued: {
              summary: 'Queued',
              value: { id: examples.DELIVERED.messageId, message: 'Queued for delivery.' },
            },
          },
        },
      },
    },
  ],
  problems: mergeProblems(MULTIPART_PROBLEMS, URLENCODED_PROBLEMS, SUBMISSION_PROBLEMS, INTAKE_PROBLEMS),
};

/** The operations that accept messages. */
export const SENDING: readonly Operation[] = [SEND_MESSAGE, SEND_BATCH, SEND_AS_MAILGUN];

const SEND_RAW: Operation = {
  method: 'post',
  path: '/api/v1/messages/raw',
  operationId: 'sendRaw',
  tag: 'Sending',
  summary: 'Send a finished message',
  description:
    'Delivers a finished message (RFC 5322) as it is. Only Bcc is removed; Received, and a Date and Message-ID that are missing, are added. The envelope comes from the parameters `from` and `to`, or from the request’s header fields of these names.',
  access: SEND,
  query: RAW_PARAMETERS,
  requestHeaders: ['Idempotency-Key', 'From', 'To'],
  body: {
    required: true,
    description: 'The message. At most `api.max_message_bytes` (default 26214400).',
    content: {
      'message/rfc822': {
        schema: { type: 'string', format: 'binary' },
        examples: { small: { summary: 'A small message', value: examples.RAW_MESSAGE } },
      },
    },
  },
  answers: [CHECKED, ACCEPTED],
  problems: mergeProblems(SUBMISSION_PROBLEMS, INTAKE_PROBLEMS, { 415: ['unsupported_media_type'] }),
};

const RESEND: Operation = {
  method: 'post',
  path: '/api/v1/messages/{id}/resend',
  operationId: 'resendMessage',
  tag: 'Sending',
  summary: 'Send a message once more',
  description:
    'Makes a new message of one whose contents are kept, to all its recipients: with a new id, Message-ID and Date. Another key’s message needs the scope `admin`.',
  access: SEND,
  query: NO_PARAMETERS,
  requestHeaders: ['Idempotency-Key'],
  body: EMPTY_BODY,
  answers: [ACCEPTED],
  problems: mergeProblems(NO_BODY_PROBLEMS, INTAKE_PROBLEMS, {
    400: ['invalid_submission'],
    403: ['sender_not_allowed'],
    404: ['message_not_found'],
    409: ['content_expired', 'test_key', 'refused', 'idempotency_mismatch', 'idempotency_in_progress'],
    413: ['message_too_large'],
  }),
};

/** The operations that accept finished messages. */
export const SENDING_FINISHED: readonly Operation[] = [SEND_RAW, RESEND];
