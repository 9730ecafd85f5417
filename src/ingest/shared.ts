import { Budget } from '../lib/budget.ts';
import { type AuthDeps, Authenticator } from './authenticator.ts';
import { RateLimiter } from './rate.ts';
import { RateExchange, type RateExchangeDeps } from './rate-exchange.ts';
import { RATE_WINDOWS } from './sliding-window.ts';

/** What every way in has in common: keys, their rates and the memory are the service's, not a port's. */
export interface IngestShared {
  readonly authenticator: Authenticator;
  /** The windows of keys and of named sources (contract §6). */
  readonly limiter: RateLimiter;
  /** Bytes of messages that are coming in, by holder: the id of a key, or a source. */
  readonly budget: Budget;
}

/** Bounds on what is kept in memory. */
export interface SharedLimits {
  /** Bytes of messages in memory at once; what does not fit waits. */
  readonly maxBytesInFlight: number;
  /** Requests and sessions that may wait for their messages to fit; more are refused at once. */
  readonly maxWaitingRequests: number;
  /** Keys remembered between requests: their look-ups and their rate windows. */
  readonly maxKeysInMemory: number;
}

/** What it stands on. */
export interface SharedDeps extends AuthDeps {
  /** Where other nodes let the same keys through; null: there are none. */
  readonly others: Pick<RateExchangeDeps, 'cluster' | 'node'> | null;
}

/** Makes it. When `signal` aborts, the last uses of keys are recorded, and other nodes told of what was let through. */
export function createShared(deps: SharedDeps, limits: SharedLimits, signal: AbortSignal): IngestShared {
  const { maxBytesInFlight: capacity, maxWaitingRequests: maxWaiters, maxKeysInMemory } = limits;
  const authenticator = new Authenticator(deps, { maxCached: maxKeysInMemory });
  void authenticator.recordUses(signal);
  const limiter = new RateLimiter({
    maxWindows: RATE_WINDOWS.length * maxKeysInMemory,
    isShared: deps.others !== null,
  });
  if (deps.others !== null) void new RateExchange({ ...deps, ...deps.others, limiter }).run(signal);
  return {
    authenticator,
    limiter,
    budget: new Budget({ capacity, maxWaiters }),
  };
}
