/** After a quiet time hints act at once, and then at this distance. */
const FIRST_MS = 1_000;
/** On a busy service, where there is always a hint, pages fetch so often at the most. */
const LAST_MS = 8_000;
const GROWTH = 1.5;

/**
 * How long hints are gathered from one fetch to the next, so that a page is quick where little happens and asks little
 * where much does: many open dashboards must not weigh on delivery.
 */
export function gatherMs(formerMs: number, sinceFetchMs: number): number {
  const isBusy = sinceFetchMs < 2 * formerMs;
  return isBusy ? Math.min(LAST_MS, Math.max(FIRST_MS, formerMs * GROWTH)) : FIRST_MS;
}
