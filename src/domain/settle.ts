import type { DeliveryState } from './delivery.ts';
import type { Hop } from './lane.ts';
import type { Outcome, OutcomeName, Reply } from './outcome.ts';

/** The fields of a delivery in `processing` that settling needs. */
export interface SettlingDelivery {
  /** Attempts recorded before this one, since it was accepted or last retried by hand. */
  readonly attempts: number;
  /** Wall ms after which it fails instead of waiting again. */
  readonly expiresAt: number;
}

/** Everything that decides a settlement, besides the outcome. */
export interface SettlePolicy extends RetryPolicy {
  /** What to do if the peer may have the message: retry at the same relay, or hold it. */
  readonly ambiguous: 'retry' | 'hold';
}

/** Where a delivery waits from now on. */
export interface NextHop extends Hop {
  /** Its group from now on, if a relay can no longer serve it; absent: unchanged. */
  readonly group?: readonly string[];
}

/** What settling will write for one delivery. */
export interface Transition {
  readonly state: Extract<DeliveryState, 'delivered' | 'retrying' | 'failed'>;
  readonly outcome: OutcomeName | null;
  /** Wall ms; set exactly when the state is `retrying`. */
  readonly nextAttemptAt: number | null;
  /** Where it waits from now on; null: where it was. Only with `retrying`. */
  readonly next: NextHop | null;
  readonly reply: Reply;
  readonly providerMessageId: string | null;
  /** The peer may have the message although we could not record it (design §7). */
  readonly possibleDuplicate: boolean;
}

/**
 * The core decision: from an attempt's outcome for a delivery to its next state. Siblings of one attempt get the same
 * `now` and `dice`, so that they wait and come due together.
 */
export function settle(
  delivery: SettlingDelivery,
  outcome: Outcome,
  policy: SettlePolicy,
  now: number,
  dice: number,
): Transition {
  const { reply } = outcome;
  const base = {
    reply,
    providerMessageId: null,
    nextAttemptAt: null,
    next: null,
    possibleDuplicate: false,
  } as const;
  switch (outcome.kind) {
    case 'delivered':
      return {
        ...base,
        state: 'delivered',
        outcome: outcome.captured ? 'captured' : 'accepted',
        providerMessageId: outcome.providerMessageId,
      };
    case 'rejected':
      return { ...base, state: 'failed', outcome: 'rejected' };
    case 'unknown':
      if (policy.ambiguous === 'hold')
        return { ...base, state: 'failed', outcome: 'unknown', possibleDuplicate: true };
      return { ...waitOrEnd(delivery, reply, policy, now, dice), possibleDuplicate: true };
    case 'deferred':
      return { ...base, ...waitOrEnd(delivery, reply, policy, now, dice) };
  }
}

function waitOrEnd(
  delivery: SettlingDelivery,
  reply: Reply,
  policy: SettlePolicy,
  now: number,
  dice: number,
): Transition {
  const base = {
    reply,
    providerMessageId: null,
    nextAttemptAt: null,
    next: null,
    possibleDuplicate: false,
  } as const;
  if (now >= delivery.expiresAt) return { ...base, state: 'failed', outcome: 'expired' };
  // Never beyond the expiry: the last attempt comes at the end of the message's life, not after it.
  const due = Math.min(now + retryDelayMs(delivery.attempts + 1, policy, dice), delivery.expiresAt);
  return { ...base, state: 'retrying', outcome: null, nextAttemptAt: due };
}

/**
 * What happens to a delivery that has failed while its sender cannot be told: it waits at its relay, is tried again,
 * and then fails, or expires. `attempts` as in {@link settle}.
 */
export function waitUntold(
  { attempts, expiresAt }: SettlingDelivery,
  transition: Transition,
  policy: RetryPolicy,
  now: number,
  dice: number,
): Transition {
  const due = now + retryDelayMs(attempts + 1, policy, dice);
  // What has already expired is left to the expiry, which waits for its report.
  const nextAttemptAt = now < expiresAt ? Math.min(due, expiresAt) : due;
  return { ...transition, state: 'retrying', outcome: null, nextAttemptAt, next: null };
}

/** Whether it keeps its relay, whatever routing says: the peer may have the message. */
export function keepsRelay({ state, possibleDuplicate }: Transition): boolean {
  return state === 'retrying' && possibleDuplicate;
}

/**
 * What happens to a delivery whose cancellation was requested during the attempt: it does not wait again. Any other
 * outcome stands, and so does the flag that the peer may have the message.
 */
export function endCancelled(transition: Transition): Transition {
  if (transition.state !== 'retrying') return transition;
  return { ...transition, state: 'failed', outcome: 'cancelled', nextAttemptAt: null, next: null };
}

/** When a deferred delivery is retried. Times in milliseconds. */
export interface RetryPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Age, counted from acceptance or `sendAt`, at which a waiting delivery fails as `expired`. */
  readonly maxAgeMs: number;
}

/** The part of the delay that jitter may add or subtract: enough to spread retries, too little to change the pace. */
const JITTER = 0.2;

/**
 * Delay before the next attempt: `firstMs` after the first failed attempt, doubling up to `maxMs`, with up to
 * 20 % of jitter either way. `attempts` counts the attempts made (at least 1), `dice` is in [0, 1).
 */
export function retryDelayMs(attempts: number, policy: RetryPolicy, dice: number): number {
  const doubled = policy.firstMs * 2 ** Math.min(attempts - 1, 40);
  return Math.round(Math.min(doubled, policy.maxMs) * (1 - JITTER + 2 * JITTER * dice));
}
