import { Budget, type Units } from '../lib/budget.ts';
import type { Cluster } from '../store/cluster.ts';
import { type AuthDeps, Authenticator } from './authenticator.ts';
import { RateLimiter } from './rate.ts';
import { RateExchange } from './rate-exchange.ts';
import { RecentSources } from './recent-sources.ts';
import { RATE_WINDOWS } from './sliding-window.ts';

/** What every way in has in common: keys, their rates and the memory are the service's, not a port's. */
export interface IngestShared {
  readonly authenticator: Authenticator;
  /** The windows of keys and of named sources (contract §6). */
  readonly limiter: RateLimiter;
  /** The windows of sources without a name or a key. */
  readonly sources: RateLimiter;
  /** Bytes of messages that are coming in, by holder: the id of a key, or a source. */
  readonly budget: Budget;
  /** Who sent a message over SMTP a short while ago, and who spoke HTTP to its ports. */
  readonly completed: RecentSources;
  readonly spokeHttp: RecentSources;
}

/** Bounds on what is kept in memory. */
export interface SharedLimits {
  /** Bytes of messages in memory at once; what does not fit waits. */
  readonly maxBytesInFlight: number;
  /** Where they are counted for all threads; left out where there is one. */
  readonly units?: Units;
  /** Requests and sessions that may wait for their messages to fit; more are refused at once. */
  readonly maxWaitingRequests: number;
  /** Keys remembered between requests: their look-ups and their rate windows. */
  readonly maxKeysInMemory: number;
}

/** Where others count in the same windows. */
export interface RateMember {
  readonly cluster: Pick<Cluster, 'exchangeRates'>;
  /** What this process, or this thread of it, is called there. */
  readonly node: string;
}

/** What an ingest thread tells the ones beside it of the sources that it meets. */
export interface SourceNews {
  readonly completed: (group: string) => void;
  readonly spokeHttp: (group: string) => void;
}

/** What it stands on. */
export interface SharedDeps extends AuthDeps {
  /** Where other nodes let the same keys through; null: there are none. */
  readonly others: RateMember | null;
  /** The other threads of this process that accept; null: there are none. */
  readonly threads: { readonly sources: RateMember; readonly news: SourceNews } | null;
}

/**
 * Windows of sources without a name or a key, at about half a kilobyte each; the longest unused one makes room. They
 * are not among the windows of keys, for strangers, who have any number of addresses, would push those out.
 */
const MAX_SOURCE_WINDOWS = 10_000;

/** Makes it. When `signal` aborts, the last uses of keys are recorded, and others told of what was let through. */
export function createShared(deps: SharedDeps, limits: SharedLimits, signal: AbortSignal): IngestShared {
  const { maxBytesInFlight: capacity, maxWaitingRequests: maxWaiters, maxKeysInMemory, units } = limits;
  const { others, threads } = deps;
  const authenticator = new Authenticator(deps, { maxCached: maxKeysInMemory });
  void authenticator.recordUses(signal);
  const windows = (maxWindows: number, member: RateMember | null) => {
    const limiter = new RateLimiter({ maxWindows, isShared: member !== null });
    if (member !== null) void new RateExchange({ ...deps, ...member, limiter }).run(signal);
    return limiter;
  };
  return {
    authenticator,
    limiter: windows(RATE_WINDOWS.length * maxKeysInMemory, others),
    sources: windows(MAX_SOURCE_WINDOWS, threads?.sources ?? null),
    budget: new Budget({ capacity, maxWaiters, ...(units === undefined ? {} : { units }) }),
    completed: new RecentSources(threads?.news.completed),
    spokeHttp: new RecentSources(threads?.news.spokeHttp),
  };
}
