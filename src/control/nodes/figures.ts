import type { BreakerState } from '../../domain/health.ts';
import { relayOfLane } from '../../domain/lane.ts';
import type { LaneFigures, QueueFigures } from '../../engine/contract.ts';
import type { RelayStatus } from '../../observe/health-report.ts';
import type { DeniedTally } from '../../observe/remembered.ts';
import { type LaneHappening, MAX_HAPPENINGS } from '../../observe/remembered.ts';
import type { NodeReport } from './report.ts';

/** Figures of all nodes together: of this one as it is now, of the others as last reported. */

/** From healthy to unhealthy. */
const STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];

function worse(a: BreakerState, b: BreakerState): boolean {
  return STATES.indexOf(a) > STATES.indexOf(b);
}

/** Adds up attempts; a relay rests if it rests anywhere. Everything else is known to every node. */
export function relaysOfAll(own: readonly RelayStatus[], reports: readonly NodeReport[]): RelayStatus[] {
  if (reports.length === 0) return [...own];
  const told = Map.groupBy(
    reports.flatMap(({ relays }) => relays),
    ({ name }) => name,
  );
  return own.map((relay) => {
    const others = told.get(relay.name) ?? [];
    return {
      ...relay,
      state: others.reduce((worst, { state }) => (worse(state, worst) ? state : worst), relay.state),
      refusal: relay.refusal ?? others.find((other) => other.refusal !== null)?.refusal ?? null,
      inflight: others.reduce((sum, { inflight }) => sum + inflight, relay.inflight),
    };
  });
}

/**
 * Every lane known to some node. One node at a time works a lane; while it moves from one to another, both may have
 * attempts under way, which are added up.
 */
export function lanesOfAll(own: readonly LaneFigures[], reports: readonly NodeReport[]): LaneFigures[] {
  if (reports.length === 0) return [...own];
  const lanes = new Map<string, LaneFigures>();
  for (const lane of [own, ...reports.map((report) => report.lanes)].flat()) {
    const known = lanes.get(lane.lane);
    lanes.set(lane.lane, known === undefined ? lane : together(known, lane));
  }
  return [...lanes.values()];
}

/** The lanes of all nodes, computed at each call. */
export function queueOfAll(own: QueueFigures, reports: () => readonly NodeReport[]): QueueFigures {
  return {
    lanes: () => lanesOfAll(own.lanes(), reports()),
    lane: (name) => {
      const told = reports().flatMap(({ lanes }) => lanes.find(({ lane }) => lane === name) ?? []);
      return told.reduce<LaneFigures | null>(
        (known, lane) => (known === null ? lane : together(known, lane)),
        own.lane(name),
      );
    },
  };
}

/** The node that works the lane knows best how much its next hop has shown to bear. */
function together(a: LaneFigures, b: LaneFigures): LaneFigures {
  const [holder, other] = b.inHand > a.inHand ? [b, a] : [a, b];
  const ill = worse(other.state, holder.state) ? other : holder;
  return {
    ...holder,
    inFlight: a.inFlight + b.inFlight,
    inHand: a.inHand + b.inHand,
    perMinute: a.perMinute + b.perMinute,
    lastReply: (a.lastReply?.at ?? 0) >= (b.lastReply?.at ?? 0) ? a.lastReply : b.lastReply,
    state: ill.state,
    restsUntil: ill.restsUntil,
    restsSince: ill.restsSince,
    restCause: ill.restCause,
    restReply: ill.restReply,
    spent: a.spent || b.spent,
    held: a.held ?? b.held,
  };
}

/** Refused sources of all nodes, the most recent first; refusals of one source by several nodes are added up. */
export function deniedOfAll(
  own: readonly DeniedTally[],
  reports: readonly NodeReport[],
): readonly DeniedTally[] {
  if (reports.length === 0) return own;
  const all = [own, ...reports.map(({ denied }) => denied)].flat();
  const grouped = Map.groupBy(
    all,
    ({ reason, port, sourceAddress, keyId }) => `${reason} ${port} ${sourceAddress} ${keyId}`,
  );
  const sums = [...grouped.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : rest.reduce(added, first),
  );
  return sums.sort((a, b) => b.lastAt - a.lastAt);
}

function added(a: DeniedTally, b: DeniedTally): DeniedTally {
  const { sourceAddress, reason, port, keyId } = a;
  const firstAt = Math.min(a.firstAt, b.firstAt);
  const lastAt = Math.max(a.lastAt, b.lastAt);
  return { sourceAddress, reason, port, keyId, count: a.count + b.count, firstAt, lastAt };
}

/** Happenings on a relay's lanes on all nodes, the newest first. */
export function happeningsOfAll(
  own: readonly LaneHappening[],
  reports: readonly NodeReport[],
  relay: string,
): readonly LaneHappening[] {
  const isMeant = ({ lane }: LaneHappening) => relayOfLane(lane) === relay;
  const others = reports.flatMap(({ happenings }) => happenings.filter(isMeant));
  return [...own, ...others].sort((a, b) => b.at - a.at).slice(0, MAX_HAPPENINGS);
}
