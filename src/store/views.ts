import type { Attempt } from '../domain/attempt.ts';
import type { DeliveryState, MessageStatus } from '../domain/delivery.ts';
import type { MessageRecord, Priority, RecipientKind } from '../domain/message.ts';
import type { OutcomeName } from '../domain/outcome.ts';
import type { MailQuery } from '../domain/query.ts';
import type { CountedEvent, Period } from './counting.ts';

/**
 * Reads for the API, the command line, health and metrics. A view sees whole transactions, the newest that had
 * committed when it was asked; it never waits for a writer. Cost never grows with the number of messages
 * stored.
 */
export interface Views {
  /** A message with its recipients, or null. Whose it is, the caller checks. */
  message(id: string): Promise<MessageDetail | null>;

  /**
   * Messages, newest first: by id, or where an address or a Message-ID is asked for in the order of acceptance, which differs
   * only between messages that were accepted at once. Examines at most `MAX_EXAMINED` records, in slices between which others
   * read, and gives no more than `MAX_LISTED_CHARACTERS`. Rejects with `store_busy` when too many lists are under way, of
   * one asker or in all.
   */
  list(query: ListQuery): Promise<ListPage>;

  /**
   * What a query finds of all mail, newest first: by id, or where words are looked for in the order of acceptance.
   * Bounded as `list` is, in time too. Rejects as `list` does.
   */
  search(query: SearchQuery): Promise<FoundPage>;

  /** How many messages `search` would find; looks at `MAX_COUNTED` records at most. */
  countFound(query: SearchQuery): Promise<FoundCount>;

  /**
   * Events counted in each of some periods that follow each other, all nodes together; of the service, or in recipients of a
   * relay. Events that were not seen in any are absent.
   */
  counts(range: CountRange): Promise<ReadonlyMap<CountedEvent, readonly number[]>>;

  /**
   * A message's attempts, oldest first: as many as asked for, or fewer once `MAX_EVIDENCE_BYTES` are reached. None
   * for a message that does not exist.
   */
  attempts(id: string, range: AttemptRange): Promise<AttemptPage>;

  /** What was accepted under an idempotency key that is still remembered at `now` (wall ms), or null. */
  remembered(keyId: string, idempotencyKey: string, now: number): Promise<Remembered | null>;

  /** The figures of health and metrics at `now` (wall ms); days and minutes are UTC. */
  figures(now: number): Promise<Figures>;

  /** Waiting and processing deliveries per lane, of one relay or (null) of all. At most `limit`, the fullest first. */
  lanes(relay: string | null, limit: number): Promise<LaneDepth[]>;

  /** Recipients that each relay's quota of a UTC day (whole days since the epoch) is short of. Those without one are absent. */
  quotaUsed(day: number): Promise<ReadonlyMap<string, number>>;

  /** A page of what waits, with all that routing looks at. */
  waiting(query: WaitingQuery): Promise<WaitingPage>;

  /** Ends reading. */
  close(): Promise<void>;
}

/** How many records a page may look at before it answers with what it has (contract §3.2). */
export const MAX_EXAMINED = 20_000;

/** And how many before it says that so many are new. */
export const MAX_COUNTED = 2_000;

/** Text of the messages on one page of a list: the message that goes beyond it is the last. */
export const MAX_LISTED_CHARACTERS = 2 * 1024 * 1024;

/** Of attempts, as they are stored, on one page: the one that goes beyond it is the last. */
export const MAX_EVIDENCE_BYTES = 1024 * 1024;

/** Text of the deliveries on one page of what waits: the delivery that goes beyond it is the last. */
export const MAX_WAITING_CHARACTERS = 1024 * 1024;

/** Which attempts of a message a page shows. They are numbered from 1, without gaps. */
export interface AttemptRange {
  /** Only numbers above this one. */
  readonly after: number;
  /** At least 1. */
  readonly limit: number;
}

/** Attempts that follow each other; the first one's number is one more than `after`. */
export interface AttemptPage {
  readonly attempts: readonly Attempt[];
  /** `after` of the next page; null when there is none. */
  readonly next: number | null;
}

/** The first submission under an idempotency key. */
export interface Remembered {
  readonly id: string;
  /** Of the submission, as it was given with it. */
  readonly hash: string;
}

/** A message with its recipients, in envelope order. */
export interface MessageDetail {
  readonly message: MessageRecord;
  readonly recipients: readonly RecipientRecord[];
  readonly origin: MessageOrigin;
}

/** Where a message came from, and what decided its way. */
export interface MessageOrigin {
  /** The peer's address; null for the command line. */
  readonly sourceAddress: string | null;
  /** The version of the routing table. */
  readonly routeTable: number;
}

/** What became of one recipient. Times are wall ms. */
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
  /** Relays it may leave by, in order. */
  readonly group: readonly string[];
}

/** Which messages a page shows. */
export interface ListQuery {
  /** Whose messages; `all` for everyone's. */
  readonly owner: { readonly keyId: string } | 'all';
  /** Id of the key that asks, so that it holds up no other who asks for everyone's. Absent: the owner; operators, for `all`. */
  readonly asker?: string;
  /** Any of these; empty means every status. */
  readonly statuses: readonly MessageStatus[];
  /** What else they must be; absent for no more. */
  readonly filter?: ListFilter;
  /** Only ids below this one; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** In whose name a list takes its turn: a key's id, or the empty text for operators. */
export function askerOf({ asker, owner }: Pick<ListQuery, 'asker' | 'owner'>): string {
  return asker ?? (owner === 'all' ? '' : owner.keyId);
}

/** Conditions of a list; each that is not null must hold. */
export interface ListFilter {
  /** Exactly this tag; null for any. */
  readonly tag: string | null;
  /**
   * A recipient (to, cc or bcc), or the sender (From or reverse-path): a whole address, or `@` and a domain.
   * Case-insensitive. Null for any.
   */
  readonly to: string | null;
  readonly from: string | null;
  /** Text that the subject contains, whatever its letter case; null for any. */
  readonly subject: string | null;
  /** Accepted at or after, and before, these wall times in ms; null for no bound. */
  readonly since: number | null;
  readonly until: number | null;
  /** Exactly this Message-ID, with its angle brackets; absent for any. */
  readonly messageId?: string;
  /** Only what the local inbox captured, and keeps the contents of. */
  readonly captured?: true;
}

/** A page, and where the next one starts. */
export interface ListPage {
  readonly messages: readonly MessageRecord[];
  /** `before` of the next page; null when there is none. */
  readonly next: string | null;
}

/** What is looked for in all mail. */
export interface SearchQuery {
  /** Its keys are named by their ids. */
  readonly query: MailQuery;
  /** Only ids above this one; null for no bound. */
  readonly after: string | null;
  /** The `next` of an earlier page; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
  /** Also looks, one by one, at messages that words do not find yet, however many. */
  readonly complete?: true;
}

/** What a query finds. */
export interface FoundPage extends ListPage {
  /** Roughly how many messages words do not find yet; 0 where no words are looked for. */
  readonly behind: number;
}

/** See {@link Views.countFound}. */
export interface FoundCount {
  /** At most the query's limit. */
  readonly count: number;
  /** There may be more. */
  readonly more: boolean;
}

/** Which counters are read. */
export interface CountRange {
  readonly period: Period;
  /** The first one: whole minutes, hours or days since the epoch. */
  readonly from: number;
  readonly count: number;
  /** Null: the service's events, in messages. */
  readonly relay: string | null;
}

/** Today's, the last five minutes' and the present moment's numbers (contract §7, §8). */
export interface Figures {
  readonly today: Readonly<Record<'received' | 'delivered' | 'failed' | 'retried' | 'denied', number>>;
  readonly last5m: Readonly<Record<'received' | 'sent', number>>;
  readonly spool: Readonly<Record<'incoming' | 'processing' | 'failed', number>>;
  /** Recipients per relay, today. */
  readonly relays: Readonly<Record<string, { readonly delivered: number; readonly failed: number }>>;
  /** Bytes of contents of messages that are not final. */
  readonly queuedBytes: number;
  /** Of those that are, and are kept: by the retention of what was sent (or failed), and of what the inbox captured. */
  readonly sentBytes: number;
  readonly capturedBytes: number;
  /** Due time of the longest waiting due delivery; null when none is due. */
  readonly oldestDueAt: number | null;
  /** Recipients that came back with a backup and on whom nobody has decided. */
  readonly restored: number;
  /** Messages flagged as possibly sent twice, since the beginning. */
  readonly possibleDuplicates: number;
  readonly databaseBytes: number;
}

/** How full a lane is. */
export interface LaneDepth {
  readonly lane: string;
  readonly waiting: number;
  readonly processing: number;
  /** Due time of the longest due waiting delivery (wall ms); may lie ahead; null when none waits. */
  readonly oldestDueAt: number | null;
}

/** Which waiting deliveries a page shows. */
export interface WaitingQuery {
  /** Those of one lane; `none`: those without a route; `all`. */
  readonly lane: { readonly name: string } | 'none' | 'all';
  /** The `next` of an earlier page of the same lanes; null starts. */
  readonly after: string | null;
  /** At most 1,000. */
  readonly limit: number;
}

/** See {@link Views.waiting}. A delivery that changes while pages are read may be seen twice or not at all. */
export interface WaitingPage {
  readonly deliveries: readonly WaitingDelivery[];
  /** `after` of the next page; null when there is none. */
  readonly next: string | null;
}

/** A waiting delivery, with all that routing looks at. */
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
  /** The key's name; null without one, or when there is no such key any more. */
  readonly keyName: string | null;
  readonly sourceAddress: string | null;
  readonly sizeBytes: number;
  readonly test: boolean;
  /** When its message was accepted (wall ms). */
  readonly createdAt: number;
}
