import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

/** Exit status after a failure of the machine: EX_IOERR of sysexits.h (contract §15). */
export const EXIT_IO = 74;
/** How long health shows the failure before the process ends, in ms. */
const SHOW_MS = 10_000;

/** A failure of the machine ends the service: at once for mail, a little later for the process. */
export class MachineFailure {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #ended = Promise.withResolvers<number>();
  #failed = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether one has happened: nothing may be accepted or delivered any more. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Resolves with the exit status when the process should end because of a failure. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Reports a failure, once. */
  report(error: Error & { readonly code: string }, stopWork: () => void): void {
    this.#failed = true;
    stopWork();
    this.#log.error('machine.failed', { code: error.code, message: error.message, exitStatus: EXIT_IO });
    void this.#clock.sleep(SHOW_MS).then(() => this.#ended.resolve(EXIT_IO));
  }
}
