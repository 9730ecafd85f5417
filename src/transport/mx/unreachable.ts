import type { Clock } from '../../lib/clock.ts';
import { NewestMap } from '../../lib/newest-map.ts';

/** For so long an address that could not be connected to is tried after all others. */
const REMEMBERED_MS = 60_000;
/** Addresses remembered; of more the oldest are forgotten. */
const MAX_ADDRESSES = 1000;

/**
 * Addresses that lately could not be connected to. A host that is down would else cost every message the time it
 * takes to find that out.
 */
export class Unreachable {
  readonly #clock: Clock;
  /** Until when (monotonic ms), the latest noted last. */
  readonly #until = new NewestMap<string, number>(MAX_ADDRESSES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#until.size;
  }

  /** It could not be connected to just now. */
  note(address: string): void {
    this.#until.set(address, this.#clock.mono() + REMEMBERED_MS);
  }

  /** Whether it is to be tried after all others. */
  has(address: string): boolean {
    const until = this.#until.get(address);
    if (until === undefined) return false;
    if (this.#clock.mono() < until) return true;
    this.#until.delete(address);
    return false;
  }
}
