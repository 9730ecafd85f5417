import type { SettlePolicy } from '../domain/settle.ts';

/** Upkeep of the store: what `reclaim`, `purge` and `tally` are asked and answer. */

/** See `Store.reclaim`. */
export interface ReclaimOptions {
  readonly seize: boolean;
  readonly policy: SettlePolicy;
  /** In [0, 1): the jitter of what is tried again. */
  readonly dice: number;
  readonly limit: number;
}

/** See `Store.reclaim`. */
export interface ReclaimAnswer {
  readonly released: number;
  /** Deliveries that were begun: each may be a duplicate. */
  readonly unknown: number;
  readonly more: boolean;
}

/** Retention (contract §12). Ages are ms since a message became final; sizes are the sum kept. */
export interface PurgePolicy {
  readonly contentAgeMs: number;
  readonly contentMaxBytes: number;
  readonly capturedAgeMs: number;
  readonly capturedMaxBytes: number;
  readonly recordAgeMs: number;
}

/** See `Store.purge`. */
export interface PurgeAnswer {
  readonly contents: number;
  readonly records: number;
  readonly more: boolean;
}

/** See `Store.index`. */
export interface IndexAnswer {
  readonly indexed: number;
  /** There is, or may be, more to do. */
  readonly more: boolean;
}

/** Adds `count` to a counter of the day and the minute of the stamp. */
export interface Tally {
  readonly event: 'denied';
  readonly count: number;
}
