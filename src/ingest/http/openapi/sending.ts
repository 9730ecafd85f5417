import * as examples from './examples.ts';
import {
  type Descriptions,
  EMPTY_BODY,
  jsonAnswer,
  jsonBody,
  type RequestBody,
  type Success,
} from './operation.ts';
import {
  INTAKE_PROBLEMS,
  JSON_PROBLEMS,
  MULTIPART_PROBLEMS,
  mergeProblems,
  NO_BODY_PROBLEMS,
  SUBMISSION_PROBLEMS,
} from './refusals.ts';

/** The message is accepted. */
const ACCEPTED: Success = jsonAnswer(
  'Receipt',
  'The message is on stable storage, and will be sent. A repeat gets the same answer.',
  {
    queued: { summary: 'Queued', value: examples.RECEIPT },
    captured: { summary: 'A test key’s message, or no relay is set up', value: examples.CAPTURED_RECEIPT },
  },
  { status: 202, headers: ['Location', 'Idempotency-Replayed'] },
);

/** The message was only to be checked. */
const CHECKED: Success = jsonAnswer('Verdict', 'A dry run: the submission is valid, and this is its route.', {
  valid: { summary: 'A valid submission', value: examples.VERDICT },
});

/** A message, in whichever form. */
function message(content: RequestBody['content']): RequestBody {
  const description = 'The message. At most `api.max_message_bytes` (default 26214400).';
  return { required: true, description, content };
}

/** A message as a form; how fields that may be repeated are written. */
const FORM = {
  schema: 'SubmissionForm',
  encoding: { attachment: { contentType: '*/*' }, inline: { contentType: '*/*' } },
  examples: { form: { summary: 'With a file', value: examples.FORM } },
} as const;

/** A finished message. */
const FINISHED = {
  schema: { type: 'string', format: 'binary' },
  examples: { small: { summary: 'A small message', value: examples.RAW_MESSAGE } },
} as const;

/** The endpoints that accept messages. */
export const SENDING = {
  sendMessage: {
    tag: 'Sending',
    summary: 'Send a message',
    description:
      'Accepts one message, as JSON or as a form. 202 comes only when the message is on stable storage. An unknown field is refused by name.',
    requestHeaders: ['Idempotency-Key'],
    body: message({
      'application/json': {
        schema: 'Submission',
        examples: {
          small: { summary: 'The smallest', value: examples.SMALL_SUBMISSION },
          full: { summary: 'With every field', value: examples.FULL_SUBMISSION },
          dryRun: { summary: 'Only to be checked', value: examples.DRY_RUN_SUBMISSION },
        },
      },
      'multipart/form-data': FORM,
    }),
    answers: [CHECKED, ACCEPTED],
    problems: mergeProblems(JSON_PROBLEMS, MULTIPART_PROBLEMS, SUBMISSION_PROBLEMS, INTAKE_PROBLEMS),
  },
  sendBatch: {
    tag: 'Sending',
    summary: 'Send several messages',
    description:
      'Each message is accepted or refused by itself; the accepted ones in one commit. Counts as one request; its messages have a limit of their own, `api.batch_messages_per_minute` (default 10000). With an `Idempotency-Key`, a repeat accepts only what was not accepted before.',
    requestHeaders: ['Idempotency-Key'],
    body: jsonBody('Batch', 'The messages. At most `api.max_batch_bytes` (default 104857600).', {
      mixed: { summary: 'One good, one faulty, one to be checked', value: examples.BATCH },
    }),
    answers: [
      jsonAnswer(
        'BatchReceipt',
        'The result for each message. All of them may have been refused.',
        { mixed: { summary: 'One of each', value: examples.BATCH_RECEIPT } },
        { status: 202, headers: ['Idempotency-Replayed'] },
      ),
    ],
    problems: mergeProblems(JSON_PROBLEMS, INTAKE_PROBLEMS, {
      400: ['invalid_submission'],
      409: ['idempotency_mismatch', 'idempotency_in_progress'],
      429: ['batch_rate_limited'],
    }),
  },
  sendRaw: {
    tag: 'Sending',
    summary: 'Send a finished message',
    description:
      'Delivers a finished message (RFC 5322) as it is. Only Bcc is removed; Received, and a Date and Message-ID that are missing, are added. The envelope comes from the parameters `from` and `to`, or from the request’s header fields of these names.',
    requestHeaders: ['Idempotency-Key', 'From', 'To'],
    body: message({ 'message/rfc822': FINISHED }),
    answers: [CHECKED, ACCEPTED],
    problems: mergeProblems(SUBMISSION_PROBLEMS, INTAKE_PROBLEMS, { 415: ['unsupported_media_type'] }),
  },
  checkMessage: {
    tag: 'Sending',
    summary: 'Check a message before it is sent',
    description:
      'Judges a message as if it were submitted: its route, how it would align with its From, and findings: what may keep it from being delivered, or from being read as it was meant. Stores, sends and fetches nothing; `dryRun` makes no difference. The parameters are those of a finished message, `message/rfc822`; the other forms take none.',
    requestHeaders: ['From', 'To'],
    body: message({
      'message/rfc822': FINISHED,
      'application/json': {
        schema: 'Submission',
        examples: { small: { summary: 'The smallest', value: examples.SMALL_SUBMISSION } },
      },
      'multipart/form-data': FORM,
    }),
    answers: [CHECKED],
    problems: mergeProblems(JSON_PROBLEMS, MULTIPART_PROBLEMS, SUBMISSION_PROBLEMS, INTAKE_PROBLEMS),
  },
  resendMessage: {
    tag: 'Sending',
    summary: 'Send a message once more',
    description:
      'Makes a new message from one whose contents are kept, for all its recipients, with a new id, Message-ID and Date. Another key’s message needs the scope `admin`.',
    requestHeaders: ['Idempotency-Key'],
    body: EMPTY_BODY,
    answers: [ACCEPTED],
    problems: mergeProblems(NO_BODY_PROBLEMS, INTAKE_PROBLEMS, {
      400: ['invalid_submission', 'unsubscribe_unavailable'],
      403: ['sender_not_allowed'],
      404: ['message_not_found'],
      409: ['content_expired', 'test_key', 'refused', 'idempotency_mismatch', 'idempotency_in_progress'],
      413: ['message_too_large'],
    }),
  },
} satisfies Descriptions;
