import type { Worker } from 'node:worker_threads';
import { type Clock, yieldToLoop } from './clock.ts';
import { startThread } from './thread.ts';

/** An idle thread is ended after this long. */
const IDLE_MS = 60_000;
/** How much longer than others the first question of a thread may take, which has its modules to load. */
export const START_MS = 10_000;

/** What bounds a thread that reads what strangers wrote. */
export interface ThreadLimits {
  /** Questions that may wait or be answered; further ones are refused. */
  readonly maxWaiting: number;
  /** Of one asker; without it only {@link maxWaiting} counts. */
  readonly maxOfOne?: number;
  /** How long one question may take; see {@link START_MS}. */
  readonly timeLimitMs: number;
  readonly memory: { readonly maxOldGenerationSizeMb: number; readonly maxYoungGenerationSizeMb: number };
}

/** Why a thread gave no answer. */
export class NoAnswer extends Error {
  /**
   * - `busy`: too many questions wait, of all or of this asker; try again.
   * - `too_slow`: it took longer than it may; what it was doing has been ended.
   * - `died`: it needed more memory than it may have.
   */
  readonly why: 'busy' | 'too_slow' | 'died';
  constructor(why: NoAnswer['why']) {
    super(`the thread gave no answer: ${why}`);
    this.name = 'NoAnswer';
    this.why = why;
  }
}

/**
 * A thread for work on hostile input: one question at a time, with little memory and a time limit, so that no input can
 * stop the event loop. Askers take turns, so that the questions of one delay each of another's by one at most. Its module
 * answers each message with one message.
 */
export class GuardedThread<Question, Answer> {
  readonly #module: URL;
  readonly #clock: Clock;
  readonly #limits: ThreadLimits;
  #worker: Worker | null = null;
  #waiting = 0;
  /** The questions of each asker that wait or are being answered; whose turn is next comes first. */
  readonly #turns = new Map<string, (() => Promise<void>)[]>();
  #isAsking = false;
  #idle = new AbortController();

  /** `module`: without its ending, which is that of the importing module. */
  constructor(module: URL, clock: Clock, limits: ThreadLimits) {
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    this.#module = new URL(`${module.href}${extension}`);
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Asks a question that is loaded when its turn has come, so that what waits is not in memory. Rejects with
   * {@link NoAnswer}, and whatever loading throws. `asker`: who takes turns with others.
   */
  ask(load: () => Question | Promise<Question>, asker = ''): Promise<Answer> {
    const { maxWaiting, maxOfOne = maxWaiting } = this.#limits;
    const own = this.#turns.get(asker) ?? [];
    if (this.#waiting >= maxWaiting || own.length >= maxOfOne) return Promise.reject(new NoAnswer('busy'));
    this.#waiting++;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    own.push(async () => {
      try {
        resolve(await this.#askNow(await load()));
      } catch (error) {
        reject(error);
      }
    });
    this.#turns.set(asker, own);
    if (!this.#isAsking) void this.#takeTurns();
    return promise;
  }

  async #takeTurns(): Promise<void> {
    this.#isAsking = true;
    for (const [asker, own] of this.#turns) {
      await own[0]?.();
      own.shift();
      this.#waiting--;
      // Whoever asked lets go of the answer before the next question is loaded.
      await yieldToLoop();
      // Behind all others: a map is gone through in the order of its keys, those set meanwhile included.
      this.#turns.delete(asker);
      if (own.length > 0) this.#turns.set(asker, own);
    }
    this.#isAsking = false;
  }

  /** Ends the thread, and what it is doing. */
  async close(): Promise<void> {
    this.#idle.abort();
    await this.#stop();
  }

  async #askNow(question: Question): Promise<Answer> {
    this.#idle.abort();
    const limitMs = this.#limits.timeLimitMs + (this.#worker === null ? START_MS : 0);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const answer = Promise.withResolvers<Answer>();
    const done = new AbortController();
    const fail = (why: NoAnswer['why']) => answer.reject(new NoAnswer(why));
    const take = (told: Answer) => answer.resolve(told);
    const died = () => fail('died');
    worker.once('message', take).once('exit', died);
    worker.postMessage(question);
    void this.#clock.sleep(limitMs, done.signal).then(() => {
      if (!done.signal.aborted) fail('too_slow');
    });
    try {
      return await answer.promise;
    } catch (error) {
      await this.#stop();
      throw error;
    } finally {
      done.abort();
      worker.off('message', take).off('exit', died);
      this.#letGoWhenIdle();
    }
  }

  #start(): Worker {
    const worker = startThread(this.#module, { resourceLimits: this.#limits.memory });
    // A thread that runs out of memory ends by an error; whoever asked hears of its exit.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.unref();
    return worker;
  }

  #letGoWhenIdle(): void {
    this.#idle = new AbortController();
    const { signal } = this.#idle;
    void this.#clock.sleep(IDLE_MS, signal).then(() => (signal.aborted ? undefined : this.#stop()));
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}
