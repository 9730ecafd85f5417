import {
  type DnsAnswer,
  type DnsRefusal,
  isHostName,
  type RecordData,
  type Resolver,
  rejected,
  unanswered,
} from './resolver.ts';

/** The addresses of one host. */

/** Most addresses kept: one host may not hold an attempt for hours. */
const MAX_ADDRESSES = 8;

/** The result of looking up a host. */
export interface HostAddresses {
  readonly kind: 'addresses';
  /** At least one; IPv6 and IPv4 in turn, IPv6 first (RFC 8305 §4). */
  readonly addresses: readonly string[];
  /** The name after all aliases; the host's name if there are none. */
  readonly canonicalName: string;
  /** All answers used were validated. */
  readonly authenticated: boolean;
}

/**
 * Looks up the addresses of a host. Rejected if it has none (5.4.4; `dns_nxdomain`, `dns_no_address`): for the last of
 * a domain's hosts that is final. Deferred if nothing is known (4.4.3). One family's answer suffices, unless it is
 * empty and the other's query failed.
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

/** IP versions, for people. */
export const FAMILY_NAMES = { any: 'IP', ipv4: 'IPv4', ipv6: 'IPv6' } as const;

function inTurn(first: readonly string[] = [], second: readonly string[] = []): string[] {
  const longest = Math.max(first.length, second.length);
  const pairs = Array.from({ length: longest }, (_, i) => [first[i], second[i]]);
  return [...new Set(pairs.flat())].filter((address) => address !== undefined);
}

// The hosts that accept mail for a domain, in the order in which they are tried (RFC 5321 §5.1).

/** One host to try. */
export interface MxHost {
  /** Lower case, in A-labels. May be an alias: RFC 2181 §10.3 forbids that, but it is common. */
  readonly name: string;
  readonly preference: number;
}

/** Hosts that accept mail for a domain. */
export interface MxHosts {
  readonly kind: 'hosts';
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly MxHost[];
  /** There is no MX record; the domain itself is the host (RFC 5321 §5.1). */
  readonly implicit: boolean;
  /** The answer, or the proof that there is none, was validated: DANE may apply (RFC 7672 §2.2.1). */
  readonly authenticated: boolean;
  /** Invalid host names, such as IP addresses: for the record of the attempt. */
  readonly refused: readonly string[];
}

/** How to choose hosts. */
export interface SelectOptions {
  /** The recipients' domain, lower case, in A-labels. */
  readonly domain: string;
  /** This server's names, lower case. MX hosts with these names, and all that are no nearer, are left out. */
  readonly ownNames: readonly string[];
  /** Numbers in [0, 1), to shuffle hosts of equal preference. */
  readonly dice: () => number;
}

/**
 * Chooses the hosts for a domain from the answer to its MX query, or says why there are none. Rejected: null MX
 * (5.1.10, RFC 7505), no such domain (5.1.2), this server is its best host (5.4.6), or no record names a host (5.4.4).
 * Deferred: the DNS did not answer (4.4.3).
 */
export function selectHosts(answer: DnsAnswer<'MX'>, options: SelectOptions): MxHosts | DnsRefusal {
  const { domain } = options;
  switch (answer.kind) {
    case 'failed':
      return unanswered(answer, `The mail servers of ${domain} are not known`);
    case 'nxdomain':
      return rejected('dns_nxdomain', '5.1.2', `There is no domain ${domain}`);
    case 'nodata': {
      const hosts = [{ name: domain, preference: 0 }];
      return withoutOwn({ hosts, implicit: true, authenticated: answer.authenticated, refused: [] }, options);
    }
    case 'found':
      return fromRecords(answer.records, answer.authenticated, options);
  }
}

function fromRecords(
  records: readonly RecordData['MX'][],
  authenticated: boolean,
  options: SelectOptions,
): MxHosts | DnsRefusal {
  const { domain, dice } = options;
  if (records.every(({ exchange }) => exchange === ''))
    return rejected('null_mx', '5.1.10', `${domain} accepts no mail (null MX)`);
  const best = new Map<string, number>();
  const refused: string[] = [];
  for (const { exchange, preference } of records) {
    if (!isHostName(exchange)) refused.push(exchange === '' ? '.' : exchange);
    else best.set(exchange, Math.min(preference, best.get(exchange) ?? preference));
  }
  if (best.size === 0)
    return rejected('mx_invalid', '5.4.4', `No MX record of ${domain} names a host: ${refused.join(', ')}`);
  const hosts = shuffled(
    Array.from(best, ([name, preference]) => ({ name, preference })),
    dice,
  ).sort((a, b) => a.preference - b.preference);
  return withoutOwn({ hosts, implicit: false, authenticated, refused }, options);
}

/** If this server is itself a host of the domain, mail goes only to nearer hosts, or it would loop. */
function withoutOwn(found: Omit<MxHosts, 'kind'>, options: SelectOptions): MxHosts | DnsRefusal {
  const own = found.hosts.findIndex(({ name }) => options.ownNames.includes(name));
  const nearest = found.hosts[own]?.preference ?? Number.POSITIVE_INFINITY;
  const hosts = found.hosts.filter(({ preference }) => preference < nearest);
  if (hosts.length === 0)
    return rejected('mx_loop', '5.4.6', `This server is itself the best mail server of ${options.domain}`);
  return { kind: 'hosts', ...found, hosts };
}

/** Fisher and Yates; the later sort keeps the order of equals. */
function shuffled(hosts: readonly MxHost[], dice: () => number): MxHost[] {
  const mixed = [...hosts];
  for (let last = mixed.length - 1; last > 0; last--) {
    const pick = Math.floor(dice() * (last + 1));
    const [a, b] = [mixed[last], mixed[pick]];
    if (a && b) [mixed[last], mixed[pick]] = [b, a];
  }
  return mixed;
}
