import type { LogPlace } from '../../domain/log-place.ts';
import type { FactLog } from '../../spool/spool.ts';
import type { Applying, Contradiction } from '../applying.ts';

/** Facts in one transaction, apart from what one flush adds. */
const FACTS_AT_ONCE = 5_000;

/** Called with what contradicts the database, once all the rest is written that was read with it. */
type Left = (contradictions: readonly Contradiction[]) => void;

/**
 * Writes into the database the facts that only the log has, as a dead process left it. To be done before anybody asks
 * the database anything. Returns the number of facts. A fact that contradicts the database is left out where `left` is
 * given, as `Applying.applyLeft` says; otherwise the call rejects. Rejects with `SpoolError`, `StoreError`.
 */
export async function replay(log: FactLog, applying: Applying, left?: Left): Promise<number> {
  const write = async (facts: readonly string[], from: LogPlace | null, end: LogPlace) => {
    if (left === undefined) await applying.apply(facts, from, end, []);
    else left(await applying.applyLeft(facts, from, end));
  };
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
        writing = write(waiting, from, end);
        // The next await reports the failure.
        writing.catch(() => {});
        from = end;
        count += waiting.length;
        waiting = [];
      }
  } finally {
    await writing;
  }
  await write(waiting, from, log.beginning());
  return count + waiting.length;
}
