import { createResolver, type ResolverSettings } from '../../src/dns/client/create-resolver.ts';
import type { DnsAnswer, RecordType, Resolver } from '../../src/dns/resolver.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { type DnsServer, startDnsServer } from '../peers/dns-server.ts';
import { ManualClock } from './manual-clock.ts';

/** A signal that never aborts. */
export const forever = new AbortController().signal;

/** Servers and a resolver that asks them, under a clock that stands still. */
export interface DnsWorld {
  /** The first server. */
  readonly dns: DnsServer;
  readonly second: DnsServer;
  readonly clock: ManualClock;
  /** What the resolver reads at each question; may be changed. */
  readonly settings: { -readonly [K in keyof ResolverSettings]: ResolverSettings[K] };
  readonly resolver: Resolver;
  /** What a question comes to, in short: the records, or the kind. */
  ask<T extends RecordType>(name: string, type: T, signal?: AbortSignal): Promise<unknown>;
}

/** One server asked, unless `settings` say otherwise; 1 s for each query, two rounds. */
export async function dnsWorld(
  settings: (servers: readonly [DnsServer, DnsServer]) => Partial<ResolverSettings> = () => ({}),
  maxWaiting?: number,
): Promise<DnsWorld> {
  const dns = await startDnsServer();
  const second = await startDnsServer();
  const clock = new ManualClock();
  const all = {
    servers: [dns.endpoint],
    trustAd: 'auto' as const,
    timeoutMs: 1000,
    attempts: 2,
    cacheEntries: 100,
    ...settings([dns, second]),
  };
  const limits = maxWaiting === undefined ? {} : { maxWaiting };
  const resolver = createResolver({ settings: () => all, clock, random: seededRandom(1), ...limits });
  const ask: DnsWorld['ask'] = async (name, type, signal = forever) =>
    inShort(await resolver.resolve(name, type, signal));
  return { dns, second, clock, settings: all, resolver, ask };
}

function inShort(answer: DnsAnswer<RecordType>): unknown {
  if (answer.kind === 'found') return answer.records;
  return answer.kind === 'failed' ? answer.cause : answer.kind;
}
