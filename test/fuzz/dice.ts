import { seededRandom } from '../../src/lib/random.ts';

/** Dice that fall the same for the same seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed).next;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  /** One of a list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** A few whole numbers, such as the places where bytes are cut. */
  numbers(most: number): number[] {
    return Array.from({ length: this.below(most + 1) }, () => this.below(0x7fffffff));
  }
}
