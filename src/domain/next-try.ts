import type { BreakerState } from './breaker.ts';
import type { DeliveryState } from './delivery.ts';

/** When waiting mail is actually tried next, and what it waits for until then. */

/**
 * What waiting mail waits for.
 * - `scheduled`: its sender set a later time. `backoff`: the pause after an attempt. `turn`: it is due, and is tried as
 *   soon as its lane has room.
 * - `relay_resting`: its next hop failed and gets no mail. `relay_probing`: single attempts test whether it is healthy
 *   again.
 * - `relay_spent`: its relay's quota or warm-up for today is used up.
 * - `relay_paused`: an operator holds its relay, or its lane. `relay_disabled`: its relay sends nothing.
 *   `relay_missing`: no relay has that name. `no_route`: it has no relay at all.
 */
export const WAITING_FOR = [
  'scheduled',
  'backoff',
  'turn',
  'relay_resting',
  'relay_probing',
  'relay_spent',
  'relay_paused',
  'relay_disabled',
  'relay_missing',
  'no_route',
] as const;

/** See {@link WAITING_FOR}. */
export type WaitingFor = (typeof WAITING_FOR)[number];

/** A waiting recipient, or those of a message that wait in one lane. */
export interface Wait {
  /** Null without a route. */
  readonly lane: string | null;
  /** It was tried before, or not. */
  readonly state: Extract<DeliveryState, 'queued' | 'retrying'>;
  /** Not before this wall time in ms. */
  readonly dueAt: number;
}

/** What keeps the mail of a lane from being tried. Times are wall ms. */
export interface LaneOutlook {
  /** A cause without an end of its own; null for none. */
  readonly keptBy: 'relay_missing' | 'relay_disabled' | 'relay_paused' | null;
  /** The breaker of its next hop, as far as any node knows. */
  readonly breaker: BreakerState;
  /** Until when it rests; null if it does not. */
  readonly restsUntil: number | null;
  /** When its relay may take such mail again; null if it may now. */
  readonly spentUntil: number | null;
}

/** The next attempt. */
export interface NextTry {
  /** Wall ms, in the past if it is due and has not had its turn; null if it is unknown, or the mail expires first. */
  readonly at: number | null;
  readonly waitingFor: WaitingFor;
}

/** How a recipient waits; null if it does not. */
export function waitOf(recipient: {
  readonly lane: string | null;
  readonly state: DeliveryState;
  readonly dueAt: number | null;
}): Wait | null {
  const { lane, state, dueAt } = recipient;
  if (dueAt === null || (state !== 'queued' && state !== 'retrying')) return null;
  return { lane, state, dueAt };
}

/**
 * The next real attempt: at the later of its due time and what its lane (null: none) waits for. `now` and `expiresAt`
 * are wall ms.
 */
export function nextTry(
  { state, dueAt }: Wait,
  lane: LaneOutlook | null,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number },
): NextTry {
  if (lane === null) return { at: null, waitingFor: 'no_route' };
  if (lane.keptBy !== null) return { at: null, waitingFor: lane.keptBy };
  const due = lane.breaker === 'half_open' ? 'relay_probing' : 'turn';
  let latest: { readonly at: number; readonly waitingFor: WaitingFor } = {
    at: dueAt,
    waitingFor: dueAt <= now ? due : state === 'queued' ? 'scheduled' : 'backoff',
  };
  const others = [
    [lane.restsUntil, 'relay_resting'],
    [lane.spentUntil, 'relay_spent'],
  ] as const;
  for (const [until, waitingFor] of others)
    if (until !== null && until > latest.at && until > now) latest = { at: until, waitingFor };
  const isTooLate = latest.at > dueAt && latest.at > expiresAt;
  return isTooLate ? { at: null, waitingFor: latest.waitingFor } : latest;
}

/** The earliest of several; if none has a time, the first. Null for none. */
export function firstTry(tries: readonly NextTry[]): NextTry | null {
  let first: NextTry | null = null;
  for (const one of tries)
    if (first === null || (one.at !== null && (first.at === null || one.at < first.at))) first = one;
  return first;
}
