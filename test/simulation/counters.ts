import { dayOf } from '../../src/domain/quota.ts';
import type { Views } from '../../src/store/views.ts';
import { InvariantBroken } from './statuses.ts';

/** How far back from the end counters are read, and how far ahead: clocks were wrong by hours. */
const DAYS = 4;

/** What was seen to happen to messages. */
export interface Happened {
  readonly received: number;
  /** How often one became so. */
  readonly delivered: number;
  readonly failed: number;
}

/** What the store counted is what was seen, each once; `now`: wall ms at the end. */
export async function checkCounters(
  views: Views,
  happened: Happened,
  flagged: number,
  now: number,
): Promise<void> {
  const range = { period: 'day', from: dayOf(now) - DAYS, count: 2 * DAYS, relay: null } as const;
  const counters = await views.counts(range);
  for (const event of ['received', 'delivered', 'failed'] as const) {
    const counted = (counters.get(event) ?? []).reduce((sum, count) => sum + count, 0);
    if (counted !== happened[event])
      throw new InvariantBroken(
        `${event} was counted ${counted} times, and happened ${happened[event]} times`,
      );
  }
  const { possibleDuplicates } = await views.figures(now);
  if (possibleDuplicates !== flagged)
    throw new InvariantBroken(`${possibleDuplicates} possible duplicates were counted, of ${flagged}`);
}
