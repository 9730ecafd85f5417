import { serverName } from '../config/server-name.ts';
import type { GuardSettings } from '../dashboard/guard.ts';
import { cidrs } from './cidr-sets.ts';
import type { LiveConfig } from './live-config.ts';

/** Who may speak to the dashboard's port, as it is configured now; `anyHost` aside. */
export function guardSettings({ config }: LiveConfig): Omit<GuardSettings, 'anyHost'> {
  return {
    allowedCidrs: cidrs(config.webui.allowedCidrs),
    trustedProxies: cidrs(config.webui.trustedProxies),
    allowedHosts: config.webui.allowedHosts,
    hostname: serverName(config),
  };
}
