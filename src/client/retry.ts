import type { Machine } from './machine.ts';

/** When a call is made again, how long to wait before, and what a failed try may have done. Pure but for the dice. */

/** Answers that may be another one soon: overload, time-outs, a server on its way up or down. */
const PASSING_STATUSES = [408, 429, 502, 503, 504];
/** The first try is still being worked on; its answer can be had soon. */
const PASSING_CODE = 'idempotency_in_progress';
/** Answers that do not say how far the request got: they come from whatever stands before the server, or it failed. */
const UNSURE_STATUSES = [408, 500, 502, 504];
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Whether an answer says: not now. */
export function isPassing(status: number, code: string | null): boolean {
  return PASSING_STATUSES.includes(status) || code === PASSING_CODE;
}

/** Whether what was asked may have been done, or be done yet, although this was the answer; no code: not the API's. */
export function isUnsure(status: number, code: string | null): boolean {
  if (UNSURE_STATUSES.includes(status) || code === PASSING_CODE) return true;
  // The API's own 503 says that nothing was accepted; of anybody else's nobody knows.
  return code === null && status >= 500;
}

/**
 * Milliseconds to wait before the next try, after `tries` of them: anything up to a bound that doubles, so that
 * many clients that failed together do not come back together. What the server asked for comes on top.
 */
export function waitBefore(
  tries: number,
  retryAfterMs: number | null,
  dice: Pick<Machine, 'random'>,
): number {
  const bound = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
  return (retryAfterMs ?? 0) + dice.random() * bound;
}

/**
 * Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date, as milliseconds from now; `null` when it is absent or
 * neither.
 */
export function readRetryAfter(text: string | null, wallMs: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - wallMs);
}
