/**
 * What more cores would do, from what a message was measured to cost each thread: `node bench/cores.ts`. A model, not a
 * measurement: threads share the cores fairly, everybody who waits shares a flush, and nothing else is in the way.
 */

/** CPU that a message costs each thread, and what a flush takes, in µs. */
export interface Costs {
  /** Taking it: in the thread that delivers too where that takes mail itself. */
  readonly taking: number;
  /** What the way between threads adds to the one that takes and to the one that delivers. */
  readonly handing: readonly [taking: number, delivering: number];
  readonly delivering: number;
  readonly store: number;
  /** Flushes, garbage collection and compiling, in threads of libuv and V8. */
  readonly helpers: number;
  /** Load and sink, where they run on the same cores. */
  readonly outside: number;
  /** A flush of the log: time, no CPU. */
  readonly flush: number;
}

/** A machine, and how it is used. */
export interface Plan {
  readonly cores: number;
  /** `threads.ingest`. */
  readonly threads: number;
  /** Messages under way at once. */
  readonly sessions: number;
}

/** What comes of it. */
export interface Forecast {
  readonly perSecond: number;
  /** How busy the thread that delivers is: 1 is all of its time. */
  readonly delivering: number;
  /** How busy the cores are together. */
  readonly cores: number;
}

/** Helpers of V8 and libuv that work side by side. */
const HELPERS = 4;
/** Messages that the store may be behind; beyond it intake waits. */
const MAX_BEHIND = 2_000;
/** The steps of the simulation, and how long it goes on, in µs. The first tenth is not counted. */
const STEP = 5;
const DURATION = 400_000;

interface Job {
  left: number;
  readonly done: () => void;
}

/** Works on one job after the other, when it has a core. */
class Thread {
  readonly #jobs: Job[] = [];
  busy = 0;

  get isIdle(): boolean {
    return this.#jobs.length === 0;
  }

  add(cost: number, done: () => void = () => {}): void {
    if (cost > 0) this.#jobs.push({ left: cost, done });
    else done();
  }

  work(): void {
    this.busy += STEP;
    let time = STEP;
    for (let job = this.#jobs[0]; job !== undefined && time > 0; job = this.#jobs[0]) {
      const spent = Math.min(time, job.left);
      job.left -= spent;
      time -= spent;
      if (job.left > 0) return;
      this.#jobs.shift();
      job.done();
    }
  }
}

/** Plays it. */
export function forecast(costs: Costs, { cores, threads, sessions }: Plan): Forecast {
  const delivering = new Thread();
  const store = new Thread();
  const helpers = Array.from({ length: HELPERS }, () => new Thread());
  const outside = Array.from({ length: 2 }, () => new Thread());
  const apart = threads > 1;
  const taking = apart ? Array.from({ length: threads }, () => new Thread()) : [delivering];
  const all = [...new Set([delivering, store, ...helpers, ...outside, ...taking])];
  const [handingOver, takingOver] = apart ? costs.handing : [0, 0];

  let now = 0;
  let ended = 0;
  let stored = 0;
  let begun = 0;
  let flushEnds = Number.POSITIVE_INFINITY;
  let flushing: (() => void)[] = [];
  let waiting: (() => void)[] = [];
  const flushed = (next: () => void) => waiting.push(next);
  const held: (() => void)[] = [];

  const begin = (session: number): void => {
    const taker = taking[session % taking.length] ?? delivering;
    begun++;
    outside[session % outside.length]?.add(costs.outside, () =>
      taker.add(costs.taking + handingOver, () =>
        delivering.add(takingOver, () =>
          flushed(() =>
            delivering.add(costs.delivering, () =>
              flushed(() => {
                ended++;
                next(session);
              }),
            ),
          ),
        ),
      ),
    );
    helpers[begun % HELPERS]?.add(costs.helpers);
    store.add(costs.store, () => {
      stored++;
      held.shift()?.();
    });
  };
  const next = (session: number): void => {
    if (begun - stored < MAX_BEHIND) begin(session);
    else held.push(() => begin(session));
  };

  for (let session = 0; session < sessions; session++) begin(session);
  const from = DURATION / 10;
  let before = { ended: 0, delivering: 0, all: 0 };
  while (now < DURATION) {
    if (now === from) before = { ended, delivering: delivering.busy, all: busyOf(all) };
    if (now >= flushEnds) {
      for (const go of flushing) go();
      flushing = [];
      flushEnds = Number.POSITIVE_INFINITY;
    }
    if (flushing.length === 0 && waiting.length > 0) {
      [flushing, waiting] = [waiting, []];
      flushEnds = now + costs.flush;
    }
    // Who has had least goes first, as the kernel has it.
    const ready = all.filter((thread) => !thread.isIdle).sort((one, other) => one.busy - other.busy);
    for (const thread of ready.slice(0, cores)) thread.work();
    now += STEP;
  }
  const time = DURATION - from;
  return {
    perSecond: Math.round(((ended - before.ended) * 1e6) / time),
    delivering: (delivering.busy - before.delivering) / time,
    cores: (busyOf(all) - before.all) / time / cores,
  };
}

function busyOf(threads: readonly Thread[]): number {
  return threads.reduce((sum, { busy }) => sum + busy, 0);
}
