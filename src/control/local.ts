import type { Operations } from '../operations/table.ts';
import { accountOperations } from './accounts.ts';
import { alertChannelOperations } from './alert-channels.ts';
import { alertOperations } from './alerts.ts';
import { backupOperations } from './backups.ts';
import { certificateOperations } from './certificates.ts';
import { configOperations } from './configuration.ts';
import { configuringOperations } from './declared/configuring.ts';
import type { LocalDeps } from './deps.ts';
import { destinationOperations } from './destination.ts';
import { dmarcOperations } from './dmarc.ts';
import { createDoctor } from './doctor/last-look.ts';
import { domainOperations } from './domains.ts';
import { inboxOperations } from './inbox.ts';
import { keyOperations } from './keys.ts';
import { liveOperations } from './live.ts';
import { messageOperations } from './messages.ts';
import { preflightOperations } from './preflight.ts';
import { privacyOperations } from './privacy.ts';
import { queueOperations } from './queue.ts';
import { rateOperations } from './rates.ts';
import { relayHookOperations } from './relay-hooks.ts';
import { relayOperations } from './relays.ts';
import { requestOperations } from './requests.ts';
import { routeOperations } from './routes.ts';
import { previewOperations, searchOperations } from './search.ts';
import { settingsOperations } from './settings.ts';
import { sharingOperations } from './sharing.ts';
import { suppressionOperations } from './suppressions.ts';
import { systemOperations } from './system.ts';
import { templateOperations } from './templates.ts';
import { testMessageOperations } from './test-messages.ts';
import { tlsReportOperations } from './tls-reports.ts';
import { trafficOperations } from './traffic.ts';
import { webhookOperations } from './webhooks.ts';

/** The operations, carried out here: in the server, or by a command that holds the data directory. */
export function createLocalOperations(deps: LocalDeps): Operations {
  const doctor = createDoctor(deps);
  const search = searchOperations(deps, doctor.last);
  const relays = async () => (await search.overview({ step: 'minute', count: 1 })).relays;
  return {
    ...keyOperations(deps),
    ...requestOperations(deps),
    ...messageOperations(deps),
    ...preflightOperations(deps),
    ...relayOperations(deps),
    ...relayHookOperations(deps),
    ...testMessageOperations(deps),
    ...configOperations(deps),
    ...queueOperations(deps),
    ...destinationOperations(deps),
    ...routeOperations(deps),
    ...domainOperations(deps),
    ...accountOperations(deps),
    ...settingsOperations(deps),
    ...certificateOperations(deps),
    ...search,
    ...liveOperations(deps, { relays }),
    ...previewOperations(deps),
    ...sharingOperations(deps),
    ...rateOperations(deps),
    ...trafficOperations(deps),
    ...dmarcOperations(deps),
    ...tlsReportOperations(deps),
    ...inboxOperations(deps),
    ...suppressionOperations(deps),
    ...webhookOperations(deps),
    ...alertOperations(deps),
    ...alertChannelOperations(deps),
    ...templateOperations(deps),
    ...configuringOperations(deps),
    ...privacyOperations(deps),
    ...systemOperations(deps),
    ...backupOperations(deps),
    doctor: doctor.look,
  };
}
