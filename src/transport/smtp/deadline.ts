import type { Clock } from '../../lib/clock.ts';
import { Stop } from '../../lib/stop.ts';
import type { OpeningVerb } from '../../smtp/opening.ts';
import type { SenderVerb } from '../../smtp/verdict.ts';

/**
 * One time limit that moves often and almost never expires. Moving it later costs no timer: when the timer fires early,
 * it finds time left and sleeps again.
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

  /** Expires `ms` from now, instead of at the earlier time. */
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

/** What a time-out applies to. `content` is progress in writing, `idle` the rest of a reusable connection. */
export type TimedVerb = 'connect' | 'tls' | OpeningVerb | SenderVerb | 'rset' | 'quit' | 'idle';

/** The longest wait for each, in milliseconds. */
export type Timeouts = Readonly<Record<TimedVerb, number>>;

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** By RFC 5321 §4.5.3.2 where it names a time; shorter for steps that only concern our own convenience. */
export const TIMEOUTS: Timeouts = {
  connect: 30 * SECOND,
  tls: MINUTE,
  greeting: 5 * MINUTE,
  ehlo: 5 * MINUTE,
  helo: 5 * MINUTE,
  starttls: 2 * MINUTE,
  auth: 2 * MINUTE,
  mail: 5 * MINUTE,
  rcpt: 5 * MINUTE,
  data: 2 * MINUTE,
  content: 3 * MINUTE,
  dot: 10 * MINUTE,
  rset: 20 * SECOND,
  quit: 5 * SECOND,
  idle: 10 * SECOND,
};
