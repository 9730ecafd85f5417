import type { CountedEvent } from './counting.ts';
import type { CountRange } from './views.ts';

/** Counters over time, whatever the store they are read from. */

/** What was counted of an event within one period. */
export type CountRow = readonly [start: number, event: CountedEvent, count: number];

/** The rows of a range as one list for each event. */
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

/** Hours, and those that were not summed when they were over, or are not over yet. Where both are known, more is right. */
export function addMinutes(hours: readonly CountRow[], sums: readonly CountRow[]): CountRow[] {
  const rows = new Map(hours.map((row) => [`${row[0]} ${row[1]}`, row]));
  for (const row of sums) {
    const name = `${row[0]} ${row[1]}`;
    const known = rows.get(name)?.[2] ?? 0;
    if (row[2] > known) rows.set(name, row);
  }
  return [...rows.values()];
}
