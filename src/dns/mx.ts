/** Which hosts take mail for a domain, and in which order they are tried (RFC 5321 §5.1). */
import { isHostName } from './name.ts';
import { type DnsRefusal, rejected, unanswered } from './refusal.ts';
import type { DnsAnswer, RecordData } from './resolver.ts';

/** One host to try. */
export interface MxHost {
  /** Lower case, in A-labels. May be an alias: RFC 2181 §10.3 forbids it, and it is common. */
  readonly name: string;
  readonly preference: number;
}

/** Hosts that take mail for a domain. */
export interface MxHosts {
  readonly kind: 'hosts';
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly MxHost[];
  /** There is no MX record; the domain itself is the host (RFC 5321 §5.1). */
  readonly implicit: boolean;
  /** The answer, or the proof that there is none, was validated: DANE may apply (RFC 7672 §2.2.1). */
  readonly authenticated: boolean;
  /** Names that are no host's, such as IP addresses: for the record of the attempt. */
  readonly refused: readonly string[];
}

/** How hosts are chosen. */
export interface SelectOptions {
  /** The recipients' domain, lower case, in A-labels. */
  readonly domain: string;
  /** Names of this server, lower case. What an MX names of it, and whatever is as far or further, is left out. */
  readonly ownNames: readonly string[];
  /** Numbers in [0, 1), to mix hosts of equal preference. */
  readonly dice: () => number;
}

/**
 * Chooses the hosts for a domain from the answer to its MX question, or says why there are none. Rejected: null MX
 * (5.1.10, RFC 7505), no such domain (5.1.2), this server is its best host (5.4.6), or no record names a host
 * (5.4.4). Deferred: the DNS did not answer (4.4.3).
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
    return rejected('null_mx', '5.1.10', `${domain} takes no mail (null MX)`);
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

/** Mail for a domain that this server is a host of goes to nearer hosts, or it would come back. */
function withoutOwn(found: Omit<MxHosts, 'kind'>, options: SelectOptions): MxHosts | DnsRefusal {
  const own = found.hosts.findIndex(({ name }) => options.ownNames.includes(name));
  const nearest = found.hosts[own]?.preference ?? Number.POSITIVE_INFINITY;
  const hosts = found.hosts.filter(({ preference }) => preference < nearest);
  if (hosts.length === 0)
    return rejected('mx_loop', '5.4.6', `This server is itself the best mail server of ${options.domain}`);
  return { kind: 'hosts', ...found, hosts };
}

/** Fisher and Yates; the sort that follows keeps the order of equals. */
function shuffled(hosts: readonly MxHost[], dice: () => number): MxHost[] {
  const mixed = [...hosts];
  for (let last = mixed.length - 1; last > 0; last--) {
    const pick = Math.floor(dice() * (last + 1));
    const [a, b] = [mixed[last], mixed[pick]];
    if (a && b) [mixed[last], mixed[pick]] = [b, a];
  }
  return mixed;
}
