import type { Loaded } from '../../config/load.ts';
import { serverName } from '../../config/server-name.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { probeProvider } from '../../transport/providers/probe.ts';
import { providerFor } from '../../transport/providers/provider-for.ts';
import { probeSmarthost } from '../../transport/smtp/probe.ts';
import { freshResolver } from '../fresh-resolver.ts';
import { layoutOf } from '../layout.ts';
import { examine } from './doctor.ts';
import type { Finding } from './finding.ts';
import { realMachine } from './machine.ts';
import type { Premises } from './premises.ts';
import { readRuntime } from './runtime.ts';

/** How long one DNS server may take: there must be time to ask another. */
const DNS_TIMEOUT_MS = 1_200;

/** What an examination takes. */
export interface ExaminationOptions
  extends Pick<Premises, 'dataDir' | 'views' | 'storeFault' | 'takeBackDenied'> {
  readonly loaded: Loaded;
  /** Whether the server runs that has the data directory. */
  readonly running: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** Examines an installation on this machine. Never rejects. */
export async function examineInstallation(options: ExaminationOptions): Promise<readonly Finding[]> {
  const { loaded, dataDir, running, clock } = options;
  const hostname = serverName(loaded.config);
  return await examine({
    ...options,
    bound: running ? readRuntime(layoutOf(dataDir).runtime) : null,
    machine: realMachine(clock),
    resolver: freshResolver({
      ...{ config: () => loaded.config, clock, random: options.random },
      ...{ timeoutMs: DNS_TIMEOUT_MS, attempts: 1 },
    }),
    probe: (settings, signal) => probeSmarthost(settings, { hostname, clock }, signal),
    probeProvider: (settings, signal) =>
      probeProvider(settings, { provider: providerFor(settings), clock }, signal),
  });
}
