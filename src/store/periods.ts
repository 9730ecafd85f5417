import type { CountedEvent } from './counting.ts';
import type { CountRange } from './views.ts';

/** Counters over time, for every store. */

/** The count of an event in one period. */
export type CountRow = readonly [start: number, event: CountedEvent, count: number];

/** Turns rows of a range into one list per event. */
export function countsOf(
  rows: readonly CountRow[],
  { from, count }: CountRange,
): ReadonlyMap<CountedEvent, readonly number[]> {
  const counts = new Map<CountedEvent, number[]>();
  for (const [start, event, number] of rows) {
    const known = counts.get(event) ?? Array.from({ length: count }, () => 0);
    counts.set(event, known);
    known[start - from] = number;
  }
  return counts;
}

/**
 * Adds hours summed from minutes: hours that are not over, or were not summed when they ended. If both are known, the
 * larger is right.
 */
export function addMinutes(hours: readonly CountRow[], sums: readonly CountRow[]): CountRow[] {
  const rows = new Map(hours.map((row) => [`${row[0]} ${row[1]}`, row]));
  for (const row of sums) {
    const name = `${row[0]} ${row[1]}`;
    const known = rows.get(name)?.[2] ?? 0;
    if (row[2] > known) rows.set(name, row);
  }
  return [...rows.values()];
}
