import type { FactLog } from '../../spool/spool.ts';
import type { Applying } from '../applying.ts';

/** Facts that go into one transaction, and what one flush adds to them. */
const FACTS_AT_ONCE = 5_000;

/**
 * Writes into the database what a log holds that is not there yet, as a process that died has left it. To be done before
 * anybody asks the database anything. Returns how many facts there were. Rejects with `SpoolError`, `StoreError`.
 */
export async function replay(log: FactLog, applying: Applying): Promise<number> {
  const mark = await applying.logMark();
  let count = 0;
  let from = mark;
  let waiting: string[] = [];
  // The database writes while the log is read on.
  let writing: Promise<unknown> = Promise.resolve();
  try {
    if (mark !== null)
      for await (const { facts, end } of log.factsAfter(mark)) {
        waiting.push(...facts);
        if (waiting.length < FACTS_AT_ONCE) continue;
        await writing;
        writing = applying.apply(waiting, from, end, []);
        // Whoever awaits it next is told.
        writing.catch(() => {});
        from = end;
        count += waiting.length;
        waiting = [];
      }
  } finally {
    await writing;
  }
  await applying.apply(waiting, from, log.beginning(), []);
  return count + waiting.length;
}
