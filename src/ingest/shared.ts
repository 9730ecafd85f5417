import { Budget, type Units } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { sourceGroup } from '../lib/network.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Cluster, RateUnits } from '../store/cluster.ts';
import { type AuthDeps, Authenticator } from './authenticator.ts';
import { type Heard, RATE_WINDOWS, RateLimiter, WINDOW_SECONDS } from './rate.ts';

/** What HTTP and SMTP share: keys, their rates and the memory belong to the service, not to a port. */
export interface IngestShared {
  readonly authenticator: Authenticator;
  /** The windows of keys and of named sources (contract §6). */
  readonly limiter: RateLimiter;
  /** The windows of sources with neither name nor key. */
  readonly sources: RateLimiter;
  /** Bytes of incoming messages, by holder: a key's id, or a source. */
  readonly budget: Budget;
  /** Recent senders over SMTP, and clients that spoke HTTP to the SMTP ports. */
  readonly completed: RecentSources;
  readonly spokeHttp: RecentSources;
}

export interface SharedLimits {
  /** Bytes of messages in memory at once; beyond that, clients wait. */
  readonly maxBytesInFlight: number;
  /** The shared count of all threads; absent with one thread. */
  readonly units?: Units;
  /** Requests and sessions that may wait for memory; more are refused at once. */
  readonly maxWaitingRequests: number;
  /** Keys kept between requests: their look-ups and their rate windows. */
  readonly maxKeysInMemory: number;
}

/** Shares rate windows with other nodes or threads. */
export interface RateMember {
  readonly cluster: Pick<Cluster, 'exchangeRates'>;
  /** This process's, or this thread's, name there. */
  readonly node: string;
}

/** What an ingest thread tells its siblings about the sources it sees. */
interface SourceNews {
  readonly completed: (group: string) => void;
  readonly spokeHttp: (group: string) => void;
}

interface SharedDeps extends AuthDeps {
  /** Rates of the same keys at other nodes; null: there are none. */
  readonly others: RateMember | null;
  /** The other accepting threads of this process; null: there are none. */
  readonly threads: { readonly sources: RateMember; readonly news: SourceNews } | null;
}

/**
 * Windows of sources with neither name nor key, at about half a kilobyte each; the least recently used one makes room.
 * They are kept apart from the windows of keys: strangers, with any number of addresses, would push those out.
 */
const MAX_SOURCE_WINDOWS = 10_000;

/** Creates it. When `signal` aborts, the last uses of keys are recorded, and granted units reported to the others. */
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

/**
 * How often nodes exchange the units they granted, in ms. Reporting and reading each take at most this long: with both
 * ways to the database, that is less than the second that contract §6 allows.
 */
const EXCHANGE_MS = 400;
/** How many past seconds to read again, for units written late. */
const OVERLAP_SECONDS = 2;
/** The most windows to report at a time. */
const MAX_TOLD = 10_000;

interface RateExchangeDeps {
  readonly limiter: RateLimiter;
  readonly cluster: Pick<Cluster, 'exchangeRates'>;
  /** This process's name, new at every start. */
  readonly node: string;
  /** Its wall time is the same for all nodes. */
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Applies the rate limits of keys across nodes: reports the units granted here, and counts those of others. While the
 * database does not answer, each node counts by itself and reports later.
 */
export class RateExchange {
  readonly #deps: RateExchangeDeps;
  /** When others were last read, in whole seconds since the epoch; null: not yet. */
  #heardAt: number | null = null;
  #isFailing = false;

  constructor(deps: RateExchangeDeps) {
    this.#deps = deps;
  }

  /** Exchanges until `signal` aborts, and then once more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.turn();
      await this.#deps.clock.sleep(EXCHANGE_MS, signal);
    }
    await this.turn();
  }

  /** Reports and reads once. */
  async turn(): Promise<void> {
    const { limiter, cluster, node, clock, log } = this.#deps;
    const taken = limiter.untold(MAX_TOLD);
    const second = secondOf(clock);
    // Dated now, late rather than early: readers do not look further back.
    const mine: RateUnits[] = taken.map((one) => ({ ...one, second }));
    const since = Math.max(second - WINDOW_SECONDS, (this.#heardAt ?? 0) - OVERLAP_SECONDS);
    try {
      const others = await cluster.exchangeRates(node, mine, since);
      limiter.hear(others.filter(isHeard), secondOf(clock), clock.mono());
      this.#heardAt = second;
      this.#isFailing = false;
    } catch (error) {
      limiter.notTold(taken);
      if (!this.#isFailing) log.warn('rates.not_exchanged', { message: String(error) });
      this.#isFailing = true;
    }
  }
}

/** Another version of the program may have windows unknown here. */
function isHeard(units: RateUnits): units is RateUnits & Heard {
  return RATE_WINDOWS.some((window) => window === units.window);
}

function secondOf(clock: Clock): number {
  return Math.floor(clock.wall() / 1000);
}

/** How long a source's actions are remembered, in ms (contract §1). */
const RECENT_MS = 10 * 60_000;
/** Sources remembered, at about 150 bytes each; the one that acted longest ago makes room. */
export const MAX_RECENT_SOURCES = 10_000;

/** After this long, in ms, other threads are told of a source again. They may forget it too early by as much. */
const TELL_AGAIN_MS = 60_000;

/** The sources that acted recently, IPv6 by /64. Time is an argument, monotonic ms. */
export class RecentSources {
  /** Time by group, oldest first. */
  readonly #seen = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  /** When other threads were told, by group, oldest first. */
  readonly #toldAt = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  readonly #tellOthers: ((group: string) => void) | null;

  /** `tellOthers` gets the group of a source that acted; null: there are no other threads. */
  constructor(tellOthers: ((group: string) => void) | null = null) {
    this.#tellOthers = tellOthers;
  }

  /** Whether this source acted within the last ten minutes. */
  has(address: string, nowMs: number): boolean {
    const at = this.#seen.get(sourceGroup(address));
    return at !== undefined && nowMs - at < RECENT_MS;
  }

  /** Records that this source acts now. */
  add(address: string, nowMs: number): void {
    const group = sourceGroup(address);
    if (this.#tellOthers !== null) this.#tell(group, nowMs, this.#tellOthers);
    this.#seen.set(group, nowMs);
  }

  /** Records that another thread saw a source act, given its group. */
  hear(group: string, nowMs: number): void {
    this.#seen.set(group, nowMs);
  }

  #tell(group: string, nowMs: number, tell: (group: string) => void): void {
    const toldAt = this.#toldAt.get(group);
    if (toldAt !== undefined && nowMs - toldAt < TELL_AGAIN_MS) return;
    this.#toldAt.set(group, nowMs);
    tell(group);
  }
}
