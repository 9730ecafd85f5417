import { formatTimestamp } from '../../lib/clock.ts';
import type { OverviewBanner, OverviewRelay } from '../../operations/search.ts';
import type { Finding } from '../../operations/system.ts';
import type { LocalDeps } from '../deps.ts';
import { hookProvenAt } from '../relay-hooks.ts';

/** Most faults that are told; the doctor's page has all. */
const MAX_TOLD = 5;

/** What the doctor found last, and when (wall ms). */
export interface LastLook {
  readonly at: number;
  readonly findings: readonly Finding[];
}

/** The doctor, and what it found last: the Overview tells of its faults. Alerts let it look now and then. */
export interface Doctor {
  look(): Promise<readonly Finding[]>;
  /** Null until it has looked. */
  last(): LastLook | null;
}

/** Makes a doctor, who has not looked yet. */
export function createDoctor(deps: LocalDeps): Doctor {
  let last: LastLook | null = null;
  const look = async () => {
    const { examineInstallation } = await import('./examination.ts');
    // A running server may still use its previous settings: the faults are in the sources read since.
    const loaded = { ...deps.resolution(), faults: deps.faults() };
    const takeBackDenied = (address: string, reason: string) =>
      deps.server()?.takeBackDenied(address, reason);
    const findings = await examineInstallation({
      ...deps,
      loaded,
      storeFault: null,
      takeBackDenied,
      hookProvenAt: (relay) => hookProvenAt(relay, deps),
    });
    last = { at: deps.clock.wall(), findings };
    return findings;
  };
  return { look, last: () => last };
}

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
