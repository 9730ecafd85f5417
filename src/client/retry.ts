import type { Machine } from './machine.ts';

/** When a call is made again, and how long to wait before. Pure but for the dice. */

/** Answers that may be another one soon: overload, time-outs, a server on its way up or down. */
const PASSING_STATUSES = [408, 429, 502, 503, 504];
/** The first try is still being worked on; its answer can be had soon. */
const PASSING_CODE = 'idempotency_in_progress';
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Whether an answer says: not now. */
export function isPassing(status: number, code: string | null): boolean {
  return PASSING_STATUSES.includes(status) || code === PASSING_CODE;
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
