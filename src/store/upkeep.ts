import { type Attempt, NO_EVIDENCE } from '../domain/attempt.ts';
import type { ContentRef } from '../domain/message.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import { type SettlePolicy, type SettlingDelivery, settle, type Transition } from '../domain/settle.ts';
import type { AcceptRecord } from './accepting.ts';
import type { OwnBounces } from './telling.ts';

/** Upkeep of the store: requests and answers of `expire`, `reclaim`, `purge` and `tally`. */

/** See `Store.expire`. */
export interface Expiry {
  readonly messageId: string;
  /** Places in the envelope. */
  readonly indexes: readonly number[];
  /** A delivery status notification on them, its contents in the spool; null for none. */
  readonly report: AcceptRecord | null;
  /** Those that may suppress their addresses; absent: none. */
  readonly own?: OwnBounces;
}

/** See `Store.reclaim`. */
export interface ReclaimOptions {
  readonly seize: boolean;
  readonly policy: SettlePolicy;
  /** In [0, 1): the jitter of retries. */
  readonly dice: number;
  readonly limit: number;
  /**
   * No lease is longer, in ms: one that ends later from now was granted before the clock was set back, and ends then.
   * Its holder, if it is alive, extends it before. Absent: leases may be of any length.
   */
  readonly longestLeaseMs?: number;
}

/** See `Store.reclaim`. */
export interface ReclaimAnswer {
  readonly released: number;
  /** Deliveries that had begun: each may be a duplicate. */
  readonly unknown: number;
  readonly more: boolean;
}

/**
 * Retention (contract §12). Ages are ms since a message became final, of events since they happened; sizes are the sum
 * kept. Events go with the record of their message at the latest.
 */
export interface PurgePolicy {
  readonly contentAgeMs: number;
  readonly contentMaxBytes: number;
  readonly capturedAgeMs: number;
  readonly capturedMaxBytes: number;
  readonly recordAgeMs: number;
  readonly eventAgeMs: number;
  /** Of the evidence of what others told. */
  readonly feedbackAgeMs: number;
  /** Most links to unsubscribe that outlive the contents of their messages. */
  readonly maxUnsubscribeLinks: number;
}

/** See `Store.purge`. */
export interface PurgeAnswer {
  readonly contents: number;
  readonly records: number;
  readonly more: boolean;
}

/** See `Store.index`. */
export interface IndexAnswer {
  readonly indexed: number;
  /** There is, or may be, more to do. */
  readonly more: boolean;
}

/** Adds `count` to a counter of the stamp's day and minute. */
export interface Tally {
  readonly event: 'denied';
  readonly count: number;
}

// The outcome of attempts whose process never reported back. See `Store.reclaim`.

const UNKNOWN: Outcome = {
  kind: 'unknown',
  reply: localReply('lease_lost', '4.4.2', 'the server stopped while the attempt was under way'),
};

/**
 * What happens to a delivery whose attempt had begun. An expired one waits, due at once: `expire` ends it, with the
 * report that nobody has written yet.
 */
export function settleLost(delivery: SettlingDelivery, options: ReclaimOptions, now: number): Transition {
  const transition = settle(delivery, UNKNOWN, options.policy, now, options.dice);
  if (transition.outcome !== 'expired') return transition;
  return { ...transition, state: 'retrying', outcome: null, nextAttemptAt: now };
}

/** The attempt record for these recipients. */
export function lostAttempt(startedAt: number, relay: string | null, indexes: readonly number[]): Attempt {
  const results = indexes.map((index) => ({ index, outcome: UNKNOWN }));
  return { startedAt, relay: relay ?? '', evidence: NO_EVIDENCE, results };
}

/** What identifies an attempt. */
interface Leased {
  readonly message: unknown;
  readonly lane: string | null;
  readonly fence: number | null;
  readonly begunAt: number | null;
}

/**
 * Deliveries of one message, lane and fence that began at the same time were in one attempt. Expects them in this
 * order.
 */
export function groupByAttempt<T>(deliveries: readonly T[], leaseOf: (delivery: T) => Leased): T[][] {
  const groups: T[][] = [];
  let last: Leased | null = null;
  for (const delivery of deliveries) {
    const lease = leaseOf(delivery);
    if (last !== null && isSame(last, lease)) groups.at(-1)?.push(delivery);
    else groups.push([delivery]);
    last = lease;
  }
  return groups;
}

function isSame(a: Leased, b: Leased): boolean {
  return a.message === b.message && a.lane === b.lane && a.fence === b.fence && a.begunAt === b.begunAt;
}

/** Contents in the spool: whose they are, and where. */
export interface ContentPlace {
  readonly messageId: string;
  readonly content: ContentRef;
}

/** See `Store.relocate`. */
export interface Relocation extends ContentPlace {
  /** The place of a durable copy of the contents. */
  readonly to: ContentRef;
}

/** How much of a segment is in use. */
export interface SegmentUse {
  readonly live: number;
  /** Size of the contents alone, without the spool's framing. */
  readonly bytes: number;
}

/** What an operator may do with restored deliveries: retry them from the start, or cancel them. */
export type RestoredAct = 'resume' | 'cancel';

/** See `Store.decideRestored`. */
export interface RestoredAnswer {
  /** Deliveries that were decided on. */
  readonly count: number;
  /** The lanes in which work now waits; deliveries without a route are in none. */
  readonly lanes: readonly string[];
  readonly more: boolean;
}
