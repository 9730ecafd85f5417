/** Gives back what was taken; calling it again does nothing. */
export type Release = () => void;

/** Units of a budget that are not out; threads may have them in common. */
export interface Units {
  readonly free: number;
  /** Takes units if as many may go when so many are free: both at one moment, whatever other threads do. */
  take(units: number, fits: (free: number) => boolean): boolean;
  give(units: number): void;
  /** Calls `look`, once, when another thread has given some; null where there is no other. */
  readonly onGiven: ((look: () => void) => void) | null;
}

/** What a {@link Budget} allows. */
export interface BudgetLimits {
  /** Units that may be out at once (bytes in flight, say). */
  readonly capacity: number;
  /** Where they are counted: by this thread alone unless others take from the same. */
  readonly units?: Units;
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
  /** Takes what is wished for, if it fits now. */
  readonly tryAgain: () => void;
}

/** Units of one thread. */
class OwnUnits implements Units {
  readonly onGiven = null;
  #free: number;

  constructor(capacity: number) {
    this.#free = capacity;
  }

  get free(): number {
    return this.#free;
  }

  take(units: number, fits: (free: number) => boolean): boolean {
    if (!fits(this.#free)) return false;
    this.#free -= units;
    return true;
  }

  give(units: number): void {
    this.#free += units;
  }
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
  readonly #units: Units;
  #isListening = false;

  constructor(limits: BudgetLimits) {
    this.#capacity = limits.capacity;
    this.#maxWaiters = limits.maxWaiters;
    this.#units = limits.units ?? new OwnUnits(limits.capacity);
    this.#kept = Math.floor(limits.capacity / KEPT_PART);
    this.#little = Math.floor(limits.capacity / LITTLE_PART);
  }

  /** Units not out now. */
  get free(): number {
    return this.#units.free;
  }

  /** Units out now. */
  get taken(): number {
    return this.#capacity - this.#units.free;
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
    const held = (this.#held.get(holder) ?? 0) + units;
    const fits = (free: number) => {
      const left = free - units;
      return held <= this.#little ? left >= 0 : held <= TIMES_FREE * (left - this.#kept);
    };
    return this.#units.take(units, fits) ? this.#taken(holder, units) : null;
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
      const waiter: Waiter = {
        tryAgain: () => {
          const release = this.#tryAcquire(holder, units);
          if (release === null) return;
          signal.removeEventListener('abort', giveUp);
          this.#waiters.delete(waiter);
          resolve(release);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      this.#listen();
    });
  }

  #taken(holder: string, units: number): Release {
    this.#hold(holder, units);
    let out = true;
    return () => {
      if (!out) return;
      out = false;
      this.#hold(holder, -units);
      this.#units.give(units);
      for (const waiter of this.#waiters) waiter.tryAgain();
    };
  }

  /** While somebody waits here, what other threads give is heard of. */
  #listen(): void {
    if (this.#units.onGiven === null || this.#isListening) return;
    this.#isListening = true;
    this.#units.onGiven(() => {
      this.#isListening = false;
      for (const waiter of this.#waiters) waiter.tryAgain();
      if (this.#waiters.size > 0) this.#listen();
    });
    // What was given before this was heard.
    for (const waiter of this.#waiters) waiter.tryAgain();
  }

  #hold(holder: string, units: number): void {
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

/** Less is not worth the call, and is soon collected. */
const LEAST_BYTES = 64 * 1024;

/**
 * Gives the memory of bytes back at once, where they have it to themselves; a later look at them finds nothing. For
 * what is large and surely of no use any more: as garbage it would wait until enough small values have come together.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < LEAST_BYTES || byteLength !== buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** As {@link giveBack}, for each of these whose memory is not that of one to be kept as well. */
export function giveBackAllBut(kept: readonly Uint8Array[], pieces: readonly Uint8Array[]): void {
  const large = pieces.filter(({ byteLength }) => byteLength >= LEAST_BYTES);
  if (large.length === 0) return;
  const inUse = new Set(kept.map(({ buffer }) => buffer));
  for (const bytes of large) if (!inUse.has(bytes.buffer)) giveBack(bytes);
}
