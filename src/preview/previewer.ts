import type { Worker } from 'node:worker_threads';
import type { Clock } from '../lib/clock.ts';
import { startThread } from '../lib/thread.ts';
import { type ParsedMessage, PreviewError } from './parsed.ts';

/** Larger messages are not previewed. */
const MAX_PREVIEW_BYTES = 32 * 1024 * 1024;
/** Messages that may wait; further ones are refused. */
const MAX_WAITING = 64;
/** How long one message may take; no genuine one does. */
const TIME_LIMIT_MS = 10_000;
/** An idle thread is ended after this long. */
const IDLE_MS = 60_000;
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

type FromWorker = { readonly message: ParsedMessage } | { readonly fault: string };

/** Limits, for tests that go past them. */
export interface PreviewerLimits {
  readonly maxBytes?: number;
  readonly maxWaiting?: number;
  readonly timeLimitMs?: number;
}

/** Reads messages for people, away from the loop. */
export class Previewer {
  readonly #clock: Clock;
  readonly #limits: Required<PreviewerLimits>;
  #worker: Worker | null = null;
  #waiting = 0;
  /** Ends when what came before has been read. */
  #last: Promise<unknown> = Promise.resolve();
  #idle = new AbortController();

  constructor(clock: Clock, limits: PreviewerLimits = {}) {
    this.#clock = clock;
    this.#limits = {
      maxBytes: limits.maxBytes ?? MAX_PREVIEW_BYTES,
      maxWaiting: limits.maxWaiting ?? MAX_WAITING,
      timeLimitMs: limits.timeLimitMs ?? TIME_LIMIT_MS,
    };
  }

  /**
   * Reads a message of this size, whose bytes are loaded when its turn has come: what waits is not in memory. Throws
   * {@link PreviewError}, and whatever loading throws.
   */
  read(sizeBytes: number, load: () => Promise<Uint8Array>): Promise<ParsedMessage> {
    const { maxBytes, maxWaiting } = this.#limits;
    if (sizeBytes > maxBytes)
      return refuse('too_large', `Messages over ${maxBytes} bytes are not read for a preview; download it.`);
    if (this.#waiting >= maxWaiting) return refuse('busy', 'Too many messages are being read; try again.');
    this.#waiting++;
    const turn = this.#last.then(async () => this.#readNow(await load()));
    this.#last = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }

  /** Ends the thread, and what it reads. */
  async close(): Promise<void> {
    this.#idle.abort();
    await this.#stop();
  }

  async #readNow(bytes: Uint8Array): Promise<ParsedMessage> {
    this.#idle.abort();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const answer = Promise.withResolvers<ParsedMessage>();
    const done = new AbortController();
    const fail = (code: PreviewError['code'], text: string) => answer.reject(new PreviewError(code, text));
    const take = (told: FromWorker) => {
      if ('message' in told) answer.resolve(told.message);
      else fail('unreadable', told.fault);
    };
    const died = () => fail('unreadable', 'The message cannot be read within the memory a preview may have.');
    worker.once('message', take).once('exit', died);
    worker.postMessage(bytes);
    void this.#clock.sleep(this.#limits.timeLimitMs, done.signal).then(() => {
      if (!done.signal.aborted) fail('too_slow', 'Reading the message takes too long; download it.');
    });
    try {
      return await answer.promise;
    } catch (error) {
      if (!(error instanceof PreviewError) || error.code !== 'unreadable') await this.#stop();
      throw error;
    } finally {
      done.abort();
      worker.off('message', take).off('exit', died);
      this.#letGoWhenIdle();
    }
  }

  #start(): Worker {
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const worker = startThread(new URL(`./preview-worker${extension}`, import.meta.url), {
      resourceLimits: MEMORY,
    });
    // A thread that runs out of memory ends by an error; what it was reading hears of its exit.
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

function refuse(code: PreviewError['code'], text: string): Promise<never> {
  return Promise.reject(new PreviewError(code, text));
}
