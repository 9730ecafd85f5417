import { NO_PARAMETERS } from '../query.ts';
import { RAW_PARAMETERS } from '../raw-parameters.ts';
import { ACCEPTED, CHECKED, SEND } from './accepted.ts';
import * as examples from './examples.ts';
import { EMPTY_BODY, type Operation } from './operation.ts';
import { INTAKE_PROBLEMS, mergeProblems, NO_BODY_PROBLEMS, SUBMISSION_PROBLEMS } from './refusals.ts';

/** What the document says of sending messages that are already composed elsewhere. */

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
