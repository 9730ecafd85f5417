import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../config/schema.ts';
import { createResolver } from '../dns/client/create-resolver.ts';
import { createPolicyFetch } from '../dns/client/policy-fetch.ts';
import { createServerList } from '../dns/client/servers.ts';
import { MtaStsPolicies } from '../dns/mta-sts.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { Clock } from '../lib/clock.ts';
import { isPublicAddress, normaliseAddress } from '../lib/network.ts';
import type { Random } from '../lib/random.ts';

/** What direct delivery asks before it connects: the DNS, domains' policies, and which addresses are ours. */
export interface MailDns {
  readonly resolver: Resolver;
  readonly policies: MtaStsPolicies;
  /** Whether connecting to an address and port would reach this very server. */
  readonly isOwn: (address: string, port: number) => boolean;
}

/** The machine's addresses may change; they are read again after this long. */
const LOOK_AFTER_MS = 10_000;

/** The SMTP ports bound so far: a configured one may belong to another program, or another node. */
export interface BoundSmtp {
  readonly smtp: readonly number[];
  readonly smtpTls: readonly number[];
}

/** For a process that does not listen, or not yet. */
export const NOTHING_BOUND: BoundSmtp = { smtp: [], smtpTls: [] };

/** Made once; follows the configuration in force (`config`) and the bound ports (`bound`). */
export function createMailDns(
  config: () => Config,
  bound: () => BoundSmtp,
  clock: Clock,
  random: Random,
): MailDns {
  const servers = createServerList(clock);
  const resolver = createResolver({
    settings: () => {
      const { dns } = config();
      return { ...dns, servers: servers(dns.servers) };
    },
    clock,
    random,
  });
  // Whatever a relay allows: all domains' policies are fetched alike, and none may lead into the local network.
  const fetch = createPolicyFetch({ resolver, clock, isAllowed: isPublicAddress });
  const policies = new MtaStsPolicies({ fetch, clock });
  return { resolver, policies, isOwn: ownAddresses(config, bound, clock) };
}

/** Whether a port accepts mail on this server, and does so at this address. */
function ownAddresses(config: () => Config, bound: () => BoundSmtp, clock: Clock): MailDns['isOwn'] {
  let addresses = new Set<string>();
  let lookAt = Number.NEGATIVE_INFINITY;
  return (address, port) => {
    const { smtp, smtpTls } = bound();
    if (!smtp.includes(port) && !smtpTls.includes(port)) return false;
    if (clock.mono() >= lookAt) {
      lookAt = clock.mono() + LOOK_AFTER_MS;
      addresses = new Set(listenedOn(config().listener.bind));
    }
    return addresses.has(normaliseAddress(address));
  };
}

/** The addresses that reach those listeners: a wildcard's are all of the machine, of its family or (IPv6) of both. */
function listenedOn(bind: readonly string[]): string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return bind.map(normaliseAddress).flatMap((host) => {
    if (host !== '::' && host !== '0.0.0.0') return [host];
    const own = all.map(({ address }) => normaliseAddress(address));
    return host === '::' ? own : own.filter(isIPv4);
  });
}

interface FreshResolverParts {
  readonly config: () => Pick<Config, 'dns'>;
  readonly clock: Clock;
  readonly random: Random;
  /** For one query to one server, if `dns.timeout_ms` is longer. */
  readonly timeoutMs: number;
  /** Rounds over all servers. */
  readonly attempts: number;
}

/** A resolver without a cache: its answers are current. */
export function freshResolver({ config, clock, random, timeoutMs, attempts }: FreshResolverParts): Resolver {
  const serverList = createServerList(clock);
  return createResolver({
    clock,
    random,
    settings: () => {
      const { dns } = config();
      return {
        servers: serverList(dns.servers),
        trustAd: dns.trustAd,
        timeoutMs: Math.min(dns.timeoutMs, timeoutMs),
        attempts,
        cacheEntries: 0,
      };
    },
  });
}
