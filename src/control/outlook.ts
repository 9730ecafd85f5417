import { relayOfLane } from '../domain/lane.ts';
import type { MessageRecord, Priority } from '../domain/message.ts';
import type { LaneOutlook } from '../domain/next-try.ts';
import { allowanceOf, dayOf, spentUntil } from '../domain/quota.ts';
import type { Relay } from '../domain/relay.ts';
import { laneSeen, type Outlook } from '../ingest/outlook.ts';
import type { LocalDeps } from './local-deps.ts';

/** What tells how lanes do. */
export interface OutlookDeps extends Pick<LocalDeps, 'queue' | 'clock'> {
  readonly views: Pick<LocalDeps['views'], 'quotaUsed'>;
  /** What is in force. */
  readonly resolution: () => Pick<ReturnType<LocalDeps['resolution']>, 'config' | 'holds'>;
}

/** Looks at lanes as they are at this moment, on whichever node they are worked. */
export function outlookOf(deps: OutlookDeps): Outlook {
  return async (messages) => {
    const now = deps.clock.wall();
    const look = new Look(await usedToday(messages, now, deps), now, deps);
    for (const { waits, priority } of messages)
      for (const { lane } of waits) if (lane !== null) look.at(lane, priority);
    return { now, lanes: look.seen };
  };
}

/** The store is asked only where some of it waits for a relay that has a quota. */
async function usedToday(
  messages: readonly MessageRecord[],
  now: number,
  { views, resolution }: OutlookDeps,
): Promise<ReadonlyMap<string, number>> {
  const lanes = messages.flatMap(({ waits }) => waits.flatMap(({ lane }) => lane ?? []));
  if (lanes.length === 0) return NOTHING;
  const day = dayOf(now);
  const waitedFor = new Set(lanes.map(relayOfLane));
  const isBounded = ({ name, limits }: Relay) => waitedFor.has(name) && allowanceOf(limits, day) !== null;
  return resolution().config.relays.some(isBounded) ? await views.quotaUsed(day) : NOTHING;
}

const NOTHING: ReadonlyMap<string, number> = new Map();

/** Lanes as they were when they were looked at. */
class Look {
  readonly #used: ReadonlyMap<string, number>;
  readonly #now: number;
  readonly #deps: OutlookDeps;
  /** See `LanesSeen`. */
  readonly seen = new Map<string, LaneOutlook>();

  constructor(used: ReadonlyMap<string, number>, now: number, deps: OutlookDeps) {
    this.#used = used;
    this.#now = now;
    this.#deps = deps;
  }

  /** Looks, for mail of that priority. */
  at(lane: string, priority: Priority): void {
    const name = laneSeen(lane, priority);
    if (!this.seen.has(name)) this.seen.set(name, this.#look(lane, priority));
  }

  #look(lane: string, priority: Priority): LaneOutlook {
    const { config, holds } = this.#deps.resolution();
    const name = relayOfLane(lane);
    const relay = config.relays.find((candidate) => candidate.name === name);
    if (relay === undefined) return { ...CLEAR, keptBy: 'relay_missing' };
    if (relay.disabled || config.unreadableRelays.includes(name))
      return { ...CLEAR, keptBy: 'relay_disabled' };
    // What waits at a relay that is drained is sent.
    if (holds.get(name) === 'pause' || holds.get(lane) === 'pause')
      return { ...CLEAR, keptBy: 'relay_paused' };
    const figures = this.#deps.queue.lane(lane);
    const used = this.#used.get(name) ?? 0;
    return {
      keptBy: null,
      breaker: figures?.state ?? 'closed',
      restsUntil: figures?.restsUntil ?? null,
      spentUntil: spentUntil(relay.limits, dayOf(this.#now), used, priority),
    };
  }
}

const CLEAR: LaneOutlook = { keptBy: null, breaker: 'closed', restsUntil: null, spentUntil: null };
