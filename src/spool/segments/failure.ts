import { SpoolError } from '../spool.ts';

/**
 * The latch that stops writing (contract §15): after a failed write or flush the disk's state is unknown, so nobody
 * writes anything until the process has restarted.
 */
export class Failure {
  readonly #onFailure: (error: SpoolError) => void;
  #error: SpoolError | null = null;

  /** `onFailure` is called once, with the first failure. */
  constructor(onFailure: (error: SpoolError) => void) {
    this.#onFailure = onFailure;
  }

  /** Throws the first failure, if there was one. */
  check(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Stops writing for good. Returns the first failure. */
  trip(cause: unknown): SpoolError {
    if (this.#error === null) {
      this.#error = new SpoolError('spool_failed', 'the spool could not write to its disk', { cause });
      this.#onFailure(this.#error);
    }
    return this.#error;
  }
}
