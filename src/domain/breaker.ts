/**
 * Whether a next hop is worth trying. Closed: all is well. Open: it was found ill, and is left alone for a while. Half
 * open: that while is over, and one attempt at a time finds out whether it is well again.
 *
 * It opens when the hop itself is ill (no connection, no TLS, 421), and when nearly all of its latest answers were of
 * no use. Times are monotonic milliseconds.
 */
export interface Breaker {
  /** Times it opened in a row; 0 while closed. */
  readonly failures: number;
  /** Until when nothing is tried. */
  readonly until: number;
  /** The answers of the present window. */
  readonly windowSince: number;
  readonly good: number;
  readonly bad: number;
  /** The hop asked for the present rest: what ends well meanwhile began before, and does not end it. */
  readonly asked: boolean;
  /** Times it opened in a row before it was found to be well without mail; 0 once it took mail. */
  readonly relapses: number;
}

/** See {@link Breaker}. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** What an attempt says about its hop. */
export type HopNews =
  /** It took a message, or refused one for good: it works. */
  | 'well'
  /** It took nothing and said so, or the connection was lost on the way. */
  | 'of_no_use'
  /** It cannot be spoken to at all. */
  | 'ill';

/** How easily a breaker opens. */
export interface BreakerPolicy {
  /** Whether a hop that is ill once is left alone at once. */
  readonly opensWhenIll: boolean;
  /** Share of useless answers in the window at which it opens. */
  readonly ratio: number;
  /** Fewer answers than these say nothing of the ratio. */
  readonly minimum: number;
}

/** For a lane: one next hop, or the servers of one domain. */
export const LANE_POLICY: BreakerPolicy = { opensWhenIll: true, ratio: 0.8, minimum: 20 };
/** For all destinations of a relay together: only when hardly any can be reached is it our own way out. */
export const RELAY_POLICY: BreakerPolicy = { opensWhenIll: false, ratio: 0.95, minimum: 40 };

const WINDOW_MS = 60_000;
const FIRST_MS = 1_000;
const MAX_MS = 30_000;

/** A hop nothing is known against. */
export const CLOSED: Breaker = {
  failures: 0,
  until: Number.NEGATIVE_INFINITY,
  windowSince: Number.NEGATIVE_INFINITY,
  good: 0,
  bad: 0,
  asked: false,
  relapses: 0,
};

/** The breaker after another attempt. `dice` in [0, 1) takes up to 20 % off a pause. */
export function afterAttempt(
  breaker: Breaker,
  news: HopNews,
  policy: BreakerPolicy,
  now: number,
  dice: number,
): Breaker {
  // Attempts that were under way together when it opened fail together; they count as one failure.
  if (breaker.until > now) return news === 'well' && !breaker.asked ? CLOSED : breaker;
  if (news === 'well') return breaker.failures > 0 ? CLOSED : { ...counted(breaker, 1, 0, now), relapses: 0 };
  // What was tried to find out did not help.
  if (breaker.failures > 0) return opened(breaker.failures + 1, now, dice);
  const next = counted(breaker, 0, 1, now);
  const total = next.good + next.bad;
  const useless = total >= policy.minimum && next.bad >= policy.ratio * total;
  const opens = useless || (news === 'ill' && policy.opensWhenIll);
  return opens ? opened(breaker.relapses + 1, now, dice) : next;
}

/**
 * The breaker of a hop that rested and was asked without mail whether it is well. Where it says so and takes no mail all the
 * same, its next rest is longer than the last.
 */
export function afterProbe(breaker: Breaker, isWell: boolean, now: number, dice: number): Breaker {
  return isWell ? { ...CLOSED, relapses: breaker.failures } : opened(breaker.failures + 1, now, dice);
}

/** The breaker of a hop that asked to be left alone until then. */
export function restedUntil(breaker: Breaker, until: number): Breaker {
  const failures = Math.max(1, breaker.failures);
  return { ...CLOSED, failures, until: Math.max(breaker.until, until), asked: true };
}

/** The state at `now`. */
export function stateOf({ failures, until }: Breaker, now: number): BreakerState {
  if (failures === 0) return 'closed';
  return now < until ? 'open' : 'half_open';
}

/** How many attempts may be under way at `now`, given what may be in health. */
export function paceOf(breaker: Breaker, now: number, full: number): number {
  const state = stateOf(breaker, now);
  if (state === 'closed') return full;
  return state === 'open' ? 0 : 1;
}

/** Open for 1 s, doubling to half a minute. */
function opened(failures: number, now: number, dice: number): Breaker {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), MAX_MS);
  return { ...CLOSED, failures, until: now + ms * (1 - 0.2 * dice) };
}

function counted(breaker: Breaker, good: number, bad: number, now: number): Breaker {
  const fresh = now - breaker.windowSince >= WINDOW_MS;
  if (fresh) return { ...CLOSED, relapses: breaker.relapses, windowSince: now, good, bad };
  return { ...breaker, good: breaker.good + good, bad: breaker.bad + bad };
}
