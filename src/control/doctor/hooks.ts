import { hookTypeOf, relayHook } from '../../config/hook-tokens.ts';
import type { Relay } from '../../domain/relay.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import type { Finding } from '../../operations/system.ts';
import { missingFields } from '../relay-hooks.ts';
import { ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';

const PUBLIC = 'public URL';
/** Most relays to check. */
const MAX_RELAYS = 50;
/** A hook that was not used for so long is suspicious, if its relay delivers mail. */
const LONG_MS = 7 * 86_400_000;
/** A path that is there whatever is configured, but takes only POST. */
const PROBE = '/hooks/doctor/0';
/** What the server itself answers there: the wrong method, or a source that may not ask. */
const OURS: readonly number[] = [405, 403];

/** Whether providers can tell what became of mail: the public URL, and the hook of each relay. */
export const hooksCheck: Check = async (premises, signal) => {
  const { relays } = premises.loaded.config;
  const hooked = relays.filter((relay) => !relay.disabled && hookTypeOf(relay) !== null).slice(0, MAX_RELAYS);
  const found = await Promise.all(hooked.map((relay) => lookAt(relay, premises)));
  const isUsed = found.some(({ status }) => status !== 'skipped');
  return [await lookAtUrl(isUsed, premises, signal), ...found];
};

async function lookAtUrl(isUsed: boolean, premises: Premises, signal: AbortSignal): Promise<Finding> {
  const { machine, bound, loaded } = premises;
  const { publicUrl } = loaded.config.server;
  if (publicUrl === null) {
    const found =
      'server.public_url is not set: hooks and links to unsubscribe have no name to be reached by';
    if (!isUsed) return skipped(PUBLIC, `${found}.`);
    return warn(PUBLIC, `${found}.`, 'server: { public_url: "https://mail.example.com" }');
  }
  if (!publicUrl.startsWith('https:'))
    return warn(
      PUBLIC,
      `${publicUrl} is not encrypted: secrets are read on the way, and links to unsubscribe need https.`,
      `server: { public_url: "${publicUrl.replace(/^http:/, 'https:')}" }  # and a certificate: docs/operations.md`,
    );
  if (bound === null) return skipped(PUBLIC, `No server is running, so ${publicUrl} could not be tested.`);
  const answer = await machine.knock(`${publicUrl}${PROBE}`, signal);
  if (typeof answer === 'string')
    return warn(
      PUBLIC,
      `${publicUrl} cannot be reached from this machine: ${answer}`,
      'check its name in the DNS, its certificate, and the firewall. From inside, some networks cannot reach their own address; then ask from outside',
    );
  if (!OURS.includes(answer))
    return warn(
      PUBLIC,
      `${publicUrl} answers, but not as this server does (status ${answer} at ${PROBE}).`,
      'have the proxy in front pass on /hooks/ and /u/ to api.port',
    );
  return ok(PUBLIC, `${publicUrl} leads here.`);
}

async function lookAt(relay: Relay, { loaded, clock, views, hookProvenAt }: Premises): Promise<Finding> {
  const { name } = relay;
  const title = `hook of ${name}`;
  const hook = relayHook(loaded.config, name);
  if (hook === null) return skipped(title, 'The secret key cannot be read, and with it the tokens of hooks.');
  const missing = missingFields(hook);
  const isBegun = Object.values(hook.settings).some((setting) => setting !== null);
  const provenAt = await hookProvenAt(name);
  if (!isBegun && provenAt === null)
    return skipped(
      title,
      `Webhooks are not set up: bounces and complaints stay with the provider (${hook.type}).`,
    );
  if (missing.length > 0)
    return warn(
      title,
      `It refuses everything, as the relay has no ${missing.join(' and no ')}.`,
      `waybill relays edit ${name} --help  # and docs/provider-webhooks.md`,
    );
  const cure = `enter the URL at the provider, and send a test: waybill relays show ${name} --hook`;
  if (provenAt === null) return warn(title, 'No event has come to it yet.', cure);
  const now = clock.wall();
  const last = formatTimestamp(provenAt);
  if (now - provenAt < LONG_MS) return ok(title, `Last used ${last}, to within hours.`);
  const delivered = (await views?.figures(now))?.relays[name]?.delivered ?? 0;
  if (delivered === 0) return ok(title, `Last used ${last}; no mail was delivered today.`);
  return warn(title, `Last used ${last}, although mail is delivered.`, cure);
}
