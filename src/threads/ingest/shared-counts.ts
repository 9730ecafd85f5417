import type { Crowd } from '../../ingest/smtp/crowd.ts';
import type { Units } from '../../lib/budget.ts';
import { sourceGroup } from '../../lib/network.ts';

/**
 * Slots for the counts of sources. Two sources may share a slot, and then share one source's limit: with 1,000 sources
 * connected, that happens to one new source in 65.
 */
const PLACES = 65_536;
/** The total, and a secret number, so that nobody can choose with whom to share a slot. */
const TOTAL = PLACES;
const SEED = PLACES + 1;

/**
 * Connections of all threads, counted in shared memory: a limit holds exactly, whichever thread accepts a connection.
 */
export class SharedCrowd implements Crowd {
  readonly #counts: Int32Array;

  /** Over a buffer of {@link crowdBuffer}, the same in every thread. */
  constructor(buffer: SharedArrayBuffer) {
    this.#counts = new Int32Array(buffer);
  }

  get size(): number {
    return Atomics.load(this.#counts, TOTAL);
  }

  enter(): void {
    Atomics.add(this.#counts, TOTAL, 1);
  }

  leave(): void {
    Atomics.sub(this.#counts, TOTAL, 1);
  }

  claim(address: string, most: number): boolean {
    const place = this.#placeOf(address);
    if (Atomics.add(this.#counts, place, 1) < most) return true;
    Atomics.sub(this.#counts, place, 1);
    return false;
  }

  unclaim(address: string): void {
    Atomics.sub(this.#counts, this.#placeOf(address), 1);
  }

  /** FNV-1a (32 bits). */
  #placeOf(address: string): number {
    const group = sourceGroup(address);
    let hash = this.#counts[SEED] ?? 0;
    for (let at = 0; at < group.length; at++) hash = Math.imul(hash ^ group.charCodeAt(at), 0x01000193);
    return (hash >>> 0) % PLACES;
  }
}

/** The memory of a {@link SharedCrowd}; `seed` is any 32-bit integer. */
export function crowdBuffer(seed: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer((PLACES + 2) * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(buffer)[SEED] = seed;
  return buffer;
}

/**
 * How often units were given back, as a 32-bit number on which threads can wait; after it, how many are free, as a
 * 64-bit number.
 */
const GIVEN = 0;
const FREE = 1;

/** Units of a budget that several threads share. */
export class SharedUnits implements Units {
  readonly #given: Int32Array;
  readonly #free: BigInt64Array;

  /** Over a buffer of {@link unitsBuffer}, the same in every thread. */
  constructor(buffer: SharedArrayBuffer) {
    this.#given = new Int32Array(buffer);
    this.#free = new BigInt64Array(buffer);
  }

  get free(): number {
    return Number(Atomics.load(this.#free, FREE));
  }

  take(units: number, fits: (free: number) => boolean): boolean {
    for (;;) {
      const free = Atomics.load(this.#free, FREE);
      if (!fits(Number(free))) return false;
      if (Atomics.compareExchange(this.#free, FREE, free, free - BigInt(units)) === free) return true;
    }
  }

  give(units: number): void {
    Atomics.add(this.#free, FREE, BigInt(units));
    Atomics.add(this.#given, GIVEN, 1);
    Atomics.notify(this.#given, GIVEN);
  }

  readonly onGiven = (look: () => void): void => {
    const waiting = Atomics.waitAsync(this.#given, GIVEN, Atomics.load(this.#given, GIVEN));
    if (waiting.async) void waiting.value.then(look);
    else setImmediate(look);
  };
}

/** The memory of {@link SharedUnits}, all of them free. */
export function unitsBuffer(capacity: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
  new BigInt64Array(buffer)[FREE] = BigInt(capacity);
  return buffer;
}
