/**
 * What more cores would do, from what a message was measured to cost each thread: `node bench/cores.ts`. A model, not a
 * measurement: threads share the cores fairly, everybody who waits shares a flush, and nothing else is in the way.
 */

/** CPU that a message costs each thread, and what a flush takes, in µs. */
export interface Costs {
  /** Taking it, in the thread that delivers and in one of its own, which has less to do beside it. */
  readonly taking: { readonly together: number; readonly apart: number };
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
/** Load and sink, where they run on the same cores. */
const OUTSIDE = 2;
/** Messages that delivery, or the store, may be behind; beyond it intake waits. */
const MAX_BEHIND = 500;
/** Attempts at once: `max_concurrency` of the relay. */
const SLOTS = 20;
/** The steps of the simulation, and how long it goes on, in µs. The first half, in which a backlog settles, is not counted. */
const STEP = 5;
const DURATION = 2_000_000;

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

/** A flush at a time: who comes while one is under way shares the next. */
class Log {
  #waiting: (() => void)[] = [];
  #flushing: (() => void)[] = [];
  #endsAt = 0;

  flush(done: () => void): void {
    this.#waiting.push(done);
  }

  look(now: number, cost: number): void {
    if (this.#flushing.length > 0 && now < this.#endsAt) return;
    const done = this.#flushing;
    this.#flushing = [];
    for (const go of done) go();
    if (this.#waiting.length === 0) return;
    [this.#flushing, this.#waiting] = [this.#waiting, []];
    this.#endsAt = now + cost;
  }
}

/** Customers who hand in one message after the other, each when the one before has been taken, and a hop with so many slots. */
class World {
  readonly delivering = new Thread();
  readonly all: readonly Thread[];
  readonly log = new Log();
  ended = 0;
  readonly #costs: Costs;
  readonly #takingCost: number;
  readonly #store = new Thread();
  readonly #helpers = Array.from({ length: HELPERS }, () => new Thread());
  readonly #outside = Array.from({ length: OUTSIDE }, () => new Thread());
  readonly #taking: readonly Thread[];
  /** Messages that wait for a slot, and customers who wait until neither delivery nor the store is far behind. */
  readonly #waiting: (() => void)[] = [];
  readonly #held: (() => void)[] = [];
  #slots = SLOTS;
  #begun = 0;
  #stored = 0;

  constructor(costs: Costs, { threads, sessions }: Plan) {
    const apart = threads > 1;
    this.#costs = costs;
    this.#takingCost = apart ? costs.taking.apart : costs.taking.together;
    this.#taking = apart ? Array.from({ length: threads }, () => new Thread()) : [this.delivering];
    this.all = [
      ...new Set([this.delivering, this.#store, ...this.#helpers, ...this.#outside, ...this.#taking]),
    ];
    for (let session = 0; session < sessions; session++) this.#begin(session);
  }

  #begin(session: number): void {
    const { delivering, store, helpers, outside } = this.#costs;
    const place = this.#begun++;
    const taker = pick(this.#taking, session);
    const delivered = () => {
      this.ended++;
      const next = this.#waiting.shift();
      if (next === undefined) this.#slots++;
      else next();
      this.#letIn();
    };
    // Marked as begun, which is flushed, and sent.
    const send = () => this.log.flush(() => this.delivering.add(delivering, delivered));
    const taken = () => {
      if (this.#slots > 0) {
        this.#slots--;
        send();
      } else this.#waiting.push(send);
      this.#held.push(() => this.#begin(session));
      this.#letIn();
    };
    pick(this.#outside, place).add(outside, () => taker.add(this.#takingCost, () => this.log.flush(taken)));
    pick(this.#helpers, place).add(helpers);
    this.#store.add(store, () => {
      this.#stored++;
      this.#letIn();
    });
  }

  #letIn(): void {
    while (this.#held.length > 0 && this.#begun - Math.min(this.ended, this.#stored) < MAX_BEHIND)
      this.#held.shift()?.();
  }
}

/** Plays it. */
export function forecast(costs: Costs, plan: Plan): Forecast {
  const world = new World(costs, plan);
  const from = DURATION / 2;
  let before = { ended: 0, delivering: 0, all: 0 };
  for (let now = 0; now < DURATION; now += STEP) {
    if (now === from) before = countsOf(world);
    world.log.look(now, costs.flush);
    // Who has had least goes first, as the kernel has it.
    const ready = world.all.filter((thread) => !thread.isIdle).sort((one, other) => one.busy - other.busy);
    for (const thread of ready.slice(0, plan.cores)) thread.work();
  }
  const after = countsOf(world);
  const time = DURATION - from;
  return {
    perSecond: Math.round(((after.ended - before.ended) * 1e6) / time),
    delivering: (after.delivering - before.delivering) / time,
    cores: (after.all - before.all) / time / plan.cores,
  };
}

function countsOf({ ended, delivering, all }: World) {
  return { ended, delivering: delivering.busy, all: all.reduce((sum, { busy }) => sum + busy, 0) };
}

function pick<T>(from: readonly T[], place: number): T {
  const found = from[place % from.length];
  if (found === undefined) throw new Error('there is none to choose from');
  return found;
}

/**
 * SMTP to SMTP, 5 KB, two cores of an AMD EPYC (2026-11-26). Alone the delivering thread took 172 a message; beside two threads that
 * take, which had 72, it had 91. What load and sink cost, and a flush, was not measured beside it: they are such that the
 * rates of both come out within a tenth of what was measured.
 */
export const MEASURED: Costs = {
  taking: { together: 81, apart: 72 },
  delivering: 91,
  store: 34,
  helpers: 45,
  outside: 115,
  flush: 300,
};

if (import.meta.main) {
  const rows = [2, 4, 8, 32].flatMap((cores) =>
    [1, 2, 4, 8].map((threads) => {
      // With more cores the customers and the next hop have machines of their own.
      const costs = cores === 2 ? MEASURED : { ...MEASURED, outside: 0 };
      const { perSecond, delivering, cores: busy } = forecast(costs, { cores, threads, sessions: 200 });
      const percent = (part: number) => `${Math.round(part * 100)} %`;
      return `| ${cores} | ${threads} | ${perSecond} | ${percent(delivering)} | ${percent(busy)} |`;
    }),
  );
  const head =
    '| cores | `threads.ingest` | messages a second | the thread that delivers is busy | the cores are busy |';
  process.stdout.write(`${[head, '|---|---|---|---|---|', ...rows].join('\n')}\n`);
}
