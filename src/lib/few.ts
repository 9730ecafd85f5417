/** Runs a few jobs at a time; the others queue, without memory for what they will read. */
export class Few {
  readonly #atOnce: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs the job when its turn comes; settles as the job does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(work, (enter) => this.#line.push(enter));
  }

  /** Like {@link run}, before all that wait. */
  runNext<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(work, (enter) => this.#line.unshift(enter));
  }

  async #run<T>(work: () => Promise<T>, queue: (enter: () => void) => void): Promise<T> {
    if (this.#inside < this.#atOnce) this.#inside++;
    // A finished job hands over its slot.
    else await new Promise<void>(queue);
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
