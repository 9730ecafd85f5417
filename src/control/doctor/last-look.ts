import type { Finding } from '../../operations/system.ts';
import type { LocalDeps } from '../deps.ts';
import { hookProvenAt } from '../relay-hooks.ts';

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
