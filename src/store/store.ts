import type { Attempt } from '../domain/attempt.ts';
import type { ClaimOrder, LaneLease } from '../domain/lane.ts';
import type { BodyFlags, ContentPart, ContentRef, Priority, Recipient } from '../domain/message.ts';
import type { QuotaRefund } from '../domain/quota.ts';
import type { Transition } from '../domain/settle.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, Foresight, QueueLimits } from './accepting.ts';
import type {
  CancelAnswer,
  InboxMark,
  Reassignment,
  RequeueAnswer,
  RequeueRequest,
  RescheduleAnswer,
  RescheduleRequest,
} from './acting.ts';
import type { EraseAnswer, EraseRequest } from './erasing.ts';
import type { BeginAnswer, BeginRequest, ReleaseRequest, Suppressing, UnitRef } from './leased.ts';
import type {
  OwnBounces,
  RelayNews,
  RetellAnswer,
  Stopped,
  TellAnswer,
  Telling,
  TellRules,
} from './telling.ts';
import type {
  ContentPlace,
  Expiry,
  IndexAnswer,
  PurgeAnswer,
  PurgePolicy,
  ReclaimAnswer,
  ReclaimOptions,
  Relocation,
  RestoredAct,
  RestoredAnswer,
  SegmentUse,
  Tally,
} from './upkeep.ts';

/**
 * The store of records: which messages are ours, the state of each delivery, and what was tried.
 *
 * The contract suite holds every implementation to these laws:
 * 1. Every verb takes a batch and is one transaction. When its promise resolves, its effect is on stable storage. When
 *    it rejects, nothing happened, or (a lost connection) all of it may have happened.
 * 2. `now` is an argument (wall ms). SQL never reads the clock.
 * 3. No row, SQL or connection type crosses this interface; errors are {@link StoreError}.
 * 4. Only transitions of `domain/delivery.ts` happen, and a message's status and counts always equal what follows from
 *    its deliveries.
 * 5. A delivery in `processing` carries the fence of the lane lease under which it was claimed. `begin` and `settle`
 *    under any other fence change nothing and say so.
 * 6. At most one node holds a lane; every grant of a lane has a higher fence than the last.
 * 7. Counters (received, delivered, failed, retried, per relay) change in the transaction of their cause.
 * 8. A segment's live count changes in the transaction that adds or removes the reference.
 */
export interface Store {
  /**
   * Takes responsibility for messages. Returns one answer per record, in order. Records refused by idempotency or by a
   * limit of the queue (none without `limits`) change nothing; a repeat is answered as one even if the queue is full.
   * `together`: if one is refused, and is no repeat, nothing happens, and each gets the first such refusal.
   */
  // biome-ignore format: one line for one verb
  accept(batch: readonly AcceptRecord[], at: Stamp, limits?: QueueLimits, together?: boolean): Promise<AcceptAnswer[]>;

  /**
   * What `accept` would answer now, and the room that would be left. Changes nothing. Called before contents are
   * written, so that a refused message writes none. One answer per wish, in order.
   */
  foresee(wishes: readonly AcceptWish[], at: Stamp, limits: QueueLimits): Promise<Foresight[]>;

  /**
   * Leases due deliveries of lanes that the node holds: `queued`/`retrying` → `processing`, in the request's order of
   * priorities, the longest due first within each. The due deliveries of one message and lane form one {@link Unit} of
   * at most `maxRecipients`; of one, if each recipient has its own copy. A request under a stale fence gets no units.
   */
  claim(requests: readonly ClaimRequest[], at: Stamp): Promise<ClaimAnswer[]>;

  /**
   * Marks attempts as begun, before the peer can have taken anything, and charges their recipients to the relay's
   * quota. A unit that is not `begun` must not be sent, and must be given back. Repeating it under the same lease,
   * after a lost answer, charges nothing more. One answer per unit, in order; each sees what those before it took.
   */
  begin(units: readonly BeginRequest[], at: Stamp): Promise<BeginAnswer[]>;

  /**
   * Writes what attempts did: transitions of the units' deliveries, the attempt record, counters; and accepts the
   * report that goes with it, as `accept` would without limits. A delivery that may have been sent and waits again
   * keeps its relay: its group from then on, by the rule `ambiguous`. One answer per settlement, in order. A stale one
   * writes nothing: not under the fence, or not begun at its `startedAt` (the time given to `begin`), as after a lost
   * answer. A delivery that would wait again becomes failed/cancelled if its cancellation was requested meanwhile.
   */
  settle(batch: readonly Settlement[], at: Stamp): Promise<SettleAnswer[]>;

  /**
   * Gives back units that no peer can have taken, whether or not they were marked as begun: to `queued`, or `retrying`
   * if tried before; due at once. A delivery cancelled meanwhile ends as cancelled. One answer per unit, in order;
   * stale ones are left alone.
   */
  release(units: readonly ReleaseRequest[], at: Stamp): Promise<SettleAnswer[]>;

  /**
   * Reclaims deliveries whose lane lease has ended, or was granted anew, since they were claimed; with `seize`, all
   * leases of all nodes end first (a new holder of the data directory's lock). Deliveries that had not begun go back as
   * in `release`; others are settled as `unknown` by `policy`, as in `settle`, with an attempt record, and their
   * message is flagged. At most `limit` deliveries; call again while `more`.
   */
  reclaim(options: ReclaimOptions, at: Stamp): Promise<ReclaimAnswer>;

  /**
   * Messages with waiting deliveries past their expiry, and those deliveries, the longest expired first. Changes
   * nothing. At most `limit` deliveries, but always all the expired ones of a message.
   */
  expiring(limit: number, at: Stamp): Promise<ExpiringMessage[]>;

  /**
   * Fails deliveries that waited beyond their expiry, as `expired`, and accepts the report on them. One answer per
   * expiry, in order: false if any of its deliveries does not wait or is not past its expiry; then none of it happens.
   */
  expire(batch: readonly Expiry[], at: Stamp): Promise<boolean[]>;

  /**
   * Cancels messages. Waiting deliveries fail as `cancelled`. Those in processing are marked: an attempt that has not
   * begun never begins, and a deferral or release ends as cancelled. One answer per id, in order.
   */
  cancel(ids: readonly string[], at: Stamp): Promise<CancelAnswer[]>;

  /**
   * Retries by hand: failed deliveries become `queued`, `retrying` ones come due, both now, or when the message may
   * first be sent if that is later. Their backoff starts anew, and their expiry is the request's, as much later.
   * Requested cancellations are withdrawn, also for deliveries in processing. Nothing else changes. No limit of the
   * queue refuses it. One answer per request, in order.
   */
  requeue(requests: readonly RequeueRequest[], at: Stamp): Promise<RequeueAnswer[]>;

  /**
   * Gives messages that wait for their send time another one; a past one means now. Their expiry is the request's, as
   * much later. One answer per request, in order.
   */
  reschedule(requests: readonly RescheduleRequest[], at: Stamp): Promise<RescheduleAnswer[]>;

  /**
   * Reroutes waiting deliveries. One answer per move, in order: false if the delivery no longer waits in `fromLane`; it
   * is then left alone. Due times do not change.
   */
  reassign(moves: readonly Reassignment[], at: Stamp): Promise<boolean[]>;

  /**
   * Grants, until `leaseUntil` (wall ms), lanes that nobody holds and that have due, waiting deliveries, plus the free
   * ones in `wanted`. At most `limit` found ones, none of `except`: lanes, or relays for all of their lanes.
   */
  acquireLanes(
    wanted: readonly string[],
    limit: number,
    leaseUntil: number,
    at: Stamp,
    except?: readonly string[],
  ): Promise<LaneLease[]>;

  /**
   * Extends leases; returns the lanes that are no longer ours under the given fence. A lapsed lease is still ours until
   * somebody takes the lane, or its deliveries by `reclaim`.
   */
  renewLanes(leases: readonly LaneLease[], leaseUntil: number, at: Stamp): Promise<string[]>;

  /** Ends leases, so that others may take the lanes at once. Stale ones are ignored. */
  releaseLanes(leases: readonly LaneLease[], at: Stamp): Promise<void>;

  /**
   * Removes what is past its retention: contents first, then records. Never touches what is not final. At most `limit`
   * messages, and as many expired idempotency keys; call again while `more`. On PostgreSQL the records of a UTC day go
   * as a whole, in a transaction of their own, once the last of them may: up to a day later, plus the time its mail
   * took to become final. A week later, records that may go are removed one by one.
   */
  purge(policy: PurgePolicy, limit: number, at: Stamp): Promise<PurgeAnswer>;

  /**
   * Removes the contents of captured messages; others are left alone. One answer per id, in order: whether it was
   * captured.
   */
  discard(ids: readonly string[], at: Stamp): Promise<boolean[]>;

  /**
   * Marks captured messages whose contents are kept; others are left alone. The marks are the inbox's, and go with the
   * message. One answer each, in order: whether it was such a one.
   */
  mark(marks: readonly InboxMark[], at: Stamp): Promise<boolean[]>;

  /**
   * Indexes the words of messages, the newest first. At most `limit` messages; call again while `more`. Accepting
   * leaves it out, so that it costs nothing there.
   */
  index(limit: number): Promise<IndexAnswer>;

  /**
   * Erases a person from the next slice of an erasure, and writes how far that has come, in one transaction: texts that
   * name the address get the pseudonym instead; of a message to or from the person only figures, codes and other
   * recipients are left. What is not final is left alone.
   */
  erase(request: EraseRequest, at: Stamp): Promise<EraseAnswer>;

  /** How many live references each of these segments has. */
  liveSegments(segments: readonly number[]): Promise<Map<number, number>>;

  /** How much of each of these segments is in use. */
  segmentUse(segments: readonly number[]): Promise<Map<number, SegmentUse>>;

  /**
   * Whether each of these contents could be relocated now: its message refers to exactly that place, and no attempt is
   * under way that may still read there. Changes nothing. One answer per place, in order.
   */
  relocatable(places: readonly ContentPlace[]): Promise<boolean[]>;

  /**
   * Makes messages refer to copies of their contents. One answer per relocation, in order: false if `relocatable` would
   * be false; then none of it happens. A reference that was read before may still be followed, so the old place must
   * stay for a while.
   */
  relocate(batch: readonly Relocation[], at: Stamp): Promise<boolean[]>;

  /** Forgets segments whose files are gone. */
  forgetSegments(segments: readonly number[]): Promise<void>;

  /**
   * Decides on restored deliveries, which failed as `unknown`: retries them now, until `expiresAt` (wall ms) and
   * flagged as possible duplicates, or cancels them. Those retried by hand meanwhile are left alone. At most `limit`
   * deliveries; call again while `more`.
   */
  decideRestored(act: RestoredAct, expiresAt: number, limit: number, at: Stamp): Promise<RestoredAnswer>;

  /**
   * Applies what others told of mail that was handed on, and keeps the evidence: states of recipients, what is known of
   * them, the suppression list and events, all in one transaction. One answer each, in order.
   */
  tell(batch: readonly Telling[], rules: TellRules, at: Stamp): Promise<TellAnswer[]>;

  /** Tells again, from above `after` ('' at first), at most `limit` of what came too early; for `EARLY_MS` at most. */
  retell(after: string, limit: number, rules: TellRules, at: Stamp): Promise<RetellAnswer>;

  /**
   * Ends recipients of leased units that the suppression list stops, before their attempt begins, and accepts the
   * report on them. One answer per request, in order; stale ones change nothing: not under the fence, or not stopped
   * any more.
   */
  suppress(batch: readonly Suppressing[], at: Stamp): Promise<SettleAnswer[]>;

  /** Bounces of a recipient domain are not credible: the entries that they made, from this id on, end soon. */
  guard(domain: string, firstId: string, at: Stamp): Promise<void>;

  /** Writes into the log of events what happened to relays. */
  tellRelays(news: readonly RelayNews[], at: Stamp): Promise<void>;

  /** Adds to counters that no other verb moves. */
  tally(counts: readonly Tally[], at: Stamp): Promise<void>;

  /** Finishes the pending calls and closes. */
  close(): Promise<void>;
}

/** The writing node, and the wall time in ms that counts as now. */
export interface Stamp {
  readonly node: string;
  readonly now: number;
}

/** A store that could not do what was asked. Operators can search for `code`. */
export class StoreError extends Error {
  /**
   * - `store_full`: no room; rolled back, may be retried later.
   * - `store_failed`: an fsync or a read failed; nothing may be written any more (contract §15).
   * - `store_busy`: too many calls wait; nothing happened, may be retried later.
   * - `store_unavailable`: the connection was lost; the request may or may not have taken effect.
   * - `store_closed`: closed, or closing.
   * - `store_in_use`: another process holds the data; refused at start.
   * - `store_newer`: a newer version of the program wrote the data; refused at start.
   * - `store_moved`: the data was moved elsewhere, or has not all arrived here yet; refused at start.
   * - `store_unsuitable`: the database, or the connection to it, cannot be used as it is; the message says what to do;
   *   refused at start.
   * - `store_other_key`: the stored data was sealed under another secret key; refused at start.
   * - `store_bug`: the statement itself is wrong.
   */
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** See {@link StoreError.code}. */
// biome-ignore format: names alone
export type StoreErrorCode =
  | 'store_full' | 'store_failed' | 'store_busy' | 'store_unavailable' | 'store_closed' | 'store_in_use'
  | 'store_newer' | 'store_moved' | 'store_unsuitable' | 'store_other_key' | 'store_bug';

/** A request for work of one lane. */
export interface ClaimRequest extends LaneLease {
  readonly order: ClaimOrder;
  /** At most this many units. */
  readonly limit: number;
  /** At most this many recipients in a unit. */
  readonly maxRecipients: number;
}

/** What a lane returned. */
export interface ClaimAnswer {
  readonly units: readonly Unit[];
  /** When its next delivery comes due (wall ms), maybe in the past; null if none waits. */
  readonly nextDueAt: number | null;
}

/** Leased work: what one attempt needs. */
export interface Unit extends Pick<AcceptRecord, 'tls' | 'keyId' | 'tags'> {
  readonly messageId: string;
  readonly lane: string;
  readonly fence: number;
  readonly relay: string;
  readonly reversePath: string;
  /** Its author, as shown: `Jane <jane@example.com>`. */
  readonly headerFrom: string;
  readonly ret: 'FULL' | 'HDRS' | null;
  readonly envid: string | null;
  readonly content: ContentRef;
  /**
   * The only recipient's copy within the contents; null: all of them. Where recipients have copies of their own, a unit
   * has one delivery; the part of an {@link ExpiringMessage} is that of its first one.
   */
  readonly part: ContentPart | null;
  /** Of what is sent. */
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  readonly priority: Priority;
  readonly test: boolean;
  /** A delivery status notification may go to the reverse-path. */
  readonly reportable: boolean;
  /** When it was accepted, or could first be sent if that is later (wall ms). */
  readonly createdAt: number;
  readonly deliveries: readonly UnitDelivery[];
  /** Whom the suppression list stopped when it was claimed; absent: nobody. */
  readonly stopped?: readonly Stopped[];
}

/** One delivery of a unit. */
export interface UnitDelivery {
  readonly index: number;
  readonly recipient: Recipient;
  /** Attempts recorded so far, since it was accepted or last retried by hand. */
  readonly attempts: number;
  /** Wall ms after which it fails instead of waiting again. */
  readonly expiresAt: number;
  /** When it came due (wall ms). */
  readonly dueAt: number;
  /** Names of the relays it may use, in the order in which they are tried; empty for mail from before groups. */
  readonly group: readonly string[];
  /** Its sender was told of the delay. */
  readonly delayReported: boolean;
}

/** A message with expired deliveries: what a report on them is written from. */
export interface ExpiringMessage extends Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'> {
  readonly deliveries: readonly ExpiringDelivery[];
}

/** See {@link ExpiringMessage}. */
export interface ExpiringDelivery extends UnitDelivery {
  /** The last reply; nulls if it was never tried. */
  readonly lastCode: number | null;
  readonly lastEnhanced: string | null;
  readonly lastReply: string | null;
  readonly relay: string | null;
}

/** What one attempt did, ready to be written. */
export interface Settlement {
  readonly unit: UnitRef;
  readonly attempt: Attempt;
  /** One per index of the unit, in its order. */
  readonly transitions: readonly Transition[];
  /** A delivery status notification on what it did, its contents in the spool; null for none. */
  readonly report: AcceptRecord | null;
  /** Those of the unit's indexes that it reports as delayed. */
  readonly delayReported: readonly number[];
  /** What its `begin` charged to the quota and is given back, unless it is stale; null for nothing. */
  readonly refund: QuotaRefund | null;
  /** Failures among the transitions that may suppress their addresses; absent: none. */
  readonly own?: OwnBounces;
}

/** The answer of `settle` to one settlement, and of `release` to one unit. */
export type SettleAnswer =
  /** Written; `cancelled`: the indexes that would have waited again and ended as cancelled instead. */
  { readonly kind: 'settled'; readonly cancelled: readonly number[] } | { readonly kind: 'stale' };
