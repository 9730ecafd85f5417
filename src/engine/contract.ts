import type { RelayFitness } from '../domain/failover.ts';
import type { Feedback, FeedbackSource, FeedbackToken } from '../domain/feedback.ts';
import type { HoldKind } from '../domain/lane.ts';
import type { Content, SigningRights, Submission } from '../domain/message.ts';
import type { RoutingTable, RuleVerdict } from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import type { SettlePolicy } from '../domain/settle.ts';
import type { SuppressionReason, SuppressionRules } from '../domain/suppression.ts';
import type {
  CancelAnswer,
  InboxMark,
  Reassignment,
  RequeueAnswer,
  RescheduleAnswer,
} from '../store/acting.ts';
import type { PurgePolicy, RestoredAct } from '../store/upkeep.ts';
import type { WaitingDelivery } from '../store/views.ts';

/** What people and programs can do with accepted messages (contract §3.3). */
export interface Acts {
  /** Cancels the deliveries that are not final. Rejects with `StoreError`. */
  cancel(id: string): Promise<CancelAnswer>;
  /** Retries failed and deferred recipients now. Rejects with `StoreError`. */
  retry(id: string): Promise<RequeueAnswer['kind']>;
  /**
   * Gives a message that waits for its send time another one (wall ms); a past one means now. Rejects with `StoreError`.
   */
  reschedule(id: string, sendAt: number): Promise<RescheduleAnswer['kind']>;
  /** Removes the contents of captured messages. Returns the number of messages. Rejects with `StoreError`. */
  discard(ids: readonly string[]): Promise<number>;
  /** Marks captured messages in the inbox. Rejects with `StoreError`. */
  mark(marks: readonly InboxMark[]): Promise<void>;
  /** Decides on everything that a restore brought back. Returns the number of recipients. Rejects with `StoreError`. */
  decideRestored(act: RestoredAct): Promise<number>;
  /** Reroutes waiting deliveries. Returns how many still waited where they were. Rejects with `StoreError`. */
  reroute(moves: readonly Reassignment[]): Promise<number>;
  /**
   * Routes waiting deliveries by the routing table, whatever routed them before. Returns how many moved. Rejects with
   * `StoreError`.
   */
  redecide(deliveries: readonly WaitingDelivery[]): Promise<number>;
}

/** What every way in calls that hears what became of mail (contract-2 §A3, §A4, §A7). */
export interface FeedbackDesk {
  /**
   * Applies what was told, and keeps the evidence. Resolves once both are on disk. Rejects with `StoreError`; then a part
   * of what is long may have been applied, which is no harm to tell again under its ids.
   */
  tell(report: FeedbackReport): Promise<ToldAnswer>;
  /**
   * Whether a token of ours still counts (§A2): its message is recorded, has this recipient, and was last attempted
   * within `bounces.max_age_days`. Rejects with `StoreError`.
   */
  counts(token: FeedbackToken): Promise<boolean>;
}

/** What came in, and what it says. */
export interface FeedbackReport {
  readonly source: FeedbackSource;
  /** Empty if it says nothing: then only the evidence is kept, and counted as `unmatched`. */
  readonly items: readonly FeedbackItem[];
  /** What came, of which the beginning is kept; null: nothing worth keeping. */
  readonly evidence: { readonly contentType: string; readonly bytes: Uint8Array } | null;
  /** It may be about a message whose attempt is not recorded yet: what matches nothing is tried again for 10 minutes. */
  readonly mayBeEarly: boolean;
  /** The key whose messages it may be about, where the teller may not know of others; absent: any. */
  readonly onlyOfKey?: string;
}

/** What is kept of what came, in bytes (contract-2 §A3). */
export const MAX_EVIDENCE_BYTES = 64 * 1024;

/** One thing told. */
export interface FeedbackItem {
  readonly feedback: Feedback;
  /** Its id at its source: what was told under it before does not count again. Null: none. */
  readonly onceId: string | null;
}

/** See {@link FeedbackDesk.tell}. */
export interface ToldAnswer {
  /** `fbk_…` */
  readonly id: string;
  /** Something of it was about a recipient or message of ours. */
  readonly matched: boolean;
  /** It changed a state, an entry of the suppression list, or what is known of a recipient. */
  readonly changed: boolean;
}

/** What every ingress calls once a submission is checked. */
export interface Intake {
  /**
   * Accepts submissions durably: when it resolves, every `accepted` one is on stable storage. Returns one answer per
   * submission, in order; never rejects. `together`: all are accepted or none; if one is refused, all get its refusal.
   * The contents are the intake's from the call on, whatever the answer. It gives back the memory of large ones
   * (`isReadBack`) once it needs them no more: whoever calls this must not read them again.
   */
  accept(submissions: readonly Submission[], together?: boolean): Promise<IntakeAnswer[]>;
  /**
   * Why nothing is accepted now, from anyone or from this key; null if mail is accepted. Cheap: called before a body is
   * read.
   */
  suspended(keyId: string | null): Suspension | null;
  /** An id for a submission about to be accepted. An unused id does no harm. */
  newId(): string;
  /** What accepting would decide, in envelope order. Changes nothing. */
  plan(submission: Submission): Promise<readonly PlannedDelivery[]>;
  /** How mail with these facts would be routed, rule by rule. Changes nothing. */
  explain(facts: RouteFacts): Promise<RouteExplanation>;
}

/** The route of one recipient's copy. */
export interface PlannedDelivery {
  /** The chosen relay; null without a route, so that the mail would wait. */
  readonly relay: string | null;
  /** The rule that chose the group; null for the default relay. */
  readonly rule: string | null;
  /** The relays it may use, in the order in which they are tried. */
  readonly group: readonly GroupMember[];
}

/** A relay of a group, and whether it can be used now. */
export interface GroupMember {
  readonly relay: string;
  readonly fitness: RelayFitness;
}

/** Why mail is routed as it is. */
export interface RouteExplanation extends PlannedDelivery {
  readonly tableVersion: number;
  /** The verdict of each rule, up to the one that matched; empty if no rule decided. */
  readonly rules: readonly RuleVerdict[];
  /** The group's order was drawn by weight: the next message may get another. */
  readonly weighted: boolean;
}

/** The result of a submission. */
export type IntakeAnswer =
  | {
      readonly kind: 'accepted';
      readonly id: string;
      /** Every recipient goes to the local inbox: nothing will be sent. */
      readonly captured: boolean;
      /** Recipients that the suppression list stopped; absent: none. */
      readonly suppressed?: readonly StoppedRecipient[];
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | { readonly kind: 'idempotency_mismatch' }
  | { readonly kind: 'suspended'; readonly suspension: Suspension };

/** A recipient that gets nothing because of the suppression list. */
export interface StoppedRecipient {
  readonly address: string;
  readonly reason: SuppressionReason;
}

/** Why intake is suspended (contract §5: 503). */
export interface Suspension {
  readonly code: 'disk_full' | 'store_unavailable' | 'shutting_down' | 'queue_limit';
  /** A fixed text for the client. */
  readonly detail: string;
  readonly retryAfterSeconds: number;
}

/** Signs mail if there is a key for its author's domain (RFC 6376). */
export interface Signer {
  /**
   * Returns the content with its signatures in front, or the same content if there is no key, or none that it may be
   * signed with; synchronously if that is known at once. Never rejects: mail that cannot be signed goes unsigned, and
   * that is logged.
   */
  sign(content: Content, rights: SigningRights): Content | Promise<Content>;
}

/** Signs nothing. */
export const NO_SIGNER: Signer = { sign: (content) => content };

/** What an engine knows of its lanes without the store; shown beside the depths that the store counts. */
export interface QueueFigures {
  /** The lanes this node holds. Changes nothing. */
  lanes(): readonly LaneFigures[];
  /** One lane; null if it is not held. The cost does not depend on the number of lanes. */
  lane(name: string): LaneFigures | null;
}

/** The present state of a lane on this node. */
export interface LaneFigures {
  readonly lane: string;
  readonly relay: string;
  /** Attempts under way. */
  readonly inFlight: number;
  /** Attempts at once that it may have now: what its hop has proved to sustain, or its relay allows. */
  readonly concurrency: number;
  /** Leased: under way, about to begin, or being recorded. */
  readonly inHand: number;
  /** Attempts that ended within the last minute. */
  readonly perMinute: number;
  /** The next hop's last reply; null before the first. */
  readonly lastReply: LaneReply | null;
  /** The breaker: `open` while the next hop gets no mail, `half_open` while single attempts test it. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Wall ms until which an open lane rests; null unless it is open. */
  readonly restsUntil: number | null;
  /** Wall ms since when the hop has been unhealthy: it rests, or is being tested; null while it is healthy. */
  readonly restsSince: number | null;
  /** Why it rests, or may still be unhealthy, in short: `auth_failed 535 5.7.8`; null while the hop is healthy. */
  readonly restCause: string | null;
  /** The reply for which it rests, or may still be unhealthy; null while the hop is healthy, and where that is not known. */
  readonly restReply: LaneReply | null;
  /** Its relay's quota for today (UTC) is used up, except for the part reserved for high priority. */
  readonly spent: boolean;
  /** How an operator holds the lane or its relay; null if nobody does. */
  readonly held: HoldKind | null;
}

/** See {@link LaneFigures.lastReply} and {@link LaneFigures.restReply}. */
export interface LaneReply {
  readonly code: number | null;
  readonly enhanced: string | null;
  /** Hostile: written by a peer. */
  readonly text: string;
  /** Wall ms. */
  readonly at: number;
}

/** For an engine that does not run: nothing is under way. */
export const IDLE: QueueFigures = { lanes: () => [], lane: () => null };

/** The engine's settings. They are read each time, so that changes apply live. */
export interface EngineSettings {
  readonly routing: RoutingTable;
  readonly retry: SettlePolicy;
  /** Lanes and relays that an operator holds. */
  readonly holds: ReadonlyMap<string, HoldKind>;
  readonly reports: ReportSettings;
  readonly retention: PurgePolicy;
  /** How entries of the suppression list are made by themselves. */
  readonly suppressions: SuppressionRules;
  /** A segment with a smaller part in use, in percent of its bytes, is emptied; 0 for never. */
  readonly compactBelowPercent: number;
  /** How long after its last attempt the tokens of a message count, in ms. */
  readonly tokenAgeMs: number;
  readonly queue: {
    /**
     * Bytes of messages that are not final, over all keys; null for half of the disk space that is free at the start.
     */
    readonly maxBytes: number | null;
    /** Messages of one key that are not final. */
    readonly maxMessagesPerKey: number;
  };
  /** Free disk below which intake is suspended, in bytes. */
  readonly diskCriticalBytes: number;
  /** Most bytes of contents in memory for the short way. */
  readonly shortWayBytes: number;
}

/** How delivery status notifications are written and sent (contract §11). */
interface ReportSettings {
  /** The server's name: Reporting-MTA, and the domain of the From address. */
  readonly hostname: string;
  /** The relay for reports; null to route them like other mail. */
  readonly relay: string | null;
  /** Age at which a sender who asked for delay reports gets one. */
  readonly delayAfterMs: number;
  /** Most reports to one address per hour. */
  readonly perHour: number;
}

/** How long a lane lease lasts, and how often it is renewed, in ms (design §5). */
export const LANE_LEASE_MS = 45_000;
/** See {@link LANE_LEASE_MS}. */
export const LANE_RENEW_MS = 15_000;
/** We stop trusting a lease this long before its end, to allow for clock differences. */
const LANE_MARGIN_MS = 5_000;
/** How long a lease is trusted after it was granted or extended, in ms. */
export const TRUST_MS = LANE_LEASE_MS - LANE_MARGIN_MS;
