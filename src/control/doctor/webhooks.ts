import { signingSecrets } from '../../config/webhook-secrets.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import type { Finding } from '../../operations/system.ts';
import type { StoredEndpoint } from '../../store/webhooks.ts';
import { ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';

const NAME = 'webhooks';
/** Most endpoints to tell of one by one. */
const MAX_TOLD = 20;

/** Whether applications are told of events: endpoints that fail, that hear no more, and those of the file. */
export const webhooksCheck: Check = async (premises) => {
  const { webhooks, loaded } = premises;
  if (webhooks === null) return [skipped(NAME, 'The database cannot be opened, and with it the endpoints.')];
  const stored = await webhooks.webhookEndpoints();
  const known = new Set(stored.map(({ endpoint }) => endpoint.inFile));
  const missing = loaded.config.webhooks.endpoints.filter(({ name }) => !known.has(name));
  const found = [
    ...missing.map(({ name }) =>
      warn(
        `webhook ${name}`,
        'It stands in the configuration file, but could not be taken over, or no server has run since.',
        'look for webhook.not_taken_over in the log of the server',
      ),
    ),
    ...stored.flatMap((one) => lookAt(one, premises) ?? []),
  ];
  if (found.length > MAX_TOLD) return [...found.slice(0, MAX_TOLD), more(found.length - MAX_TOLD)];
  if (found.length > 0) return found;
  if (stored.length === 0) return [skipped(NAME, 'Nobody is told of events.')];
  return [
    ok(NAME, `${stored.length} of ${stored.length} endpoints take what they are told, or are switched off.`),
  ];
};

function more(count: number): Finding {
  return warn(NAME, `${count} more are not well.`, 'waybill webhooks list');
}

/** What is wrong with an endpoint; null: nothing. */
function lookAt({ endpoint, health, secrets }: StoredEndpoint, { loaded, clock }: Premises): Finding | null {
  const { id, url, enabled, inFile } = endpoint;
  const title = `webhook ${inFile ?? id}`;
  if (!enabled) return null;
  const see = `waybill webhooks deliveries ${id}`;
  const reason = health.reason === null ? '' : ` ${health.reason}`;
  if (health.state === 'disabled')
    return warn(
      title,
      `${url} is told of nothing.${reason}`,
      `mend it, then: waybill webhooks enable ${id}  # and for what it missed: waybill webhooks replay ${id} --since …`,
    );
  if (loaded.vault !== null && signingSecrets(secrets, id, loaded.vault, clock.wall()) === null)
    return warn(
      title,
      `The secret that signs what ${url} is told was sealed with another secret.key.`,
      inFile === null ? `waybill webhooks rotate ${id}` : 'bring secret.key back, or restart the server',
    );
  if (health.state !== 'failing') return null;
  const since = health.failingSince === null ? '' : ` since ${formatTimestamp(health.failingSince)}`;
  return warn(title, `${url} has taken nothing${since}.${reason}`, see);
}
