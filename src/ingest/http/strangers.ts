import type { Exchange } from '../../http/exchange.ts';
import { Problem } from '../../http/problem.ts';
import { sourceGroup } from '../../lib/network.ts';
import { type RateLimiter, WINDOW_SECONDS } from '../rate.ts';

/**
 * Paths for strangers, on the ports of the API (contract-2 §0): providers and recipients of mail, who have no key. Their
 * secret is in the path, or signs the request. They have a list of sources and a limit of their own.
 */

/** A request of a stranger, from a source that may ask. */
export interface Visit {
  readonly exchange: Exchange;
  readonly sourceAddress: string;
  /** Named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Answers a stranger, or throws a `Problem`. */
export type StrangerHandle = (visit: Visit) => Promise<void>;

/** Each of these paths takes this many requests a minute from a source. */
const PER_MINUTE = 600;
/** The body of a request, at most. */
export const MAX_STRANGER_BYTES = 1024 * 1024;

/** Throws the problem 429 when a source asks one of the paths too often; `now` in monotonic ms. */
export function limitStranger(
  sources: RateLimiter,
  pattern: string,
  sourceAddress: string,
  now: number,
): void {
  const verdict = sources.take(`${pattern} ${sourceGroup(sourceAddress)}`, 'read', PER_MINUTE, now);
  if (verdict === null || verdict.allowed) return;
  const detail = `A source may send ${PER_MINUTE} requests in ${WINDOW_SECONDS} seconds here.`;
  throw new Problem(429, 'rate_limited', detail, {
    headers: { 'Retry-After': String(verdict.resetSeconds) },
  });
}
