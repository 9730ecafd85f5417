import { z } from 'zod';
import { integer, list, needed, sentence, text } from './command.ts';
import {
  type Answers,
  acts,
  MAIL_TOPICS,
  type OperationsOf,
  operation,
  READ,
  type Shown,
} from './operation.ts';
import { foundMessage } from './search.ts';

/** What operators can ask of captured mail, and do to it. */

const NONE = { absent: null };

const id = z.string().max(64);
const box = z.string().max(64).nullable().describe('Only mail in this box; null for all.');

const inboxPage = (api: Answers) =>
  z.strictObject({
    messages: z.array(foundMessage(api)),
    /** `before` of the next page; null when there is none. */
    next: z.string().nullable(),
    /** What the query could not be read as. */
    notes: z.array(z.string()),
    /** Bytes of captured contents that are kept, and how many may be. */
    bytes: z.number(),
    maxBytes: z.number(),
  });

/** A page of captured mail. */
export type InboxPage = Shown<typeof inboxPage>;

/** What operators can ask of captured mail, and do to it. */
export const INBOX_OPERATIONS = {
  inbox: operation({
    meaning: 'Captured messages, newest first.',
    access: READ,
    request: z.strictObject({
      query: z.string().max(500).describe('As for `search`.'),
      key: z.string().max(100).nullable().describe('Only mail of this key, by name or id; null for all.'),
      box: box.default(null),
      limit: z.int().min(1).max(200),
      before: id.nullable(),
    }),
    result: inboxPage,
    commands: [
      {
        words: 'inbox list',
        summary: 'show captured messages, newest first',
        examples: [
          'waybill inbox list',
          'waybill inbox list --key tests --box worker-1',
          "waybill inbox list 'subject:welcome' --json",
        ],
        takes: {
          query: sentence(
            '[query...]',
            'words, "phrases", and tokens such as to:, subject:; see docs/search.md',
          ),
          key: text('--key <key>', 'only mail of this key, by name or id', NONE),
          box: text('--box <box>', 'only mail in this box', NONE),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 20 }),
          before: text('--before <id>', 'continue after a page: the id in its last line', NONE),
        },
      },
    ],
  }),
  deleteCaptured: operation({
    meaning: "Deletes captured messages' contents and removes them from the inbox; their records stay.",
    access: acts({ words: 'Deleted captured mail', subject: null, touches: MAIL_TOPICS }),
    request: z.strictObject({
      ids: z
        .array(id)
        .min(1)
        .max(500)
        .nullable()
        .describe('Null: all of the key or of every key, and of the box; call again while `more` is true.'),
      key: z.string().max(100).nullable(),
      box: box.default(null),
      upTo: id
        .nullable()
        .default(null)
        .describe('Only messages not newer than this one, so that mail that arrives meanwhile stays.'),
    }),
    result: () =>
      z.strictObject({
        deleted: z.number(),
        more: z.boolean(),
      }),
  }),
  releaseCaptured: operation({
    meaning: 'Sends a captured message through a relay, as a new message. Never one of a test key.',
    access: acts({ words: 'Released captured mail', subject: 'id', touches: MAIL_TOPICS }),
    request: z.strictObject({
      id,
      relay: z.string().max(64),
      to: z
        .array(z.string().max(1000))
        .min(1)
        .max(50)
        .nullable()
        .default(null)
        .describe('Who gets it instead of its recipients; null: its recipients.'),
    }),
    result: () =>
      z.strictObject({
        id: z.string(),
      }),
    commands: [
      {
        words: 'inbox release',
        summary: 'send a captured message on by a relay; never one of a test key',
        examples: [
          'waybill inbox release msg_01k… --relay out',
          'waybill inbox release msg_01k… --relay out --to ann@example.com',
        ],
        takes: {
          id: text('<id>', "the message's id"),
          relay: needed('--relay <name>', 'the relay by which it is sent'),
          to: list('--to <address>', 'who gets it instead of its recipients; may be given several times', {
            absent: undefined,
          }),
        },
        prints: ({ id: released }) => `Queued as ${released}.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type InboxOperations = OperationsOf<typeof INBOX_OPERATIONS>;
