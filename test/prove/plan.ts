/** Which step goes on, and how much of it: so that all come forward alike, and each run takes minutes. */
import { doneOf, nextOf, type Run, sumOf } from './records.ts';
import type { Step } from './steps.ts';

/** How long a run should take: little is lost when it is broken off. */
const RUN_SECONDS = 240;

/** The next run. */
export interface Next {
  readonly step: Step;
  readonly count: number;
  readonly before: number;
}

/** What to do with the time that is left; null when no run fits into it, or all is done. */
export function planNext(steps: readonly Step[], runs: readonly Run[], secondsLeft: number): Next | null {
  const open = steps
    .map((step) => ({ step, share: doneOf(step, runs) / step.target }))
    .filter(({ share }) => share < 1)
    // Sorting keeps the order of those that are equally far.
    .sort((one, other) => one.share - other.share);
  for (const { step } of open) {
    const count = countFor(step, runs, secondsLeft);
    if (count !== null) return { step, count, before: nextOf(step, runs) };
  }
  return null;
}

/** How much of a step fits into a run; null when not even the least does. */
function countFor(step: Step, runs: readonly Run[], secondsLeft: number): number | null {
  const past = runs.filter((run) => run.step === step.name && run.passed);
  const seconds = sumOf(past, (run) => run.seconds);
  const left = step.target - doneOf(step, runs);
  if (step.whole === true) {
    const done = sumOf(past, ({ count }) => count);
    const takes = done > 0 ? (seconds / done) * step.target : (step.seconds ?? 0);
    return takes <= secondsLeft ? step.target : null;
  }
  // Never done: the least tells how fast it goes.
  if (past.length === 0) return secondsLeft > 0 ? step.least : null;
  const each = seconds / sumOf(past, ({ count }) => count);
  if (step.least * each > secondsLeft) return null;
  const fits = Math.floor(Math.min(RUN_SECONDS, secondsLeft) / each);
  return Math.max(step.least, Math.min(fits, left));
}
