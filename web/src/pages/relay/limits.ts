import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes, formatCount } from '../../format.ts';

type RelayDetail = ResultOf<'relay'>;
type Limited = Pick<RelayDetail, 'limits' | 'maxPerDay'>;

/** What a relay keeps to, by name. Where it keeps to nothing, it says so. */
export function limitRows({ limits, maxPerDay }: Limited): readonly (readonly [string, string])[] {
  if (limits === null) return [];
  const { maxConcurrency, maxRatePerSecond, maxPerDomain, maxRecipients, maxMessageBytes } = limits;
  return [
    ['Attempts at once', formatCount(maxConcurrency)],
    ['Attempts a second', orNoLimit(maxRatePerSecond, formatCount)],
    ...(maxPerDomain === null ? [] : [['At once to one domain', formatCount(maxPerDomain)] as const]),
    ['Recipients at once', formatCount(maxRecipients)],
    ['Largest message', orNoLimit(maxMessageBytes, formatBytes)],
    ['Recipients a day', orNoLimit(maxPerDay, formatCount)],
  ];
}

function orNoLimit(value: number, words: (value: number) => string): string {
  return value === 0 ? 'no limit' : words(value);
}

/** The figure of the day and what stands under it: how much was sent of how much. */
export function dayOf({
  usedToday,
  allowedToday,
}: Pick<RelayDetail, 'usedToday' | 'allowedToday'>): readonly [value: string, note: string] {
  const used = usedToday === null ? null : formatCount(usedToday);
  if (allowedToday !== null) return [used ?? '0', `of ${formatCount(allowedToday)} recipients`];
  return used === null ? ['No limit', 'on recipients a day'] : [used, 'recipients; there is no limit'];
}
