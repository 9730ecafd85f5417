import type { Machine } from '../../src/client/machine.ts';

/** A sleep that has not ended. */
interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Someone who waits for a sleep of some length to begin. */
interface Observer {
  readonly ms: number;
  notice(): void;
}

/** A machine for the client whose time stands still until a test moves it, and whose dice fall as they are told. */
export class ManualMachine implements Machine {
  /** What `random` gives. 0: tries follow each other at once. */
  dice = 0;
  #now = 0;
  #keys = 0;
  readonly #startedAt: number;
  readonly #sleepers = new Set<Sleeper>();
  readonly #observers = new Set<Observer>();

  constructor(startedAt = Date.UTC(2027, 0, 1)) {
    this.#startedAt = startedAt;
  }

  wall(): number {
    return this.#startedAt + this.#now;
  }

  mono(): number {
    return this.#now;
  }

  random(): number {
    return this.dice;
  }

  unique(): string {
    this.#keys += 1;
    return `key-${this.#keys}`;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', sleeper.wake, { once: true });
      for (const observer of this.#observers) if (observer.ms === ms) observer.notice();
    });
  }

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Resolves once a sleep of exactly so many milliseconds begins. */
  asked(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const observer = {
        ms,
        notice: () => {
          this.#observers.delete(observer);
          resolve();
        },
      };
      this.#observers.add(observer);
    });
  }

  /** Moves time on and ends the sleeps that are over then. */
  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.#now) sleeper.wake();
  }
}
