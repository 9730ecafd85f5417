import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Journal } from '../store/journal.ts';

/** What keeping the journal short needs. */
export interface JournalUpkeep {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** `retention.activity_days`, now. */
  readonly days: () => number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** Entries that one transaction forgets. */
const BATCH = 500;

/** Forgets what the journal need not keep any longer, at once and every hour. Resolves some time after the signal aborts. */
export async function keepJournal({ journal, clock, log, days, signal }: JournalUpkeep): Promise<void> {
  while (!signal.aborted) {
    try {
      const before = clock.wall() - days() * DAY_MS;
      let forgotten = BATCH;
      while (forgotten === BATCH && !signal.aborted) forgotten = await journal.forgetEntries(before, BATCH);
    } catch (error) {
      log.warn('journal.not_shortened', { message: error instanceof Error ? error.message : String(error) });
    }
    await clock.sleep(EVERY_MS, signal);
  }
}
