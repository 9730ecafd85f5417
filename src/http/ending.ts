/** Something that ends once, and those who want to know of it. */
export class Ending {
  #over = false;
  #actions: (() => void)[] | null = null;
  #abort: AbortController | null = null;

  /** It has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** Aborts when it ends. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#over) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Runs `action` once when it ends; at once when it has ended. */
  whenOver(action: () => void): void {
    if (this.#over) {
      action();
      return;
    }
    this.#actions ??= [];
    this.#actions.push(action);
  }

  /** Ends it; the first call counts. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#abort?.abort();
    for (const action of this.#actions ?? []) action();
    this.#actions = null;
  }
}
