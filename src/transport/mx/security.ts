/** How the connection to one of a domain's hosts is secured: DANE before MTA-STS before the relay's own wish. */

import { lookUpDane } from '../../dns/dane.ts';
import type { HostAddresses } from '../../dns/hosts.ts';
import type { MtaStsVerdict } from '../../dns/mta-sts.ts';
import { matchesPolicy } from '../../dns/mta-sts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { type DnsRefusal, deferred } from '../../dns/resolver.ts';
import type { Destination } from '../smtp/open.ts';

/** Hosts that one text names. */
const MAX_NAMES = 5;

/** What is to be decided on. */
export interface SecurityQuestion {
  /** The recipients' domain. */
  readonly domain: string;
  /** The host's name, as the MX record has it. */
  readonly host: string;
  readonly port: number;
  readonly addresses: HostAddresses;
  readonly mxAuthenticated: boolean;
  /** What the domain publishes. */
  readonly sts: MtaStsVerdict;
  /** The relay's own wish. */
  readonly tls: 'opportunistic' | 'required';
}

/** What was decided, and by what. */
export interface HostSecurity {
  readonly kind: 'secured';
  readonly way: Pick<Destination, 'tls' | 'trust' | 'serverName'>;
  /** As evidence tells it: `usable`, `unusable`, `none`, or null: not looked at. */
  readonly dane: string | null;
}

/**
 * Decides. A host whose TLSA records could not be had, or that an enforced MTA-STS policy does not name, is refused
 * for now. Usable TLSA records go before MTA-STS (RFC 8461 §2); where all are unusable, it holds as well.
 */
export async function decideSecurity(
  question: SecurityQuestion,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<HostSecurity | DnsRefusal> {
  const { domain, host, port, addresses, mxAuthenticated } = question;
  const dane = await lookUpDane(resolver, { mxAuthenticated, name: host, port, addresses }, signal);
  switch (dane.kind) {
    case 'mandatory': {
      const { records, baseDomain: serverName } = dane;
      const names = [...new Set([domain, host, serverName])];
      const way = { tls: 'required', trust: { kind: 'dane', records, names }, serverName } as const;
      return { kind: 'secured', way, dane: 'usable' };
    }
    case 'mandatory_unauthenticated':
      return byPolicy(question, 'required', 'unusable');
    case 'opportunistic':
      return byPolicy(question, question.tls, dane.why === 'no_records' ? 'none' : null);
    default:
      return dane;
  }
}

function byPolicy(
  { domain, host, sts }: SecurityQuestion,
  tls: 'opportunistic' | 'required',
  dane: string | null,
): HostSecurity | DnsRefusal {
  if (sts.kind === 'none' || sts.policy.mode !== 'enforce')
    return { kind: 'secured', way: { tls, trust: { kind: 'any' } }, dane };
  if (!matchesPolicy(sts.policy, host)) return notNamed([host], domain);
  return { kind: 'secured', way: { tls: 'required', trust: { kind: 'name' } }, dane };
}

/**
 * Which hosts may be used, for all that is known before any of them is looked at: those that an enforced MTA-STS policy
 * names, and all where DANE may speak for them. `excluded`: why the others may not, if there are any.
 */
export function byName<T extends { readonly name: string }>(
  hosts: readonly T[],
  { domain, mxAuthenticated, sts }: Pick<SecurityQuestion, 'domain' | 'mxAuthenticated' | 'sts'>,
): { readonly hosts: readonly T[]; readonly excluded: DnsRefusal | null } {
  if (mxAuthenticated || sts.kind === 'none' || sts.policy.mode !== 'enforce')
    return { hosts, excluded: null };
  const { policy } = sts;
  const others = hosts.filter(({ name }) => !matchesPolicy(policy, name)).map(({ name }) => name);
  const excluded = others.length === 0 ? null : notNamed(others, domain);
  return { hosts: hosts.filter(({ name }) => matchesPolicy(policy, name)), excluded };
}

function notNamed(hosts: readonly string[], domain: string): DnsRefusal {
  const names = hosts.slice(0, MAX_NAMES).join(', ');
  const more = hosts.length > MAX_NAMES ? ` and ${hosts.length - MAX_NAMES} more` : '';
  const are = hosts.length === 1 ? 'is' : 'are';
  return deferred('mta_sts_host', '4.7.5', `${names}${more} ${are} not in the MTA-STS policy of ${domain}`);
}

/** A domain's MTA-STS, for people: what holds, and why nothing does where something may be meant to. */
export function describeSts(sts: MtaStsVerdict): string {
  return sts.kind === 'none' && sts.why !== null ? `none: ${sts.why}` : stsMode(sts);
}

/** A domain's MTA-STS as evidence tells it. */
export function stsMode(sts: MtaStsVerdict): string {
  return sts.kind === 'none' ? 'none' : sts.policy.mode;
}
