import type { Attempt } from '../domain/attempt.ts';
import type { Hop, LaneLease } from '../domain/lane.ts';
import type { BodyFlags, ContentRef, Priority, Recipient } from '../domain/message.ts';
import type { Transition } from '../domain/settle.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, Foresight, QueueLimits } from './accepting.ts';
import type { CancelAnswer, RequeueAnswer, RequeueRequest } from './acting.ts';
import type {
  ContentPlace,
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
 * The store of facts: which messages are ours, what each delivery is doing, what was tried.
 *
 * Laws, held by the contract suite over every implementation:
 * 1. Every verb takes a batch and is one transaction. When its promise resolves, its effect is on stable
 *    storage; when it rejects, nothing of it happened, or (a lost connection) it may have happened whole.
 * 2. `now` is an argument (wall ms). SQL never asks the time.
 * 3. No row, SQL or connection type crosses this seam; errors are {@link StoreError}.
 * 4. Only transitions of `domain/delivery.ts` happen, and a message's status and counts always equal what is
 *    derived from its deliveries.
 * 5. A delivery in `processing` carries the fence of the lane lease it was claimed under. `begin` and
 *    `settle` under any other fence change nothing and say so.
 * 6. At most one node holds a lane; every grant of a lane has a higher fence than the last.
 * 7. Counters (received, delivered, failed, retried, per relay) change in the transaction of their cause.
 * 8. A segment's live count changes in the transaction that adds or removes the reference.
 */
export interface Store {
  /**
   * Makes messages ours. One answer per record, in order. Records refused by idempotency or by a limit of the
   * queue (none, without `limits`) change nothing; a repeat is answered as one even when the queue is full.
   */
  accept(batch: readonly AcceptRecord[], at: Stamp, limits?: QueueLimits): Promise<AcceptAnswer[]>;

  /**
   * What `accept` would answer were it asked for these now, and the room that would be left. Changes nothing. Asked
   * before contents are written, so that what is refused writes none. One answer per wish, in order.
   */
  foresee(wishes: readonly AcceptWish[], at: Stamp, limits: QueueLimits): Promise<Foresight[]>;

  /**
   * Leases due deliveries of lanes the node holds: `queued`/`retrying` → `processing`, in the request's order of
   * priorities; the longest due first within each. Deliveries of one message and lane that are due
   * come as one {@link Unit} of at most `maxRecipients`. A request under a stale fence gets no units.
   */
  claim(requests: readonly ClaimRequest[], at: Stamp): Promise<ClaimAnswer[]>;

  /**
   * Marks attempts as begun, before the peer can have taken anything, and takes their recipients off the relay's quota.
   * What is not `begun` must not be sent, and is to be given back. What has begun already under the same lease is begun
   * anew and takes nothing more: an answer was lost. One answer per unit, in order, each seeing what those before it took.
   */
  begin(units: readonly BeginRequest[], at: Stamp): Promise<BeginAnswer[]>;

  /**
   * Writes what attempts did: transitions of the units' deliveries, the attempt record, counters; and accepts the
   * report that goes with it, as `accept` would without limits. What may have been sent and waits again keeps its relay:
   * that is its group from then on, by the rule `ambiguous`.
   * One answer per settlement, in order. Stale ones write nothing: not under the fence, or not begun at the
   * attempt's `startedAt` (the time given to `begin`), as when an answer was lost. A delivery whose cancellation
   * was requested meanwhile and that would wait again becomes failed/cancelled instead.
   */
  settle(batch: readonly Settlement[], at: Stamp): Promise<SettleAnswer[]>;

  /**
   * Gives back units that no peer can have taken, whether or not they were marked as begun: to `queued`, or
   * `retrying` if tried before; due at once. What was cancelled meanwhile ends so. One answer per unit, in order;
   * stale ones are left alone.
   */
  release(units: readonly ReleaseRequest[], at: Stamp): Promise<SettleAnswer[]>;

  /**
   * Takes back deliveries whose lane lease has ended, or was granted anew, since they were claimed; with
   * `seize`, all leases of all nodes end first (a fresh holder of the data directory's lock). What was not
   * begun goes back as in `release`; what was begun is settled as `unknown` by `policy`, as in `settle`, with an attempt record
   * and the message flagged. At most `limit` deliveries; call again while `more`.
   */
  reclaim(options: ReclaimOptions, at: Stamp): Promise<ReclaimAnswer>;

  /**
   * Messages with waiting deliveries that are past their expiry, and those deliveries; the longest past first. Changes
   * nothing. At most `limit` deliveries, but all of a message that are past it.
   */
  expiring(limit: number, at: Stamp): Promise<ExpiringMessage[]>;

  /**
   * Fails deliveries that waited beyond their expiry, as `expired`, and accepts the report on them. One answer per
   * expiry, in order: false where any of its deliveries does not wait, or is not past its expiry; nothing of it happens
   * then.
   */
  expire(batch: readonly Expiry[], at: Stamp): Promise<boolean[]>;

  /**
   * Cancels messages: what waits fails as `cancelled`; what is in processing is marked, so that its attempt ends, or
   * if it has not begun never begins, and a deferral or release then ends cancelled. One answer per id, in order.
   */
  cancel(ids: readonly string[], at: Stamp): Promise<CancelAnswer[]>;

  /**
   * Tries again by hand: failed deliveries become `queued`, those `retrying` come due, both now, or when the message
   * may first be sent if that is later; their backoff begins anew, and their expiry is the request's, as much later.
   * A cancellation that was asked for is forgotten, also of what is in processing. Nothing else is touched. No limit
   * of the queue refuses it. One answer per request, in order.
   */
  requeue(requests: readonly RequeueRequest[], at: Stamp): Promise<RequeueAnswer[]>;

  /**
   * Gives waiting deliveries another way. One answer per move, in order: false where the delivery does not wait in
   * `fromLane` any more; it is left alone then. When it is due does not change.
   */
  reassign(moves: readonly Reassignment[], at: Stamp): Promise<boolean[]>;

  /**
   * Grants lanes that have due, waiting deliveries and that nobody holds, plus those named in `wanted`, until
   * `leaseUntil` (wall ms). At most `limit` discovered ones, none of `except`: lanes, or relays for all of theirs.
   */
  acquireLanes(
    wanted: readonly string[],
    limit: number,
    leaseUntil: number,
    at: Stamp,
    except?: readonly string[],
  ): Promise<LaneLease[]>;

  /**
   * Extends leases; returns the lanes that are no longer ours under the given fence. A lease that has lapsed is
   * still ours until somebody takes the lane, or its deliveries by `reclaim`.
   */
  renewLanes(leases: readonly LaneLease[], leaseUntil: number, at: Stamp): Promise<string[]>;

  /** Ends leases so that others may take the lanes at once. Stale ones are ignored. */
  releaseLanes(leases: readonly LaneLease[], at: Stamp): Promise<void>;

  /**
   * Removes what retention no longer keeps: contents first, then records. Never touches what is not final.
   * At most `limit` messages, and as many idempotency keys whose time is over; call again while `more`. Over PostgreSQL the
   * records of a UTC day go as a whole, however many, in a transaction of their own: when the last of them may, which is a day
   * later, and as much more as its mail took to become final; after a week more those that may go do so one by one.
   */
  purge(policy: PurgePolicy, limit: number, at: Stamp): Promise<PurgeAnswer>;

  /** Removes the contents of captured messages; others are left alone. One answer per id, in order: whether it was one. */
  discard(ids: readonly string[], at: Stamp): Promise<boolean[]>;

  /**
   * Enters the words of messages that are not found by words yet: the newest come first, then older ones. At most `limit`
   * messages; call again while `more`. Accepting leaves it out, so that it costs nothing there.
   */
  index(limit: number): Promise<IndexAnswer>;

  /** How many live references each of these segments has. */
  liveSegments(segments: readonly number[]): Promise<Map<number, number>>;

  /** How much of each of these segments is referred to. */
  segmentUse(segments: readonly number[]): Promise<Map<number, SegmentUse>>;

  /**
   * Whether each of these contents could be relocated now: its message refers to exactly that place, and no attempt is
   * under way that may still read there. Changes nothing. One answer per place, in order.
   */
  relocatable(places: readonly ContentPlace[]): Promise<boolean[]>;

  /**
   * Lets messages refer to copies of their contents. One answer per relocation, in order: false where `relocatable`
   * would be, and nothing of it happens then. Who has read a reference before may still follow it: what lies at the old
   * place must stay for a while.
   */
  relocate(batch: readonly Relocation[], at: Stamp): Promise<boolean[]>;

  /** Forgets segments whose files are gone. */
  forgetSegments(segments: readonly number[]): Promise<void>;

  /**
   * Decides on deliveries that came back with a backup and failed as `unknown`: tries them again now, until `expiresAt`
   * (wall ms) and flagged as possible duplicates, or lets them be cancelled. What was retried by hand meanwhile is left
   * alone. At most `limit` deliveries; call again while `more`.
   */
  decideRestored(act: RestoredAct, expiresAt: number, limit: number, at: Stamp): Promise<RestoredAnswer>;

  /** Adds to counters that no other verb moves. */
  tally(counts: readonly Tally[], at: Stamp): Promise<void>;

  /** Finishes what was asked and closes. */
  close(): Promise<void>;
}

/** Who writes, and the wall time in ms that counts as now. */
export interface Stamp {
  readonly node: string;
  readonly now: number;
}

/** A store that could not do what was asked. `code` is one an operator can search for. */
export class StoreError extends Error {
  /**
   * - `store_full`: no room; rolled back, may be tried again later.
   * - `store_failed`: an fsync or a read failed; nothing may be written any more (contract §15).
   * - `store_busy`: too much waits already; nothing happened, may be tried again later.
   * - `store_unavailable`: the connection was lost; what was asked may or may not have happened.
   * - `store_closed`: closed, or closing.
   * - `store_in_use`: another process holds the data; refused at start.
   * - `store_newer`: the data was written by a newer version of the program; refused at start.
   * - `store_moved`: the data was moved elsewhere, or has not all come here yet; refused at start.
   * - `store_unsuitable`: the database, or this program's way to it, cannot be used as it is; the message says what to do;
   *   refused at start.
   * - `store_other_key`: what is stored was sealed under another secret key; refused at start.
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
export type StoreErrorCode =
  | 'store_full'
  | 'store_failed'
  | 'store_busy'
  | 'store_unavailable'
  | 'store_closed'
  | 'store_in_use'
  | 'store_newer'
  | 'store_moved'
  | 'store_unsuitable'
  | 'store_other_key'
  | 'store_bug';

/**
 * Which due work is claimed first: high priority, then normal, then bulk; of high priority none but that; or the other
 * way round, bulk first, so that nothing starves.
 */
export type ClaimOrder = 'high_first' | 'high_only' | 'bulk_first';

/** A wish for work of one lane. */
export interface ClaimRequest extends LaneLease {
  readonly order: ClaimOrder;
  /** At most this many units. */
  readonly limit: number;
  /** At most this many recipients in a unit. */
  readonly maxRecipients: number;
}

/** What a lane had. */
export interface ClaimAnswer {
  readonly units: readonly Unit[];
  /** When the next delivery of the lane comes due (wall ms); null when none waits; may lie in the past. */
  readonly nextDueAt: number | null;
}

/** Names leased work: deliveries of one message on one lane under one fence. */
export interface UnitRef {
  readonly messageId: string;
  readonly lane: string;
  readonly fence: number;
  /** Places in the envelope. */
  readonly indexes: readonly number[];
}

/** See {@link Store.begin}. */
export interface BeginRequest extends UnitRef {
  /** Null: its relay has no quota. */
  readonly quota: QuotaRequest | null;
}

/** The wish to hand so many recipients to a relay. */
export interface QuotaRequest {
  readonly relay: string;
  /** Whole UTC days since the epoch. */
  readonly day: number;
  /** How many of this unit's recipients are to be handed over. */
  readonly recipients: number;
  /** Refused where more than this would be used of the day then. */
  readonly limit: number;
}

/** See {@link Store.begin}. `refused`: stale, or cancelled meanwhile. */
export type BeginAnswer = 'begun' | 'refused' | 'over_quota';

/** Recipients that were taken off a quota by `begin` and proved not to have been taken. */
export interface QuotaRefund {
  readonly relay: string;
  /** The day they were taken off. */
  readonly day: number;
  readonly recipients: number;
}

/** See {@link Store.release}. */
export interface ReleaseRequest extends UnitRef {
  /** What its `begin` took off the quota; null for nothing. Given back only where the unit is still the asker's, and had begun. */
  readonly refund: QuotaRefund | null;
}

/** Leased work: what one attempt needs. */
export interface Unit {
  readonly messageId: string;
  readonly lane: string;
  readonly fence: number;
  readonly relay: string;
  readonly reversePath: string;
  readonly ret: 'FULL' | 'HDRS' | null;
  readonly envid: string | null;
  readonly content: ContentRef;
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  readonly priority: Priority;
  readonly test: boolean;
  /** A delivery status notification may go to the reverse-path. */
  readonly reportable: boolean;
  /** When it was accepted, or could first be sent if that is later (wall ms). */
  readonly createdAt: number;
  readonly deliveries: readonly UnitDelivery[];
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
  /** Names of the relays it may go by, in the order in which they are tried; empty for old mail without one. */
  readonly group: readonly string[];
  /** Its sender has been told that it is late. */
  readonly delayReported: boolean;
}

/** A message with deliveries that waited too long: what a report on them is written from. */
export interface ExpiringMessage extends Omit<Unit, 'lane' | 'fence' | 'relay' | 'deliveries'> {
  readonly deliveries: readonly ExpiringDelivery[];
}

/** See {@link ExpiringMessage}. */
export interface ExpiringDelivery extends UnitDelivery {
  /** The last reply; nulls when it was never tried. */
  readonly lastCode: number | null;
  readonly lastEnhanced: string | null;
  readonly lastReply: string | null;
  readonly relay: string | null;
}

/** See {@link Store.expire}. */
export interface Expiry {
  readonly messageId: string;
  /** Places in the envelope. */
  readonly indexes: readonly number[];
  /** A delivery status notification on them, its contents in the spool; null for none. */
  readonly report: AcceptRecord | null;
}

/** See {@link Store.reassign}. */
export interface Reassignment {
  readonly messageId: string;
  readonly index: number;
  /** Where it waits; null: without a route. */
  readonly fromLane: string | null;
  /** Null takes its route away, until there is one again. */
  readonly to: Hop | null;
  readonly rule: string | null;
  readonly group: readonly string[];
}

/** What one attempt did, ready to be written. */
export interface Settlement {
  readonly unit: UnitRef;
  readonly attempt: Attempt;
  /** One per index of the unit, in its order. */
  readonly transitions: readonly Transition[];
  /** A delivery status notification on what it did, its contents in the spool; null for none. */
  readonly report: AcceptRecord | null;
  /** Those of the unit's indexes whose sender is told by it that they are late. */
  readonly delayReported: readonly number[];
  /** What of the quota its `begin` took is given back; null for nothing. A stale settlement gives nothing back. */
  readonly refund: QuotaRefund | null;
}

/** What `settle` says of one settlement, and `release` of one unit. */
export type SettleAnswer =
  /** Written; `cancelled`: the indexes that would have waited again and ended cancelled instead. */
  { readonly kind: 'settled'; readonly cancelled: readonly number[] } | { readonly kind: 'stale' };
