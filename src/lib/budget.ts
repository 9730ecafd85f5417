/** Gives back what was taken; calling it again does nothing. */
export type Release = () => void;

/** What a {@link Budget} allows. */
export interface BudgetLimits {
  /** Units that may be out at once (bytes in flight, say). */
  readonly capacity: number;
  /** How many wishes may wait; one more is refused at once. */
  readonly maxWaiters: number;
}

/** What one holder may take of a budget. */
export interface Share {
  /** The most that this holder can ever have: a wish for more counts as one for that much. */
  readonly most: number;
  /** Takes `units` if there is room for them now; else null. */
  tryAcquire(units: number): Release | null;
  /** Takes `units`, waiting for room. Null: too many wait already, or `signal` aborted first. */
  acquire(units: number, signal: AbortSignal): Promise<Release | null>;
}

interface Waiter {
  readonly holder: string;
  readonly units: number;
  readonly grant: () => void;
}

/** A holder may have so many times what it leaves free of the part that is not kept for small ones. */
const TIMES_FREE = 4;
/** The part of the budget that is kept for holders with little, and how much of the budget is little. */
const KEPT_PART = 64;
const LITTLE_PART = 512;

/**
 * A counted budget that holders share without anybody keeping the others from it. The rule: a holder gets what it
 * wishes for while it then has at most four times as much as is left free. So one holder has four fifths at most, and
 * the next four fifths of the rest. The last 64th is for those who then have no more than a 512th: a small wish is
 * granted at once, however many are greedy. There is no queue: of those who wait, whoever fits is served, the oldest
 * first, and a large wish holds up no small one.
 *
 * Holders that have something and wait for more could wait for each other. So every wait must end by its signal: then
 * the first to give up makes room for the others.
 */
export class Budget {
  readonly #capacity: number;
  readonly #maxWaiters: number;
  readonly #waiters = new Set<Waiter>();
  readonly #held = new Map<string, number>();
  readonly #kept: number;
  readonly #little: number;
  #free: number;

  constructor(limits: BudgetLimits) {
    this.#capacity = limits.capacity;
    this.#maxWaiters = limits.maxWaiters;
    this.#free = limits.capacity;
    this.#kept = Math.floor(limits.capacity / KEPT_PART);
    this.#little = Math.floor(limits.capacity / LITTLE_PART);
  }

  /** Units not out now. */
  get free(): number {
    return this.#free;
  }

  /** Units out now. */
  get taken(): number {
    return this.#capacity - this.#free;
  }

  /** How many wishes wait now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** What `holder` may take. */
  share(holder: string): Share {
    const most = Math.floor(((this.#capacity - this.#kept) * TIMES_FREE) / (TIMES_FREE + 1));
    return {
      most,
      tryAcquire: (units) => this.#tryAcquire(holder, Math.min(units, most)),
      acquire: (units, signal) => this.#acquire(holder, Math.min(units, most), signal),
    };
  }

  #tryAcquire(holder: string, units: number): Release | null {
    return this.#fits(holder, units) ? this.#take(holder, units) : null;
  }

  #acquire(holder: string, units: number, signal: AbortSignal): Promise<Release | null> {
    const now = this.#tryAcquire(holder, units);
    if (now !== null) return Promise.resolve(now);
    if (this.#waiters.size >= this.#maxWaiters || signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiters.delete(waiter);
        resolve(null);
      };
      const grant = () => {
        signal.removeEventListener('abort', giveUp);
        this.#waiters.delete(waiter);
        resolve(this.#take(holder, units));
      };
      const waiter: Waiter = { holder, units, grant };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #fits(holder: string, units: number): boolean {
    const left = this.#free - units;
    const held = (this.#held.get(holder) ?? 0) + units;
    return held <= this.#little ? left >= 0 : held <= TIMES_FREE * (left - this.#kept);
  }

  #take(holder: string, units: number): Release {
    this.#change(holder, units);
    let out = true;
    return () => {
      if (!out) return;
      out = false;
      this.#change(holder, -units);
      for (const waiter of this.#waiters) if (this.#fits(waiter.holder, waiter.units)) waiter.grant();
    };
  }

  #change(holder: string, units: number): void {
    this.#free -= units;
    const held = (this.#held.get(holder) ?? 0) + units;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }
}

/**
 * Does work with a share of which nothing is given back before the work has ended: what it took stays in memory so
 * long, even when nobody waits for the outcome any more.
 */
export async function heldWhile<T>(share: Share, work: (share: Share) => Promise<T>): Promise<T> {
  let ended = false;
  const due: Release[] = [];
  const later = (release: Release | null): Release | null =>
    release && (() => (ended ? release() : void due.push(release)));
  const held: Share = {
    most: share.most,
    tryAcquire: (units) => later(share.tryAcquire(units)),
    acquire: async (units, signal) => later(await share.acquire(units, signal)),
  };
  try {
    return await work(held);
  } finally {
    ended = true;
    for (const release of due) release();
  }
}
