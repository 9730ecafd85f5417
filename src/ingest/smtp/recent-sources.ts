import { sourceGroup } from '../../lib/cidr.ts';

/** How long a source that has sent a message is greeted soon, in ms (contract §1). */
const RECENT_MS = 10 * 60_000;
/** Sources remembered, at about 150 bytes each; the one that sent longest ago makes room. */
export const MAX_RECENT_SOURCES = 10_000;

/** The sources that have sent a message a short while ago, IPv6 by /64. Time is an argument, monotonic ms. */
export class RecentSources {
  /** By group, when; the oldest first. */
  readonly #sent = new Map<string, number>();

  /** Whether this source has sent a message within the last ten minutes. */
  has(address: string, nowMs: number): boolean {
    const at = this.#sent.get(sourceGroup(address));
    return at !== undefined && nowMs - at < RECENT_MS;
  }

  /** A message of this source was taken. */
  add(address: string, nowMs: number): void {
    const group = sourceGroup(address);
    // Deleted and set again: the map's order is the order of the last message.
    this.#sent.delete(group);
    this.#sent.set(group, nowMs);
    if (this.#sent.size <= MAX_RECENT_SOURCES) return;
    for (const oldest of this.#sent.keys()) {
      this.#sent.delete(oldest);
      return;
    }
  }
}
