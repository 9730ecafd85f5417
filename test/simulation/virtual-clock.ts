import type { Clock } from '../../src/lib/clock.ts';
import type { StopSignal } from '../../src/lib/stop.ts';
import type { Views } from '../../src/store/views.ts';

/** A timer in virtual time. */
interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Virtual time for a whole world: nothing moves until {@link step} says so. */
export class VirtualTime {
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];
  /** Ends with the last of what was begun {@link outside}. */
  #outside: Promise<unknown> = Promise.resolve();
  #begun = 0;
  #ended = 0;
  readonly #stepsATurn: number;
  #steps = 0;

  /**
   * The machine's event loop turns once in so many steps. With 1, what a step sets off has ended before the next, also what
   * yields to the loop; with more, that goes on meanwhile, and a history costs less. Either is repeatable.
   */
  constructor(stepsATurn = 1) {
    this.#stepsATurn = stepsATurn;
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  /** Calls `fire` after `ms`; returns a way to take it back. */
  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, fire };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#timers[middle];
      if (other && (other.at < timer.at || (other.at === timer.at && other.order < timer.order)))
        low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return () => {
      const place = this.#timers.indexOf(timer);
      if (place >= 0) this.#timers.splice(place, 1);
    };
  }

  /** Waits in world time, whatever happens to nodes. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /**
   * Work of the real world, such as a server's: it takes no virtual time, and none passes before it has ended. One at a
   * time, in the order in which it is asked for, so that the same seed gives the same history.
   */
  outside<T>(work: () => Promise<T>): Promise<T> {
    this.#begun++;
    const done = this.#outside.then(work).finally(() => this.#ended++);
    this.#outside = done.catch(() => {});
    return done;
  }

  /** Lets everything that can run run, then fires the next timer. False when `end` is reached or none is left. */
  async step(end: number): Promise<boolean> {
    do {
      await this.#outside;
      // A tick comes when every promise that could go on has.
      const isTurn = this.#steps++ % this.#stepsATurn === 0;
      await new Promise<void>((resolve) => void (isTurn ? setImmediate(resolve) : process.nextTick(resolve)));
    } while (this.#ended < this.#begun);
    const next = this.#timers[0];
    if (!next || next.at > end) return false;
    this.#timers.shift();
    this.#now = next.at;
    next.fire();
    return true;
  }
}

/** The same thing, each call of which is made by `call`, as its work. */
export function calledBy<T extends object>(
  whole: T,
  call: (work: () => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy(whole, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function'
        ? (...args: unknown[]) => call(async () => Reflect.apply(member, target, args))
        : member;
    },
  });
}

/** What engines read, read in its turn, too. */
export function readingOutside(views: Views, time: VirtualTime): Views {
  return calledBy(views, (work) => time.outside(work));
}

/** The life of a node: whether its process runs, and how wrong its wall clock is. */
export class NodeLife implements Clock {
  readonly #time: VirtualTime;
  #skewMs: number;
  readonly #epoch: number;
  #frozenUntil = 0;
  /** When it last began to stand still, in ms of world time. */
  frozeAt = Number.NEGATIVE_INFINITY;
  dead = false;
  /** It cannot reach its store. */
  isCutOff = false;

  constructor(time: VirtualTime, epoch: number, skewMs: number) {
    this.#time = time;
    this.#epoch = epoch;
    this.#skewMs = skewMs;
  }

  wall(): number {
    return Math.floor(this.#epoch + this.#time.now + this.#skewMs);
  }

  mono(): number {
    return this.#time.now;
  }

  /** Sets the wall clock forward, or back. */
  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /** Stops the process for a while, as SIGSTOP would: nothing of it runs until then. */
  freeze(ms: number): void {
    this.frozeAt = this.#time.now;
    this.#frozenUntil = this.#time.now + ms;
  }

  /** Whether the process stands still. */
  get isFrozen(): boolean {
    return this.#frozenUntil > this.#time.now;
  }

  /** Resolves once the process runs; never, once it is dead. */
  running(): Promise<void> {
    if (this.dead) return new Promise(() => {});
    const wait = this.#frozenUntil - this.#time.now;
    if (wait <= 0) return Promise.resolve();
    return this.#time.sleep(wait).then(() => this.running());
  }

  async sleep(ms: number, signal?: StopSignal): Promise<void> {
    if (!signal?.aborted)
      await new Promise<void>((resolve) => {
        // As the machine's clock does: a signal that outlives its sleepers must not gather them.
        const wake = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const cancel = this.#time.after(ms, wake);
        const stop = () => {
          cancel();
          wake();
        };
        signal?.addEventListener('abort', stop);
      });
    await this.running();
  }
}
