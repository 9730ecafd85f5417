import { z } from 'zod';
import { integer, sentence, text } from './command.ts';
import {
  type Answers,
  acts,
  MAIL_TOPICS,
  type OperationsOf,
  operation,
  READ,
  type Shown,
} from './operation.ts';
import { restView } from './relays.ts';

/** New messages are counted up to here. */
export const MAX_NEW = 100;
/** Characters of a query. */
export const MAX_QUERY = 500;
/** Messages acted on by one call. */
const MAX_ACTED = 500;

/** Messages that failed last, as the overview tells them. */
export const SHOWN_FAILURES = 8;
/** The newest messages that failed, among which those are found: one may fail long after it was accepted. */
export const MAX_FAILURES = 50;

const id = z.string().max(64);
const query = z.string().max(MAX_QUERY);
/** An id, also as a UUID, or a Message-ID in angle brackets. */
const named = z.strictObject({ id: z.string().max(1_000) });
const one = z.strictObject({ id });

export const foundMessage = ({ messageRecordSchema }: Answers) =>
  messageRecordSchema.and(
    z.object({
      /** The key's name; null without one. */
      key: z.string().nullable(),
      /** Of a test key, or taken by the inbox. */
      captured: z.boolean(),
    }),
  );

/** A message of a list, and whose it is. */
export type FoundMessage = Shown<typeof foundMessage>;

const searchPage = (api: Answers) =>
  z.strictObject({
    messages: z.array(foundMessage(api)),
    /** `before` of the next page; null when there is none. A sparse query may answer less than asked for and still go on. */
    next: z.string().nullable(),
    /** What the query could not be read as, for people; the rest of it was searched for. */
    notes: z.array(z.string()),
    /** Newer messages may not be found by words yet: how many are not indexed. */
    behind: z.number(),
  });

/** A page of what a query finds. */
export type SearchPage = Shown<typeof searchPage>;

const messageStory = ({ statusRecordSchema, attemptsPageSchema }: Answers) =>
  z.strictObject({
    record: statusRecordSchema,
    attempts: attemptsPageSchema.shape.attempts,
    /** There are attempts that are not shown. */
    moreAttempts: z.boolean(),
    ways: z.array(recipientWay()),
    /** Whose it is; null without a key. */
    key: z
      .strictObject({
        id: z.string(),
        name: z.string(),
        test: z.boolean(),
      })
      .nullable(),
    sourceAddress: z.string().nullable(),
    /** The version of the routing table that decided. */
    routeTable: z.number(),
    /** Whether its content is kept still, until when as far as that is known. */
    content: z.strictObject({
      kept: z.boolean(),
      until: z.string().nullable(),
    }),
    captured: z.boolean(),
    /** What may be done to it now. */
    may: z.strictObject({
      retry: z.boolean(),
      cancel: z.boolean(),
      resend: z.boolean(),
    }),
  });

/** All that is known of a message. */
export type MessageStory = Shown<typeof messageStory>;

export const recipientWay = () =>
  z.strictObject({
    recipient: z.string(),
    /** The rule that decided; null for the default relay. */
    rule: z.string().nullable(),
    /** Relays it may leave by, in the order in which they are tried. */
    group: z.array(z.string()),
    /** What keeps it; empty when nothing does but its next attempt. */
    waits: z.array(obstacle()),
  });

/** The way of one recipient's copy, as it was decided, and what it waits for. */
export type RecipientWay = Shown<typeof recipientWay>;

export const obstacle = () =>
  z.strictObject({
    /** A few words without an end, such as `out is paused`. */
    what: z.string(),
    /** How long it does so, RFC 3339; null where that is not known. */
    until: z.string().nullable(),
    /** The line that cures it or tells more; null where another obstacle has it. */
    command: z.string().nullable(),
    /** The relay that rests; null for any other obstacle. */
    resting: z.string().nullable(),
  });

/** Something that keeps mail from going. */
export type Obstacle = Shown<typeof obstacle>;

const messagePreview = () =>
  z.strictObject({
    subject: z.string(),
    from: z.string(),
    /** Every header field, unfolded and decoded, in order. */
    headers: z.array(
      z.strictObject({
        name: z.string(),
        value: z.string(),
      }),
    ),
    hasHtml: z.boolean(),
    /** Null when there is none; shortened when long. */
    text: z.string().nullable(),
    attachments: z.array(previewAttachment()),
    /** Pictures that its HTML names elsewhere. They are fetched only by a browser whose user asks for it. */
    remotePictures: z.number(),
    /** Addresses of web pages found in text and HTML, as they stand; a bounded number. */
    links: z.array(
      z.strictObject({
        url: z.string(),
        text: z.string(),
      }),
    ),
    /** What looks like a code to type in, such as one of six digits. */
    codes: z.array(z.string()),
    /** Something was left out, or could not be read. */
    notes: z.array(z.string()),
  });

/** What a message says. */
export type MessagePreview = Shown<typeof messagePreview>;

/** A file in a message. */
const previewAttachment = () =>
  z.strictObject({
    /** Its number, for the download. */
    number: z.number(),
    /** As the message calls it, without a path; never to be trusted. */
    filename: z.string(),
    contentType: z.string(),
    sizeBytes: z.number(),
    inline: z.boolean(),
    contentId: z.string().nullable(),
  });

const messageDraft = () =>
  z.strictObject({
    /** The body of `POST /api/v1/messages`. */
    message: z.record(z.string(), z.unknown()),
    /** What of the original is not in it. */
    notes: z.array(z.string()),
  });

/** See {@link SearchOperations.messageDraft}. */
export type MessageDraft = Shown<typeof messageDraft>;

const actedMessages = () =>
  z.strictObject({
    acted: z.number(),
    /** Left alone, and why. */
    refused: z.array(
      z.strictObject({
        id: z.string(),
        reason: z.string(),
      }),
    ),
  });

/** What became of an act on several messages. */
export type ActedMessages = Shown<typeof actedMessages>;

const step = z.enum(['minute', 'hour', 'day']);
const steps = z.int().min(1).max(400);

const eventCounts = () => z.record(z.enum(SERIES_EVENTS), z.number());

/** Events of a time. */
export type EventCounts = Shown<typeof eventCounts>;

const overview = (api: Answers) =>
  z.strictObject({
    time: z.string(),
    /** The UTC day so far. */
    today: eventCounts(),
    /** The same weekday a week before, up to the same time of day; null where nothing is known of it. */
    lastWeek: eventCounts().nullable(),
    /** The last five minutes, this one included. */
    last5m: eventCounts(),
    /** What happened over the time that was asked for. */
    series: series(),
    queue: z.strictObject({
      /** Messages queued or retrying, under way, and failed ones whose content is kept. */
      incoming: z.number(),
      processing: z.number(),
      failed: z.number(),
      queuedBytes: z.number(),
      /** For how long the longest due delivery has been due; null when none is. */
      oldestSeconds: z.number().nullable(),
    }),
    relays: z.array(overviewRelay()),
    /** Of the newest 50 that failed, those that failed last, the last first. */
    failures: z.array(foundMessage(api)),
    banners: z.array(overviewBanner()),
    /** No message was ever accepted. */
    empty: z.boolean(),
  });

/** The numbers of the first page. */
export type Overview = Shown<typeof overview>;

const overviewRelay = () =>
  z.strictObject({
    name: z.string(),
    type: z.string(),
    state: z.string(),
    rest: restView().nullable(),
    inFlight: z.number(),
    waiting: z.number(),
    deliveredToday: z.number(),
    failedToday: z.number(),
  });

/** A relay on the first page; counts are of recipients. */
export type OverviewRelay = Shown<typeof overviewRelay>;

const overviewBanner = () =>
  z.strictObject({
    /** Of a check of health, or `captured`, `all_captured`; for a fault that the doctor found the name of the finding. */
    code: z.string(),
    level: z.enum(['info', 'warning', 'critical']),
    text: z.string(),
    /** When the doctor found it; null for what holds at this moment. */
    foundAt: z.string().nullable(),
  });

/** What someone should know now. */
export type OverviewBanner = Shown<typeof overviewBanner>;

const series = () =>
  z.strictObject({
    /** Start of the first step, RFC 3339. */
    from: z.string(),
    stepSeconds: z.number(),
    counts: z.partialRecord(z.enum(SERIES_EVENTS), z.array(z.number())),
  });

/** Counts over time: each list has one number a step, the oldest first. */
export type Series = Shown<typeof series>;

/** `delivered`: a next hop took it. What only the local inbox took is `captured`, and counts once. */
const SERIES_EVENTS = ['received', 'delivered', 'captured', 'failed', 'retried', 'denied'] as const;

/** What operators can ask of all mail, and do to single messages. */
export const SEARCH_OPERATIONS = {
  search: operation({
    meaning: 'Messages that a query finds, newest first: words and tokens such as `to:`, see docs/search.md.',
    access: READ,
    request: z.strictObject({
      query,
      limit: z.int().min(1).max(200),
      before: id.nullable().describe('The `next` of an earlier page; null starts at the newest.'),
    }),
    result: searchPage,
    commands: [
      {
        words: 'messages search',
        summary: 'find messages of every key by words and tokens, newest first',
        examples: [
          'waybill messages search invoice to:@example.net',
          `waybill messages search '"your invoice" status:failed after:2026-11-20'`,
          "waybill messages search 'key:shop -tag:news'",
        ],
        takes: {
          query: sentence(
            '[query...]',
            'words, "phrases", and tokens such as to:, subject:, status:; see docs/search.md',
          ),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 20 }),
          before: text('--before <id>', 'continue after a page: the id in its last line', { absent: null }),
        },
      },
    ],
  }),
  countNew: operation({
    meaning: 'How many messages that a query finds are newer than one; counts to `MAX_NEW`.',
    access: READ,
    request: z.strictObject({ query, after: id }),
    result: () =>
      z.strictObject({
        count: z.number(),
        more: z.boolean(),
      }),
  }),
  messageStory: operation({
    meaning: 'All that is known of a message.',
    access: READ,
    request: named,
    result: messageStory,
  }),
  messagePreview: operation({
    meaning: 'What a message says: its parts as a person reads them. None of it can be trusted.',
    access: READ,
    request: one,
    result: messagePreview,
  }),
  messageDraft: operation({
    meaning:
      "A message's fields in the form of the API's JSON, to be edited and submitted again; without attachments that are too large.",
    access: READ,
    request: one,
    result: messageDraft,
  }),
  resendMessage: operation({
    meaning: 'Sends a kept message again, to all its recipients, as a new one.',
    access: acts({ words: 'Sent a message again', subject: 'id', touches: MAIL_TOPICS }),
    request: named,
    result: () =>
      z.strictObject({
        id: z.string(),
      }),
  }),
  actOnMessages: operation({
    meaning: 'Retries or cancels messages by their ids; messages that do not allow it are left alone.',
    access: acts({ words: 'Acted on messages', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({ act: z.enum(['retry', 'cancel']), ids: z.array(id).min(1).max(MAX_ACTED) }),
    result: actedMessages,
  }),
  overview: operation({
    meaning: 'The figures of the overview page, asked for together.',
    access: READ,
    request: z.strictObject({
      step: step.default('hour').describe('Of its `series`, which is that of the service.'),
      count: steps.default(24).describe('How many steps back from now, this one included.'),
    }),
    result: overview,
  }),
  series: operation({
    meaning: 'Events counted over time, all nodes together.',
    access: READ,
    request: z.strictObject({
      step: step.describe('`minute`: the last hour or less; `hour`: the last days; `day`: the last months.'),
      count: steps.describe('How many steps back from now, this one included.'),
      relay: z
        .string()
        .max(64)
        .nullable()
        .describe('Of one relay, counted in recipients; null: of the service, in messages.'),
    }),
    result: series,
  }),
};

/** Those who carry them out. */
export type SearchOperations = OperationsOf<typeof SEARCH_OPERATIONS>;
