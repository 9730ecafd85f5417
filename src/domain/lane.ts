/** The existing types of relay (contract §11); those this version can start are in `transport/`. */
export type RelayType =
  | 'inbox'
  | 'smtp'
  | 'mx'
  | 'ses'
  | 'mailgun'
  | 'postmark'
  | 'sendgrid'
  | 'resend'
  | 'graph'
  | 'webhook';

/**
 * The next hop as the queue sees it, the key of a lane: the relay's name, or for `mx` the relay's name and the
 * recipient's domain, lower case. A relay's name contains no `/`, so the two never collide.
 */
export function laneOf(relay: string, type: RelayType, recipientAddress: string): string {
  if (type !== 'mx') return relay;
  return `${relay}/${recipientAddress.slice(recipientAddress.lastIndexOf('@') + 1).toLowerCase()}`;
}

/**
 * What a lane may do now: `ready`; `untried`: ready, but its stored relay was never tried; `paused` or `draining` by an
 * operator; `resting` after failures of its next hop, `probing` while single attempts test it; `spent` if its relay's
 * quota for today is used up; `disabled` with its relay; `missing`: there is no such relay.
 */
// biome-ignore format: a table
export const LANE_STATES = ['ready', 'untried', 'paused', 'draining', 'resting', 'probing', 'spent', 'disabled', 'missing'] as const;

/** See {@link LANE_STATES}. */
export type LaneState = (typeof LANE_STATES)[number];

/** Where a delivery waits: a relay, and its lane there. */
export interface Hop {
  readonly relay: string;
  readonly lane: string;
}

/** The relay a lane belongs to. */
export function relayOfLane(lane: string): string {
  const slash = lane.indexOf('/');
  return slash < 0 ? lane : lane.slice(0, slash);
}

/**
 * A node's right to work a lane. Every grant of a lane, to any node, has a higher fence than the last. A claimed
 * delivery carries the fence, and settling under an older one is refused.
 */
export interface LaneLease {
  readonly lane: string;
  readonly fence: number;
}

/**
 * How an operator holds a lane, or a relay with all its lanes.
 * - `pause`: it sends nothing; mail routed to it waits there.
 * - `drain`: it sends what waits; no new mail is routed to it.
 */
export const HOLD_KINDS = ['pause', 'drain'] as const;

/** See {@link HOLD_KINDS}. */
export type HoldKind = (typeof HOLD_KINDS)[number];

/**
 * Which due work is claimed first: high priority, then normal, then bulk; only high priority; or bulk first, so that
 * nothing starves.
 */
export type ClaimOrder = 'high_first' | 'high_only' | 'bulk_first';
