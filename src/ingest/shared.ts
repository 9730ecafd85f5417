import { Budget, type Units } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { sourceGroup } from '../lib/network.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Cluster, RateUnits } from '../store/cluster.ts';
import { type AuthDeps, Authenticator } from './authenticator.ts';
import { type Heard, RATE_WINDOWS, RateLimiter, WINDOW_SECONDS } from './rate.ts';

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
interface SourceNews {
  readonly completed: (group: string) => void;
  readonly spokeHttp: (group: string) => void;
}

/** What it stands on. */
interface SharedDeps extends AuthDeps {
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

/**
 * How often nodes tell each other what they let through, in ms. What one lets through is told within this time and heard
 * within this time: with both ways to the database it is less than the second that contract §6 allows.
 */
const EXCHANGE_MS = 400;
/** Others' seconds are asked for again for so long, for what was written late. */
const OVERLAP_SECONDS = 2;
/** At most so many windows are told of at a time. */
const MAX_TOLD = 10_000;

/** What exchanging takes. */
interface RateExchangeDeps {
  readonly limiter: RateLimiter;
  readonly cluster: Pick<Cluster, 'exchangeRates'>;
  /** This process's name; another at every start. */
  readonly node: string;
  /** Its wall time is that of all nodes. */
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Lets the windows of keys hold across nodes: tells others what was let through here and counts what they let through.
 * While the database does not answer, each node counts by itself, and tells later.
 */
export class RateExchange {
  readonly #deps: RateExchangeDeps;
  /** When others were heard last, in whole seconds since the epoch; null: not yet. */
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

  /** Tells and hears once. */
  async turn(): Promise<void> {
    const { limiter, cluster, node, clock, log } = this.#deps;
    const taken = limiter.untold(MAX_TOLD);
    const second = secondOf(clock);
    // Told as of now, late rather than early: nobody looks for it further back.
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

/** Another version of the program may have windows that we do not know. */
function isHeard(units: RateUnits): units is RateUnits & Heard {
  return RATE_WINDOWS.some((window) => window === units.window);
}

function secondOf(clock: Clock): number {
  return Math.floor(clock.wall() / 1000);
}

/** How long it is remembered what a source did, in ms (contract §1). */
const RECENT_MS = 10 * 60_000;
/** Sources remembered, at about 150 bytes each; the one that did it longest ago makes room. */
export const MAX_RECENT_SOURCES = 10_000;

/** Other threads are told of a source again after so long, in ms: by so much they may forget it too early. */
const TELL_AGAIN_MS = 60_000;

/** The sources that did something a short while ago, IPv6 by /64. Time is an argument, monotonic ms. */
export class RecentSources {
  /** By group, when; the oldest first. */
  readonly #seen = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  /** By group, when other threads were told of it; the oldest first. */
  readonly #toldAt = new NewestMap<string, number>(MAX_RECENT_SOURCES);
  readonly #tellOthers: ((group: string) => void) | null;

  /** `tellOthers` is told the group of a source that did it; null: no other thread wants to know. */
  constructor(tellOthers: ((group: string) => void) | null = null) {
    this.#tellOthers = tellOthers;
  }

  /** Whether this source did it within the last ten minutes. */
  has(address: string, nowMs: number): boolean {
    const at = this.#seen.get(sourceGroup(address));
    return at !== undefined && nowMs - at < RECENT_MS;
  }

  /** This source does it now. */
  add(address: string, nowMs: number): void {
    const group = sourceGroup(address);
    if (this.#tellOthers !== null) this.#tell(group, nowMs, this.#tellOthers);
    this.#seen.set(group, nowMs);
  }

  /** Another thread has seen a source do it, told of by its group. */
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
