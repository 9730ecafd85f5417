import type { Exchange } from './exchange.ts';
import type { Problem } from './problem.ts';
import { problemJson } from './problem.ts';
import type { Flow } from './stream.ts';

/**
 * Answers that come line by line (`application/x-ndjson`): `{"step": …}` for each step of the work as it happens, then
 * one line `{"result": …}` or `{"error": …}`, the error being a problem.
 */

const TYPE = 'application/x-ndjson';
/** What a client may leave unread before it is given up. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Whether a request asks for its answer line by line. */
export function wantsSteps({ headers }: Pick<Exchange, 'headers'>): boolean {
  const types = (headers.accept ?? '').toLowerCase().split(',');
  return types.some((type) => type.split(';', 1)[0]?.trim() === TYPE);
}

/** Writes an answer line by line. It begins with the first line: what fails before can still be answered otherwise. */
export class StepLines {
  readonly #exchange: Exchange;
  #flow: Flow | null = null;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Aborts when the client has gone, or does not read. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  /** Tells of a step. Bound, because whoever works takes it out of the progress that it is given. */
  readonly tell = (step: unknown): void => {
    const flow = this.#write({ step });
    if (flow !== null && flow.unread > MAX_UNREAD_BYTES) flow.cut();
  };

  /** Tells the result, and ends. */
  finish(result: unknown): void {
    this.#write({ result: result ?? null })?.end();
  }

  /** Tells of a problem, and ends; false when nothing was told before, and the problem is to be answered as such. */
  fail(problem: Problem): boolean {
    if (this.#flow === null) return false;
    const error = { ...problemJson(problem), requestId: this.#exchange.requestId };
    this.#write({ error })?.end();
    return true;
  }

  #write(line: object): Flow | null {
    if (this.#exchange.over) return null;
    this.#flow ??= this.#exchange.flow(200, TYPE);
    this.#flow?.write(Buffer.from(`${JSON.stringify(line)}\n`));
    return this.#flow;
  }
}
