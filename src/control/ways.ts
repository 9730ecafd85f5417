import type { Config } from '../config/schema.ts';
import { isFinal } from '../domain/delivery.ts';
import { HOLD_KINDS, type HoldKind } from '../domain/hold.ts';
import { laneOf } from '../domain/lane.ts';
import type { Relay } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Obstacle, RecipientWay } from '../operations/search.ts';
import type { RecipientRecord } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { laneState } from './local-queue.ts';
import { MAX_AGE, warmUpBegins } from './relay-views.ts';

const HELD = { pause: 'paused', drain: 'draining' } as const;

/** Whether a relay was tried before keeps nothing from it. */
const NONE: ReadonlySet<string> = new Set();

type WayDeps = Pick<LocalDeps, 'resolution' | 'queue' | 'running' | 'clock'>;

/** The way of a recipient, and why it waits. */
export function wayOf(recipient: RecipientRecord, deps: WayDeps): RecipientWay {
  const { address, rule, group } = recipient;
  return { recipient: address, rule, group, waits: waitOf(recipient, deps) };
}

function waitOf({ state, relay, address, group }: RecipientRecord, deps: WayDeps): readonly Obstacle[] {
  if (isFinal(state) || state === 'processing') return [];
  if (relay !== null) {
    // What waits at a relay that is drained is sent.
    const obstacle = obstacleOf(relay, address, ['pause'], deps) ?? serverOf(deps);
    return obstacle === null ? [] : [obstacle];
  }
  const why = group.flatMap((name) => obstacleOf(name, address, HOLD_KINDS, deps) ?? []);
  return [because('no route', why.length > 0 ? null : 'waybill routes explain'), ...why];
}

function serverOf({ running }: WayDeps): Obstacle | null {
  return running ? null : because('the server does not run', 'waybill serve');
}

function because(what: string, command: string | null, until: number | null = null): Obstacle {
  return { what, until: until === null ? null : formatTimestamp(until), command };
}

/** What keeps mail to an address from going by a relay, holds of these kinds among it; null when nothing does. */
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
  switch (laneState(lane, figures, { relay, holds, untried: NONE })) {
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
      return because(
        `${lane} rests after failures`,
        `waybill relays test ${name}${relay.mx === null ? '' : ` --to ${address}`}`,
        figures?.restsUntil,
      );
    case 'spent':
      return (
        warmUpWait(relay, config, clock.wall()) ??
        because(`${name} has had what it may have today, and goes on at midnight UTC`, 'waybill relays list')
      );
    default:
      // Known of every relay, also where no lane of it is at work.
      return warmUpWait(relay, config, clock.wall());
  }
}

/** What mail waits for whose relay begins to warm up on another day; null where it does not. */
function warmUpWait(relay: Relay, config: Pick<Config, 'delivery'>, now: number): Obstacle | null {
  const begins = warmUpBegins(relay, config, now);
  if (begins === null) return null;
  const late = begins.outlivesMail ? `; it expires sooner (${MAX_AGE})` : '';
  return because(
    `${relay.name} is given nothing before ${begins.start} (UTC), when its warm-up begins${late}`,
    'waybill relays list',
  );
}
