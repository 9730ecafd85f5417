import type { Worker } from 'node:worker_threads';
import type { Clock } from '../lib/clock.ts';
import { startThread } from '../lib/thread.ts';
import { StoreError } from '../store/store.ts';
import {
  type FromThread,
  packCall,
  type ToThread,
  unpackError,
  type WireAnswer,
  type WireCall,
} from './wire.ts';

/** How to start a thread, and how much may wait for it. */
export interface CallerOptions {
  readonly url: URL;
  /** Passed to the thread at its start. */
  readonly data: unknown;
  readonly clock: Pick<Clock, 'mono'>;
  /** Called once, when the thread can do nothing any more: it ended unexpectedly, or its store failed for good. */
  readonly onDeath: (error: StoreError) => void;
  /** Calls beyond this many waiting are rejected with `store_busy`. */
  readonly maxWaitingCalls: number;
  /** So are calls beyond this many bytes of arguments. */
  readonly maxWaitingBytes: number;
}

/** Semi-spaces of 8 MiB: more gains a thread nothing that keeps little and discards much (decision 0002). */
const MEMORY = { maxYoungGenerationSizeMb: 24 };

/** A call that is sent alone. */
interface LoneCall {
  readonly call: WireCall;
  readonly pending: Pending;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: StoreError) => void;
}

/**
 * Calls a thread. While one batch of calls is under way, the next one gathers, and is sent when the answers arrive: the
 * busier the thread, the larger the batches, without any timer.
 */
export class Caller {
  readonly #worker: Worker;
  readonly #options: CallerOptions;
  readonly #opened = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<void>();
  #waiting: WireCall[] = [];
  #waitingPending: Pending[] = [];
  #waitingBytes = 0;
  readonly #lone: LoneCall[] = [];
  /** Whether the next lone call goes before the gathered batch. */
  #loneFirst = false;
  #sent: Pending[] = [];
  /** When the first batch was sent since the store last answered one (monotonic ms); null if none was. */
  #waitingSince: number | null = null;
  #departing = false;
  #ready = false;
  #ended: StoreError | null = null;
  #closing = false;
  #batches = 0;

  /** Starts the thread; rejects with the error that kept it from opening. */
  static async start(options: CallerOptions): Promise<Caller> {
    const caller = new Caller(options);
    await caller.#opened.promise;
    return caller;
  }

  private constructor(options: CallerOptions) {
    this.#options = options;
    this.#worker = startThread(options.url, { workerData: options.data, resourceLimits: MEMORY });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => this.#end(deathOf(error)));
    this.#worker.on('exit', () => {
      this.#end(deathOf('it ended without a reason'));
      this.#exited.resolve();
    });
  }

  /** Calls a verb of the thread. */
  call(verb: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const call = packCall(verb, args);
    const bytes = typeof call.args === 'string' ? call.args.length : 0;
    if (this.#isFull || this.#waitingBytes + bytes > this.#options.maxWaitingBytes) return refuse();
    return new Promise((resolve, reject) => {
      this.#waiting.push(call);
      this.#waitingPending.push({ resolve, reject });
      this.#waitingBytes += bytes;
      this.#scheduleDeparture();
    });
  }

  /**
   * Calls a slow verb: alone, so that no other call waits for its answer, and in turn with the others, so that a call
   * that arrives meanwhile waits for this one only.
   */
  callAlone(verb: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    if (this.#isFull) return refuse();
    return new Promise((resolve, reject) => {
      this.#lone.push({ call: packCall(verb, args), pending: { resolve, reject } });
      this.#scheduleDeparture();
    });
  }

  /** Number of answered batches. */
  get batches(): number {
    return this.#batches;
  }

  /**
   * How long the oldest sent batch has waited for the store, in ms; 0 if none waits. An unavailable store counts as no
   * answer, since the next batch has waited as long already.
   */
  waitingMs(): number {
    return this.#waitingSince === null ? 0 : this.#options.clock.mono() - this.#waitingSince;
  }

  /** Answers what waits, then ends the thread. Later calls are rejected with `store_closed`. */
  async close(): Promise<void> {
    this.#ended ??= new StoreError('store_closed', 'the store is closed');
    this.#closing = true;
    this.#closeWhenDone();
    await this.#exited.promise;
  }

  get #isFull(): boolean {
    return this.#waiting.length + this.#lone.length >= this.#options.maxWaitingCalls;
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#lone.length === 0;
  }

  /** Gathers the calls of the current turn before the first of them is sent. */
  #scheduleDeparture(): void {
    if (this.#departing || this.#sent.length > 0 || this.#isEmpty) return;
    this.#departing = true;
    setImmediate(() => {
      this.#departing = false;
      this.#depart();
    });
  }

  #depart(): void {
    if (this.#sent.length > 0) return;
    const lone = this.#loneFirst || this.#waiting.length === 0 ? this.#lone.shift() : undefined;
    this.#loneFirst = lone === undefined;
    if (lone !== undefined) this.#send([lone.call], [lone.pending]);
    else if (this.#waiting.length > 0) this.#sendWaiting();
  }

  #sendWaiting(): void {
    this.#send(this.#waiting, this.#waitingPending);
    this.#waiting = [];
    this.#waitingPending = [];
    this.#waitingBytes = 0;
  }

  #send(calls: readonly WireCall[], pending: Pending[]): void {
    this.#post(calls);
    this.#sent = pending;
    this.#waitingSince ??= this.#options.clock.mono();
  }

  #receive(message: FromThread): void {
    if (message.kind === 'ready') {
      this.#ready = true;
      this.#opened.resolve();
    } else if (message.kind === 'refused') {
      this.#ended = unpackError(message.error);
      this.#opened.reject(this.#ended);
    } else {
      const answered = this.#sent;
      this.#sent = [];
      this.#batches++;
      if (message.answers.some(isOfStore)) this.#waitingSince = null;
      for (const [place, pending] of answered.entries()) this.#settle(pending, message.answers[place]);
      this.#scheduleDeparture();
      this.#closeWhenDone();
    }
  }

  #settle(pending: Pending, answer: WireAnswer | undefined): void {
    const error = settleCall(pending, answer);
    if (error?.code === 'store_failed') this.#end(error);
  }

  #closeWhenDone(): void {
    if (this.#closing && this.#sent.length === 0 && this.#isEmpty) this.#post('close');
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #end(death: StoreError): void {
    if (this.#ended?.code === 'store_closed' && this.#sent.length === 0) return;
    const first = this.#ended === null || this.#ended.code === 'store_closed';
    if (first) this.#ended = death;
    this.#opened.reject(death);
    const lone = this.#lone.splice(0).map(({ pending }) => pending);
    for (const pending of [...this.#sent, ...this.#waitingPending, ...lone]) pending.reject(death);
    this.#sent = [];
    this.#waiting = [];
    this.#waitingPending = [];
    if (first && this.#ready) this.#options.onDeath(death);
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new StoreError('store_busy', 'too many calls wait for the store'));
}

/** Gives a call its answer; returns the error if it is one. */
function settleCall(pending: Pending, answer: WireAnswer | undefined): StoreError | null {
  if (answer?.ok) {
    pending.resolve(answer.value);
    return null;
  }
  const error =
    answer === undefined ? deathOf('it left a call without an answer') : unpackError(answer.error);
  pending.reject(error);
  return error;
}

/** Whether the store itself has answered, even by a refusal. */
function isOfStore(answer: WireAnswer): boolean {
  return answer.ok || answer.error.code !== 'store_unavailable';
}

function deathOf(cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError('store_failed', `the thread died: ${reason}`, { cause });
}
