import { sourceGroup } from '../../lib/network.ts';

/** Counts the connections of all accepting threads, in all and per source (IPv6 by /64). */
export interface Crowd {
  readonly size: number;
  /** One more is open. */
  enter(): void;
  /** An open one ended. */
  leave(): void;
  /** Counts one more of a source; returns false, and counts nothing, when it has `most` already. */
  claim(address: string, most: number): boolean;
  /** A claimed one ended. */
  unclaim(address: string): void;
}

/** The connections when a single thread accepts. */
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

/** Counts per source, IPv6 by /64. */
export class SourceCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Counts one more; returns false, and counts nothing, when there are `most` already. */
  add(address: string, most: number): boolean {
    const group = sourceGroup(address);
    const count = this.#counts.get(group) ?? 0;
    if (count >= most) return false;
    this.#counts.set(group, count + 1);
    this.#total += 1;
    return true;
  }

  remove(address: string): void {
    const group = sourceGroup(address);
    const left = (this.#counts.get(group) ?? 0) - 1;
    if (left > 0) this.#counts.set(group, left);
    else this.#counts.delete(group);
    this.#total -= 1;
  }
}
