import type { Progress } from '../operations/operation.ts';
import type { CommonOptions, Context } from './context.ts';

/** What a person is told of a step. */
export interface StepText {
  /** What is being done; told at once when it changes. */
  readonly title: string;
  /** How far it is, such as `34 % of 2 GiB`; empty where nobody knows. */
  readonly share: string;
}

/** A person is told so often. */
const TELL_EVERY_MS = 2_000;

/** Tells a person on a terminal how far something is that takes a while; nobody else. */
export function stepTeller<Step>(
  { terminal, clock }: Context,
  { json }: CommonOptions,
  textOf: (step: Step) => StepText,
): Progress<Step> {
  let told: string | null = null;
  let toldAt = 0;
  return {
    signal: new AbortController().signal,
    tell: (step) => {
      if (json || terminal.columns() === null) return;
      const now = clock.mono();
      const { title, share } = textOf(step);
      if (title === told && now - toldAt < TELL_EVERY_MS) return;
      told = title;
      toldAt = now;
      terminal.err(`${title}${share === '' ? '' : `: ${share}`} …`);
    },
  };
}

/** How much of something is done, in percent. */
export function percentOf(done: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
}
