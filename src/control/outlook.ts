import type { Config } from '../config/schema.ts';
import { isFinal } from '../domain/delivery.ts';
import { HOLD_KINDS, type HoldKind, laneOf, relayOfLane } from '../domain/lane.ts';
import type { MessageRecord, Priority } from '../domain/message.ts';
import type { LaneOutlook } from '../domain/next-try.ts';
import { allowanceOf, dayOf, spentUntil } from '../domain/quota.ts';
import type { Relay } from '../domain/relay.ts';
import type { LaneFigures } from '../engine/contract.ts';
import { laneSeen, type Outlook } from '../ingest/service.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Obstacle, RecipientWay } from '../operations/search.ts';
import type { RecipientRecord } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { laneState, NONE_UNTRIED } from './queue.ts';
import { MAX_AGE, warmUpBegins } from './relay-views.ts';

/** What knows the state of lanes. */
export interface OutlookDeps extends Pick<LocalDeps, 'queue' | 'clock'> {
  readonly views: Pick<LocalDeps['views'], 'quotaUsed'>;
  /** What is in force. */
  readonly resolution: () => Pick<ReturnType<LocalDeps['resolution']>, 'config' | 'holds'>;
}

/** Looks at the current state of lanes, on any node. */
export function outlookOf(deps: OutlookDeps): Outlook {
  return async (messages) => {
    const now = deps.clock.wall();
    const look = new Look(await usedToday(messages, now, deps), now, deps);
    for (const { waits, priority } of messages)
      for (const { lane } of waits) if (lane !== null) look.at(lane, priority);
    return { now, lanes: look.seen };
  };
}

/** Asks the store only if some mail waits for a relay with a quota. */
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

/** A snapshot of lanes. */
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
    // A drained relay still sends what waits for it.
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

const HELD = { pause: 'paused', drain: 'draining' } as const;

type WayDeps = Pick<LocalDeps, 'resolution' | 'queue' | 'running' | 'clock'>;

/** A recipient's route, and why it waits. */
export function wayOf(recipient: RecipientRecord, deps: WayDeps): RecipientWay {
  const { address, rule, group } = recipient;
  return { recipient: address, rule, group, waits: waitOf(recipient, deps) };
}

function waitOf({ state, relay, address, group }: RecipientRecord, deps: WayDeps): readonly Obstacle[] {
  if (isFinal(state) || state === 'processing') return [];
  if (relay !== null) {
    // A drained relay still sends what waits for it.
    const obstacle = obstacleOf(relay, address, ['pause'], deps) ?? serverOf(deps);
    return obstacle === null ? [] : [obstacle];
  }
  const why = group.flatMap((name) => obstacleOf(name, address, HOLD_KINDS, deps) ?? []);
  return [because('no route', why.length > 0 ? null : 'waybill routes explain'), ...why];
}

function serverOf({ running }: WayDeps): Obstacle | null {
  return running ? null : because('the server is not running', 'waybill serve');
}

function because(what: string, command: string | null, until: number | null = null): Obstacle {
  return { what, until: until === null ? null : formatTimestamp(until), command, resting: null };
}

/** What keeps mail to an address from using a relay, including holds of these kinds; null if nothing does. */
function obstacleOf(
  name: string,
  address: string,
  kinds: readonly HoldKind[],
  { resolution, queue, clock }: WayDeps,
): Obstacle | null {
  const { config, holds } = resolution();
  const relay = config.relays.find((candidate) => candidate.name === name);
  if (relay === undefined) return because(`relay ${name} does not exist`, 'waybill routes publish FILE');
  const lane = laneOf(name, relay.type, address);
  const figures = queue.lane(lane) ?? undefined;
  const held = kinds.flatMap((kind) => [name, lane].filter((target) => holds.get(target) === kind));
  const [target] = held;
  switch (laneState(lane, figures, { relay, holds, untried: NONE_UNTRIED })) {
    case 'paused':
    case 'draining':
      return target === undefined
        ? null
        : because(`${target} is ${HELD[holds.get(target) ?? 'pause']}`, `waybill queue resume ${target}`);
    case 'disabled':
      return config.unreadableRelays.includes(name)
        ? because(`the password of ${name} cannot be read`, 'waybill doctor')
        : because(`${name} is disabled`, `waybill relays enable ${name}`);
    case 'resting':
      return {
        ...because(
          `${lane} is resting after failures${lastSaid(relay, figures)}`,
          `waybill relays test ${name}${relay.mx === null ? '' : ` --to ${address}`}`,
          figures?.restsUntil,
        ),
        resting: name,
      };
    case 'spent':
      return (
        warmUpWait(relay, config, clock.wall()) ??
        because(`${name} has used up today’s quota, and continues at midnight UTC`, 'waybill relays list')
      );
    default:
      // Known of every relay, even if none of its lanes is at work.
      return warmUpWait(relay, config, clock.wall());
  }
}

/** What a hop rests for. Of a relay with one hop, its own figures tell that. */
function lastSaid({ mx }: Relay, figures: Pick<LaneFigures, 'restReply'> | undefined): string {
  const reply = mx === null ? null : (figures?.restReply ?? null);
  return reply === null ? '' : `: ${reply.text}`;
}

/** The wait for a relay whose warm-up begins on another day; null if there is none. */
function warmUpWait(relay: Relay, config: Pick<Config, 'delivery'>, now: number): Obstacle | null {
  const begins = warmUpBegins(relay, config, now);
  if (begins === null) return null;
  const late = begins.outlivesMail ? `; it expires before that (${MAX_AGE})` : '';
  return because(
    `${relay.name} gets no mail before ${begins.start} (UTC), when its warm-up begins${late}`,
    'waybill relays list',
  );
}
