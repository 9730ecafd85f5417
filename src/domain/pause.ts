/**
 * How long a lane rests when its next hop is ill (no connection, no TLS, 421), and how it comes back: one
 * attempt at a time until one gets through.
 */
export interface Pause {
  /** Failures of the hop in a row; 0 when it is well. */
  readonly failures: number;
  /** Monotonic ms until which nothing is tried. */
  readonly until: number;
}

/** A hop nothing is known against. */
export const WELL: Pause = { failures: 0, until: Number.NEGATIVE_INFINITY };

const FIRST_MS = 1_000;
const MAX_MS = 60_000;

/** The pause after another failure of the hop: 1 s, doubling to 1 min, with up to 20 % taken off by `dice`. */
export function pauseAfterFailure(pause: Pause, now: number, dice: number): Pause {
  // Attempts that were under way together fail together; they count as one failure.
  if (pause.until > now) return pause;
  const failures = pause.failures + 1;
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), MAX_MS);
  return { failures, until: now + ms * (1 - 0.2 * dice) };
}

/** How many attempts the lane may have under way at `now`, given what it may have in health. */
export function paceOf(pause: Pause, now: number, full: number): number {
  if (pause.failures === 0) return full;
  return now < pause.until ? 0 : 1;
}
