import { relayOfLane } from '../domain/lane.ts';
import { shortReply } from '../domain/outcome.ts';
import type { Clock } from '../lib/clock.ts';
import type { Events, Unsubscribe } from './events.ts';

/** A lane began to rest, or its next hop works again. */
export interface LaneHappening {
  /** Wall ms. */
  readonly at: number;
  readonly lane: string;
  readonly kind: 'rested' | 'recovered';
  /** How long it rests, in ms, and why; null for a recovery. */
  readonly pauseMs: number | null;
  readonly cause: string | null;
}

/** Happenings remembered of one relay; the oldest go first. */
export const MAX_HAPPENINGS = 50;
/** Relays they are remembered of; the one of which nothing was heard for longest makes room. */
const MAX_RELAYS = 1000;
/** Characters of a cause: a peer may have written it. */
const MAX_CAUSE = 500;

/** Remembers how the next hops of relays did, on this node since it started. */
export interface RelayHistory {
  /** Of one relay, the newest first. */
  of(relay: string): readonly LaneHappening[];
  /** Of all relays together, the newest first; as many as are remembered of one. */
  newest(): readonly LaneHappening[];
  readonly stop: Unsubscribe;
}

/** Begins to remember. */
export function rememberRelays(events: Events, clock: Pick<Clock, 'wall'>): RelayHistory {
  const byRelay = new Map<string, readonly LaneHappening[]>();
  let newest: readonly LaneHappening[] = [];
  const add = (happening: LaneHappening) => {
    newest = [happening, ...newest].slice(0, MAX_HAPPENINGS);
    const relay = relayOfLane(happening.lane);
    const before = byRelay.get(relay) ?? [];
    byRelay.delete(relay);
    byRelay.set(relay, [happening, ...before].slice(0, MAX_HAPPENINGS));
    if (byRelay.size > MAX_RELAYS) dropFirst(byRelay);
  };
  const stop = events.on((event) => {
    if (event.type === 'lane_paused') {
      const at = clock.wall();
      const { lane, pauseMs } = event;
      const cause = shortReply(event.reply);
      add({ at, lane, kind: 'rested', pauseMs, cause: cause.slice(0, MAX_CAUSE) });
    } else if (event.type === 'lane_resumed')
      add({ at: clock.wall(), lane: event.lane, kind: 'recovered', pauseMs: null, cause: null });
  });
  return { of: (relay) => byRelay.get(relay) ?? [], newest: () => newest, stop };
}

function dropFirst(relays: Map<string, unknown>): void {
  for (const name of relays.keys()) {
    relays.delete(name);
    return;
  }
}
