import type { Operations } from '../operations/table.ts';
import { accountOperations } from './local-accounts.ts';
import { backupOperations } from './local-backup.ts';
import { configOperations } from './local-config.ts';
import type { LocalDeps } from './local-deps.ts';
import { domainOperations } from './local-domains.ts';
import { inboxOperations } from './local-inbox.ts';
import { keyOperations } from './local-keys.ts';
import { messageOperations } from './local-messages.ts';
import { previewOperations } from './local-preview.ts';
import { queueOperations } from './local-queue.ts';
import { relayOperations } from './local-relays.ts';
import { routeOperations } from './local-routes.ts';
import { searchOperations } from './local-search.ts';
import { settingsOperations } from './local-settings.ts';
import { systemOperations } from './local-system.ts';

/** The operations, done here: in the server, or by a command that holds the data directory. */
export function createLocalOperations(deps: LocalDeps): Operations {
  return {
    ...keyOperations(deps),
    ...messageOperations(deps),
    ...relayOperations(deps),
    ...configOperations(deps),
    ...queueOperations(deps),
    ...routeOperations(deps),
    ...domainOperations(deps),
    ...accountOperations(deps),
    ...settingsOperations(deps),
    ...searchOperations(deps),
    ...previewOperations(deps),
    ...inboxOperations(deps),
    ...systemOperations(deps),
    ...backupOperations(deps),
    doctor: async () => {
      const { examineInstallation } = await import('./doctor/examination.ts');
      // Of a running server the settings from before are in force: what is wrong is in what was read since.
      const loaded = { ...deps.resolution(), faults: deps.faults() };
      const takeBackDenied = (address: string, reason: string) =>
        deps.server()?.takeBackDenied(address, reason);
      return await examineInstallation({ ...deps, loaded, storeFault: null, takeBackDenied });
    },
  };
}
