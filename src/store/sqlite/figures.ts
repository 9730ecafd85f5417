import { type CountedEvent, dayOf, type GaugeName, minuteOf, RECENT_MINUTES } from '../counting.ts';
import type { Figures } from '../views.ts';
import type { Driver } from './driver.ts';
import type { InSnapshot } from './snapshot.ts';

/** Builds the view `figures`: counters and gauges read as they are, nothing counted. */
export function figuresView(db: Driver, inSnapshot: InSnapshot): (now: number) => Figures {
  const sql = prepareFigures(db);
  return (now) =>
    inSnapshot(() => {
      const today = sums('day', dayOf(now));
      const recent = sums('minute', minuteOf(now) - RECENT_MINUTES + 1);
      const gauges = new Map(sql.gauges.all());
      const gauge = (name: GaugeName) => gauges.get(name) ?? 0;
      return {
        today: {
          received: today('received'),
          delivered: today('delivered'),
          failed: today('failed'),
          retried: today('retried'),
          denied: today('denied'),
        },
        last5m: { received: recent('received'), sent: recent('delivered') },
        spool: {
          incoming: gauge('incoming'),
          processing: gauge('processing'),
          failed: gauge('failed_kept'),
        },
        relays: relaysOf(now),
        queuedBytes: gauge('queued_bytes'),
        sentBytes: gauge('sent_bytes'),
        capturedBytes: gauge('captured_bytes'),
        oldestDueAt: sql.oldestDue.get(now)?.[0] ?? null,
        possibleDuplicates: gauge('possible_duplicates'),
        restored: gauge('restored'),
        databaseBytes: sql.bytes.get()?.[0] ?? 0,
      };
    });

  function sums(period: 'day' | 'minute', since: number): (event: CountedEvent) => number {
    const counts = new Map(sql.sums.all(period, since));
    return (event) => counts.get(event) ?? 0;
  }

  function relaysOf(now: number): Figures['relays'] {
    const relays: Record<string, { delivered: number; failed: number }> = {};
    for (const [relay, delivered, failed] of sql.relays.all(dayOf(now)))
      relays[relay] = { delivered, failed };
    return relays;
  }
}

function prepareFigures(db: Driver) {
  return {
    sums: db.prepare<[period: string, since: number], [event: string, count: number]>(
      'SELECT event, sum(count) FROM counters WHERE period = ? AND start >= ? GROUP BY event',
    ),
    relays: db.prepare<[day: number], [relay: string, delivered: number, failed: number]>(
      `SELECT relay, sum(iif(event = 'relay_delivered', count, 0)), sum(iif(event = 'relay_failed', count, 0))
       FROM counters WHERE period = 'day' AND start >= ? AND relay <> '' GROUP BY relay`,
    ),
    gauges: db.prepare<[], [name: string, value: number]>('SELECT name, value FROM gauges'),
    oldestDue: db.prepare<[now: number], [dueAt: number | null]>(
      'SELECT min(first_due) FROM lanes WHERE first_due <= ?',
    ),
    bytes: db.prepare<[], [bytes: number]>(
      'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()',
    ),
  };
}
