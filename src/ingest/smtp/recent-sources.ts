import { sourceGroup } from '../../lib/cidr.ts';

/** How long it is remembered what a source did, in ms (contract §1). */
const RECENT_MS = 10 * 60_000;
/** Sources remembered, at about 150 bytes each; the one that did it longest ago makes room. */
export const MAX_RECENT_SOURCES = 10_000;

/** The sources that did something a short while ago, IPv6 by /64. Time is an argument, monotonic ms. */
export class RecentSources {
  /** By group, when; the oldest first. */
  readonly #seen = new Map<string, number>();

  /** Whether this source did it within the last ten minutes. */
  has(address: string, nowMs: number): boolean {
    const at = this.#seen.get(sourceGroup(address));
    return at !== undefined && nowMs - at < RECENT_MS;
  }

  /** This source does it now. */
  add(address: string, nowMs: number): void {
    const group = sourceGroup(address);
    // Deleted and set again: the map's order is the order of the last time.
    this.#seen.delete(group);
    this.#seen.set(group, nowMs);
    if (this.#seen.size <= MAX_RECENT_SOURCES) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }
}
