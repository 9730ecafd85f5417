import type { Machine } from './machine.ts';

/** Why a {@link Deadline} is over. */
export type DeadlineEnd = 'timeout' | 'aborted';

/**
 * A bound in time that also ends when another signal does. `AbortSignal.any` and `AbortSignal.timeout` would do,
 * were they in every runtime the client is for. To be released when it is not needed any more.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #follow = () => this.#end('aborted');
  #ended: DeadlineEnd | null = null;

  constructor(ms: number, outer: AbortSignal | undefined, machine: Machine) {
    this.#outer = outer;
    if (outer?.aborted) this.#end('aborted');
    outer?.addEventListener('abort', this.#follow, { once: true });
    void machine.sleep(ms, this.signal).then(() => this.#end('timeout'));
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it is over; `null` while it is not. */
  get ended(): DeadlineEnd | null {
    return this.#ended;
  }

  /** Forgets the timer and the other signal. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#follow);
    // Ends the sleep; nobody listens to the signal any more.
    this.#controller.abort();
  }

  #end(why: DeadlineEnd): void {
    if (this.#controller.signal.aborted) return;
    this.#ended = why;
    this.#controller.abort();
  }
}
