/**
 * Lets one work at a time, in turns that are fair by owner: whoever has much to do waits for their own turns, not
 * everybody for theirs. Among the works of one owner, the one that came first has the next turn.
 */
export class Turns {
  /** By owner, who waits; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #taken = false;

  /** Does the work when its turn comes; answers or rejects as the work does. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#taken) await this.#wait(owner);
    this.#taken = true;
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #wait(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [resolve]);
      else queue.push(resolve);
    });
  }

  /** Hands the turn on; it stays taken, so that nobody comes between. */
  #pass(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#taken = false;
      return;
    }
    const [owner, queue] = first;
    this.#waiting.delete(owner);
    const next = queue.shift();
    if (queue.length > 0) this.#waiting.set(owner, queue);
    next?.();
  }
}
