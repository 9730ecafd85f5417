import { sourceGroup } from '../lib/network.ts';
import { NewestMap } from '../lib/newest-map.ts';

/** How long it is remembered what a source did, in ms (contract §1). */
const RECENT_MS = 10 * 60_000;
/** Sources remembered, at about 150 bytes each; the one that did it longest ago makes room. */
export const MAX_RECENT_SOURCES = 10_000;

/** Other threads are told of a source again after so long, in ms: by so much they may forget it too early. */
const TELL_AGAIN_MS = 60_000;

/** The sources that did something a short while ago, IPv6 by /64. Time is an argument, monotonic ms. */
export class RecentSources {
  /** By group, when; the oldest first. */
  readonly #seen = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  /** By group, when other threads were told of it; the oldest first. */
  readonly #toldAt = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  readonly #tellOthers: ((group: string) => void) | null;

  /** `tellOthers` is told the group of a source that did it; null: no other thread wants to know. */
  constructor(tellOthers: ((group: string) => void) | null = null) {
    this.#tellOthers = tellOthers;
  }

  /** Whether this source did it within the last ten minutes. */
  has(address: string, nowMs: number): boolean {
    const at = this.#seen.get(sourceGroup(address));
    return at !== undefined && nowMs - at < RECENT_MS;
  }

  /** This source does it now. */
  add(address: string, nowMs: number): void {
    const group = sourceGroup(address);
    if (this.#tellOthers !== null) this.#tell(group, nowMs, this.#tellOthers);
    this.#seen.set(group, nowMs);
  }

  /** Another thread has seen a source do it, told of by its group. */
  hear(group: string, nowMs: number): void {
    this.#seen.set(group, nowMs);
  }

  #tell(group: string, nowMs: number, tell: (group: string) => void): void {
    const toldAt = this.#toldAt.get(group);
    if (toldAt !== undefined && nowMs - toldAt < TELL_AGAIN_MS) return;
    this.#toldAt.set(group, nowMs);
    tell(group);
  }
}
