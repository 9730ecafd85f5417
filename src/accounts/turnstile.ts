import { sourceGroup } from '../lib/network.ts';

/** How many of one network may wait: an IPv4 address, or the /48 that a provider gives a customer. */
const MAX_OF_NETWORK = 4;

/** Lets a few through at a time; the others wait in line, up to a number, and networks are served in turn. */
export class Turnstile {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  /** By network; the one that was served last is last. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #inLine = 0;
  #inside = 0;

  constructor(atOnce: number, maxWaiting: number) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves, once it is their turn, with what is to be called on leaving; null at once where too many wait, all together or
   * of the network of `source` (an address; empty for what was asked for on this machine).
   */
  async enter(source: string): Promise<(() => void) | null> {
    if (this.#inside < this.#atOnce) this.#inside++;
    else {
      const network = networkOf(source);
      const line = this.#waiting.get(network) ?? [];
      if (this.#inLine >= this.#maxWaiting || line.length >= MAX_OF_NETWORK) return null;
      this.#waiting.set(network, line);
      this.#inLine++;
      // Whoever leaves hands their place over.
      await new Promise<void>((resolve) => line.push(resolve));
    }
    return () => this.#leave();
  }

  #leave(): void {
    for (const [network, line] of this.#waiting) {
      const next = line.shift();
      this.#waiting.delete(network);
      if (next === undefined) continue;
      if (line.length > 0) this.#waiting.set(network, line);
      this.#inLine--;
      next();
      return;
    }
    this.#inside--;
  }
}

function networkOf(source: string): string {
  const group = sourceGroup(source);
  return group.includes(':') ? group.split(':').slice(0, 3).join(':') : group;
}
