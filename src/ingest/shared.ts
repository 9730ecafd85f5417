import { Budget } from '../lib/budget.ts';
import { type AuthDeps, Authenticator } from './authenticator.ts';
import { RateLimiter } from './rate.ts';

/** What every way in has in common: keys, their rates and the memory are the service's, not a port's. */
export interface IngestShared {
  readonly authenticator: Authenticator;
  /** The windows of keys (contract §6). */
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

/** Makes it. When `signal` aborts, the last uses of keys are recorded. */
export function createShared(deps: AuthDeps, limits: SharedLimits, signal: AbortSignal): IngestShared {
  const { maxBytesInFlight: capacity, maxWaitingRequests: maxWaiters, maxKeysInMemory } = limits;
  const authenticator = new Authenticator(deps, { maxCached: maxKeysInMemory });
  void authenticator.recordUses(signal);
  return {
    authenticator,
    limiter: new RateLimiter({ maxWindows: 2 * maxKeysInMemory }),
    budget: new Budget({ capacity, maxWaiters }),
  };
}
