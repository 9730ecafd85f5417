import type { Loaded } from '../config/load.ts';
import { parseDomain } from '../domain/domain-name.ts';
import { type HoldKind, type LaneState, relayOfLane } from '../domain/lane.ts';
import type { Relay } from '../domain/relay.ts';
import type { LaneFigures, LaneReply } from '../engine/contract.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { HealthReport } from '../observe/health-report.ts';
import { OperationError } from '../operations/call.ts';
import type { HoldView, QueueLane, QueueOperations, QueueView } from '../operations/queue.ts';
import type { RestView } from '../operations/relays.ts';
import type { RequestOf } from '../operations/table.ts';
import type { LaneDepth } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { tellsSomething } from './nodes/report.ts';
import { actOnQueue } from './queue-selection.ts';
import { untriedRelays } from './untried-relays.ts';

/** Most lanes with mail to examine; further ones are not counted. */
const MAX_LANES = 100_000;
/** Most lanes to show. */
const MAX_SHOWN = 500;
/** Mail without a route is counted up to here. */
const MAX_COUNTED = 1_000;

/** What the operations on the queue need. */
export interface QueueDeps
  extends Pick<LocalDeps, 'views' | 'registry' | 'journal' | 'acts' | 'queue' | 'clock' | 'reload'> {
  /** What is in force. */
  readonly resolution: () => Pick<Loaded, 'config' | 'holds'>;
}

/** The operations on the queue. */
export function queueOperations(deps: QueueDeps): QueueOperations {
  return {
    queue: (request) => queueView(request, deps),
    hold: (request) => hold(request, deps),
    actOnQueue: (request) => actOnQueue(request, deps),
  };
}

async function queueView({ relay }: RequestOf<'queue'>, deps: QueueDeps): Promise<QueueView> {
  const { config } = deps.resolution();
  if (relay !== null && !config.relays.some(({ name }) => name === relay)) throw noSuchRelay(relay);
  const figures = deps.queue.lanes();
  const [depths, lost, untried] = await Promise.all([
    deps.views.lanes(relay, MAX_LANES),
    deps.views.waiting({ lane: 'none', after: null, limit: MAX_COUNTED }),
    untriedRelays(config.relays, figures, deps),
  ]);
  const now = deps.clock.wall();
  const lanes = allLanes({ depths, figures, untried }, relay, now, deps);
  const sum = (count: (lane: QueueLane) => number) => lanes.reduce((total, lane) => total + count(lane), 0);
  const ages = lanes.flatMap(({ oldestSeconds }) => oldestSeconds ?? []);
  return {
    time: formatTimestamp(now),
    lanes: lanes.slice(0, MAX_SHOWN),
    more: lanes.length > MAX_SHOWN,
    totals: {
      waiting: sum(({ waiting }) => waiting),
      processing: sum(({ processing }) => processing),
      inFlight: sum(({ inFlight }) => inFlight),
      oldestSeconds: ages.length === 0 ? null : ages.reduce((a, b) => Math.max(a, b)),
      perMinute: sum(({ perMinute }) => perMinute),
    },
    withoutRoute: { waiting: lost.deliveries.length, more: lost.next !== null },
  };
}

/** Every lane with something to report, and every relay that is itself a lane; the fullest first. */
function allLanes(
  { depths, figures, untried }: Known,
  only: string | null,
  now: number,
  deps: QueueDeps,
): QueueLane[] {
  const { config, holds } = deps.resolution();
  const depthOf = new Map(depths.map((depth) => [depth.lane, depth]));
  const figuresOf = new Map(figures.map((one) => [one.lane, one]));
  const relays = new Map(config.relays.map((relay) => [relay.name, relay]));
  const ownLanes = config.relays.filter(({ type }) => type !== 'mx').map(({ name }) => name);
  const busy = [...figuresOf.values()].filter(tellsSomething).map(({ lane }) => lane);
  const held = [...holds.keys()].filter((target) => relays.get(target)?.type !== 'mx');
  const names = new Set([...depthOf.keys(), ...ownLanes, ...busy, ...held]);
  const rows = [...names]
    .filter((lane) => only === null || relayOfLane(lane) === only)
    .map((lane) => {
      const facts = { depth: depthOf.get(lane), figures: figuresOf.get(lane) };
      return laneRow(lane, facts, { relay: relays.get(relayOfLane(lane)), holds, untried, now });
    });
  const load = ({ waiting, processing }: QueueLane) => waiting + processing;
  return rows.sort((a, b) => load(b) - load(a) || (a.lane < b.lane ? -1 : 1));
}

interface Known {
  readonly depths: readonly LaneDepth[];
  readonly figures: readonly LaneFigures[];
  readonly untried: ReadonlySet<string>;
}

interface LaneFacts {
  readonly depth: LaneDepth | undefined;
  readonly figures: LaneFigures | undefined;
}

interface LaneSurroundings {
  readonly relay: Relay | undefined;
  readonly holds: ReadonlyMap<string, HoldKind>;
  /** Names of relays that were never tried. */
  readonly untried: ReadonlySet<string>;
  readonly now: number;
}

function laneRow(lane: string, facts: LaneFacts, around: LaneSurroundings): QueueLane {
  const { depth, figures } = facts;
  const dueAt = depth?.oldestDueAt ?? null;
  const state = laneState(lane, figures, around);
  return {
    lane,
    relay: relayOfLane(lane),
    state,
    restsUntil: state === 'resting' ? timeOf(figures?.restsUntil) : null,
    restsSince: isIll(state) ? timeOf(figures?.restsSince) : null,
    waiting: depth?.waiting ?? 0,
    processing: depth?.processing ?? 0,
    inFlight: figures?.inFlight ?? 0,
    concurrency: figures?.concurrency ?? null,
    oldestSeconds: dueAt === null ? null : Math.max(0, Math.floor((around.now - dueAt) / 1000)),
    perMinute: figures?.perMinute ?? 0,
    lastReply: replyView(figures?.lastReply ?? null),
  };
}

function timeOf(wall: number | null | undefined): string | null {
  return wall == null ? null : formatTimestamp(wall);
}

function replyView(reply: LaneReply | null): QueueLane['lastReply'] {
  if (reply === null) return null;
  const { code, enhanced, text, at } = reply;
  return { code, enhancedCode: enhanced, reply: text, at: formatTimestamp(at) };
}

function isIll(state: LaneState): boolean {
  return state === 'resting' || state === 'probing';
}

/**
 * Why a relay in this state rests, by its lanes on all nodes; null if it does not. Of several lanes, the one whose hop
 * has been unhealthy longest tells.
 */
export function restOf(relay: string, state: LaneState, figures: readonly LaneFigures[]): RestView | null {
  if (!isIll(state)) return null;
  const [lane] = figures
    .filter((one) => one.relay === relay && one.state !== 'closed')
    .toSorted(
      (a, b) => (a.restsSince ?? Number.POSITIVE_INFINITY) - (b.restsSince ?? Number.POSITIVE_INFINITY),
    );
  return {
    cause: lane?.restCause ?? null,
    reply: replyView(lane?.restReply ?? null),
    since: timeOf(lane?.restsSince),
    until: timeOf(lane?.restsUntil),
  };
}

/** The lists' names for the next-hop states of `/health`; docs/operations.md explains both. */
export const BREAKER_STATES = { closed: 'ready', open: 'resting', half_open: 'probing' } as const;
const HOLD_STATES = { pause: 'paused', drain: 'draining' } as const;

/** The state of a relay's next hop: as health has it, since the hops of an mx relay rest by themselves, else its lane's own. */
export function breakerOf(
  relay: string,
  health: HealthReport | null,
  own: LaneFigures | undefined,
): LaneFigures['state'] {
  return health?.relays.find(({ name }) => name === relay)?.state ?? own?.state ?? 'closed';
}

/** For {@link laneState} where it does not matter whether a relay was tried before. */
export const NONE_UNTRIED: ReadonlySet<string> = new Set();

/** The state of a lane. An operator's decision takes precedence over the state of the next hop. */
export function laneState(
  lane: string,
  figures: Pick<LaneFigures, 'state' | 'spent'> | undefined,
  { relay, holds, untried }: Pick<LaneSurroundings, 'relay' | 'holds' | 'untried'>,
): LaneState {
  if (relay === undefined) return 'missing';
  if (relay.disabled) return 'disabled';
  const kinds = [holds.get(lane), holds.get(relayOfLane(lane))];
  const kind = kinds.includes('pause') ? 'pause' : kinds.find((other) => other !== undefined);
  if (kind !== undefined) return HOLD_STATES[kind];
  const state = BREAKER_STATES[figures?.state ?? 'closed'];
  if (state !== 'ready') return state;
  if (figures?.spent === true) return 'spent';
  return untried.has(relay.name) ? 'untried' : 'ready';
}

async function hold(request: RequestOf<'hold'>, deps: QueueDeps): Promise<HoldView> {
  const { holds } = deps.resolution();
  const target = holds.has(request.target) ? request.target : readTarget(request.target, deps);
  const { kind } = request;
  const changed = (holds.get(target) ?? null) !== kind;
  if (changed) {
    await deps.registry.putHold(target, kind === null ? null : { kind, since: deps.clock.wall() });
    // Faults of the configuration do not keep holds from taking effect.
    await deps.reload();
  }
  const relay = relayOfLane(target);
  const lanes = (await deps.views.lanes(relay, MAX_LANES)).filter(
    ({ lane }) => target === relay || lane === target,
  );
  return {
    target,
    kind,
    changed,
    waiting: lanes.reduce((sum, { waiting }) => sum + waiting, 0),
    processing: lanes.reduce((sum, { processing }) => sum + processing, 0),
  };
}

/** The engine's name for the lane: an existing relay, and its domain in comparison form. */
function readTarget(text: string, deps: QueueDeps): string {
  const name = relayOfLane(text);
  const relay = deps.resolution().config.relays.find((candidate) => candidate.name === name);
  if (relay === undefined) throw noSuchRelay(name);
  if (name === text) return text;
  const domain = parseDomain(text.slice(name.length + 1));
  if (relay.type === 'mx' && domain !== null) return `${name}/${domain}`;
  throw new OperationError(
    'invalid',
    relay.type === 'mx'
      ? `${text} is not a lane: the part after the slash must be a domain, as in ${name}/example.com.`
      : `${text} is not a lane: the relay ${name} has no separate lanes. Name the relay: ${name}`,
  );
}

function noSuchRelay(name: string): OperationError {
  return new OperationError('not_found', `There is no relay ${name}. See: waybill relays list`);
}
