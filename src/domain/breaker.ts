/**
 * Whether a next hop is worth trying. Closed: it is healthy. Open: it was found unhealthy, and gets no mail for a
 * while. Half open: that while is over, and one attempt at a time tests it.
 *
 * It opens if the hop itself is unhealthy (no connection, no TLS, 421), or if nearly all of its latest replies were
 * useless. A hop that refuses our password or our address rests for minutes, then for hours: retrying changes nothing,
 * and many servers lock out clients that do. Times are monotonic milliseconds.
 */
import type { Reply } from './outcome.ts';

/** See above. */
export interface Breaker {
  /** Times it opened in a row; 0 while closed. */
  readonly failures: number;
  /** Until when nothing is tried. */
  readonly until: number;
  /** The replies of the present window. */
  readonly windowSince: number;
  readonly good: number;
  readonly bad: number;
  /** The hop asked for the present rest: a success meanwhile began before, and does not end it. */
  readonly asked: boolean;
  /** Times it opened in a row after a probe without mail found it healthy; 0 once it took mail. */
  readonly relapses: number;
  /** Times in a row that it refused us; 0 once it took mail, or failed in another way. */
  readonly refusals: number;
}

/** See {@link Breaker}. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** What an attempt says about its hop. */
export type HopNews =
  /** It took a message, or refused one permanently: it works. */
  | 'well'
  /** It took nothing and said so, or the connection was lost on the way. */
  | 'of_no_use'
  /** It refuses our password, token or address. */
  | 'refuses_us'
  /** It cannot be connected to at all. */
  | 'ill';

/** How easily a breaker opens. */
export interface BreakerPolicy {
  /** Whether one failure of the hop itself opens it. */
  readonly opensWhenIll: boolean;
  /** The share of useless replies in the window at which it opens. */
  readonly ratio: number;
  /** Fewer replies than this are no basis for the ratio. */
  readonly minimum: number;
}

/** For a lane: one next hop, or the servers of one domain. */
export const LANE_POLICY: BreakerPolicy = { opensWhenIll: true, ratio: 0.8, minimum: 20 };
/** For all destinations of a relay together: if hardly any can be reached, the fault is on our side. */
export const RELAY_POLICY: BreakerPolicy = { opensWhenIll: false, ratio: 0.95, minimum: 40 };

const WINDOW_MS = 60_000;
const FIRST_MS = 1_000;
const MAX_MS = 30_000;
/** Rests of a hop that refuses us: two minutes, doubling to four hours. */
const FIRST_REFUSED_MS = 120_000;
const MAX_REFUSED_MS = 4 * 3_600_000;

/** Nothing is known against the hop. */
export const CLOSED: Breaker = {
  failures: 0,
  until: Number.NEGATIVE_INFINITY,
  windowSince: Number.NEGATIVE_INFINITY,
  good: 0,
  bad: 0,
  asked: false,
  relapses: 0,
  refusals: 0,
};

/** Codes that demand AUTH, or reject it (RFC 4954 §6). */
const NOT_AUTHENTICATED: readonly (number | null)[] = [530, 534, 535, 538];
/** A greeting that refuses service: 554 (RFC 5321 §3.1), or 521 (RFC 7504). */
const NOT_SERVED: readonly (number | null)[] = [521, 554];

/** Whether a failed hop said that the reason is us: nothing changes until somebody changes something. */
export function refusesUs({ cause, code }: Reply): boolean {
  switch (cause) {
    case 'auth_failed':
      return code !== null && code >= 500;
    case 'token_refused':
      return code === null || (code !== 429 && code < 500) || NOT_AUTHENTICATED.includes(code);
    case 'greeting_refused':
      return NOT_SERVED.includes(code);
    default:
      return cause === 'smtp_reply' && NOT_AUTHENTICATED.includes(code);
  }
}

/** The breaker after another attempt. `dice` in [0, 1) shortens a pause by up to 20 %. */
export function afterAttempt(
  breaker: Breaker,
  news: HopNews,
  policy: BreakerPolicy,
  now: number,
  dice: number,
): Breaker {
  const isRefusal = news === 'refuses_us' && policy.opensWhenIll;
  if (isRefusal && (breaker.until <= now || !isRefused(breaker))) return refused(breaker, now, dice);
  // Attempts that were under way together when it opened fail together; they count as one failure.
  if (breaker.until > now) return news === 'well' && !breaker.asked && !isRefused(breaker) ? CLOSED : breaker;
  if (news === 'well')
    return breaker.failures > 0 ? CLOSED : { ...counted(breaker, 1, 0, now), relapses: 0, refusals: 0 };
  // The test attempt failed.
  if (breaker.failures > 0) return opened(breaker.failures + 1, now, dice);
  const next = counted(breaker, 0, 1, now);
  const total = next.good + next.bad;
  const useless = total >= policy.minimum && next.bad >= policy.ratio * total;
  const opens = useless || (news === 'ill' && policy.opensWhenIll);
  return opens ? opened(breaker.relapses + 1, now, dice) : next;
}

/**
 * The breaker of a hop that rested and was probed without mail. If it claims to be healthy but takes no mail, its next
 * rest is longer than the last.
 */
export function afterProbe(
  breaker: Breaker,
  news: 'well' | 'ill' | 'refuses_us',
  now: number,
  dice: number,
): Breaker {
  if (news === 'refuses_us') return refused(breaker, now, dice);
  if (news === 'ill') return opened(breaker.failures + 1, now, dice);
  return { ...CLOSED, relapses: breaker.failures, refusals: breaker.refusals };
}

/** Whether its hop refuses us, as far as is known: it rests for that reason, or is about to be tested. */
export function isRefused({ failures, refusals }: Breaker): boolean {
  return failures > 0 && refusals > 0;
}

/** The breaker of a hop that asked for no mail until then. */
export function restedUntil(breaker: Breaker, until: number): Breaker {
  const failures = Math.max(1, breaker.failures);
  return { ...CLOSED, failures, until: Math.max(breaker.until, until), asked: true };
}

/** The state at `now`. */
export function stateOf({ failures, until }: Breaker, now: number): BreakerState {
  if (failures === 0) return 'closed';
  return now < until ? 'open' : 'half_open';
}

/** How many attempts may be under way at `now`; `full` is the limit while healthy. */
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

/** Open for two minutes, doubling to four hours. */
function refused(breaker: Breaker, now: number, dice: number): Breaker {
  const refusals = breaker.refusals + 1;
  const ms = Math.min(FIRST_REFUSED_MS * 2 ** Math.min(refusals - 1, 20), MAX_REFUSED_MS);
  return { ...CLOSED, failures: breaker.failures + 1, refusals, until: now + ms * (1 - 0.2 * dice) };
}

function counted(breaker: Breaker, good: number, bad: number, now: number): Breaker {
  const fresh = now - breaker.windowSince >= WINDOW_MS;
  if (fresh)
    return { ...CLOSED, relapses: breaker.relapses, refusals: breaker.refusals, windowSince: now, good, bad };
  return { ...breaker, good: breaker.good + good, bad: breaker.bad + bad };
}
