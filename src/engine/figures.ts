import { relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import type { Lane } from './lanes.ts';
import type { LaneFigures, QueueFigures } from './queue-figures.ts';
import type { Relays } from './relays.ts';

/** What is known of these lanes, at each moment at which it is asked. */
export function queueFigures(lanes: ReadonlyMap<string, Lane>, relays: Relays, clock: Clock): QueueFigures {
  return {
    lanes: () => [...lanes.values()].map((lane) => figuresOf(lane, relays, clock.mono(), clock.wall())),
    lane: (name) => {
      const lane = lanes.get(name);
      return lane === undefined ? null : figuresOf(lane, relays, clock.mono(), clock.wall());
    },
  };
}

function figuresOf(lane: Lane, relays: Relays, mono: number, wall: number): LaneFigures {
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
    restCause: lane.restCause,
    spent: (relay?.left ?? 1) < 1,
    held: relays.holdOf(lane.name),
  };
}
