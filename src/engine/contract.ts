import type { RelayFitness } from '../domain/failover.ts';
import type { HoldKind } from '../domain/lane.ts';
import type { Content, SigningRights, Submission } from '../domain/message.ts';
import type { RoutingTable, RuleVerdict } from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { SettlePolicy } from '../domain/settle.ts';
import type { CancelAnswer, RequeueAnswer } from '../store/acting.ts';
import type { Reassignment } from '../store/store.ts';
import type { PurgePolicy, RestoredAct } from '../store/upkeep.ts';
import type { WaitingDelivery } from '../store/views.ts';

/** The door for people and programs who act on messages that are already ours (contract §3.3). */
export interface Acts {
  /** Cancels what is not final. Rejects with `StoreError`. */
  cancel(id: string): Promise<CancelAnswer>;
  /** Tries failed and retrying recipients again, now. Rejects with `StoreError`. */
  retry(id: string): Promise<RequeueAnswer['kind']>;
  /** Removes the contents of captured messages. Says how many were. Rejects with `StoreError`. */
  discard(ids: readonly string[]): Promise<number>;
  /** Decides on everything that came back with a backup. Says on how many recipients. Rejects with `StoreError`. */
  decideRestored(act: RestoredAct): Promise<number>;
  /** Gives waiting deliveries another way. Says how many still waited where they were. Rejects with `StoreError`. */
  reroute(moves: readonly Reassignment[]): Promise<number>;
  /**
   * Decides by the routing table where waiting deliveries go, whatever decided it before. Says how many were given
   * another way. Rejects with `StoreError`.
   */
  redecide(deliveries: readonly WaitingDelivery[]): Promise<number>;
}

/** The door between every ingress and the engine: what an ingress calls once a submission is checked. */
export interface Intake {
  /**
   * Accepts submissions durably. When it resolves, every `accepted` one is on stable storage. One answer per
   * submission, in order; never rejects.
   */
  accept(submissions: readonly Submission[]): Promise<IntakeAnswer[]>;
  /**
   * Why nothing is accepted now, from anyone or from this key; null when all is well. Cheap: asked before a body
   * is read.
   */
  suspended(keyId: string | null): Suspension | null;
  /** An id for a submission that is about to be accepted. One that is not used is lost, which harms nobody. */
  newId(): string;
  /** What accepting would decide, in envelope order. Changes nothing. */
  plan(submission: Submission): Promise<readonly PlannedDelivery[]>;
  /** How mail with these facts would be routed, rule by rule. Changes nothing. */
  explain(facts: RouteFacts): Promise<RouteExplanation>;
}

/** The way one recipient's copy would take. */
export interface PlannedDelivery {
  /** The relay chosen; null when there is no route, so that it would wait. */
  readonly relay: string | null;
  /** The rule that chose the group; null for the default relay. */
  readonly rule: string | null;
  /** The relays it may go by, in the order in which they are tried. */
  readonly group: readonly GroupMember[];
}

/** A relay of a group, and whether it can be sent to at this moment. */
export interface GroupMember {
  readonly relay: string;
  readonly fitness: RelayFitness;
}

/** Why mail goes where it goes. */
export interface RouteExplanation extends PlannedDelivery {
  readonly tableVersion: number;
  /** What each rule came to, up to the one that matched; none when it was decided before any rule. */
  readonly rules: readonly RuleVerdict[];
  /** The group's order was drawn by weight: the next message may get another. */
  readonly weighted: boolean;
}

/** What became of a submission. */
export type IntakeAnswer =
  | {
      readonly kind: 'accepted';
      readonly id: string;
      /** Every recipient goes to the local inbox: nothing will be sent. */
      readonly captured: boolean;
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | { readonly kind: 'idempotency_mismatch' }
  | { readonly kind: 'suspended'; readonly suspension: Suspension };

/** Why intake is suspended (contract §5: 503). */
export interface Suspension {
  readonly code: 'disk_full' | 'store_unavailable' | 'shutting_down' | 'queue_limit';
  /** A fixed text for the client. */
  readonly detail: string;
  readonly retryAfterSeconds: number;
}

/** Signs mail, where there is a key for its author's domain (RFC 6376). */
export interface Signer {
  /**
   * The content with its signatures before it; the same content when there is nothing to sign it with, or nothing it may be
   * signed for; at once where that is seen at once. Never rejects: mail that cannot be signed goes as it is, and that is logged.
   */
  sign(content: Content, rights: SigningRights): Content | Promise<Content>;
}

/** Signs nothing. */
export const NO_SIGNER: Signer = { sign: (content) => content };

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

/** What the engine is told by configuration; read anew each time, so that keys can apply live. */
export interface EngineSettings {
  readonly routing: RoutingTable;
  readonly retry: SettlePolicy;
  /** Lanes and relays that an operator holds back. */
  readonly holds: ReadonlyMap<string, HoldKind>;
  readonly reports: ReportSettings;
  readonly retention: PurgePolicy;
  /** A segment of which less is referred to is emptied, in percent of its bytes; 0 for never. */
  readonly compactBelowPercent: number;
  readonly queue: {
    /** Bytes of messages that are not final, over all keys; null for half of the disk that is free at the start. */
    readonly maxBytes: number | null;
    /** Messages of one key that are not final. */
    readonly maxMessagesPerKey: number;
  };
  /** Free disk below which intake is suspended, in bytes. */
  readonly diskCriticalBytes: number;
  /** How many bytes of contents may wait in memory for the short way. */
  readonly shortWayBytes: number;
}

/** How delivery status notifications are written and sent (contract §11). */
interface ReportSettings {
  /** The server's name: Reporting-MTA, and the domain of the From address. */
  readonly hostname: string;
  /** The relay they go by; null: what routing chooses. */
  readonly relay: string | null;
  /** Age at which a sender who asked to be told of delays is told. */
  readonly delayAfterMs: number;
  /** Most reports to one address in an hour. */
  readonly perHour: number;
}

/** How long a lane lease lasts, and how often it is renewed, in ms (design §5). */
export const LANE_LEASE_MS = 45_000;
/** See {@link LANE_LEASE_MS}. */
export const LANE_RENEW_MS = 15_000;
/** We stop trusting a lease this long before its end, so that clocks may differ a little. */
const LANE_MARGIN_MS = 5_000;
/** So long after it was granted or extended a lease is trusted, in ms. */
export const TRUST_MS = LANE_LEASE_MS - LANE_MARGIN_MS;
