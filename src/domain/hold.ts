/**
 * How an operator holds back a lane, or a relay with all its lanes.
 * - `pause`: nothing is sent by it; what is routed to it waits there.
 * - `drain`: what waits is sent; nothing new is routed to it.
 */
export const HOLD_KINDS = ['pause', 'drain'] as const;

/** See {@link HOLD_KINDS}. */
export type HoldKind = (typeof HOLD_KINDS)[number];
