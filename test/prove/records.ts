/** What was proved so far: one line of `docs/evidence.jsonl` a run, so that a later session, or another machine, goes on from there. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SINCE, type Step } from './steps.ts';

/** Where runs are kept. */
const RECORDS = fileURLToPath(new URL('../../docs/evidence.jsonl', import.meta.url));

const figures = z.record(z.string(), z.number());
const machine = z.strictObject({
  cpu: z.string(),
  cores: z.number(),
  node: z.string(),
  kernel: z.string(),
  memoryGiB: z.number().optional(),
  commit: z.string(),
});
const record = z.strictObject({
  /** When it began. */
  at: z.iso.datetime(),
  step: z.string(),
  /** How often, after how many by the runs before it. */
  count: z.number(),
  before: z.number(),
  seconds: z.number(),
  passed: z.boolean(),
  machine,
  /** The command that repeats it. */
  command: z.string(),
  told: z.array(z.strictObject({ proof: z.string(), figures, most: figures })),
});

/** One run of a step. */
export type Run = z.infer<typeof record>;

/** All runs that were kept. */
export function readRuns(file = RECORDS): Run[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => record.parse(JSON.parse(line)));
}

/** Keeps one more. */
export function keepRun(run: Run, file = RECORDS): void {
  appendFileSync(file, `${JSON.stringify(run)}\n`);
}

/** Those of these runs that count: none before `since`, an ISO time. */
export function countedOf(runs: readonly Run[], since = SINCE): Run[] {
  return runs.filter(({ at }) => Date.parse(at) >= Date.parse(since));
}

/** How often a step was done and went well in runs that count; a whole one, how far it came at once. */
export function doneOf(step: Step, runs: readonly Run[], since = SINCE): number {
  const passed = countedOf(runs, since).filter((run) => run.step === step.name && run.passed);
  if (step.whole === true) return Math.max(0, ...passed.map(({ count }) => count));
  return sumOf(passed, ({ count }) => count);
}

/** Where the next run of a step begins: behind all before it, those that failed too. */
export function nextOf(step: Step, runs: readonly Run[]): number {
  return Math.max(0, ...runs.filter((run) => run.step === step.name).map((run) => run.before + run.count));
}

/** The sum of something over runs. */
export function sumOf(runs: readonly Run[], of: (run: Run) => number): number {
  return runs.reduce((sum, run) => sum + of(run), 0);
}
