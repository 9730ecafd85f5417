import { relayOfLane } from '../domain/lane.ts';
import type { SpentRelay } from '../domain/spent.ts';
import type { LaneDepth } from '../store/views.ts';

/** What a relay may be given today (UTC), and has been, as far as this node knows. */
export interface RelayQuota {
  readonly allowance: number;
  readonly used: number;
  /** The allowance is a step of its warm-up. */
  readonly warming: boolean;
  /** The day on which its warm-up begins, such as `2026-12-01`; null once it has, or without one. */
  readonly begins: string | null;
  /** Mail that is not of high priority is given nothing more today. */
  readonly spent: boolean;
}

interface Status {
  readonly name: string;
  readonly quota: RelayQuota | null;
}

/** The relays that are spent, with what waits for each in these lanes at `now` (wall ms). */
export function spentRelays(
  relays: readonly Status[],
  lanes: readonly LaneDepth[],
  now: number,
): readonly SpentRelay[] {
  return relays.flatMap(({ name, quota }) => {
    if (quota === null || !quota.spent) return [];
    const own = lanes.filter(({ lane }) => relayOfLane(lane) === name);
    const waiting = own.reduce((sum, lane) => sum + lane.waiting, 0);
    const oldest = oldestOf(own);
    const latenessMs = oldest === null ? 0 : Math.max(0, now - oldest);
    return [{ relay: name, ...quota, waiting, latenessMs }];
  });
}

/**
 * When the longest waiting delivery came due (wall ms) that does not wait for a spent relay; null when there is none.
 * Where the lanes are not known (null), that of them all.
 */
export function dueBesides(
  oldestDueAt: number | null,
  relays: readonly Status[],
  lanes: readonly LaneDepth[] | null,
): number | null {
  const spent = new Set(relays.flatMap(({ name, quota }) => (quota?.spent === true ? [name] : [])));
  if (oldestDueAt === null || spent.size === 0 || lanes === null) return oldestDueAt;
  return oldestOf(lanes.filter(({ lane }) => !spent.has(relayOfLane(lane))));
}

function oldestOf(lanes: readonly LaneDepth[]): number | null {
  const dues = lanes.flatMap(({ oldestDueAt }) => (oldestDueAt === null ? [] : [oldestDueAt]));
  return dues.reduce<number | null>((first, due) => (first === null || due < first ? due : first), null);
}
