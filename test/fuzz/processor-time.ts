/** Holds parsers to the time that they may take of the processor; what else the machine does meanwhile counts for nothing. */
import { expect } from 'vitest';

/** Ms of the processor that one input may take with all that is checked of it: far more than any takes in linear time. */
export const MAX_MS = 1000;
/** Characters of a long text: what takes the square of its length takes minutes. */
const LONG = 400_000;

/** Begins to measure. What it gives tells the ms that this thread has spent since then. */
export function processorTime(): () => number {
  const start = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  };
}

/** Does a piece of work, which must take less than {@link MAX_MS}. `what` names it in a failure. */
export function inTime(what: string, work: () => void): void {
  const spent = processorTime();
  work();
  expect(spent(), `ms of the processor for ${what}`).toBeLessThan(MAX_MS);
}

/** Gives a parser long texts, each of one unit over and over; each must take less than {@link MAX_MS}. */
export function inLinearTime(units: readonly string[], parse: (text: string) => void): void {
  for (const unit of units) {
    const text = unit.repeat(LONG / unit.length);
    inTime(`${JSON.stringify(unit)} over and over`, () => parse(text));
  }
}
