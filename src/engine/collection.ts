/**
 * Removing bytes from the spool, and moving them about there: one step after the other, and none while somebody copies
 * what lies in the spool.
 */
export class Collection {
  #holders = 0;
  #steps: Promise<unknown> = Promise.resolve();

  /** Runs a step when those before it have ended. False: it was not run, because the spool is held as it is. */
  async run(step: () => Promise<void>): Promise<boolean> {
    const before = this.#steps;
    const turn = Promise.withResolvers<void>();
    this.#steps = turn.promise;
    try {
      await before;
      if (this.#holders > 0) return false;
      await step();
      return true;
    } finally {
      turn.resolve();
    }
  }

  /** Keeps the spool as it is, but for what is appended, until what it resolves with is called. */
  async hold(): Promise<() => void> {
    this.#holders++;
    await this.#steps;
    let held = true;
    return () => {
      if (held) this.#holders--;
      held = false;
    };
  }
}
