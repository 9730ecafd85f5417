import { relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import type { Lane } from './lanes.ts';
import type { LaneFigures } from './queue-figures.ts';
import type { Relays } from './relays.ts';

/** What is known of these lanes at this moment. */
export function figuresOf(lanes: Iterable<Lane>, relays: Relays, clock: Clock): LaneFigures[] {
  const mono = clock.mono();
  const wall = clock.wall();
  return [...lanes].map((lane) => {
    const relay = relays.get(relayOfLane(lane.name));
    const rests = lane.restsUntil(mono);
    return {
      lane: lane.name,
      relay: relayOfLane(lane.name),
      inFlight: lane.inflight,
      concurrency: lane.pace(mono, relay?.perLaneOf(lane) ?? 0),
      inHand: lane.inHand,
      perMinute: lane.rate.perMinute(mono),
      lastReply: lane.lastReply,
      state: lane.breakerState(mono),
      restsUntil: rests === null ? null : wall + rests - mono,
      spent: (relay?.left ?? 1) < 1,
      held: relays.holdOf(lane.name),
    };
  });
}
