import type { QuotaRefund, QuotaRequest } from '../domain/quota.ts';
import type { AcceptRecord } from './accepting.ts';
import type { Stopped } from './telling.ts';

/** Leased work on its way: requests and answers of the store's verbs. */

/** Identifies leased work: deliveries of one message on one lane under one fence. */
export interface UnitRef {
  readonly messageId: string;
  readonly lane: string;
  readonly fence: number;
  /** Places in the envelope. */
  readonly indexes: readonly number[];
}

/** See `Store.begin`. */
export interface BeginRequest extends UnitRef {
  /** The addresses of its recipients, in the order of `indexes`. */
  readonly recipients: readonly string[];
  /** Null: its relay has no quota. */
  readonly quota: QuotaRequest | null;
}

/**
 * See `Store.begin`. `refused`: stale, or cancelled meanwhile. A list: recipients of it that the suppression list
 * stops; `suppress` ends them, and the others are given back.
 */
export type BeginAnswer = 'begun' | 'refused' | 'over_quota' | readonly Stopped[];

/** See `Store.suppress`. */
export interface Suppressing {
  /** Only the recipients to end. */
  readonly unit: UnitRef;
  /** A delivery status notification on them, its contents in the spool; null for none. */
  readonly report: AcceptRecord | null;
}

/** See `Store.release`. */
export interface ReleaseRequest extends UnitRef {
  /** What its `begin` charged to the quota, given back if the unit is still held and had begun; null: nothing. */
  readonly refund: QuotaRefund | null;
}
