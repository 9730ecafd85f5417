import { z } from 'zod';
import type { messageRecordSchema, Shown, statusRecordSchema } from '../ingest/http/answers.ts';
import type { attemptsPageSchema } from '../ingest/http/attempt-answers.ts';
import { acts, MAIL_TOPICS, type OperationsOf, operation, READ } from './operation.ts';

/** New messages are counted up to here. */
export const MAX_NEW = 100;
/** Characters of a query. */
export const MAX_QUERY = 500;
/** Messages acted on by one call. */
const MAX_ACTED = 500;

const id = z.string().max(64);
const query = z.string().max(MAX_QUERY);
/** An id, or a Message-ID in angle brackets. */
const named = z.strictObject({ id: z.string().max(1_000) });
const one = z.strictObject({ id });

/** A message of a list, and whose it is. */
export type FoundMessage = Shown<typeof messageRecordSchema> & {
  /** The key's name; null without one. */
  readonly key: string | null;
  /** Of a test key, or taken by the inbox. */
  readonly captured: boolean;
};

/** A page of what a query finds. */
export interface SearchPage {
  readonly messages: readonly FoundMessage[];
  /** `before` of the next page; null when there is none. A sparse query may answer less than asked for and still go on. */
  readonly next: string | null;
  /** What the query could not be read as, for people; the rest of it was searched for. */
  readonly notes: readonly string[];
  /** Newer messages may not be found by words yet: how many are not indexed. */
  readonly behind: number;
}

/** All that is known of a message. */
export interface MessageStory {
  readonly record: Shown<typeof statusRecordSchema>;
  readonly attempts: Shown<typeof attemptsPageSchema>['attempts'];
  /** There are attempts that are not shown. */
  readonly moreAttempts: boolean;
  readonly ways: readonly RecipientWay[];
  /** Whose it is; null without a key. */
  readonly key: { readonly id: string; readonly name: string; readonly test: boolean } | null;
  readonly sourceAddress: string | null;
  /** The version of the routing table that decided. */
  readonly routeTable: number;
  /** Whether its content is kept still, until when as far as that is known. */
  readonly content: { readonly kept: boolean; readonly until: string | null };
  readonly captured: boolean;
  /** What may be done to it now. */
  readonly may: { readonly retry: boolean; readonly cancel: boolean; readonly resend: boolean };
}

/** The way of one recipient's copy, as it was decided, and what it waits for. */
export interface RecipientWay {
  readonly recipient: string;
  /** The rule that decided; null for the default relay. */
  readonly rule: string | null;
  /** Relays it may leave by, in the order in which they are tried. */
  readonly group: readonly string[];
  /** What keeps it; empty when nothing does but its next attempt. */
  readonly waits: readonly Obstacle[];
}

/** Something that keeps mail from going. */
export interface Obstacle {
  /** A few words without an end, such as `out is paused`. */
  readonly what: string;
  /** How long it does so, RFC 3339; null where that is not known. */
  readonly until: string | null;
  /** The line that cures it or tells more; null where another obstacle has it. */
  readonly command: string | null;
}

/** What a message says. */
export interface MessagePreview {
  readonly subject: string;
  readonly from: string;
  /** Every header field, unfolded and decoded, in order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly hasHtml: boolean;
  /** Null when there is none; shortened when long. */
  readonly text: string | null;
  readonly attachments: readonly PreviewAttachment[];
  /** Addresses of web pages found in text and HTML, as they stand; a bounded number. */
  readonly links: readonly { readonly url: string; readonly text: string }[];
  /** What looks like a code to type in, such as one of six digits. */
  readonly codes: readonly string[];
  /** Something was left out, or could not be read. */
  readonly notes: readonly string[];
}

/** A file in a message. */
export interface PreviewAttachment {
  /** Its number, for the download. */
  readonly number: number;
  /** As the message calls it, without a path; never to be trusted. */
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly inline: boolean;
  readonly contentId: string | null;
}

/** See {@link SearchOperations.messageDraft}. */
export interface MessageDraft {
  /** The body of `POST /api/v1/messages`. */
  readonly message: Readonly<Record<string, unknown>>;
  /** What of the original is not in it. */
  readonly notes: readonly string[];
}

/** What became of an act on several messages. */
export interface ActedMessages {
  readonly acted: number;
  /** Left alone, and why. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

/** Events of a day so far. */
export type DayCounts = Readonly<Record<'received' | 'delivered' | 'failed' | 'retried' | 'denied', number>>;

/** The numbers of the first page. */
export interface Overview {
  readonly time: string;
  /** The UTC day so far. */
  readonly today: DayCounts;
  /** The same weekday a week before, up to the same time of day; null where nothing is known of it. */
  readonly lastWeek: DayCounts | null;
  readonly last5m: Readonly<Record<'received' | 'sent', number>>;
  readonly queue: {
    /** Messages queued or retrying, under way, and failed ones whose content is kept. */
    readonly incoming: number;
    readonly processing: number;
    readonly failed: number;
    readonly queuedBytes: number;
    /** For how long the longest due delivery has been due; null when none is. */
    readonly oldestSeconds: number | null;
  };
  readonly relays: readonly OverviewRelay[];
  /** Failed last, newest first. */
  readonly failures: readonly FoundMessage[];
  readonly banners: readonly OverviewBanner[];
  /** No message was ever accepted. */
  readonly empty: boolean;
}

/** A relay on the first page; counts are of recipients. */
export interface OverviewRelay {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly inFlight: number;
  readonly waiting: number;
  readonly deliveredToday: number;
  readonly failedToday: number;
}

/** What someone should know now. */
export interface OverviewBanner {
  /** Of a check of health, or `captured`. */
  readonly code: string;
  readonly level: 'info' | 'warning' | 'critical';
  readonly text: string;
}

/** Counts over time: each list has one number a step, the oldest first. */
export interface Series {
  /** Start of the first step, RFC 3339. */
  readonly from: string;
  readonly stepSeconds: number;
  readonly counts: Readonly<Partial<Record<SeriesEvent, readonly number[]>>>;
}

/** What is counted. */
export type SeriesEvent = 'received' | 'delivered' | 'failed' | 'retried' | 'denied';

/** What operators can ask of all mail, and do to single messages. */
export const SEARCH_OPERATIONS = {
  search: operation({
    meaning: 'Messages that a query finds, newest first: words and tokens such as `to:`, see docs/search.md.',
    access: READ,
    request: z.strictObject({
      query,
      limit: z.int().min(1).max(200),
      /** The `next` of an earlier page; null starts at the newest. */
      before: id.nullable(),
    }),
    result: z.custom<SearchPage>(),
  }),
  countNew: operation({
    meaning: 'How many messages that a query finds are newer than one; counts to `MAX_NEW`.',
    access: READ,
    request: z.strictObject({ query, after: id }),
    result: z.custom<{ readonly count: number; readonly more: boolean }>(),
  }),
  messageStory: operation({
    meaning: 'All that is known of a message.',
    access: READ,
    request: named,
    result: z.custom<MessageStory>(),
  }),
  messagePreview: operation({
    meaning: 'What a message says: its parts as a person reads them. Nothing of it is to be trusted.',
    access: READ,
    request: one,
    result: z.custom<MessagePreview>(),
  }),
  messageDraft: operation({
    meaning:
      "A message's fields in the form of the API's JSON, to be changed and submitted anew; without attachments that are too large.",
    access: READ,
    request: one,
    result: z.custom<MessageDraft>(),
  }),
  resendMessage: operation({
    meaning: 'Sends a kept message again, to all its recipients, as a new one.',
    access: acts({ words: 'Sent a message again', subject: 'id', touches: MAIL_TOPICS }),
    request: named,
    result: z.custom<{ readonly id: string }>(),
  }),
  actOnMessages: operation({
    meaning: 'Retries or cancels messages by their ids; what does not allow it is left alone.',
    access: acts({ words: 'Acted on messages', subject: 'act', touches: MAIL_TOPICS }),
    request: z.strictObject({ act: z.enum(['retry', 'cancel']), ids: z.array(id).min(1).max(MAX_ACTED) }),
    result: z.custom<ActedMessages>(),
  }),
  overview: operation({
    meaning: 'The numbers of the first page.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<Overview>(),
  }),
  series: operation({
    meaning: 'Events counted over time, all nodes together.',
    access: READ,
    request: z.strictObject({
      /** `minute`: the last hour or less; `hour`: the last days; `day`: the last months. */
      step: z.enum(['minute', 'hour', 'day']),
      /** How many steps back from now, this one included. */
      count: z.int().min(1).max(400),
      /** Of one relay, counted in recipients; null: of the service, in messages. */
      relay: z.string().max(64).nullable(),
    }),
    result: z.custom<Series>(),
  }),
};

/** Those who carry them out. */
export type SearchOperations = OperationsOf<typeof SEARCH_OPERATIONS>;
