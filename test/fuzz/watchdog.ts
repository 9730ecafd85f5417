/** Tells which input a parser hangs on: the thread that hangs cannot. */
import { Worker } from 'node:worker_threads';

/** Far more than any input takes on any machine: it ends a run that would never end, and decides nothing else. */
const PATIENCE_MS = 180_000;

/** Runs in a thread of its own. Writes by the descriptor, since a stream would go through the thread that hangs. */
const WATCH = `
const { workerData: { counters, patienceMs, ways } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const seen = new Int32Array(counters);
let last = -1;
setInterval(() => {
  const now = Atomics.load(seen, 0);
  if (now !== last || Atomics.load(seen, 3) === 0) { last = now; return; }
  const replay = [ways[Atomics.load(seen, 3)], Atomics.load(seen, 1), Atomics.load(seen, 2)].join(':');
  writeSync(2, 'An input hangs: WAYBILL_FUZZ_INPUT=' + replay + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, patienceMs);
`;

/** How an input was come by: made by a generator, an example, or a changed one; by nothing while nothing is under way. */
export type Way = 'made' | 'example' | 'changed' | 'none';

/** Those that are under way come behind the first. */
const WAYS: readonly Way[] = ['none', 'made', 'example', 'changed'];

/** One for each file of tests. */
class Watchdog {
  readonly #counters = new Int32Array(new SharedArrayBuffer(16));
  #worker: Worker | null = null;

  /** The input that comes now: by its seed and its place behind it, an example by its place alone. */
  see(way: Way, seed: number, index: number): void {
    this.#worker ??= this.#start();
    this.#counters[1] = seed;
    this.#counters[2] = index;
    this.#counters[3] = WAYS.indexOf(way);
    Atomics.add(this.#counters, 0, 1);
  }

  #start(): Worker {
    const workerData = { counters: this.#counters.buffer, patienceMs: PATIENCE_MS, ways: WAYS };
    const worker = new Worker(WATCH, { eval: true, workerData });
    worker.unref();
    return worker;
  }
}

export const watchdog = new Watchdog();
