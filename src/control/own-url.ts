import { isIP } from 'node:net';
import type { LocalDeps } from './deps.ts';
import { readRuntime } from './doctor/machine.ts';
import { ASKING } from './door.ts';
import { layoutOf } from './layout.ts';

type Deps = Pick<LocalDeps, 'resolution' | 'running' | 'dataDir'>;

/**
 * The URL of a path of the dashboard, for others: by the name under which who asks has it open, else by one that is
 * configured, else as it is reached on this machine. Null if its port is off, or chosen at the start and so unknown.
 */
export function dashboardUrl(path: string, deps: Deps): string | null {
  const asked = ASKING.getStore()?.origin ?? null;
  const origin = asked !== null && isNamed(asked) ? asked : (configured(deps) ?? asked ?? local(deps));
  return origin === null ? null : `${origin}${path}`;
}

/** Whether it says how others reach it: by a name that is not this machine's own for itself. */
function isNamed(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname !== 'localhost' && !hostname.startsWith('[') && isIP(hostname) === 0;
}

function configured(deps: Deps): string | null {
  const { signIn, webui } = deps.resolution().config;
  if (signIn.oidc.publicUrl !== null) return signIn.oidc.publicUrl;
  const name = webui.allowedHosts.find((host) => isNamed(`https://${host}`));
  const port = portOf(deps);
  return name === undefined || port === null ? null : `https://${name}:${port}`;
}

function local(deps: Deps): string | null {
  const port = portOf(deps);
  return port === null ? null : `https://localhost:${port}`;
}

/** The port of the dashboard; null if it is off, or chosen at the start and so unknown. */
function portOf({ running, dataDir, resolution }: Deps): number | null {
  if (running) return readRuntime(layoutOf(dataDir).runtime)?.webui ?? null;
  const { port } = resolution().config.webui;
  return port === 0 ? null : port;
}
