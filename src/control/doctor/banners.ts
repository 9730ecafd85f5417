import { formatTimestamp } from '../../lib/clock.ts';
import type { OverviewBanner, OverviewRelay } from '../../operations/search.ts';
import type { LastLook } from './last-look.ts';

/** Most faults that are told; the doctor's page has all. */
const MAX_TOLD = 5;

/**
 * The faults that the doctor found last, for the Overview: those that neither its other banners nor a relay that rests
 * tell of already.
 */
export function doctorBanners(
  last: LastLook | null,
  others: readonly Pick<OverviewBanner, 'code'>[],
  relays: readonly Pick<OverviewRelay, 'name' | 'rest'>[],
): OverviewBanner[] {
  if (last === null) return [];
  const told = new Set([
    ...others.map(({ code }) => code),
    ...relays.flatMap(({ name, rest }) => (rest === null ? [] : [`relay ${name}`])),
  ]);
  return last.findings
    .filter(({ name, status }) => status === 'fail' && !told.has(name))
    .slice(0, MAX_TOLD)
    .map(({ name, found }) => ({
      code: name,
      level: 'warning',
      text: `${name}: ${found}`,
      foundAt: formatTimestamp(last.at),
    }));
}
