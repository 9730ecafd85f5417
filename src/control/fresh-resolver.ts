import type { Config } from '../config/schema.ts';
import { createResolver } from '../dns/client/create-resolver.ts';
import { createServerList } from '../dns/client/servers.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';

/** What a resolver takes that remembers nothing. */
export interface FreshResolverParts {
  readonly config: () => Pick<Config, 'dns'>;
  readonly clock: Clock;
  readonly random: Random;
  /** For one server, one question, if `dns.timeout_ms` is longer. */
  readonly timeoutMs: number;
  /** Rounds over all servers. */
  readonly attempts: number;
}

/** A resolver that remembers nothing: what it says is so now. */
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
