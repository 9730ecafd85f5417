import type { ResultOf } from '../../../../src/operations/table.ts';

/** Something that was done. */
export type Entry = ResultOf<'activity'>['entries'][number];

/** Why it was not done, as the code of what was thrown; null for what was. */
export function refusalOf({ after }: Pick<Entry, 'after'>): string | null {
  if (typeof after !== 'object' || after === null || !('error' in after)) return null;
  return typeof after.error === 'string' && Object.keys(after).length === 1 ? after.error : null;
}

/** Whether it should catch the eye. */
export function isAlarming(action: string): boolean {
  return /failed|denied|refused/i.test(action);
}

/** Who did it, in words. */
export function actorWords({ actor, actorKind }: Pick<Entry, 'actor' | 'actorKind'>): string {
  if (actorKind === 'service') return 'the service';
  if (actorKind === 'command') return 'command line';
  return actor === '' ? 'nobody' : actor;
}
