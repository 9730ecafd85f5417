import type { Kind } from './seen.ts';

/** What a history came to. */
export interface History {
  readonly hash: string;
  readonly virtualMinutes: number;
  readonly acknowledged: number;
  readonly taken: number;
  /** Recipients that have it more than once; each was flagged before. */
  readonly duplicates: number;
  readonly reports: number;
  /** How often a message was cancelled, and retried, by request. */
  readonly cancelled: number;
  readonly retried: number;
  /** How often each kind of trouble was seen. */
  readonly seen: Readonly<Record<Kind, number>>;
}
