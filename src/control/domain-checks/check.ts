import { newProbe } from '../../config/bounces.ts';
import { createPolicyFetch } from '../../dns/client/policy-fetch.ts';
import { type DomainKey, keyState, recordUntil, type SendingDomain } from '../../domain/domain-keys.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { isPublicAddress } from '../../lib/network.ts';
import { areAligned } from '../../lib/organizational-domain.ts';
import { type CheckedDomain, MAX_CHECKED } from '../../operations/domains.ts';
import type { Finding } from '../../operations/system.ts';
import type { LocalDeps } from '../deps.ts';
import { fail, ok, skipped, warn } from '../doctor/finding.ts';
import { realMachine } from '../doctor/machine.ts';
import { namesCheck } from '../doctor/names.ts';
import { changeDomain, lookForKey, mindDomain, type Sight } from '../domain-book.ts';
import { keyName, keyRecord, publish, zoneLine } from '../domain-records.ts';
import { freshResolver } from '../mail-dns.ts';
import { checkBounceDomain } from './bounce-domain.ts';
import { dmarcCheck } from './dmarc.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';
import { mtaStsCheck, mxCheck, tlsReportCheck } from './receiving.ts';
import { spfCheck } from './spf.ts';

/** Whether each key's record is as required (RFC 6376 §3.6.1). */
export const dkimCheck: DomainCheck = async ({ domain, resolver }, signal) => {
  if (domain.keys.length === 0)
    return [
      fail('DKIM', 'The domain has no key: nothing is signed.', `waybill domains rotate ${domain.name}`),
    ];
  return await Promise.all(
    domain.keys.map(async (key) =>
      tell(domain.name, key, await lookForKey(domain.name, key, resolver, signal)),
    ),
  );
};

/** The finding for a key's record, depending on the state of the key. */
function tell(domain: string, key: DomainKey, { kind, detail }: Sight): Finding {
  const name = `DKIM ${key.selector}`;
  const state = keyState(key);
  const cure = publish(zoneLine(keyName(domain, key.selector), keyRecord(key)));
  if (state !== 'retired' && key.privateKey === null)
    return fail(
      name,
      'The key cannot be read with the present secret.key: it signs nothing.',
      `put back the earlier secret.key, or make new keys: waybill domains rotate ${domain}`,
    );
  if (kind === 'unknown') return skipped(name, `The record is unknown: ${detail}`);
  if (state === 'retired' && kind === 'revoked')
    return ok(
      name,
      'It is retired and revoked: nobody can sign with it, and your mail that it signed counts as unsigned.',
    );
  if (kind === 'seen' && detail !== '') return warn(name, detail, cure);
  if (state === 'signing')
    return kind === 'seen'
      ? ok(name, `It signs (${key.algorithm}), and its record is right.`)
      : fail(name, `It signs, but receivers cannot verify that. ${detail}`, cure);
  if (state === 'waiting')
    return kind === 'seen'
      ? ok(name, 'Its record is right; it signs as soon as the records of all new keys are.')
      : warn(name, `It is new, and waits until its record is visible. ${detail}`, cure);
  const until = formatTimestamp(recordUntil(key) ?? 0);
  return kind === 'seen'
    ? ok(name, `It is retired; its record must stay until ${until}.`)
    : warn(
        name,
        `It is retired, but mail that it signed may still be in transit: its record must stay until ${until}. ${detail}`,
        cure,
      );
}

// `waybill domains check`: checks domains in the DNS, with the line to paste for each fault.

/** How long a check of all domains may take: less than the caller will wait. */
const LIMIT_MS = 60_000;
/** How long one domain may take. */
const DOMAIN_MS = 20_000;
/** For one query to one DNS server: time must remain to ask another. */
const DNS_TIMEOUT_MS = 3_000;

const CHECKS: readonly DomainCheck[] = [
  dkimCheck,
  spfCheck,
  dmarcCheck,
  mxCheck,
  mtaStsCheck,
  tlsReportCheck,
];

/** What the operations on domains work with. */
export type DomainDeps = Pick<LocalDeps, 'registry' | 'resolution' | 'reload' | 'clock' | 'random'>;

/** Checks one domain, or (null) the first {@link MAX_CHECKED}, one after the other. */
export async function checkDomains(name: string | null, deps: DomainDeps): Promise<readonly CheckedDomain[]> {
  const { clock } = deps;
  const { domains } = deps.resolution().config;
  const asked = domains.filter((domain) => name === null || domain.name === name).slice(0, MAX_CHECKED);
  const all = limited(deps, LIMIT_MS);
  const resolver = freshResolver({
    config: () => deps.resolution().config,
    clock,
    random: deps.random,
    timeoutMs: DNS_TIMEOUT_MS,
    attempts: 2,
  });
  // A domain's policy must not lead into the local network.
  const fetchPolicy = createPolicyFetch({ resolver, clock, isAllowed: isPublicAddress });
  const machine = realMachine(clock);
  const addresses = await addressFindings(deps, resolver, machine, all.signal);
  const checked: CheckedDomain[] = [];
  for (const domain of asked) {
    const one = limited(deps, DOMAIN_MS, all.signal);
    const { switchedTo } = await mindDomain(domain, resolver, deps, one.signal);
    const { config } = deps.resolution();
    const current = config.domains.find((known) => known.name === domain.name) ?? domain;
    const facts = { config, resolver, fetchPolicy, ownAddresses: machine.addresses(), now: clock.wall() };
    const [findings, bounces] = await Promise.all([
      runAll({ domain: current, ...facts }, one.signal),
      checkReturnPath(current, facts, machine, deps, one.signal),
    ]);
    one.end();
    checked.push({ name: current.name, findings: [...findings, ...bounces, ...addresses], switchedTo });
  }
  all.end();
  return checked;
}

/** Checks a domain's own return paths, and remembers whether its mail may use them from now on. */
async function checkReturnPath(
  { name, returnPath }: SendingDomain,
  { config, resolver }: Pick<Inquiry, 'config' | 'resolver'>,
  machine: ReturnType<typeof realMachine>,
  deps: DomainDeps,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (returnPath === null) return [];
  const { domain } = returnPath;
  const probe = newProbe(config, deps);
  const facts = { domain, config, resolver, machine, probe };
  const { findings: found, isGood } = await checkBounceDomain('return path', facts, signal);
  const findings = areAligned(name, domain) ? found : [...found, misaligned(name, domain)];
  if (isGood === null) return findings;
  await changeDomain(
    name,
    (before) => {
      const own = before?.returnPath ?? null;
      // It may have another one meanwhile.
      if (before === null || own?.domain !== domain || own.isGood === isGood) return before;
      const seenAt = isGood ? (own.seenAt ?? deps.clock.wall()) : own.seenAt;
      return { ...before, returnPath: { domain, seenAt, isGood } };
    },
    deps,
  );
  return findings;
}

function misaligned(name: string, domain: string): Finding {
  return warn(
    'return path',
    `SPF is checked for ${domain}, which does not align with ${name}: DMARC counts only its signature.`,
    `waybill domains update ${name} --return-path bounces.${name}`,
  );
}

/** Every check of one domain, in order. One that fails is reported as skipped. */
async function runAll(inquiry: Inquiry, signal: AbortSignal): Promise<readonly Finding[]> {
  const found = await Promise.all(
    CHECKS.map((check) =>
      check(inquiry, signal).catch((error: unknown) => [
        skipped('check', `It could not be checked: ${String(error)}`),
      ]),
    ),
  );
  return found.flat();
}

/** The findings on our addresses' reverse names: the same for every domain. Only needed for direct delivery. */
async function addressFindings(
  { resolution }: Pick<LocalDeps, 'resolution'>,
  resolver: Inquiry['resolver'],
  machine: ReturnType<typeof realMachine>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const loaded = resolution();
  if (!loaded.config.relays.some(({ mx, disabled }) => mx !== null && !disabled))
    return [skipped('PTR', "No relay delivers to recipients' own servers: they do not see our address.")];
  return await namesCheck({ loaded, machine, resolver }, signal);
}

/** A signal that aborts after this time, or with another signal. */
function limited({ clock }: Pick<LocalDeps, 'clock'>, ms: number, outer?: AbortSignal) {
  const limit = new AbortController();
  const done = new AbortController();
  const end = () => limit.abort();
  outer?.addEventListener('abort', end, { once: true });
  void clock.sleep(ms, done.signal).then(end);
  return {
    signal: limit.signal,
    end: () => {
      outer?.removeEventListener('abort', end);
      done.abort();
    },
  };
}
