import { relayOfLane } from '../domain/lane.ts';
import { allowanceOf, dayOf } from '../domain/quota.ts';
import type { Relay, WarmUp } from '../domain/relay.ts';
import type { LaneDepth } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { laneState } from './local-queue.ts';
import { OperationError } from './operations.ts';
import type { RelayView, WarmUpView } from './relay-operations.ts';

/** More lanes than this with mail in them are not looked at. */
const MAX_LANES = 100_000;

/** The relay of that name as it is shown. Throws `not_found`. */
export async function viewOf(name: string, deps: LocalDeps): Promise<RelayView> {
  const found = (await relayViews(deps)).find((view) => view.name === name);
  if (found === undefined) throw noSuchRelay(name);
  return found;
}

/** Every relay as it is shown, with how much waits for it. */
export async function relayViews(deps: LocalDeps): Promise<RelayView[]> {
  const { config, holds } = deps.resolution();
  const figures = deps.queue.lanes();
  const day = dayOf(deps.clock.wall());
  const [depths, used] = await Promise.all([deps.views.lanes(null, MAX_LANES), deps.views.quotaUsed(day)]);
  return config.relays.map((relay) => ({
    name: relay.name,
    type: relay.type,
    origin: relay.origin,
    host: relay.smtp?.host ?? null,
    port: relay.smtp?.port ?? relay.mx?.port ?? null,
    tls: relay.smtp?.tls ?? relay.mx?.tls ?? null,
    verify: relay.smtp?.verify ?? null,
    username: relay.smtp?.username ?? null,
    endpoint: relay.provider?.endpoint ?? null,
    isDefault: relay.name === config.delivery.defaultRelay,
    disabled: relay.disabled,
    // The lanes of a relay of type mx rest each by itself: those the queue shows.
    state: laneState(
      relay.name,
      figures.find(({ lane }) => lane === relay.name),
      { relay, holds },
    ),
    credentialsUnreadable: config.unreadableRelays.includes(relay.name),
    ...depthOf(relay.name, depths),
    ...quotaOf(relay, day, used),
  }));
}

const DAY_MS = 86_400_000;

function quotaOf(
  { name, limits }: Relay,
  day: number,
  used: ReadonlyMap<string, number>,
): Pick<RelayView, 'maxPerDay' | 'warmUp' | 'allowedToday' | 'usedToday'> {
  const allowedToday = allowanceOf(limits, day);
  return {
    maxPerDay: limits.maxPerDay,
    warmUp: limits.warmUp === null ? null : warmUpOf(limits.warmUp, day),
    allowedToday,
    usedToday: used.get(name) ?? (allowedToday === null ? null : 0),
  };
}

function warmUpOf({ startDay, perDay }: WarmUp, day: number): WarmUpView {
  const since = day - startDay;
  return {
    start: dayText(startDay),
    days: perDay.length,
    day: since >= perDay.length ? null : Math.max(0, since + 1),
  };
}

/** Whole days since the epoch, as they are written in a definition. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function depthOf(name: string, depths: readonly LaneDepth[]): Pick<RelayView, 'waiting' | 'processing'> {
  const own = depths.filter(({ lane }) => relayOfLane(lane) === name);
  return {
    waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
    processing: own.reduce((sum, { processing }) => sum + processing, 0),
  };
}

/** What is said of a name that no relay has. */
export function noSuchRelay(name: string): OperationError {
  return new OperationError('not_found', `There is no relay ${name}. See: waybill relays list`);
}
