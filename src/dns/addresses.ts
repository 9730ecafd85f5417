/** The addresses of one host. */
import { type DnsRefusal, rejected, unanswered } from './refusal.ts';
import type { DnsAnswer, Resolver } from './resolver.ts';

/** Of more addresses no more are kept: one host may not hold an attempt for hours. */
const MAX_ADDRESSES = 8;

/** Where a host is. */
export interface HostAddresses {
  readonly kind: 'addresses';
  /** At least one; IPv6 and IPv4 in turn, IPv6 first (RFC 8305 §4). */
  readonly addresses: readonly string[];
  /** Where aliases led to; the host's name without any. */
  readonly canonicalName: string;
  /** All answers that were used were validated. */
  readonly authenticated: boolean;
}

/**
 * Asks for the addresses of a host. Rejected when it has none (5.4.4; `dns_nxdomain`, `dns_no_address`): for the last
 * of a domain's hosts that is final. Deferred when nothing is known (4.4.3). An answer for one family is enough,
 * unless the other failed and this one is empty.
 */
export async function lookUpAddresses(
  resolver: Resolver,
  host: string,
  family: 'any' | 'ipv4' | 'ipv6',
  signal: AbortSignal,
): Promise<HostAddresses | DnsRefusal> {
  const [v6, v4] = await Promise.all([
    family === 'ipv4' ? null : resolver.resolve(host, 'AAAA', signal),
    family === 'ipv6' ? null : resolver.resolve(host, 'A', signal),
  ]);
  const answers: readonly DnsAnswer<'A' | 'AAAA'>[] = [v6, v4].filter((answer) => answer !== null);
  const found = answers.filter((answer) => answer.kind === 'found');
  const [first] = found;
  if (first)
    return {
      kind: 'addresses',
      addresses: inTurn(...found.map(({ records }) => records)).slice(0, MAX_ADDRESSES),
      canonicalName: first.canonicalName,
      authenticated: found.every(({ authenticated }) => authenticated),
    };
  const failed = answers.find((answer) => answer.kind === 'failed');
  if (failed) return unanswered(failed, `The addresses of ${host} are not known`);
  return answers.some(({ kind }) => kind === 'nxdomain')
    ? rejected('dns_nxdomain', '5.4.4', `There is no host ${host}`)
    : rejected('dns_no_address', '5.4.4', `The host ${host} has no ${FAMILY_NAMES[family]} address`);
}

/** IP versions as people name them. */
export const FAMILY_NAMES = { any: 'IP', ipv4: 'IPv4', ipv6: 'IPv6' } as const;

function inTurn(first: readonly string[] = [], second: readonly string[] = []): string[] {
  const longest = Math.max(first.length, second.length);
  const pairs = Array.from({ length: longest }, (_, i) => [first[i], second[i]]);
  return [...new Set(pairs.flat())].filter((address) => address !== undefined);
}
