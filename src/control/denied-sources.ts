import { formatTimestamp } from '../lib/clock.ts';
import type { DeniedTally } from '../observe/remembered.ts';
import type { ALLOW_LISTS, DeniedSource } from '../operations/settings.ts';

/** Refused sources as they are shown. */
export function deniedSources(tallies: readonly DeniedTally[]): DeniedSource[] {
  return tallies.map(({ firstAt, lastAt, port, ...rest }) => ({
    ...rest,
    firstAt: formatTimestamp(firstAt),
    lastAt: formatTimestamp(lastAt),
    setting: settingOf(rest.reason, port),
  }));
}

/** Where the source could be allowed what it was refused; null where its address is not why. */
function settingOf(reason: string, port: DeniedTally['port']): (typeof ALLOW_LISTS)[number] | null {
  if (reason === 'relay_not_allowed') return 'listener.allowed_cidrs';
  if (reason === 'source_not_allowed' && port !== null) return `${port}.allowed_cidrs`;
  return null;
}
