/** When a deferred delivery is tried again. Times in milliseconds. */
export interface RetryPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Age, counted from acceptance or `sendAt`, at which a waiting delivery fails as `expired`. */
  readonly maxAgeMs: number;
}

/** Share of the delay that jitter may add or take: enough to spread a herd, too little to change the pace. */
const JITTER = 0.2;

/**
 * Delay before the next attempt: `firstMs` after the first failed attempt, doubling up to `maxMs`, with up to
 * 20 % of jitter either way. `attempts` counts the attempts made (at least 1), `dice` is in [0, 1).
 */
export function retryDelayMs(attempts: number, policy: RetryPolicy, dice: number): number {
  const doubled = policy.firstMs * 2 ** Math.min(attempts - 1, 40);
  return Math.round(Math.min(doubled, policy.maxMs) * (1 - JITTER + 2 * JITTER * dice));
}
