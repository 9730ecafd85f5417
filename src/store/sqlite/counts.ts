import type { CountedEvent, Period } from '../counting.ts';
import { addMinutes, type CountRow, countsOf } from '../periods.ts';
import type { CountRange } from '../views.ts';
import type { Driver } from './driver.ts';
import type { InSnapshot } from './snapshot.ts';

/** Builds the view `counts`. It reads the counters of the range, and for hours the minutes of those that are not over. */
export function countsView(
  db: Driver,
  inSnapshot: InSnapshot,
): (range: CountRange) => ReadonlyMap<CountedEvent, readonly number[]> {
  const sql = prepareCounts(db);
  return (range) =>
    inSnapshot(() => {
      const { period, from, count } = range;
      const relay = range.relay ?? '';
      const rows: CountRow[] = sql.range.all(period, from, from + count, relay);
      if (period !== 'hour') return countsOf(rows, range);
      const summed = Math.max(from, sql.lastHour.get()?.[0] ?? 0);
      const minutes = sql.minutes.all(summed * 60, (from + count) * 60, relay);
      return countsOf(addMinutes(rows, minutes), range);
    });
}

function prepareCounts(db: Driver) {
  return {
    range: db.prepare<
      [period: Period, from: number, until: number, relay: string],
      [start: number, event: CountedEvent, count: number]
    >(
      `SELECT start, event, sum(count) FROM counters
       WHERE period = ? AND start >= ? AND start < ? AND relay = ? GROUP BY start, event`,
    ),
    lastHour: db.prepare<[], [hour: number | null]>(`SELECT max(start) FROM counters WHERE period = 'hour'`),
    minutes: db.prepare<
      [from: number, until: number, relay: string],
      [hour: number, event: CountedEvent, count: number]
    >(
      `SELECT start / 60, event, sum(count) FROM counters
       WHERE period = 'minute' AND start >= ? AND start < ? AND relay = ? GROUP BY start / 60, event`,
    ),
  };
}
