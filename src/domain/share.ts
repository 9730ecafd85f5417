/** How nodes divide the limits that a relay sets for all of them together. */

/** A node's share: it is the `rank`th, from 0, of `of` nodes. */
export interface Share {
  readonly rank: number;
  readonly of: number;
}

/** The share of a node that is alone. */
export const WHOLE: Share = { rank: 0, of: 1 };
/** The share of a node that may not have any yet. */
export const NOTHING: Share = { rank: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY };

/**
 * A share of `limit` (a whole number): equal parts, and the remainder one each to the first nodes. Shares of nodes that
 * divide among different sets of nodes never exceed the limit together, as long as each of these nodes is in the set of
 * every other: knowing more nodes makes no share larger.
 */
export function shareOf(limit: number, { rank, of }: Share): number {
  return Math.floor(limit / of) + (rank < limit % of ? 1 : 0);
}
