/** Gives back what was acquired; calling it again does nothing. */
export type Release = () => void;

/** What a {@link Semaphore} allows. */
export interface SemaphoreLimits {
  /** Units that may be out at once (bytes in flight, say). */
  readonly capacity: number;
  /** How many may wait; one more is refused at once. */
  readonly maxWaiters: number;
}

interface Waiter {
  readonly units: number;
  readonly grant: () => void;
}

/**
 * A counted budget, first come, first served: a large wish at the head of the queue is not overtaken by small
 * ones. A wish for more than the whole capacity waits for all of it and then has the budget to itself.
 */
export class Semaphore {
  readonly #capacity: number;
  readonly #maxWaiters: number;
  readonly #waiters = new Set<Waiter>();
  #free: number;

  constructor(limits: SemaphoreLimits) {
    this.#capacity = limits.capacity;
    this.#maxWaiters = limits.maxWaiters;
    this.#free = limits.capacity;
  }

  /** Units not out now. */
  get free(): number {
    return this.#free;
  }

  /** How many wait now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes `units` if they are free and nobody waits; else null. */
  tryAcquire(units: number): Release | null {
    const wanted = Math.min(units, this.#capacity);
    if (this.#waiters.size > 0 || wanted > this.#free) return null;
    return this.#take(wanted);
  }

  /** Takes `units`, waiting for them. Null: too many wait already, or `signal` aborted first. */
  acquire(units: number, signal?: AbortSignal): Promise<Release | null> {
    const now = this.tryAcquire(units);
    if (now !== null) return Promise.resolve(now);
    if (this.#waiters.size >= this.#maxWaiters || signal?.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const wanted = Math.min(units, this.#capacity);
      const giveUp = () => {
        this.#waiters.delete(waiter);
        resolve(null);
        this.#grant();
      };
      const grant = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(this.#take(wanted));
      };
      const waiter: Waiter = { units: wanted, grant };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #take(units: number): Release {
    this.#free -= units;
    let out = true;
    return () => {
      if (!out) return;
      out = false;
      this.#free += units;
      this.#grant();
    };
  }

  /** Serves the queue from its head, as far as what is free goes. */
  #grant(): void {
    for (const waiter of this.#waiters) {
      if (waiter.units > this.#free) return;
      this.#waiters.delete(waiter);
      waiter.grant();
    }
  }
}
