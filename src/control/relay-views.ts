import type { Config } from '../config/schema.ts';
import { relayOfLane } from '../domain/lane.ts';
import { allowanceOf, beginsAfter, dayOf, dayText, endOfDay, shareOf } from '../domain/quota.ts';
import type { Relay, WarmUp } from '../domain/relay.ts';
import { OperationError } from '../operations/call.ts';
import type { RelayView, WarmUpView } from '../operations/relays.ts';
import type { LaneDepth } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { breakerOf, laneState, restOf } from './queue.ts';
import { untriedRelays } from './untried-relays.ts';

/** Most lanes with mail to examine. */
const MAX_LANES = 100_000;

/** The view of the relay with that name. Throws `not_found`. */
export async function viewOf(name: string, deps: LocalDeps): Promise<RelayView> {
  const found = (await relayViews(deps)).find((view) => view.name === name);
  if (found === undefined) throw noSuchRelay(name);
  return found;
}

/** The views of all relays, with the number of waiting recipients. */
export async function relayViews(deps: LocalDeps): Promise<RelayView[]> {
  const { config, holds } = deps.resolution();
  const figures = deps.queue.lanes();
  const now = deps.clock.wall();
  const day = dayOf(now);
  const [depths, used, untried] = await Promise.all([
    deps.views.lanes(null, MAX_LANES),
    deps.views.quotaUsed(day),
    untriedRelays(config.relays, figures, deps),
  ]);
  const health = deps.server()?.health() ?? null;
  return config.relays.map((relay) => {
    const own = figures.find(({ lane }) => lane === relay.name);
    const spent = spentAllowance(relay, day, used) !== null;
    const known = { state: breakerOf(relay.name, health, own), spent };
    const state = laneState(relay.name, known, { relay, holds, untried });
    return {
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
      state,
      rest: restOf(relay.name, state, figures),
      credentialsUnreadable: config.unreadableRelays.includes(relay.name),
      ...depthOf(relay.name, depths),
      ...quotaOf(relay, config, now, used),
    };
  });
}

function quotaOf(
  relay: Relay,
  config: Config,
  now: number,
  used: ReadonlyMap<string, number>,
): Pick<RelayView, 'maxPerDay' | 'warmUp' | 'allowedToday' | 'usedToday'> {
  const { name, limits } = relay;
  const day = dayOf(now);
  const allowedToday = allowanceOf(limits, day);
  const outlivesMail = warmUpBegins(relay, config, now)?.outlivesMail ?? false;
  return {
    maxPerDay: limits.maxPerDay,
    warmUp: limits.warmUp === null ? null : warmUpOf(limits.warmUp, day, outlivesMail),
    allowedToday,
    usedToday: used.get(name) ?? (allowedToday === null ? null : 0),
  };
}

/**
 * The relay's allowance for the day, if only mail of high priority may still use it; otherwise null. Needs neither a
 * running server nor a lane.
 */
export function spentAllowance(
  { name, limits }: Pick<Relay, 'name' | 'limits'>,
  day: number,
  used: ReadonlyMap<string, number>,
): number | null {
  const allowance = allowanceOf(limits, day);
  if (allowance === null) return null;
  return (used.get(name) ?? 0) >= shareOf(allowance, limits.reservePercent, 'normal') ? allowance : null;
}

/** Whether its allowance for the day is a step of its warm-up. */
export function isWarming({ limits }: Pick<Relay, 'limits'>, day: number): boolean {
  return allowanceOf(limits, day) !== allowanceOf({ ...limits, warmUp: null }, day);
}

/** The setting for how long mail waits at most. */
export const MAX_AGE = 'delivery.max_age_hours';
const HOUR_MS = 3_600_000;

/**
 * When a future warm-up begins (`now` in wall ms), and whether mail accepted now expires first; null for other relays.
 */
export function warmUpBegins(
  { limits }: Pick<Relay, 'limits'>,
  { delivery }: Pick<Config, 'delivery'>,
  now: number,
): { readonly start: string; readonly outlivesMail: boolean } | null {
  const day = beginsAfter(dayOf(now), limits);
  if (day === null) return null;
  // The day before the warm-up ends when the warm-up begins.
  const outlivesMail = endOfDay(day - 1) - now > delivery.maxAgeHours * HOUR_MS;
  return { start: dayText(day), outlivesMail };
}

function warmUpOf({ startDay, perDay }: WarmUp, day: number, outlivesMail: boolean): WarmUpView {
  const since = day - startDay;
  return {
    outlivesMail,
    start: dayText(startDay),
    days: perDay.length,
    day: since >= perDay.length ? null : Math.max(0, since + 1),
  };
}

function depthOf(name: string, depths: readonly LaneDepth[]): Pick<RelayView, 'waiting' | 'processing'> {
  const own = depths.filter(({ lane }) => relayOfLane(lane) === name);
  return {
    waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
    processing: own.reduce((sum, { processing }) => sum + processing, 0),
  };
}

/** The error for an unknown relay. */
export function noSuchRelay(name: string): OperationError {
  return new OperationError('not_found', `There is no relay ${name}. See: waybill relays list`);
}
