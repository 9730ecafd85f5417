import { keysIn } from '../../domain/domain-keys.ts';
import type { SendingDomain } from '../../domain/sending-domain.ts';
import { keyName, keyRecord, publish, zoneLine } from '../domain-records.ts';
import { lookForKey } from '../domain-sight.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';
import type { Check, Premises } from './premises.ts';

const NAME = 'domains';
/** Domains looked at: with two keys each, their questions are all under way at once. */
const MAX_DOMAINS_ASKED = 50;

/** Whether receivers can verify what is signed: a signature without its record is worth less than none. */
export const domainsCheck: Check = async (premises, signal) => {
  const { domains, unreadableDomains } = premises.loaded.config;
  if (domains.length === 0) return [skipped(NAME, 'None is registered: mail goes unsigned.')];
  const asked = domains.slice(0, MAX_DOMAINS_ASKED);
  const problems = (await Promise.all(asked.map((domain) => lookAt(domain, premises, signal)))).flat();
  const blind = unreadableDomains.map((name) =>
    fail(
      `domain ${name}`,
      'A key of it cannot be read with the present secret.key, and signs nothing.',
      `put back the secret.key of before, or make new keys: waybill domains rotate ${name}`,
    ),
  );
  const found = [...blind, ...problems];
  if (found.length > 0) return found;
  const rest =
    domains.length > asked.length ? ` Of ${domains.length} domains, ${asked.length} were looked at.` : '';
  return [ok(NAME, `What signs can be verified: its records are there.${rest}`)];
};

/** At most one finding for each domain, with every key whose record is not as it must be. */
async function lookAt(
  domain: SendingDomain,
  { resolver }: Premises,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { name } = domain;
  const signing = keysIn(domain, 'signing').filter(({ privateKey }) => privateKey !== null);
  const sights = await Promise.all(
    signing.map(async (key) => ({ key, sight: await lookForKey(name, key, resolver, signal) })),
  );
  const bad = sights.filter(({ sight: { kind } }) => kind !== 'seen' && kind !== 'unknown');
  if (bad.length > 0) {
    const places = bad.map(({ key, sight }) => `${keyName(name, key.selector)}: ${sight.detail}`);
    const lines = bad.map(({ key }) => zoneLine(keyName(name, key.selector), keyRecord(key)));
    return [
      fail(
        `domain ${name}`,
        `Its mail is signed, and receivers cannot verify that by ${places.join(' Nor by ')}`,
        publish(lines.join('\n')),
      ),
    ];
  }
  const unknown = sights.find(({ sight: { kind } }) => kind === 'unknown');
  return unknown === undefined
    ? []
    : [skipped(`domain ${name}`, `Its records cannot be told: ${unknown.sight.detail}`)];
}
