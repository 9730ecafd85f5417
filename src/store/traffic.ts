import type { TrafficDimension, TrafficKind, TrafficSums } from '../domain/traffic.ts';

/**
 * What became of mail, counted by minute, hour and day (UTC) since 1970, over all nodes. Counts are sums of what nodes
 * gathered, so that a crash loses what was not written yet. Errors are `StoreError`.
 */
export interface Traffic {
  /**
   * Adds counts, in one transaction. Of an hour or a day with `most` kinds, further ones are counted without what tells
   * them apart (`OTHERS`): at first without domain and tags, up to twice as many; then only in total. Of a minute, only
   * the total is kept.
   */
  addTraffic(counts: readonly TrafficCount[], most: number): Promise<void>;
  /** The same for groups of replies; what is beyond is in the total of its hour and day. */
  addReplies(counts: readonly ReplyCount[], most: number): Promise<void>;
  /** Removes counts from before these times, at most `limit` of each period. Returns how many of the one with most. */
  forgetTraffic(before: Readonly<Record<TrafficPeriod, number>>, limit: number): Promise<number>;
}

/** See {@link Traffic}. */
export type TrafficPeriod = 'minute' | 'hour' | 'day';

/** Counts of mail that is alike, in one minute. */
export interface TrafficCount extends TrafficKind {
  readonly minute: number;
  readonly sums: TrafficSums;
}

/** Replies of one group to mail that is alike, in one hour. */
export interface ReplyCount extends TrafficKind {
  readonly hour: number;
  /** Recipients that it left waiting, ended, or gave back after they had been taken. */
  readonly deferred: number;
  readonly failed: number;
  readonly bounced: number;
  /** See `reply-group.ts`. */
  readonly group: string;
  readonly example: string;
  /** The message of the example. */
  readonly messageId: string;
}

/** Which counts to read: of consecutive periods, and only of mail that is so in all of these dimensions. */
export interface TrafficRange {
  readonly period: TrafficPeriod;
  readonly from: number;
  readonly count: number;
  readonly where: Readonly<Partial<Record<TrafficDimension, string>>>;
}

/** Which rows to make of them. */
export interface TrafficQuery extends TrafficRange {
  /** Null: no rows. */
  readonly by: TrafficDimension | null;
  /** Most rows, and most groups of replies. */
  readonly limit: number;
  /** Leaves out what costs more to read: `ended` of the rows, and the replies. Both are then empty. */
  readonly sumsOnly?: boolean;
}

/** What was counted. */
export interface TrafficFound {
  /** Those of periods in which anything was. */
  readonly steps: readonly { readonly start: number; readonly sums: TrafficSums }[];
  /** By what was asked for, the most mail first. The empty name is that of mail without. */
  readonly rows: readonly {
    readonly name: string;
    readonly sums: TrafficSums;
    /** Recipients with an end in each of at most 60 equal parts of the time; empty: there are too many to tell. */
    readonly ended: readonly number[];
  }[];
  /** What is not told apart by it; null: nothing. */
  readonly others: TrafficSums | null;
  /** Names that are not among the rows. */
  readonly moreNames: number;
  /** Groups of replies, the most frequent first. */
  readonly replies: readonly FoundReply[];
}

/** A group of replies. */
export interface FoundReply
  extends Pick<ReplyCount, 'deferred' | 'failed' | 'bounced' | 'example' | 'messageId'> {
  /** `OTHERS`: those that are not told apart. */
  readonly group: string;
}
