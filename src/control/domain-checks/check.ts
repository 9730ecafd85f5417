/** `waybill domains check`: what the DNS says of domains, each line with what to paste. */

import { createPolicyFetch } from '../../dns/client/policy-fetch.ts';
import { isPublicAddress } from '../../lib/network.ts';
import { type CheckedDomain, MAX_CHECKED } from '../../operations/domains.ts';
import { type Finding, skipped } from '../doctor/finding.ts';
import { realMachine } from '../doctor/machine.ts';
import { namesCheck } from '../doctor/names.ts';
import { mindDomain } from '../domain-minding.ts';
import { freshResolver } from '../fresh-resolver.ts';
import type { LocalDeps } from '../local-deps.ts';
import { dkimCheck } from './dkim.ts';
import { dmarcCheck } from './dmarc.ts';
import type { DomainCheck, Inquiry } from './inquiry.ts';
import { mtaStsCheck, mxCheck, tlsReportCheck } from './receiving.ts';
import { spfCheck } from './spf.ts';

/** How long a check of all domains may take: less than whoever asks will wait. */
const LIMIT_MS = 60_000;
/** How long one of them may take. */
const DOMAIN_MS = 20_000;
/** For one DNS server, one question: there must be time to ask another. */
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
    ...{ config: () => deps.resolution().config, clock, random: deps.random },
    ...{ timeoutMs: DNS_TIMEOUT_MS, attempts: 2 },
  });
  // No policy of a domain may lead into the network here.
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
    const findings = await runAll({ domain: current, ...facts }, one.signal);
    one.end();
    checked.push({ name: current.name, findings: [...findings, ...addresses], switchedTo });
  }
  all.end();
  return checked;
}

/** Every check of one domain, in order. One that fails is told as skipped. */
async function runAll(inquiry: Inquiry, signal: AbortSignal): Promise<readonly Finding[]> {
  const found = await Promise.all(
    CHECKS.map((check) =>
      check(inquiry, signal).catch((error: unknown) => [
        skipped('check', `It could not be looked at: ${String(error)}`),
      ]),
    ),
  );
  return found.flat();
}

/** What the reverse names of our addresses say: the same for every domain. Only who delivers himself is asked for them. */
async function addressFindings(
  { resolution }: Pick<LocalDeps, 'resolution'>,
  resolver: Inquiry['resolver'],
  machine: ReturnType<typeof realMachine>,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const loaded = resolution();
  if (!loaded.config.relays.some(({ mx, disabled }) => mx !== null && !disabled))
    return [
      skipped('PTR', "No relay delivers to recipients' own servers: whose address they see is not ours."),
    ];
  return await namesCheck({ loaded, machine, resolver }, signal);
}

/** A signal that aborts after so long, or with another. */
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
