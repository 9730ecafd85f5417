/**
 * The life of a delivery (contract §4): its states, the only transitions between them, and how a message's status
 * follows from its deliveries. A delivery is the unit of work: one recipient of one message.
 */

/** The five states of a delivery and, derived, of a message. */
export const MESSAGE_STATUSES = ['queued', 'processing', 'delivered', 'retrying', 'failed'] as const;

/** A message's status; derived, never set. */
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** A delivery's state. */
export type DeliveryState = MessageStatus;

/** The causes of a transition; every listed pair names those that may cause it. */
export type TransitionCause =
  | 'claim'
  | 'settle'
  | 'expire'
  | 'cancel'
  | 'no_route'
  | 'release'
  | 'reclaim'
  | 'retry'
  | 'suppress'
  | 'bounce';

type Table = Readonly<Record<DeliveryState, Partial<Record<DeliveryState, readonly TransitionCause[]>>>>;

/** All valid transitions. Any other is refused, and a test covers every other pair. */
const TRANSITIONS: Table = {
  queued: { processing: ['claim'], failed: ['cancel', 'expire', 'no_route', 'suppress'] },
  processing: {
    delivered: ['settle'],
    retrying: ['settle', 'release', 'reclaim'],
    failed: ['settle', 'reclaim', 'suppress'],
    queued: ['release', 'reclaim'],
  },
  retrying: { processing: ['claim'], failed: ['cancel', 'expire', 'no_route', 'suppress'] },
  failed: { queued: ['retry'] },
  delivered: { failed: ['bounce'] },
};

/** Whether `cause` may change a delivery from `from` to `to`. */
export function mayTransition(from: DeliveryState, to: DeliveryState, cause: TransitionCause): boolean {
  return TRANSITIONS[from][to]?.includes(cause) ?? false;
}

/** How many of a message's deliveries are in each state. */
export type StateCounts = Readonly<Record<DeliveryState, number>>;

/**
 * A message's status from its deliveries' states: any processing, else any retrying, else any queued, else
 * all delivered, else failed.
 */
export function deriveStatus(counts: StateCounts): MessageStatus {
  if (counts.processing > 0) return 'processing';
  if (counts.retrying > 0) return 'retrying';
  if (counts.queued > 0) return 'queued';
  return counts.failed > 0 ? 'failed' : 'delivered';
}

/** Whether nothing more will happen on its own. */
export function isFinal(status: MessageStatus): boolean {
  return status === 'delivered' || status === 'failed';
}

/** The statuses after which nothing more happens on its own. */
export const FINAL_STATUSES: readonly MessageStatus[] = MESSAGE_STATUSES.filter(isFinal);

// What a person's act does to a delivery, by its state (contract §3.3). A delivered one is never changed, and an
// attempt under way ends on its own: a peer may be taking the message at this moment.

/** Cancelling: the delivery fails, or is marked so that it fails unless its attempt succeeds, or stays as it is. */
export function whenCancelled(state: DeliveryState): 'fails' | 'is_marked' | 'stays' {
  if (state === 'queued' || state === 'retrying') return 'fails';
  return state === 'processing' ? 'is_marked' : 'stays';
}

/**
 * Another send time: only while the message waits for the one that it has, and nothing of it was tried. A peer may have
 * what is due.
 */
export function whenRescheduled(
  message: { readonly counts: StateCounts; readonly notBefore: number | null; readonly attempts: number },
  now: number,
): 'moves' | 'due' | 'final' {
  const { queued, processing, retrying } = message.counts;
  if (queued + processing + retrying === 0) return 'final';
  const isUntried = processing + retrying + message.attempts === 0;
  return isUntried && message.notBefore !== null && message.notBefore > now ? 'moves' : 'due';
}

/**
 * Retrying: the delivery is due again, as `queued` or `retrying`, or goes on although its cancellation was requested
 * (the later of a cancel and a retry counts), or stays as it is.
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
