import type { Hop } from '../domain/lane.ts';

/** What operators do to mail: requests and answers of the store's verbs. */

/** See `Store.cancel`. */
export type CancelAnswer =
  /** At least one delivery was cancelled, or will be unless its attempt succeeds. */
  | 'cancelled'
  /** Every delivery was already final: nothing changed. */
  | 'final'
  | 'not_found';

/** See `Store.requeue`. */
export interface RequeueRequest {
  readonly id: string;
  /** Wall ms: the new expiry of the requeued deliveries. */
  readonly expiresAt: number;
}

/** See `Store.requeue`. */
export type RequeueAnswer =
  /** The lanes in which work now waits; deliveries without a route are in none. */
  | { readonly kind: 'requeued'; readonly lanes: readonly string[] }
  /** No delivery has failed, is retrying or was to be cancelled: nothing changed. */
  | { readonly kind: 'nothing_to_retry' }
  /** Retention has removed the contents of a failed delivery: nothing changed. */
  | { readonly kind: 'content_expired' }
  | { readonly kind: 'not_found' };

/** See `Store.reschedule`. */
export interface RescheduleRequest {
  readonly id: string;
  /** Wall ms. */
  readonly sendAt: number;
  /** Wall ms: the new expiry if it could be sent now. */
  readonly expiresAt: number;
}

/** See `Store.reschedule`. */
export type RescheduleAnswer =
  /** The lanes in which it waits, and when it comes due there (wall ms). */
  | { readonly kind: 'rescheduled'; readonly lanes: readonly string[]; readonly dueAt: number }
  /** It is due, or was tried before: nothing changed. */
  | { readonly kind: 'due' }
  /** Every delivery is final: nothing changed. */
  | { readonly kind: 'final' }
  | { readonly kind: 'not_found' };

/** See `Store.mark`. What is absent stays. */
export interface InboxMark {
  readonly id: string;
  readonly read?: boolean;
  /** In the place of its tags. */
  readonly tags?: readonly string[];
}

/** See `Store.reassign`. */
export interface Reassignment {
  readonly messageId: string;
  readonly index: number;
  /** Where it waits; null: without a route. */
  readonly fromLane: string | null;
  /** Null removes its route, until there is one again. */
  readonly to: Hop | null;
  readonly rule: string | null;
  readonly group: readonly string[];
}
