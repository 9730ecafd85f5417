/**
 * Gives parsers inputs by the thousand: first every stored example, then half of them made by the grammar's own generator,
 * half of them stored examples, changed. README.md tells how a failure is replayed and kept.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { before, tell, times } from '../support/proof.ts';
import { type Corpus, examplesIn, MAX_EXAMPLE_BYTES } from './corpus.ts';
import { Dice } from './dice.ts';
import { mutate } from './mutate.ts';
import { MAX_MS, processorTime } from './processor-time.ts';
import { commandFor, keepingOf, type Replay, replayed, smallest } from './replay.ts';
import { watchdog } from './watchdog.ts';

/** Inputs that every parser gets. */
export const INPUTS = times('fuzz_inputs', 200);
/** Inputs between two looks at what is left to do; of each, generators begin anew with small ones. */
const ROUND = 1000;
/** What the heap may gain from the first thousands of inputs to the last: code, not inputs. */
const MAX_GAIN_BYTES = 24 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
vi.setConfig({ testTimeout: 120_000 + 20 * INPUTS });

/** Where inputs come from. */
export interface Inputs<T> {
  readonly made: fc.Arbitrary<T>;
  readonly corpus: Corpus<T>;
}

/** Checks what must be so of an input and tells whether it was taken. What it throws is a failure. */
export type Holds<T> = (input: T) => boolean | Promise<boolean>;

/**
 * Gives a parser {@link INPUTS} inputs, and tells how many were taken: that some are, and not all, shows that the inputs are
 * neither noise nor harmless. None may take over a second of the processor, and the heap may not grow with their number.
 */
export async function fuzz<T>(parser: string, inputs: Inputs<T>, holds: Holds<T>): Promise<void> {
  const run = new Run(inputs, holds);
  const wanted = replayed();
  if (wanted !== null) return run.again(wanted);
  await run.examples();
  const half = Math.ceil(INPUTS / 2);
  let gain: number | null = null;
  for (let done = 0; done < half; done += ROUND) {
    const seed = before() + done;
    const count = Math.min(ROUND, half - done);
    await run.made(seed, count);
    await run.changed(seed, count);
    gain ??= -heldBytes();
  }
  gain = (gain ?? 0) + heldBytes();
  expect(gain, 'bytes of heap gained').toBeLessThan(MAX_GAIN_BYTES);
  expect(run.taken).toBeGreaterThan(0);
  expect(run.taken).toBeLessThan(run.given);
  tell(
    `fuzz: ${parser}`,
    { inputs: run.given, taken: run.taken },
    { 'ms of the slowest': Math.ceil(run.slowestMs) },
  );
}

class Run<T> {
  given = 0;
  taken = 0;
  slowestMs = 0;
  readonly #inputs: Inputs<T>;
  readonly #holds: Holds<T>;
  readonly #examples: readonly Buffer[];

  constructor(inputs: Inputs<T>, holds: Holds<T>) {
    this.#inputs = inputs;
    this.#holds = holds;
    this.#examples = examplesIn(inputs.corpus.folder).map(({ bytes }) => bytes);
  }

  /** Those that are stored, as they are; only the one at `only` where one is asked for. */
  async examples(only?: number): Promise<void> {
    for (const [index, bytes] of this.#examples.entries()) {
      if (only !== undefined && index !== only) continue;
      watchdog.see('example', 0, index);
      await this.#bytes(bytes, 0);
    }
    watchdog.see('none', 0, 0);
  }

  /** Those of the generator; a failure is made small by it. */
  async made(seed: number, count: number, path?: string): Promise<void> {
    let index = 0;
    const property = fc.asyncProperty(this.#inputs.made, async (input) => {
      watchdog.see('made', seed, index++);
      await this.#one(input);
    });
    const numRuns = Math.max(1, count);
    const found = await fc.check(property, { seed, numRuns, ...(path === undefined ? {} : { path }) });
    watchdog.see('none', 0, 0);
    if (!found.failed) return;
    const shown = fc.stringify(found.counterexample).slice(0, 2000);
    throw failure(found.errorInstance, shown, {
      way: 'made',
      seed,
      path: found.counterexamplePath ?? '0',
    });
  }

  /** Examples, changed; a failure is made small by leaving out what is not needed. */
  async changed(seed: number, count: number, from = 0): Promise<void> {
    for (let index = from; index < from + count; index++) {
      watchdog.see('changed', seed, index);
      // Every pair has dice of its own, so that one can be replayed by itself.
      const dice = new Dice(seed * 2 + index);
      const bytes = mutate(dice, this.#examples, this.#inputs.corpus.maxBytes);
      await this.#bytes(bytes, dice.below(1000), { way: 'changed', seed, index });
    }
    watchdog.see('none', 0, 0);
  }

  async again(wanted: Replay): Promise<void> {
    if (wanted.way === 'bytes') return this.#bytes(wanted.bytes, wanted.throws);
    if (wanted.way === 'example') return this.examples(wanted.index);
    if (wanted.way === 'changed') return this.changed(wanted.seed, 1, wanted.index);
    return this.made(wanted.seed, ROUND, wanted.path);
  }

  /** `origin` is how an input that is too long for a command is replayed. */
  async #bytes(bytes: Buffer, throws: number, origin?: Replay): Promise<void> {
    const { corpus } = this.#inputs;
    try {
      await this.#one(corpus.read(bytes, new Dice(throws)));
    } catch (error) {
      const least = await smallest(bytes, error, async (fewer) => {
        await this.#one(corpus.read(fewer, new Dice(throws)));
      });
      const asBytes: Replay = { way: 'bytes', bytes: least, throws };
      const replay = least.length > MAX_EXAMPLE_BYTES ? (origin ?? asBytes) : asBytes;
      const shown = `${JSON.stringify(least.toString('latin1')).slice(0, 2000)}\n${keepingOf(least, corpus.folder)}`;
      throw failure(error, shown, replay);
    }
  }

  async #one(input: T): Promise<void> {
    this.given += 1;
    const spent = processorTime();
    const isTaken = await this.#holds(input);
    const ms = spent();
    if (ms > this.slowestMs) this.slowestMs = ms;
    if (ms > MAX_MS) throw new Error(`it took ${Math.round(ms)} ms of the processor`);
    if (isTaken) this.taken += 1;
  }
}

/** What is in use when nothing is left over. The first collection frees the memory of buffers only later; the second waits for that. */
function heldBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function failure(cause: unknown, shown: string, replay: Replay): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`${reason}\nof the input ${shown}\n${commandFor(replay)}`, { cause });
}
