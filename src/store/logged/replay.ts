import type { FactLog } from '../../spool/spool.ts';
import type { Applying } from '../applying.ts';

/** Facts in one transaction, apart from what one flush adds. */
const FACTS_AT_ONCE = 5_000;

/**
 * Writes into the database the facts that only the log has, as a dead process left it. To be done before anybody asks
 * the database anything. Returns the number of facts. Rejects with `SpoolError`, `StoreError`.
 */
export async function replay(log: FactLog, applying: Applying): Promise<number> {
  const mark = await applying.logMark();
  let count = 0;
  let from = mark;
  let waiting: string[] = [];
  // The database writes while the next facts are read.
  let writing: Promise<unknown> = Promise.resolve();
  try {
    if (mark !== null)
      for await (const { facts, end } of log.factsAfter(mark)) {
        waiting.push(...facts);
        if (waiting.length < FACTS_AT_ONCE) continue;
        await writing;
        writing = applying.apply(waiting, from, end, []);
        // The next await reports the failure.
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
