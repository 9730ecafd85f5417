import type { RequestLine } from '../domain/request-line.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RequestLog } from '../store/request-log.ts';
import { RequestSample, type SampledKind } from './request-sample.ts';

/** What writing the log of requests needs. */
export interface RequestWriterDeps {
  readonly requests: Pick<RequestLog, 'writeRequests'>;
  /** Whether it is kept now. */
  readonly isKept: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** How often lines are written, in ms: a crash loses those of this time. */
const WRITE_MS = 1000;
/** Most lines a second of a node, of all its threads, requests and sessions together. */
export const REQUEST_LINES_A_SECOND = 100;
/** Most of them of requests without a known key, and as many of such sessions. */
const OF_NOBODY = 0.1;

/** Writes this thread's lines of the log of requests: gathered in memory, and stored once a second. */
export class RequestWriter {
  readonly #deps: RequestWriterDeps;
  readonly #sample: RequestSample;
  /** Writes what has gathered, in a moment; null: nothing has. */
  #writing: Promise<void> | null = null;
  #isFailing = false;

  /** `maxLines`: of a second. */
  constructor(deps: RequestWriterDeps, maxLines: number) {
    this.#deps = deps;
    this.#sample = new RequestSample({ max: maxLines, ofNobody: Math.ceil(maxLines * OF_NOBODY) });
  }

  get isKept(): boolean {
    return this.#deps.isKept();
  }

  /** Adds a line, which stands for `weight`, and is made if it is among those that are kept. */
  add(kind: SampledKind, make: () => RequestLine, weight = 1): void {
    this.#sample.add(kind, make, weight);
    this.#writing ??= this.#writeSoon();
  }

  /** Writes what has gathered, at once. A failure to write loses lines, and fails nobody. */
  async flush(): Promise<void> {
    const { requests, log } = this.#deps;
    if (this.#sample.isEmpty) return;
    try {
      await requests.writeRequests(this.#sample.take());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn('requests.not_written', { message: String(error) });
      this.#isFailing = true;
    }
  }

  async #writeSoon(): Promise<void> {
    const { clock, signal } = this.#deps;
    while (!this.#sample.isEmpty) {
      await clock.sleep(WRITE_MS, signal);
      await this.flush();
    }
    this.#writing = null;
  }
}
