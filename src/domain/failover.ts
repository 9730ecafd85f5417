/** At which relay of its group a delivery waits, and where it goes if it was not taken. */

/**
 * Whether a relay can be used.
 * - `resting`: its breaker is open. `paused`: an operator holds it.
 * - `spent`: its quota for today is used up. `draining`: it sends what waits and takes nothing new. `disabled`: it
 *   sends nothing.
 */
export type RelayFitness = 'usable' | 'resting' | 'spent' | 'paused' | 'disabled' | 'draining' | 'missing';

/** The order in which a member of a group is preferred; other fitnesses are no way at all. */
const WAYS: readonly RelayFitness[] = ['usable', 'resting', 'spent', 'paused', 'disabled'];

/** Returns how fit the named relay is, for the recipient in question. */
export type Fitness = (relay: string) => RelayFitness;

/** The member of a group that a fresh delivery goes to; null if there is no way: it waits until there is one. */
export function chooseRelay(group: readonly string[], fitness: Fitness): string | null {
  for (const wanted of WAYS) {
    const found = group.find((relay) => fitness(relay) === wanted);
    if (found !== undefined) return found;
  }
  return null;
}

/** Where a delivery goes that its relay proved not to have taken. */
export interface NextWay {
  readonly relay: string;
  /** Whether it may be tried at once: that relay was not tried yet in this round. */
  readonly atOnce: boolean;
}

/**
 * The relay of the group after `current`: at once if a later one is usable; else, after a delay, the first usable one;
 * if there is none, it waits where it is. A `current` that is no member counts as before the first.
 */
export function nextWay(group: readonly string[], current: string, fitness: Fitness): NextWay {
  const place = group.indexOf(current);
  const later = group.slice(place + 1).find((relay) => relay !== current && fitness(relay) === 'usable');
  if (later !== undefined) return { relay: later, atOnce: true };
  const first = group.find((relay) => fitness(relay) === 'usable');
  return { relay: first ?? current, atOnce: false };
}

/** How many rounds through a group of `size` this many attempts make: the delay between rounds grows with it. */
export function roundsOf(attempts: number, size: number): number {
  return Math.ceil(attempts / Math.max(1, size));
}
