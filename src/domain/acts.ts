import type { DeliveryState } from './delivery.ts';

/**
 * What a person's act does to a delivery, by its state (contract §3.3). What has been delivered is never touched,
 * and what is under way ends by itself: a peer may be taking it this moment.
 */

/** What cancelling does: the delivery fails, or is marked so that it will unless its attempt succeeds, or stays. */
export function whenCancelled(state: DeliveryState): 'fails' | 'is_marked' | 'stays' {
  if (state === 'queued' || state === 'retrying') return 'fails';
  return state === 'processing' ? 'is_marked' : 'stays';
}

/** The state in which retrying makes a delivery due at once; null when it stays as it is. */
export function whenRetried(state: DeliveryState): 'queued' | 'retrying' | null {
  if (state === 'failed') return 'queued';
  return state === 'retrying' ? 'retrying' : null;
}
