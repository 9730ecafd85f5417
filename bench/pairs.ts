import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Sample, Scenario, Side } from './scenarios/scenario.ts';
import { killAll } from './systems/child.ts';

/** How much is done. */
export interface Effort {
  readonly pairs: number;
  readonly seconds: number;
  readonly messages: number;
  /** Messages that are stored or queued, where that is what a scenario is about. */
  readonly deep: number;
}

/** What a side's runs gave, in the order of the pairs. */
export interface SideResult {
  readonly name: string;
  readonly samples: readonly Sample[];
  /** Why it has no samples, or fewer than others. */
  readonly missing?: string;
}

/** V8 goes on compiling for so many messages: in runs of 20,000 that were not warm it was most of what its helpers did. */
const WARM_UP_MESSAGES = 40_000;
/** Enough to have every process started. */
const WARM_UP_COMPILED = 2000;
/** How many messages the run sends in which only flushes are counted. */
const TRACED_MESSAGES = 5000;
const TRACED_SECONDS = 3;

/**
 * Runs a scenario: A B A B …, so that whatever else the machine does meets both alike, then one short run of each
 * in which only its flushes are counted (when `trace`). A side whose run fails has no further runs. `progress` is
 * told of each run.
 */
export async function runPairs(
  scenario: Scenario,
  effort: Effort,
  trace: boolean,
  progress: (text: string) => void,
): Promise<SideResult[]> {
  const pairs = Math.min(effort.pairs, scenario.mostPairs ?? effort.pairs);
  const played = scenario.sides.map((side) => new Played(scenario, side, effort, progress));
  for (let pair = 1; pair <= pairs; pair++)
    for (const each of played) await each.run(`pair ${pair} of ${pairs}`);
  if (trace) for (const each of played) await each.countFlushes();
  return played.map((each) => each.result());
}

/** One side while it is played. */
class Played {
  readonly #scenario: Scenario;
  readonly #side: Side;
  readonly #effort: Effort;
  readonly #progress: (text: string) => void;
  #samples: Sample[] = [];
  #missing: string | null;

  constructor(scenario: Scenario, side: Side, effort: Effort, progress: (text: string) => void) {
    this.#scenario = scenario;
    this.#side = side;
    this.#effort = effort;
    this.#progress = progress;
    this.#missing = side.missing();
    if (this.#missing !== null) progress(`${side.name} is left out: ${this.#missing}`);
  }

  /** A run that counts. */
  async run(which: string): Promise<void> {
    const sample = await this.#attempt(which, this.#effort, false);
    if (sample !== null) this.#samples.push(sample);
  }

  /** Counts flushes in a run of their own, and puts them into each sample, of a side that has any. */
  async countFlushes(): Promise<void> {
    if (!this.#samples.some((sample) => sample.flushesPerMessage !== undefined)) return;
    const { messages } = this.#effort;
    const short = { seconds: TRACED_SECONDS, messages: Math.min(messages, TRACED_MESSAGES) };
    const counted = await this.#attempt('counting flushes', { ...this.#effort, ...short }, true);
    const flushesPerMessage = counted?.flushesPerMessage ?? Number.NaN;
    this.#samples = this.#samples.map((sample) => ({ ...sample, flushesPerMessage }));
  }

  result(): SideResult {
    const { name } = this.#side;
    const missing = this.#missing === null ? {} : { missing: this.#missing };
    return { name, samples: this.#samples, ...missing };
  }

  async #attempt(which: string, effort: Effort, trace: boolean): Promise<Sample | null> {
    if (this.#missing !== null) return null;
    const begin = performance.now();
    try {
      const sample = await runOnce(this.#side, effort, trace);
      const seconds = ((performance.now() - begin) / 1000).toFixed(0);
      this.#progress(`${this.#scenario.name}: ${which}, ${this.#side.name} (${seconds} s)`);
      return sample;
    } catch (error) {
      this.#missing = `a run failed: ${error instanceof Error ? error.message : String(error)}`;
      this.#progress(`${this.#scenario.name}: ${which}, ${this.#side.name}: ${this.#missing}`);
      return null;
    }
  }
}

async function runOnce(side: Side, { seconds, messages, deep }: Effort, trace: boolean): Promise<Sample> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'waybill-bench-'));
  try {
    return await side.run({ directory, seconds, messages, deep, trace, warmUp: warmUpOf(side, messages) });
  } finally {
    // Whatever it left running would meet the next.
    await killAll();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** In a run of so many messages, how many are sent first, so that code is compiled and processes are started. */
function warmUpOf({ isCompiled }: Side, messages: number): number {
  return isCompiled === true
    ? Math.min(WARM_UP_COMPILED, Math.ceil(messages / 4))
    : Math.min(WARM_UP_MESSAGES, 2 * messages);
}
