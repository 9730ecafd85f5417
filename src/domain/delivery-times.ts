/** How long mail took to be delivered: counted in fixed buckets, so that counts of different times can be added up. */

/** The ends of the buckets, in ms; what took longer than the last is in one more. */
// biome-ignore format: one line
const ENDS_MS = [
  100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
  60_000, 120_000, 300_000, 900_000, 1_800_000, 3_600_000, 14_400_000, 43_200_000,
] as const;

/** How many buckets there are. */
export const TIME_BUCKETS = ENDS_MS.length + 1;

/** The longest time that is told apart from longer ones, in ms. */
export const LONGEST_TIME_MS = ENDS_MS.at(-1) ?? 0;

/** Where a time (ms) counts. One below zero, as clocks differ, counts as none. */
export function timeBucketOf(ms: number): number {
  const place = ENDS_MS.findIndex((end) => ms <= end);
  return place === -1 ? ENDS_MS.length : place;
}

/**
 * The time (ms) within which a share of deliveries (0 to 1) was made, from their counts by bucket; within a bucket they
 * are taken as evenly spread. Null: there were none. Beyond the last end it is {@link LONGEST_TIME_MS}.
 */
export function timeWithin(share: number, counts: readonly number[]): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  let start = 0;
  for (const [place, end] of ENDS_MS.entries()) {
    const count = counts[place] ?? 0;
    if (count > 0 && left <= count) return Math.round(start + (end - start) * (left / count));
    left -= count;
    start = end;
  }
  return LONGEST_TIME_MS;
}
