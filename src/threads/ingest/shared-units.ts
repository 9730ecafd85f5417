import type { Units } from '../../lib/budget.ts';

/** How often units were given, as a 32-bit number on which threads can wait; and behind it, as one of 64 bits, how many are free. */
const GIVEN = 0;
const FREE = 1;

/** Units of a budget that several threads take from. */
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

/** The memory of {@link SharedUnits}, of which all are free. */
export function unitsBuffer(capacity: number): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
  new BigInt64Array(buffer)[FREE] = BigInt(capacity);
  return buffer;
}
