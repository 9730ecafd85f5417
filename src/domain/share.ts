/** How nodes divide among them what a relay allows all of them together. */

/** A node's part: it is the `rank`th, from 0, of `of` that divide. */
export interface Share {
  readonly rank: number;
  readonly of: number;
}

/** Of a node that is the only one. */
export const WHOLE: Share = { rank: 0, of: 1 };
/** Of a node that may not have any yet. */
export const NOTHING: Share = { rank: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY };

/**
 * What of `limit` (a whole number) a share comes to: equal parts, and one more each to the first as long as any is left.
 * The parts of nodes that divide among different sets of nodes never come to more than the limit, as long as each of these
 * nodes is in the set of every other: to know of more nodes makes no part larger.
 */
export function shareOf(limit: number, { rank, of }: Share): number {
  return Math.floor(limit / of) + (rank < limit % of ? 1 : 0);
}
