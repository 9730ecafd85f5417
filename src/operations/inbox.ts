import { z } from 'zod';
import { acts, MAIL_TOPICS, type OperationsOf, operation, READ, type Shown } from './operation.ts';
import { foundMessage } from './search.ts';

const id = z.string().max(64);

const inboxPage = () =>
  z.strictObject({
    messages: z.array(foundMessage()),
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
      limit: z.int().min(1).max(200),
      before: id.nullable(),
    }),
    result: inboxPage,
  }),
  deleteCaptured: operation({
    meaning: "Removes captured messages' contents and takes them out of the inbox; their records stay.",
    access: acts({ words: 'Deleted captured mail', subject: null, touches: MAIL_TOPICS }),
    request: z.strictObject({
      ids: z
        .array(id)
        .min(1)
        .max(500)
        .nullable()
        .describe('Null: all of the key, or of every key; to be called again while `more`.'),
      key: z.string().max(100).nullable(),
      upTo: id
        .nullable()
        .default(null)
        .describe(
          'Of all, only what is not newer than this message: what comes while it is being deleted stays.',
        ),
    }),
    result: () =>
      z.strictObject({
        deleted: z.number(),
        more: z.boolean(),
      }),
  }),
  releaseCaptured: operation({
    meaning: 'Sends a captured message on by a relay, as a new message. Never one of a test key.',
    access: acts({ words: 'Released captured mail', subject: 'id', touches: MAIL_TOPICS }),
    request: z.strictObject({ id, relay: z.string().max(64) }),
    result: () =>
      z.strictObject({
        id: z.string(),
      }),
  }),
};

/** Those who carry them out. */
export type InboxOperations = OperationsOf<typeof INBOX_OPERATIONS>;
