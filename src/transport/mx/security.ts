/** How to secure the connection to a domain's host: DANE before MTA-STS before the relay's own setting. */

import { lookUpDane } from '../../dns/dane.ts';
import type { HostAddresses } from '../../dns/hosts.ts';
import type { MtaStsVerdict } from '../../dns/mta-sts.ts';
import { matchesPolicy } from '../../dns/mta-sts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import { type DnsRefusal, deferred, rejected } from '../../dns/resolver.ts';
import type { Destination } from '../smtp/open.ts';

/** Most hosts named in one text. */
const MAX_NAMES = 5;

/** What the decision depends on. */
export interface SecurityQuestion {
  /** The recipients' domain. */
  readonly domain: string;
  /** The host's name, as in the MX record. */
  readonly host: string;
  readonly port: number;
  readonly addresses: HostAddresses;
  readonly mxAuthenticated: boolean;
  /** What the domain publishes. */
  readonly sts: MtaStsVerdict;
  /** The relay's own setting. */
  readonly tls: 'opportunistic' | 'required';
  /** The message demands TLS all the way (RFC 8689). */
  readonly requireTls: boolean;
}

/** Encrypted, to a server whose certificate is valid for its name. */
export const VERIFIED = { tls: 'required', trust: { kind: 'name' } } as const;

/** The decision, and its basis. */
export interface HostSecurity {
  readonly kind: 'secured';
  readonly way: Pick<Destination, 'tls' | 'trust' | 'serverName'>;
  /** As shown in evidence: `usable`, `unusable`, `none`, or null for not looked up. */
  readonly dane: string | null;
}

/**
 * Decides. A host whose TLSA look-up failed, or that an enforced MTA-STS policy does not name, is refused for now.
 * Usable TLSA records take precedence over MTA-STS (RFC 8461 §2); if all are unusable, MTA-STS applies as well. With
 * `requireTls`, the host's name must be vouched for, and its certificate verified.
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
  question: SecurityQuestion,
  tls: 'opportunistic' | 'required',
  dane: string | null,
): HostSecurity | DnsRefusal {
  const { domain, host, sts, requireTls } = question;
  const isEnforced = sts.kind === 'policy' && sts.policy.mode === 'enforce';
  if (isEnforced && !matchesPolicy(sts.policy, host)) return notNamed([host], domain);
  if (requireTls && !isVouchedFor(question)) return notVouchedFor(question);
  return {
    kind: 'secured',
    way: isEnforced || requireTls ? VERIFIED : { tls, trust: { kind: 'any' } },
    dane,
  };
}

/**
 * Whether it is certain that the domain's mail goes to a host of this name (RFC 8689 §2): by a validated MX record, by
 * its MTA-STS policy, even one that is only tested, or because the domain itself is the host.
 */
function isVouchedFor({ domain, host, mxAuthenticated, sts }: SecurityQuestion): boolean {
  if (mxAuthenticated || host.toLowerCase() === domain.toLowerCase()) return true;
  return sts.kind === 'policy' && sts.policy.mode !== 'none' && matchesPolicy(sts.policy, host);
}

/** For good, unless the domain has a policy that could not be fetched. */
function notVouchedFor({ domain, host, sts }: SecurityQuestion): DnsRefusal {
  const text = `The message demands TLS all the way (REQUIRETLS), but neither DNSSEC nor an MTA-STS policy proves that ${host} is a server of ${domain}`;
  if (sts.kind === 'none' && sts.why !== null)
    return deferred('requiretls_host', '4.7.10', `${text}: ${sts.why}`);
  return { ...rejected('requiretls_host', '5.7.10', text), hopBound: true };
}

/**
 * Which hosts may be used, before any of them is examined: those named by an enforced MTA-STS policy, and all where
 * DANE may apply. `excluded`: why the others may not, if there are any.
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

/** A domain's MTA-STS, for people: the policy in force, or why none is where one may be intended. */
export function describeSts(sts: MtaStsVerdict): string {
  return sts.kind === 'none' && sts.why !== null ? `none: ${sts.why}` : stsMode(sts);
}

/** A domain's MTA-STS, as shown in evidence. */
export function stsMode(sts: MtaStsVerdict): string {
  return sts.kind === 'none' ? 'none' : sts.policy.mode;
}
