/** Lets a few works at a time; the others wait in line, and have no memory yet for what they will read. */
export class Few {
  readonly #atOnce: number;
  readonly #line: (() => void)[] = [];
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Does the work when its turn comes; answers or rejects as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#atOnce) this.#inside++;
    // Whoever is done hands their place over.
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
