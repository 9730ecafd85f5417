import type { ResultOf } from '../../../../src/operations/table.ts';

// A file of its own: its tests need no page.

type Banner = Pick<ResultOf<'overview'>['banners'][number], 'code' | 'text'>;

/** As health names a relay whose next hop refuses us. */
const NAMED = /, relay (\S+):/g;
const MORE = 'The same applies to';

/**
 * Whether rows of relays that rest say more than health's check of relays. They do not where it names one that does not
 * rest, such as one that is paused because its next hop refuses us, or more than it names.
 */
export function isToldByRows({ code, text }: Banner, rows: readonly { readonly name: string }[]): boolean {
  if (code !== 'relays' || rows.length === 0 || text.includes(MORE)) return false;
  const named = [...text.matchAll(NAMED)].map(([, name]) => name);
  return named.every((name) => rows.some((row) => row.name === name));
}
