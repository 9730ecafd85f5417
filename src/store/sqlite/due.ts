import { ranksOf } from '../columns.ts';
import type { Driver } from './driver.ts';

/** Builds the look at when the first waiting delivery of a lane comes due (wall ms); null when none waits. */
export function firstDueOf(db: Driver): (lane: string) => number | null {
  const byRank = db.prepare<[lane: string, rank: number], [dueAt: number]>(
    `SELECT due_at FROM deliveries INDEXED BY deliveries_waiting
     WHERE lane = (SELECT ?) AND priority = (SELECT ?) AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  );
  return (lane) => {
    let first: number | null = null;
    for (const rank of ranksOf('high_first')) {
      const dueAt = byRank.get(lane, rank)?.[0];
      if (dueAt !== undefined && (first === null || dueAt < first)) first = dueAt;
    }
    return first;
  };
}
