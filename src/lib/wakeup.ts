import type { Clock } from './clock.ts';

/** Why a sleep ended early. Given, because making the default reason, an exception, costs more than all else. */
const WOKEN = 'woken';

/** Lets one loop sleep until it is woken or its time has come. A wake while it is busy is not lost. */
export class WakeUp {
  #woken = false;
  #sleep: AbortController | null = null;

  /** Ends the present wait, or the next one at once. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    this.#sleep?.abort(WOKEN);
  }

  /** Waits until woken, or for `ms` milliseconds. For one waiter at a time. */
  async wait(clock: Clock, ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      this.#sleep = new AbortController();
      await clock.sleep(ms, this.#sleep.signal);
      this.#sleep = null;
    }
    this.#woken = false;
  }
}
