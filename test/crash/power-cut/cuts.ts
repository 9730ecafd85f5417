/** Where the power is cut: every step is a place, but few of the many are of one kind. */
import type { Random } from '../../../src/lib/random.ts';
import type { Fate } from './disk.ts';
import type { Step } from './history.ts';

/** The power goes after a step; of what was not flushed by then this becomes. */
export interface Cut {
  readonly after: number;
  readonly fate: Fate;
}

/**
 * Chooses cuts, in the order of their steps: after each step once, where there are so many; of the others a third anywhere; a third among the steps of a kind, each kind as often as any
 * other, so that a file that is written once has its turn among thousands of writes to the log; and a third just after a
 * promise was made (`promised` are those steps), where all is lost that can be: what was promised must be flushed by then.
 */
export function chooseCuts(
  steps: readonly Step[],
  promised: readonly number[],
  count: number,
  dice: Random,
): Cut[] {
  const kinds = [...Map.groupBy(steps.keys(), (place) => kindOf(steps[place])).values()];
  const choose = [
    () => ({ after: Math.floor(dice.next() * steps.length), fate: fateBy(dice) }),
    () => ({ after: oneOf(oneOf(kinds, dice), dice), fate: fateBy(dice) }),
    () => ({ after: oneOf(promised, dice), fate: 'lost' as const }),
  ];
  const each = count < steps.length ? [] : steps.map((_, after) => ({ after, fate: fateBy(dice) }));
  const others = Array.from({ length: count - each.length }, (_, place) => choose[place % choose.length]?.());
  return [...each, ...others.filter((cut) => cut !== undefined)].sort((a, b) => a.after - b.after);
}

function fateBy(dice: Random): Fate {
  const roll = dice.next();
  return roll < 0.15 ? 'lost' : roll < 0.2 ? 'kept' : 'dice';
}

function kindOf(step: Step | undefined): string {
  if (step === undefined) return 'none';
  const { phase, deed } = step;
  return `${phase} ${deed.kind} ${deed.kind === 'say' ? '' : deed.name}`;
}

function oneOf<T>(list: readonly T[], dice: Random): T {
  const one = list[Math.floor(dice.next() * list.length)];
  if (one === undefined) throw new Error('there is nothing to choose from');
  return one;
}
