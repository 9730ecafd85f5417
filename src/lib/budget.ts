import { isLargeWork, type Turn, turnFor } from './clock.ts';
import { Few } from './few.ts';

/** Gives back so many of the units that were taken, by default all; when none are left, it does nothing. */
export type Release = (units?: number) => void;

/** The free units of a budget; threads may share them. */
export interface Units {
  readonly free: number;
  /** Takes units if `fits` accepts the number of free ones, atomically across threads. */
  take(units: number, fits: (free: number) => boolean): boolean;
  give(units: number): void;
  /** Calls `look`, once, when another thread has given units back; null without other threads. */
  readonly onGiven: ((look: () => void) => void) | null;
}

/** What a {@link Budget} allows. */
export interface BudgetLimits {
  /** Most units taken at once (bytes in flight, for example). */
  readonly capacity: number;
  /** Where units are counted: in this thread alone unless it shares them. */
  readonly units?: Units;
  /** Most waiting requests; one more is refused at once. */
  readonly maxWaiters: number;
}

/** One holder's access to a budget. */
export interface Share {
  /** The most that this holder can ever have: a request for more counts as one for that much. */
  readonly most: number;
  /** Takes `units` if there is room for them now; else null. */
  tryAcquire(units: number): Release | null;
  /** Takes `units`, waiting for room. Null: too many wait already, or `signal` aborted first. */
  acquire(units: number, signal: AbortSignal): Promise<Release | null>;
  /** See {@link Budget.inTurn}. */
  inTurn<T>(bytes: number, work: (turn: Turn) => Promise<T>): Promise<T>;
}

interface Waiter {
  /** Takes the requested units, if they fit now. */
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

/** A holder may have this many times what it leaves free of the part that is not reserved for small holders. */
const TIMES_FREE = 4;

/** The part of the budget reserved for small holders, and the part of the budget that counts as small. */
const KEPT_PART = 64;
const LITTLE_PART = 512;

/**
 * A counted budget shared by holders, none of which can exclude the others. The rule: a request is granted if the
 * holder then has at most four times as much as is left free. So one holder has at most four fifths, and the next four
 * fifths of the rest. The last 64th is for holders that then have at most a 512th: a small request is granted at once,
 * however many holders are greedy. There is no queue: of the waiting requests, those that fit are granted, the oldest
 * first, and a large one does not hold up small ones.
 *
 * Holders that have units and wait for more could deadlock. So every wait must end by its signal: the first to give up
 * makes room for the others.
 */
export class Budget {
  readonly #capacity: number;
  readonly #maxWaiters: number;
  readonly #waiters = new Set<Waiter>();
  readonly #held = new Map<string, number>();
  readonly #kept: number;
  readonly #little: number;
  readonly #units: Units;
  readonly #turns = new Few(1);
  #isListening = false;

  constructor(limits: BudgetLimits) {
    this.#capacity = limits.capacity;
    this.#maxWaiters = limits.maxWaiters;
    this.#units = limits.units ?? new OwnUnits(limits.capacity);
    this.#kept = Math.floor(limits.capacity / KEPT_PART);
    this.#little = Math.floor(limits.capacity / LITTLE_PART);
  }

  /** Units that are free. */
  get free(): number {
    return this.#units.free;
  }

  /** Units that are taken. */
  get taken(): number {
    return this.#capacity - this.#units.free;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** The holder's access. */
  share(holder: string): Share {
    const most = Math.floor(((this.#capacity - this.#kept) * TIMES_FREE) / (TIMES_FREE + 1));
    return {
      most,
      tryAcquire: (units) => this.#tryAcquire(holder, Math.min(units, most)),
      acquire: (units, signal) => this.#acquire(holder, Math.min(units, most), signal),
      inTurn: (bytes, work) => this.inTurn(bytes, work),
    };
  }

  /**
   * Does work on so many bytes: at once if they are few, else one after the other. What large work needs for a while
   * beside the units it has taken is then needed once. The work gets what to wait for between its slices: large work has
   * a turn of its own for each, and small work never queues behind it.
   */
  inTurn<T>(bytes: number, work: (turn: Turn) => Promise<T>): Promise<T> {
    const turn = turnFor(bytes);
    return isLargeWork(bytes) ? this.#turns.run(() => work(turn)) : work(turn);
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
    let left = units;
    return (some = left) => {
      const given = Math.min(some, left);
      if (given <= 0) return;
      left -= given;
      this.#hold(holder, -given);
      this.#units.give(given);
      for (const waiter of this.#waiters) waiter.tryAgain();
    };
  }

  /** While a request waits here, listens for units that other threads give back. */
  #listen(): void {
    if (this.#units.onGiven === null || this.#isListening) return;
    this.#isListening = true;
    this.#units.onGiven(() => {
      this.#isListening = false;
      for (const waiter of this.#waiters) waiter.tryAgain();
      if (this.#waiters.size > 0) this.#listen();
    });
    // Units may have been given back before this listened.
    for (const waiter of this.#waiters) waiter.tryAgain();
  }

  #hold(holder: string, units: number): void {
    const held = (this.#held.get(holder) ?? 0) + units;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }
}

/** A share during work, whose units stay taken as long as that may need them. */
export interface HeldShare extends Share {
  /** From now on the work needs no more than so many of them. */
  keep(units: number): void;
}

/**
 * Does work with a share whose units are given back only after the work has ended, or once it needs fewer: their memory
 * stays in use that long, even if nobody waits for the result any more.
 */
export async function heldWhile<T>(share: Share, work: (share: HeldShare) => Promise<T>): Promise<T> {
  let ended = false;
  const due: Release[] = [];
  const parts: { readonly release: Release; units: number }[] = [];
  const later = (wanted: number, release: Release | null): Release | null => {
    if (release === null) return null;
    parts.push({ release, units: Math.min(wanted, share.most) });
    return () => (ended ? release() : void due.push(release));
  };
  const held: HeldShare = {
    most: share.most,
    tryAcquire: (units) => later(units, share.tryAcquire(units)),
    acquire: async (units, signal) => later(units, await share.acquire(units, signal)),
    inTurn: (bytes, some) => share.inTurn(bytes, some),
    keep: (units) => {
      let excess = parts.reduce((sum, part) => sum + part.units, -units);
      for (const part of parts) {
        const given = Math.max(0, Math.min(excess, part.units));
        if (given > 0) part.release(given);
        part.units -= given;
        excess -= given;
      }
    },
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
 * Frees the memory of bytes at once, if they own it; reading them later finds nothing. For large buffers that are
 * surely no longer used: as garbage they would wait until enough small values have gathered.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < LEAST_BYTES || byteLength !== buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Like {@link giveBack}, for each piece whose memory is not shared with one to keep. */
export function giveBackAllBut(kept: readonly Uint8Array[], pieces: readonly Uint8Array[]): void {
  const large = pieces.filter(({ byteLength }) => byteLength >= LEAST_BYTES);
  if (large.length === 0) return;
  const inUse = new Set(kept.map(({ buffer }) => buffer));
  for (const bytes of large) if (!inUse.has(bytes.buffer)) giveBack(bytes);
}
