import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';

/** So many lanes are avoided at the same time; of more the first are forgotten, and may be taken again early. */
const MAX_AVOIDED = 4_000;

/** Lanes that are left to other nodes for a while. */
export class Avoided {
  readonly #clock: Pick<Clock, 'mono'>;
  /** Until when (monotonic ms). */
  readonly #until = new NewestMap<string, number>(MAX_AVOIDED);

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** Leaves a lane to others for `ms` milliseconds. */
  add(lane: string, ms: number): void {
    this.#until.set(lane, this.#clock.mono() + ms);
  }

  /** Whether a lane is left to others at this moment. */
  has(lane: string): boolean {
    return (this.#until.get(lane) ?? Number.NEGATIVE_INFINITY) > this.#clock.mono();
  }

  /** All that are. */
  names(): string[] {
    const now = this.#clock.mono();
    for (const [lane, until] of this.#until) if (until <= now) this.#until.delete(lane);
    return [...this.#until.keys()];
  }
}
