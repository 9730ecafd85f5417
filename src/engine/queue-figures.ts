import type { HoldKind } from '../domain/hold.ts';

/** What an engine knows of the lanes it works, and no store: shown beside the depths that the store counts. */
export interface QueueFigures {
  /** The lanes this node holds. Changes nothing. */
  lanes(): readonly LaneFigures[];
  /** One of them; null where it is not held. Costs nothing by the number of lanes. */
  lane(name: string): LaneFigures | null;
}

/** How a lane does at this moment, on this node. */
export interface LaneFigures {
  readonly lane: string;
  readonly relay: string;
  /** Attempts under way. */
  readonly inFlight: number;
  /** Attempts at once that it may have now: what its hop has shown to bear, or its relay allows. */
  readonly concurrency: number;
  /** Leased: under way, about to begin, or being recorded. */
  readonly inHand: number;
  /** Attempts that ended within the last minute. */
  readonly perMinute: number;
  /** What the next hop said last; null before it said anything. */
  readonly lastReply: LaneReply | null;
  /** The breaker: `open` while the next hop is left alone, `half_open` while single attempts find out. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Wall ms until which an open lane rests; null unless it is open. */
  readonly restsUntil: number | null;
  /** Why it rests, or may not be well again yet, in short: `auth_failed 535 5.7.8`; null while all is well. */
  readonly restCause: string | null;
  /** Its relay has had what it may have today (UTC), but for what is kept for high priority. */
  readonly spent: boolean;
  /** How an operator holds it back, itself or its relay; null when nobody does. */
  readonly held: HoldKind | null;
}

/** See {@link LaneFigures.lastReply}. */
export interface LaneReply {
  readonly code: number | null;
  readonly enhanced: string | null;
  /** Hostile: a peer wrote it. */
  readonly text: string;
  /** Wall ms. */
  readonly at: number;
}

/** Of an engine that does not run: nothing is under way. */
export const IDLE: QueueFigures = { lanes: () => [], lane: () => null };
