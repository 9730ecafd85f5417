import { yieldToLoop } from './clock.ts';

/**
 * Long work in slices: it yields where everybody else may have a turn, and returns its result. What is short never
 * yields, and then costs no turn of the loop.
 */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Bytes of text that are worked on before everybody else has a turn: a few milliseconds of the slowest work. */
export const SLICE_BYTES = 1024 * 1024;

/** Does the work, giving the event loop a turn between its slices. Rejects with what the work throws. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    await yieldToLoop();
    step = work.next();
  }
  return step.value;
}

/** Does the work without a pause, where nobody waits for a turn. */
export function atOnce<T>(work: Sliced<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
