import type { Aftermath } from '../domain/aftermath.ts';
import type { Attempt } from '../domain/attempt.ts';
import type { DeliveryState, MessageStatus } from '../domain/delivery.ts';
import type { FeedbackKind, FeedbackSource } from '../domain/feedback.ts';
import type { MessageRecord, Priority, RecipientKind } from '../domain/message.ts';
import type { OutcomeName } from '../domain/outcome.ts';
import type { MailQuery } from '../domain/query.ts';
import type { CountedEvent, Period } from './counting.ts';
import type { EventPage, EventQuery } from './events.ts';
import type { TrafficFound, TrafficQuery } from './traffic.ts';

/**
 * Reads for the API, the command line, health and metrics. A view sees whole transactions, up to the newest committed
 * when it was called; it never waits for a writer. Its cost never grows with the number of stored messages.
 */
export interface Views {
  /** A message with its recipients, or null. The caller checks who owns it. */
  message(id: string): Promise<MessageDetail | null>;

  /** Those of these messages that there are, in the order of the ids. For few, with few recipients: they are read at once. */
  messages(ids: readonly string[]): Promise<MessageRecord[]>;

  /**
   * Messages, newest first: by id; by order of acceptance if filtered by address or Message-ID, which differs only
   * between messages accepted at the same time. Examines at most `MAX_EXAMINED` records, in slices that let others read
   * in between, and returns at most `MAX_LISTED_CHARACTERS`. Rejects with `store_busy` if too many lists are under way,
   * for one asker or in total.
   */
  list(query: ListQuery): Promise<ListPage>;

  /**
   * What a query finds in all mail, newest first: by id; by order of acceptance if it has words. Bounded like `list`,
   * and in time too. Rejects like `list`.
   */
  search(query: SearchQuery): Promise<FoundPage>;

  /** How many messages `search` would find; examines at most `MAX_COUNTED` records. */
  countFound(query: SearchQuery): Promise<FoundCount>;

  /**
   * Events counted in each of several consecutive periods, over all nodes: the service's, or those of a relay, in
   * recipients. Events that did not occur are absent.
   */
  counts(range: CountRange): Promise<ReadonlyMap<CountedEvent, readonly number[]>>;

  /** What became of mail, from its counters. Its cost grows with the kinds counted in the range, which are bounded. */
  traffic(query: TrafficQuery): Promise<TrafficFound>;

  /**
   * A message's attempts, oldest first: as many as asked for, or fewer once `MAX_EVIDENCE_BYTES` is reached. Empty for
   * a message that does not exist.
   */
  attempts(id: string, range: AttemptRange): Promise<AttemptPage>;

  /** What was accepted under an idempotency key that is still valid at `now` (wall ms), or null. */
  remembered(keyId: string, idempotencyKey: string, now: number): Promise<Remembered | null>;

  /** The figures of health and metrics at `now` (wall ms); days and minutes are UTC. */
  figures(now: number): Promise<Figures>;

  /** Waiting and processing deliveries per lane, of one relay or (null) of all. At most `limit`, the fullest first. */
  lanes(relay: string | null, limit: number): Promise<LaneDepth[]>;

  /**
   * Recipients charged to each relay's quota of a UTC day (whole days since the epoch). Relays without any are absent.
   */
  quotaUsed(day: number): Promise<ReadonlyMap<string, number>>;

  /** A page of waiting deliveries, with all that routing needs. */
  waiting(query: WaitingQuery): Promise<WaitingPage>;

  /** A page of the log of events. It shows no event while one with a smaller sequence may still appear. */
  events(query: EventQuery): Promise<EventPage>;

  /** What others told us at one time, with what came. Null: no longer kept, or never. The caller checks who owns it. */
  feedback(id: string): Promise<FeedbackDetail | null>;

  /** What others told us of a message, the newest first; at most 100. */
  feedbackAbout(messageId: string): Promise<StoredFeedback[]>;

  /**
   * What a link to unsubscribe is for: a recipient's place in the envelope of a message whose contents are gone, and
   * perhaps its record. Null: no link is kept for it.
   */
  unsubscribeLink(messageId: string, index: number): Promise<UnsubscribeLink | null>;

  /** Closes the views. */
  close(): Promise<void>;
}

/** What others told us at one time, as it is kept. */
export interface StoredFeedback {
  /** `fbk_…` */
  readonly id: string;
  /** Wall ms at which it came. */
  readonly at: number;
  readonly source: FeedbackSource;
  /** Of the first thing told; `nothing` if it told nothing. */
  readonly kind: FeedbackKind | 'nothing';
  /** The message and the recipient that it is about; null: none of ours, or none in particular. */
  readonly messageId: string | null;
  readonly address: string | null;
  readonly contentType: string;
}

/** The same, with the beginning of what came. */
export interface FeedbackDetail extends StoredFeedback {
  readonly base64: string;
}

/** How many records a page may examine before it returns what it has (contract §3.2). */
export const MAX_EXAMINED = 20_000;

/** How many records a count may examine. */
export const MAX_COUNTED = 2_000;

/** Most text of the messages on one list page; the message that exceeds it is the last. */
export const MAX_LISTED_CHARACTERS = 2 * 1024 * 1024;

/** Most text of the attempts on one page, as stored; the attempt that exceeds it is the last. */
export const MAX_EVIDENCE_BYTES = 1024 * 1024;

/** Most text on one page of waiting deliveries; the delivery that exceeds it is the last. */
export const MAX_WAITING_CHARACTERS = 1024 * 1024;

/** Which attempts of a message a page shows. They are numbered from 1, without gaps. */
export interface AttemptRange {
  /** Only numbers above this one. */
  readonly after: number;
  /** At least 1. */
  readonly limit: number;
}

/** Consecutive attempts; the first one's number is one more than `after`. */
export interface AttemptPage {
  readonly attempts: readonly Attempt[];
  /** `after` of the next page; null if there is none. */
  readonly next: number | null;
}

/** The first submission under an idempotency key. */
export interface Remembered {
  readonly id: string;
  /** The hash of the submission, as given with it. */
  readonly hash: string;
}

/** A message with its recipients, in envelope order. */
export interface MessageDetail {
  readonly message: MessageRecord;
  readonly recipients: readonly RecipientRecord[];
  readonly origin: MessageOrigin;
  /** What is known of recipients besides their deliveries; those of whom nothing is are absent. */
  readonly aftermath: readonly RecipientAftermath[];
}

/** What became of a recipient. */
export interface RecipientAftermath extends Aftermath {
  readonly index: number;
}

/** The origin of a message, and what routed it. */
export interface MessageOrigin {
  /** The peer's address; null for the command line. */
  readonly sourceAddress: string | null;
  /** The version of the routing table. */
  readonly routeTable: number;
  /** In the form of `streamKey`; null: none. */
  readonly stream: string | null;
}

/** The state of one recipient. Times are wall ms. */
export interface RecipientRecord {
  readonly index: number;
  readonly address: string;
  readonly kind: RecipientKind;
  readonly state: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly relay: string | null;
  /** Where it waits, or waited last; null without a route. */
  readonly lane: string | null;
  readonly attempts: number;
  readonly providerMessageId: string | null;
  readonly lastCode: number | null;
  readonly lastEnhanced: string | null;
  readonly lastReply: string | null;
  /** Not before this time; null unless it waits. */
  readonly dueAt: number | null;
  /** The rule that chose its group; null for the default. */
  readonly rule: string | null;
  /** Relays it may use, in order. */
  readonly group: readonly string[];
}

/** Which messages a page shows. */
export interface ListQuery {
  /** Whose messages; `all` for everyone's. */
  readonly owner: { readonly keyId: string } | 'all';
  /** Id of the asking key, so that one key's lists delay only its own. Absent: the owner; for `all`, operators. */
  readonly asker?: string;
  /** Any of these; empty means every status. */
  readonly statuses: readonly MessageStatus[];
  /** Further conditions; absent for none. */
  readonly filter?: ListFilter;
  /** Only ids below this one; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** Under whose name a list takes its turn: a key's id, or the empty string for operators. */
export function askerOf({ asker, owner }: Pick<ListQuery, 'asker' | 'owner'>): string {
  return asker ?? (owner === 'all' ? '' : owner.keyId);
}

/** Conditions of a list; each that is not null must hold. */
export interface ListFilter {
  /** Exactly this tag; null for any. */
  readonly tag: string | null;
  /**
   * A recipient (To, Cc or Bcc), or the sender (From or reverse-path): a whole address, or `@` and a domain.
   * Case-insensitive. Null for any.
   */
  readonly to: string | null;
  readonly from: string | null;
  /** Text that the subject contains, case-insensitive; null for any. */
  readonly subject: string | null;
  /** Accepted at or after the first, and before the second wall time in ms; null for no bound. */
  readonly since: number | null;
  readonly until: number | null;
  /** Exactly this Message-ID, including its angle brackets; absent for any. */
  readonly messageId?: string;
  /** Only captured messages whose contents are kept. */
  readonly captured?: true;
  /** Only those of this box, with `captured`; absent for any. */
  readonly box?: string;
}

/** Every message. */
export const UNFILTERED: ListFilter = {
  tag: null,
  to: null,
  from: null,
  subject: null,
  since: null,
  until: null,
};

/** A page, and where the next one starts. */
export interface ListPage {
  readonly messages: readonly MessageRecord[];
  /** `before` of the next page; null if there is none. */
  readonly next: string | null;
}

/** A search in all mail. */
export interface SearchQuery {
  /** Names keys by their ids. */
  readonly query: MailQuery;
  /** Only ids above this one; null for no bound. */
  readonly after: string | null;
  /** The `next` of an earlier page; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
  /** Also examines, one by one, the messages that are not indexed yet, however many. */
  readonly complete?: true;
}

/** The results of a query. */
export interface FoundPage extends ListPage {
  /** Roughly how many messages are not indexed yet; 0 if the query has no words. */
  readonly behind: number;
}

/** See {@link Views.countFound}. */
export interface FoundCount {
  /** At most the query's limit. */
  readonly count: number;
  /** There may be more. */
  readonly more: boolean;
}

/** Which counters to read. */
export interface CountRange {
  readonly period: Period;
  /** The first period: whole minutes, hours or days since the epoch. */
  readonly from: number;
  readonly count: number;
  /** Null: the service's events, in messages. */
  readonly relay: string | null;
}

/** Figures of today, the last five minutes and the present (contract §7, §8). */
export interface Figures {
  readonly today: Readonly<Record<'received' | 'delivered' | 'failed' | 'retried' | 'denied', number>>;
  readonly last5m: Readonly<Record<'received' | 'sent', number>>;
  readonly spool: Readonly<Record<'incoming' | 'processing' | 'failed', number>>;
  /** Recipients per relay, today. */
  readonly relays: Readonly<Record<string, { readonly delivered: number; readonly failed: number }>>;
  /** Bytes of contents of messages that are not final. */
  readonly queuedBytes: number;
  /** The same of final messages whose contents are kept: by the retention of sent (or failed) and of captured mail. */
  readonly sentBytes: number;
  readonly capturedBytes: number;
  /** Due time of the delivery that is due longest; null if none is due. */
  readonly oldestDueAt: number | null;
  /** Restored recipients that nobody has decided on. */
  readonly restored: number;
  /** Messages ever flagged as possible duplicates. */
  readonly possibleDuplicates: number;
  readonly databaseBytes: number;
}

/** How full a lane is. */
export interface LaneDepth {
  readonly lane: string;
  readonly waiting: number;
  readonly processing: number;
  /** Due time of the waiting delivery that is due first (wall ms), maybe in the future; null if none waits. */
  readonly oldestDueAt: number | null;
}

/** Which waiting deliveries a page shows. */
export interface WaitingQuery {
  /** One lane; `none`: deliveries without a route; or `all`. */
  readonly lane: { readonly name: string } | 'none' | 'all';
  /** The `next` of an earlier page of the same lanes; null for the first page. */
  readonly after: string | null;
  /** At most 1,000. */
  readonly limit: number;
}

/** See {@link Views.waiting}. A delivery that changes while pages are read may appear twice or not at all. */
export interface WaitingPage {
  readonly deliveries: readonly WaitingDelivery[];
  /** `after` of the next page; null if there is none. */
  readonly next: string | null;
}

/** A waiting delivery, with all that routing needs. */
export interface WaitingDelivery {
  readonly messageId: string;
  readonly index: number;
  readonly lane: string | null;
  readonly relay: string | null;
  readonly rule: string | null;
  readonly group: readonly string[];
  readonly priority: Priority;
  /** Wall ms. */
  readonly dueAt: number;
  /** The version of the table that routed its message. */
  readonly routeTable: number;
  readonly recipient: string;
  readonly reversePath: string;
  readonly tags: readonly string[];
  readonly keyId: string | null;
  /** The key's name; null without a key, or if it no longer exists. */
  readonly keyName: string | null;
  readonly sourceAddress: string | null;
  readonly sizeBytes: number;
  readonly test: boolean;
  /** When its message was accepted (wall ms). */
  readonly createdAt: number;
}

/** Where a link leads: a recipient that got a message of a stream. */
export interface UnsubscribeLink {
  readonly address: string;
  readonly keyId: string | null;
  /** The author, as the message had it. Hostile. */
  readonly from: string;
  readonly stream: string;
}
