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

/**
 * What retrying does: the delivery is due again, as `queued` or `retrying`, or goes on although it was to end
 * cancelled (of a cancel and a retry the last one counts), or stays as it is.
 */
export function whenRetried(delivery: {
  readonly state: DeliveryState;
  readonly cancelRequested: boolean;
}): 'queued' | 'retrying' | 'goes_on' | 'stays' {
  const { state, cancelRequested } = delivery;
  if (state === 'failed') return 'queued';
  if (state === 'retrying') return 'retrying';
  return state === 'processing' && cancelRequested ? 'goes_on' : 'stays';
}
