/** The ways of a delivery: which relay of its group it waits at, and where it goes when it was not taken. */

/**
 * Whether a relay can be sent to.
 * - `resting`: its breaker is open. `paused`: an operator holds it back.
 * - `spent`: it has had what it may have today. `draining`: it sends what it has and takes nothing new. `disabled`: it sends nothing.
 */
export type RelayFitness = 'usable' | 'resting' | 'spent' | 'paused' | 'disabled' | 'draining' | 'missing';

/** In this order a member of a group is chosen; others are no way at all. */
const WAYS: readonly RelayFitness[] = ['usable', 'resting', 'spent', 'paused', 'disabled'];

/** Says how fit the relay of that name is, for the recipient in question. */
export type Fitness = (relay: string) => RelayFitness;

/** The member of a group that a fresh delivery goes to; null when there is no way: it waits until there is one. */
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
  /** Whether it may be tried at once: that relay has not yet been tried in this round. */
  readonly atOnce: boolean;
}

/**
 * The relay of the group that is next after `current`: at once when a later one is usable, else, after a delay, the
 * first that is; with none, it waits where it is. A `current` that is no member counts as before the first.
 */
export function nextWay(group: readonly string[], current: string, fitness: Fitness): NextWay {
  const place = group.indexOf(current);
  const later = group.slice(place + 1).find((relay) => relay !== current && fitness(relay) === 'usable');
  if (later !== undefined) return { relay: later, atOnce: true };
  const first = group.find((relay) => fitness(relay) === 'usable');
  return { relay: first ?? current, atOnce: false };
}

/** How many rounds through a group of `size` so many attempts make: what the delay between rounds grows by. */
export function roundsOf(attempts: number, size: number): number {
  return Math.ceil(attempts / Math.max(1, size));
}
