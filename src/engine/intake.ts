import type { RelayFitness } from '../domain/failover.ts';
import type { Submission } from '../domain/message.ts';
import type { RuleVerdict } from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';

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
