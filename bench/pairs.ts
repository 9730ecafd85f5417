import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Sample, Scenario, Side } from './scenarios/scenario.ts';

/** How much is done. */
export interface Effort {
  readonly pairs: number;
  readonly seconds: number;
  readonly messages: number;
}

/** What a side's runs gave, in the order of the pairs. */
export interface SideResult {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** How many messages the run sends in which only flushes are counted. */
const TRACED_MESSAGES = 5000;
const TRACED_SECONDS = 3;

/**
 * Runs a scenario: A B A B …, so that whatever else the machine does meets both alike, after one short run of
 * A in which only its flushes are counted (when `trace`). `progress` is told of each run.
 */
export async function runPairs(
  scenario: Scenario,
  effort: Effort,
  trace: boolean,
  progress: (text: string) => void,
): Promise<SideResult[]> {
  const sides = scenario.sides.filter((side) => isHere(side, progress));
  const results = sides.map((side) => ({ name: side.name, samples: [] as Sample[] }));
  for (let pair = 1; pair <= effort.pairs; pair++) {
    for (const [index, side] of sides.entries()) {
      progress(`${scenario.name}: pair ${pair} of ${effort.pairs}, ${side.name}`);
      results[index]?.samples.push(await runOnce(side, effort, false));
    }
  }
  if (trace) await addFlushes(scenario, sides, results, progress);
  return results;
}

/** Counts flushes in a run of their own per side that has any, and puts them into each of its samples. */
async function addFlushes(
  scenario: Scenario,
  sides: readonly Side[],
  results: { samples: Sample[] }[],
  progress: (text: string) => void,
): Promise<void> {
  for (const [index, side] of sides.entries()) {
    const result = results[index];
    if (!result?.samples.some((sample) => sample.flushesPerMessage !== undefined)) continue;
    progress(`${scenario.name}: counting flushes, ${side.name}`);
    const counted = await runOnce(
      side,
      { pairs: 1, seconds: TRACED_SECONDS, messages: TRACED_MESSAGES },
      true,
    );
    const { flushesPerMessage = Number.NaN } = counted;
    result.samples = result.samples.map((sample) => ({ ...sample, flushesPerMessage }));
  }
}

function isHere(side: Side, progress: (text: string) => void): boolean {
  const missing = side.missing();
  if (missing !== null) progress(`${side.name} is left out: ${missing}`);
  return missing === null;
}

async function runOnce(side: Side, { seconds, messages }: Effort, trace: boolean): Promise<Sample> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'waybill-bench-'));
  try {
    return await side.run({ directory, seconds, messages, trace });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
