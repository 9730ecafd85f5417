import { z } from 'zod';
import { MESSAGE_STATUSES } from '../domain/delivery.ts';
import { isEnvid, isNotify } from '../smtp/command.ts';
import { fixed, integer, needed, optional, text, wordList } from './command.ts';
import {
  type Answers,
  acts,
  MAIL_TOPICS,
  type OperationsOf,
  operation,
  READ,
  type Shown,
  unrecorded,
} from './operation.ts';
import { recipientWay } from './search.ts';

/** More than api.max_recipients can be. */
const MAX_RAW_RECIPIENTS = 100_000;

/** Names a message. */
const messageRequest = z.strictObject({ id: z.string() });

/** A message, in the form of the API's JSON. */
const submitRequest = z.strictObject({ message: z.unknown() });

const feedbackText = ({ feedbackEntrySchema }: Answers) =>
  z.strictObject({
    ...feedbackEntrySchema.shape,
    /** The first 64 KiB of what came. Hostile: anybody may have written it. */
    text: z.string(),
  });

const submitted = () =>
  z.strictObject({
    id: z.string(),
    message: z.string(),
  });

/** What became of a submission. */
export type Submitted = Shown<typeof submitted>;

/** A message as the API shows it. */
export type StatusRecord = Shown<Answers['statusRecordSchema']>;

/** A page of a message's attempts as the API shows them. */
export type Attempts = Shown<Answers['attemptsPageSchema']>;

/** A page of events as the API shows them. */
export type EventsPage = Shown<Answers['eventsPageSchema']>;

const keptContent = () =>
  z.strictObject({
    id: z.string(),
    sizeBytes: z.number(),
    /** In base64. */
    content: z.string(),
  });

/** The bytes of a message. */
export type KeptContent = Shown<typeof keptContent>;

const messagesPage = ({ messageRecordSchema }: Answers) =>
  z.strictObject({
    messages: z.array(messageRecordSchema),
    /** `before` of the next page; null when there is none. */
    next: z.string().nullable(),
  });

/** A page of messages as the API shows them. */
export type MessagesPage = Shown<typeof messagesPage>;

/** How a message is named on the command line. */
const WHICH = text('<id>', "the message's id, also as a UUID, or its Message-ID: '<…@…>'", { absent: '' });

/** What can be asked of messages, and done with them; the command line asks it of servers far away, too. */
export const MESSAGE_OPERATIONS = {
  submit: operation({
    meaning: "Accepts a message, in the form of the API's JSON.",
    // Its message's own record tells of it.
    access: unrecorded('operator'),
    request: submitRequest,
    takesMessage: true,
    result: submitted,
  }),
  submitRaw: operation({
    meaning: 'Accepts a finished message as it is, as over SMTP from this machine (sendmail).',
    access: unrecorded('operator'),
    request: z.strictObject({
      from: z.string().describe('The reverse-path; empty for the null one.'),
      to: z.array(z.string()).min(1).max(MAX_RAW_RECIPIENTS),
      content: z.base64().describe('CRLF lines, the last one ended, in base64.'),
      notify: z.string().refine(isNotify, 'must be as NOTIFY of RFC 3461').nullable(),
      ret: z.enum(['FULL', 'HDRS']).nullable(),
      envid: z.string().refine(isEnvid, 'must be as ENVID of RFC 3461').nullable(),
      requireTls: z.boolean().default(false).describe('REQUIRETLS (RFC 8689).'),
    }),
    result: submitted,
  }),
  checkMessage: operation({
    meaning: 'Checks a message as if it were submitted; stores and sends nothing.',
    access: READ,
    request: submitRequest,
    takesMessage: true,
    result: ({ verdictSchema }) => verdictSchema,
  }),
  message: operation({
    meaning: "A message's status record.",
    access: READ,
    request: messageRequest,
    result: ({ statusRecordSchema }) => statusRecordSchema,
  }),
  ways: operation({
    meaning: "The route of each recipient's copy, and what it waits for. Empty for a remote server.",
    access: READ,
    request: messageRequest,
    result: () => z.array(recipientWay()),
  }),
  messages: operation({
    meaning: 'Messages of every key, newest first.',
    access: READ,
    request: z.strictObject({
      statuses: z.array(z.enum(MESSAGE_STATUSES)),
      filter: z
        .record(z.string(), z.string())
        .describe(
          "Further parameters of the API's list, by name, as text: `tag`, `to`, `from`, `subject`, `since`, `until`.",
        ),
      limit: z.int().min(1).max(200),
      before: z.string().nullable().describe('The `next` of an earlier page; null starts at the newest.'),
    }),
    result: messagesPage,
    commands: [
      {
        words: 'messages list',
        summary: 'show messages, newest first',
        examples: [
          'waybill messages list',
          'waybill messages list --status failed --status retrying --limit 100',
          'waybill messages list --to @example.net --since 2026-11-20T00:00:00Z --subject invoice',
        ],
        remote: true,
        takes: {
          statuses: wordList(
            '--status <status>',
            `only those that are ${MESSAGE_STATUSES.join(', ')}; may be given several times`,
            MESSAGE_STATUSES,
            { absent: [] },
          ),
          filter: {
            parts: {
              tag: optional('--tag <tag>', 'only those with exactly this tag'),
              to: optional(
                '--to <address>',
                'only those to this address, or to a whole domain: @example.net',
              ),
              from: optional('--from <address>', 'only those from this address, or from a whole domain'),
              subject: optional(
                '--subject <text>',
                'only those whose subject contains this (case-insensitive)',
              ),
              since: optional(
                '--since <time>',
                'only those accepted at this time or later: 2026-11-20T00:00:00Z',
              ),
              until: optional('--until <time>', 'only those accepted before this time'),
            },
            join: Object.fromEntries,
          },
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 20 }),
          before: text(
            '--before <id>',
            'continue after a page: the id in its last line (with --url, the cursor)',
            { absent: null },
          ),
        },
      },
    ],
  }),
  events: operation({
    meaning:
      'A page of what happened to messages of every key: newest first, or oldest first after a sequence; whoever goes on with `nextAfter` misses nothing.',
    access: READ,
    request: z.strictObject({
      filter: z
        .record(z.string(), z.string())
        .describe(
          "Further parameters of the API's events, by name, as text: `types`, `message`, `recipient`, `tag`, `since`, `until`.",
        ),
      limit: z.int().min(1).max(200),
      after: z.int().min(0).nullable().describe('Oldest first, after this sequence; null: newest first.'),
      before: z
        .int()
        .min(1)
        .nullable()
        .describe(
          'Newest first, before this sequence: the `nextCursor` of an earlier page as a number; null starts at the newest. Null with `after`.',
        ),
    }),
    result: ({ eventsPageSchema }) => eventsPageSchema,
  }),
  attempts: operation({
    meaning: 'A page of the attempts to deliver a message, oldest first.',
    access: READ,
    request: z.strictObject({
      id: z.string(),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,14}$/)
        .nullable()
        .describe('The `nextCursor` of an earlier page; null starts at the first.'),
    }),
    result: ({ attemptsPageSchema }) => attemptsPageSchema,
    commands: [
      {
        words: 'messages attempts',
        summary: 'show every attempt to deliver a message',
        examples: ['waybill messages attempts msg_01k…', 'waybill messages attempts msg_01k… --json'],
        remote: true,
        takes: { id: WHICH, cursor: fixed(null) },
        json: ({ attempts }) => ({ attempts }),
      },
    ],
  }),
  messageFeedback: operation({
    meaning: 'What others told of a message after its delivery, the newest first.',
    access: READ,
    request: messageRequest,
    result: ({ feedbackListSchema }) => feedbackListSchema,
    commands: [
      {
        words: 'messages feedback',
        summary: 'show what others told of a message after its delivery',
        examples: ['waybill messages feedback msg_01k…'],
        takes: { id: WHICH },
        prints: ({ feedback }) =>
          feedback
            .map(
              ({ id, at, kind, source, recipient }) => `${at} ${kind} (${source}) ${recipient ?? ''} ${id}`,
            )
            .join('\n') || 'Nobody told anything.',
      },
    ],
  }),
  feedbackText: operation({
    meaning:
      'What came when something was told of mail: a bounce message, a feedback report, the body of a webhook. As text.',
    access: READ,
    request: z.strictObject({ id: z.string().max(100).describe('`fbk_…`.') }),
    result: feedbackText,
  }),
  messageContent: operation({
    meaning: 'A message as it is sent, while it is kept.',
    access: READ,
    request: messageRequest,
    result: keptContent,
  }),
  cancelMessage: operation({
    meaning: 'Cancels the recipients of a message that are not final. Returns the resulting record.',
    access: acts({ words: 'Cancelled a message', subject: 'id', touches: MAIL_TOPICS }),
    request: messageRequest,
    result: ({ statusRecordSchema }) => statusRecordSchema,
    commands: [
      {
        words: 'messages cancel',
        summary: 'fail the recipients that still wait; an attempt in progress is the last',
        examples: ['waybill messages cancel msg_01k…'],
        remote: true,
        takes: { id: WHICH },
      },
    ],
  }),
  rescheduleMessage: operation({
    meaning:
      'Gives a message that waits for its send time another one; a past one means now. Returns the resulting record.',
    access: acts({ words: 'Moved a scheduled message', subject: 'id', touches: MAIL_TOPICS }),
    request: z.strictObject({
      id: z.string(),
      sendAt: z.string().max(100).describe('RFC 3339, at most 30 days ahead.'),
    }),
    result: ({ statusRecordSchema }) => statusRecordSchema,
    commands: [
      {
        words: 'messages reschedule',
        summary: 'give a message that waits for its send time another one',
        examples: ['waybill messages reschedule msg_01k… --send-at 2026-11-21T08:00:00Z'],
        remote: true,
        takes: {
          id: WHICH,
          sendAt: needed(
            '--send-at <time>',
            'when it is sent instead: 2026-11-21T08:00:00Z; a past time is now',
          ),
        },
      },
    ],
  }),
  retryMessage: operation({
    meaning: "Tries a message's failed and retrying recipients again, now. Returns the resulting record.",
    access: acts({ words: 'Retried a message', subject: 'id', touches: MAIL_TOPICS }),
    request: messageRequest,
    result: ({ statusRecordSchema }) => statusRecordSchema,
    commands: [
      {
        words: 'messages retry',
        summary: 'try failed and retrying recipients again, now; delivered ones get no second copy',
        examples: ['waybill messages retry msg_01k…'],
        remote: true,
        takes: { id: WHICH },
      },
    ],
  }),
};

/** Those who carry out the ones that take messages. */
export type SubmitOperations = Pick<OperationsOf<typeof MESSAGE_OPERATIONS>, 'submit' | 'checkMessage'>;

/** Those who carry out the ones on messages that are there: what the owner of a single key can ask of a server far away. */
export type MessageOperations = Pick<
  OperationsOf<typeof MESSAGE_OPERATIONS>,
  | 'message'
  | 'ways'
  | 'messages'
  | 'attempts'
  | 'messageContent'
  | 'cancelMessage'
  | 'rescheduleMessage'
  | 'retryMessage'
>;
