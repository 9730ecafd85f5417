/** What is done to mail by hand: what verbs of the store are asked and answer. */

/** See `Store.cancel`. */
export type CancelAnswer =
  /** At least one delivery was cancelled, or will be unless its attempt succeeds. */
  | 'cancelled'
  /** Every delivery was final already: nothing changed. */
  | 'final'
  | 'not_found';

/** See `Store.requeue`. */
export interface RequeueRequest {
  readonly id: string;
  /** Wall ms: the new expiry of what is due again now. */
  readonly expiresAt: number;
}

/** See `Store.requeue`. */
export type RequeueAnswer =
  /** The lanes in which something waits anew; deliveries without a route wait in none. */
  | { readonly kind: 'requeued'; readonly lanes: readonly string[] }
  /** Nothing has failed, is retrying or was to end cancelled: nothing changed. */
  | { readonly kind: 'nothing_to_retry' }
  /** Something failed whose contents retention has removed: nothing changed. */
  | { readonly kind: 'content_expired' }
  | { readonly kind: 'not_found' };
