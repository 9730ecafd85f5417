import type { Clock } from '../../lib/clock.ts';
import { Stop } from '../../lib/stop.ts';

/**
 * One time limit that is moved often and almost never reached. Moving it later costs no timer: the timer that
 * is set finds, when it fires, that there is time left and sleeps again.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #at = Number.POSITIVE_INFINITY;
  #wakesAt = Number.POSITIVE_INFINITY;
  #sleep: Stop | null = null;

  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  /** Expires in `ms` from now, instead of when it would have. */
  set(ms: number): void {
    this.#at = this.#clock.mono() + ms;
    if (this.#at < this.#wakesAt) this.#arm();
  }

  /** Does not expire until set again. */
  clear(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** Clears it and its timer. */
  stop(): void {
    this.clear();
    this.#sleep?.abort();
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    this.#sleep?.abort();
    const sleep = new Stop();
    this.#sleep = sleep;
    this.#wakesAt = this.#at;
    void this.#clock.sleep(this.#at - this.#clock.mono(), sleep).then(() => {
      if (!sleep.aborted) this.#woke();
    });
  }

  #woke(): void {
    this.#wakesAt = Number.POSITIVE_INFINITY;
    if (this.#at === Number.POSITIVE_INFINITY) return;
    if (this.#clock.mono() < this.#at) {
      this.#arm();
    } else {
      this.clear();
      this.#onExpired();
    }
  }
}
