import type { Submission } from '../domain/message.ts';

/** The door between every ingress and the engine: what an ingress calls once a submission is checked. */
export interface Intake {
  /**
   * Accepts submissions durably. When it resolves, every `accepted` one is on stable storage. One answer per
   * submission, in order; never rejects.
   */
  accept(submissions: readonly Submission[]): Promise<IntakeAnswer[]>;
  /** Why nothing is accepted now; null when all is well. Cheap: asked before a body is read. */
  suspended(): Suspension | null;
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
