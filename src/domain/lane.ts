/** The types of relay that exist (contract §11); those this version can start are in `transport/`. */
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
 * The next hop as the queue sees it, the key of a lane: the relay's name, or for `mx` the relay's name and
 * the recipient's domain, lower case. A relay's name has no `/`, so the two never meet.
 */
export function laneOf(relay: string, type: RelayType, recipientAddress: string): string {
  if (type !== 'mx') return relay;
  return `${relay}/${recipientAddress.slice(recipientAddress.lastIndexOf('@') + 1).toLowerCase()}`;
}

/**
 * What a lane may do now: `ready`; `untried`, too, but its relay was stored and has never been tried; `paused` or
 * `draining` by an operator; `resting` after failures of its next hop, `probing` when single attempts find out whether
 * it is well again; `spent` when its relay has had what it may have today; `disabled` with its relay; `missing`: there
 * is no such relay.
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
 * A node's right to work a lane. Every grant of a lane, to whomever, has a higher fence than the one before;
 * what a delivery is claimed under carries the fence, and settling under an older one is refused.
 */
export interface LaneLease {
  readonly lane: string;
  readonly fence: number;
}

/**
 * How an operator holds back a lane, or a relay with all its lanes.
 * - `pause`: nothing is sent by it; what is routed to it waits there.
 * - `drain`: what waits is sent; nothing new is routed to it.
 */
export const HOLD_KINDS = ['pause', 'drain'] as const;

/** See {@link HOLD_KINDS}. */
export type HoldKind = (typeof HOLD_KINDS)[number];
