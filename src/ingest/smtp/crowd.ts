import { sourceGroup } from '../../lib/network.ts';

/** How many connections there are over all threads that accept, in all and of one source (IPv6 by /64). */
export interface Crowd {
  readonly size: number;
  /** One more is open. */
  enter(): void;
  /** One that was open has ended. */
  leave(): void;
  /** Counts one more of a source; false, and counts nothing, when there are as many already. */
  claim(address: string, most: number): boolean;
  /** One that was claimed has gone. */
  unclaim(address: string): void;
}

/** The connections of one thread that accepts alone. */
export class OwnCrowd implements Crowd {
  readonly #sources = new SourceCounts();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  enter(): void {
    this.#size += 1;
  }

  leave(): void {
    this.#size -= 1;
  }

  claim(address: string, most: number): boolean {
    return this.#sources.add(address, most);
  }

  unclaim(address: string): void {
    this.#sources.remove(address);
  }
}

/** How many there are of each source, IPv6 by /64. */
export class SourceCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Counts one more; false, and counts nothing, when there are as many already. */
  add(address: string, most: number): boolean {
    const group = sourceGroup(address);
    const count = this.#counts.get(group) ?? 0;
    if (count >= most) return false;
    this.#counts.set(group, count + 1);
    this.#total += 1;
    return true;
  }

  /** One that was counted has gone. */
  remove(address: string): void {
    const group = sourceGroup(address);
    const left = (this.#counts.get(group) ?? 0) - 1;
    if (left > 0) this.#counts.set(group, left);
    else this.#counts.delete(group);
    this.#total -= 1;
  }
}
