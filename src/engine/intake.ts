import type { Submission } from '../domain/message.ts';

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
  plan(submission: Submission): readonly PlannedDelivery[];
}

/** The way one recipient's copy would take. */
export interface PlannedDelivery {
  /** The relay chosen; null when there is no route, so that it would wait. */
  readonly relay: string | null;
  /** The rule that chose it; null for the default relay. */
  readonly rule: string | null;
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
