import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';

type Refused = ResultOf<'denials'>[number];

// A file of its own: its tests need no page.

/** The limit that held, and whose it is. */
export function limitWords({ perMinute, usual }: NonNullable<Refused['limit']>): string {
  if (perMinute === 0) return usual ? 'There is no limit now.' : 'The key has no limit now.';
  const much = `${formatCount(perMinute)} a minute`;
  return usual ? `The limit is ${much}, by default.` : `The limit of the key is ${much}.`;
}
