import type { RateVerdict } from '../rate.ts';
import { WINDOW_SECONDS } from '../sliding-window.ts';

/** The answer's headers for a verdict: the plain ones and the structured fields of the httpapi draft. */
export function rateHeaders(verdict: RateVerdict): Record<string, string> {
  const { window, limit, remaining, resetSeconds } = verdict;
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    'RateLimit-Policy': `"${window}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${window}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The header of a refusal. */
export function retryAfter({ resetSeconds }: RateVerdict): Record<string, string> {
  return { 'Retry-After': String(resetSeconds) };
}
