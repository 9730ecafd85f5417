import type { BreakerState } from './breaker.ts';
import type { DeliveryState } from './delivery.ts';

/** When mail that waits is really tried next, and what it waits for until then. */

/**
 * What waiting mail waits for.
 * - `scheduled`: its sender wants it to go later. `backoff`: the pause after an attempt. `turn`: it is due, and is tried as
 *   soon as its lane has room.
 * - `relay_resting`: its next hop failed and is left alone. `relay_probing`: single attempts find out whether it is well again.
 * - `relay_spent`: its relay has had what it may have today, by quota or warm-up.
 * - `relay_paused`: an operator holds back its relay, or its lane there. `relay_disabled`: nothing is sent by its relay.
 *   `relay_missing`: there is no relay of that name. `no_route`: there is no relay for it at all.
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

/** A recipient that waits, or those of a message that wait in one lane. */
export interface Wait {
  /** Null without a route. */
  readonly lane: string | null;
  /** It was tried before, or was not. */
  readonly state: Extract<DeliveryState, 'queued' | 'retrying'>;
  /** Not before this wall time in ms. */
  readonly dueAt: number;
}

/** What keeps the mail of a lane from being tried. Times are wall ms. */
export interface LaneOutlook {
  /** What has no end of its own; null for nothing. */
  readonly keptBy: 'relay_missing' | 'relay_disabled' | 'relay_paused' | null;
  /** How its next hop does, as far as any node knows. */
  readonly breaker: BreakerState;
  /** Until when it rests; null while it does not. */
  readonly restsUntil: number | null;
  /** When its relay may be given such mail again; null while it may. */
  readonly spentUntil: number | null;
}

/** When something is tried next. */
export interface NextTry {
  /** Wall ms, in the past for what is due and has not had its turn; null where nobody can tell, or it expires first. */
  readonly at: number | null;
  readonly waitingFor: WaitingFor;
}

/** How a recipient waits; null for one that does not. */
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
 * The next real try: at the later of its due time and what its lane (null: none) waits for. `now` and `expiresAt` are wall ms.
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

/** That of several which comes first; of those without a time the first, where there are no others. Null for none. */
export function firstTry(tries: readonly NextTry[]): NextTry | null {
  let first: NextTry | null = null;
  for (const one of tries)
    if (first === null || (one.at !== null && (first.at === null || one.at < first.at))) first = one;
  return first;
}
