import { networkInterfaces } from 'node:os';
import type { Config } from '../config/schema.ts';
import { createResolver } from '../dns/client/create-resolver.ts';
import { createPolicyFetch } from '../dns/client/policy-fetch.ts';
import { createServerList } from '../dns/client/system-servers.ts';
import { MtaStsPolicies } from '../dns/mta-sts-policies.ts';
import type { Resolver } from '../dns/resolver.ts';
import { normaliseAddress } from '../lib/cidr.ts';
import type { Clock } from '../lib/clock.ts';
import { isPublicAddress } from '../lib/public-address.ts';
import type { Random } from '../lib/random.ts';

/** What direct delivery asks before it connects: the DNS, domains' policies, and which addresses are our own. */
export interface MailDns {
  readonly resolver: Resolver;
  readonly policies: MtaStsPolicies;
  /** Whether connecting to an address and port would reach this very server. */
  readonly isOwn: (address: string, port: number) => boolean;
}

/** The port that takes 25's place (contract §1). */
const PORT_25_FALLBACK = 2525;
/** Addresses of the machine come and go; they are asked for again after so long. */
const LOOK_AFTER_MS = 10_000;

/** Made once; follows the configuration in force, which `config` gives. */
export function createMailDns(config: () => Config, clock: Clock, random: Random): MailDns {
  const servers = createServerList(clock);
  const resolver = createResolver({
    settings: () => {
      const { dns } = config();
      return { ...dns, servers: servers(dns.servers) };
    },
    clock,
    random,
  });
  // Whatever a relay allows: any domain's policy is fetched by the same means, and none may lead into the network.
  const fetch = createPolicyFetch({ resolver, clock, isAllowed: isPublicAddress });
  const policies = new MtaStsPolicies({ fetch, clock });
  return { resolver, policies, isOwn: ownAddresses(config, clock) };
}

/** Whether an address is this machine's, and the port one that this server takes mail on. */
function ownAddresses(config: () => Config, clock: Clock): MailDns['isOwn'] {
  let addresses = new Set<string>();
  let lookAt = Number.NEGATIVE_INFINITY;
  return (address, port) => {
    const { ports, implicitTlsPorts } = config().listener;
    const taken = [...ports, ...implicitTlsPorts];
    if (!taken.includes(port) && !(port === PORT_25_FALLBACK && ports.includes(25))) return false;
    if (clock.mono() >= lookAt) {
      lookAt = clock.mono() + LOOK_AFTER_MS;
      const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
      addresses = new Set(all.map((entry) => normaliseAddress(entry.address)));
    }
    return addresses.has(normaliseAddress(address));
  };
}
