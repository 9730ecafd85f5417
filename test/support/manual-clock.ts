import { NodeLife, VirtualTime } from '../simulation/virtual-clock.ts';

/** A clock for tests of one part: time stands still until the test moves it. */
export class ManualClock extends NodeLife {
  readonly #time: VirtualTime;

  /** `epoch` is the wall time at the start, in ms. */
  constructor(epoch = Date.UTC(2026, 10, 20)) {
    const time = new VirtualTime();
    super(time, epoch, 0);
    this.#time = time;
  }

  /** Moves time on by `ms`, letting everything that comes due, and what follows from it, happen. */
  async advance(ms: number): Promise<void> {
    const end = this.#time.now + ms;
    this.#time.after(ms, () => {});
    while (await this.#time.step(end));
  }
}
