import type { Clock } from './clock.ts';
import { Stop } from './stop.ts';

/** Lets one loop sleep until it is woken or its time has come. A wake while it is busy is not lost. */
export class WakeUp {
  #woken = false;
  #sleep: Stop | null = null;

  /** Ends the present wait, or the next one at once. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    this.#sleep?.abort();
  }

  /** Waits until woken, or for `ms` milliseconds. For one waiter at a time. */
  async wait(clock: Clock, ms: number): Promise<void> {
    if (!this.#woken && ms > 0) {
      this.#sleep = new Stop();
      await clock.sleep(ms, this.#sleep);
      this.#sleep = null;
    }
    this.#woken = false;
  }
}
