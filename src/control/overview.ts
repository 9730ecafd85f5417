import type { Config } from '../config/schema.ts';
import type { MessageRecord } from '../domain/message.ts';
import { ANY_MAIL } from '../domain/query.ts';
import { INBOX } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { messageIdTime } from '../lib/id.ts';
import type { HealthReport } from '../observe/health-report.ts';
import {
  type EventCounts,
  MAX_FAILURES,
  type Overview,
  type OverviewBanner,
  type OverviewRelay,
  type Series,
  SHOWN_FAILURES,
} from '../operations/search.ts';
import type { RequestOf } from '../operations/table.ts';
import { type CountedEvent, RECENT_MINUTES } from '../store/counting.ts';
import type { CountRange, Figures, LaneDepth } from '../store/views.ts';
import { AnswerShare } from './answer-share.ts';
import type { LocalDeps } from './deps.ts';
import { type Doctor, doctorBanners } from './doctor/last-look.ts';
import { foundMessages } from './found-mail.ts';
import { breakerOf, laneState, restOf } from './queue.ts';
import { rememberedUntried } from './untried-relays.ts';

const MINUTE_MS = 60_000;
const STEP_MINUTES = { minute: 1, hour: 60, day: 24 * 60 } as const;
const MINUTES_A_DAY = STEP_MINUTES.day;

/** Pages that ask within so long get one answer: a hint and this are less than the second in which they show what is new. */
const SHARED_MS = 250;
/** Most lanes with mail whose depths are added up. */
const MAX_LANES = 10_000;

/** Makes the operation `overview`. */
export function createOverview(
  deps: LocalDeps,
  lastLook: Doctor['last'],
): (request: RequestOf<'overview'>) => Promise<Overview> {
  const { clock } = deps;
  const parts = new AnswerShare<CommonPart>(clock, SHARED_MS);
  const lines = new AnswerShare<Series>(clock, SHARED_MS);
  const untried = rememberedUntried(deps);
  return async ({ step = 'hour', count = 24 }) => {
    // Pages that look at different times have the rest in common.
    const [common, over] = await Promise.all([
      parts.ask('', () => commonPart(deps, untried, lastLook)),
      lines.ask(`${step} ${count}`, () => seriesAt(clock.wall(), { step, count, relay: null }, deps)),
    ]);
    return { ...common, series: over };
  };
}

/** What does not depend on the time looked at. */
type CommonPart = Omit<Overview, 'series'>;

async function commonPart(
  deps: LocalDeps,
  untriedNow: ReturnType<typeof rememberedUntried>,
  lastLook: Doctor['last'],
): Promise<CommonPart> {
  const { views, clock } = deps;
  const now = clock.wall();
  const all = { query: ANY_MAIL, after: null, before: null };
  const failed = { ...all, query: { ...ANY_MAIL, statuses: ['failed' as const] } };
  const minute = Math.floor(now / MINUTE_MS);
  const [figures, today, last5m, lastWeek, lanes, failures, newest, untried] = await Promise.all([
    views.figures(now),
    totals({ period: 'day', from: Math.floor(minute / MINUTES_A_DAY), count: 1 }, deps),
    totals({ period: 'minute', from: minute - RECENT_MINUTES + 1, count: RECENT_MINUTES }, deps),
    weekBefore(now, deps),
    views.lanes(null, MAX_LANES),
    views.search({ ...failed, limit: MAX_FAILURES }),
    views.search({ ...all, limit: 1 }),
    untriedNow(deps.resolution().config.relays, deps.queue.lanes()),
  ]);
  const health = deps.server()?.health() ?? null;
  const { oldestDueAt, spool, queuedBytes } = figures;
  const capturesAll = deps.server()?.capturesAll ?? false;
  const [last] = newest.messages;
  const aheadMs = last === undefined ? 0 : messageIdTime(last.id) - now;
  const relays = relaysOf({ figures, lanes, untried }, health, deps);
  const banners = bannersOf({ health, config: deps.resolution().config, capturesAll, aheadMs });
  return {
    time: formatTimestamp(now),
    today,
    lastWeek,
    last5m,
    queue: {
      ...spool,
      queuedBytes,
      oldestSeconds: oldestDueAt === null ? null : Math.max(0, Math.floor((now - oldestDueAt) / 1000)),
    },
    relays,
    failures: await foundMessages(lastFailed(failures.messages), deps),
    banners: [...banners, ...doctorBanners(lastLook(), banners, relays)],
    empty: last === undefined && today.received === 0,
  };
}

/** Those that failed last, the last first. */
function lastFailed(failed: readonly MessageRecord[]): MessageRecord[] {
  return failed.toSorted((one, other) => other.statusAt - one.statusAt).slice(0, SHOWN_FAILURES);
}

/** The same weekday a week before, up to the same minute; null if nothing was counted on that day. */
async function weekBefore(now: number, { views }: Pick<LocalDeps, 'views'>): Promise<EventCounts | null> {
  const minute = Math.floor(now / MINUTE_MS) - 7 * MINUTES_A_DAY;
  const hour = Math.floor(minute / 60);
  const day = Math.floor(hour / 24);
  const [whole, hours, minutes] = await Promise.all([
    views.counts({ period: 'day', from: day, count: 1, relay: null }),
    views.counts({ period: 'hour', from: day * 24, count: hour - day * 24, relay: null }),
    views.counts({ period: 'minute', from: hour * 60, count: minute - hour * 60 + 1, relay: null }),
  ]);
  if (whole.size === 0) return null;
  return totalsOf([hours, minutes]);
}

/** Counts by period, as the store has them. */
type Counted = ReadonlyMap<CountedEvent, readonly number[]>;

async function totals(
  range: Omit<CountRange, 'relay'>,
  { views }: Pick<LocalDeps, 'views'>,
): Promise<EventCounts> {
  return totalsOf([await views.counts({ ...range, relay: null })]);
}

function totalsOf(parts: readonly Counted[]): EventCounts {
  const sum = (event: CountedEvent) =>
    parts.flatMap((counted) => counted.get(event) ?? []).reduce((total, count) => total + count, 0);
  return {
    received: sum('received'),
    delivered: sum('delivered') - sum('captured'),
    captured: sum('captured'),
    failed: sum('failed'),
    retried: sum('retried'),
    denied: sum('denied'),
  };
}

/** What the store knows of relays. */
interface Known {
  readonly figures: Figures;
  readonly lanes: readonly LaneDepth[];
  readonly untried: ReadonlySet<string>;
}

function relaysOf(
  { figures, lanes, untried }: Known,
  health: HealthReport | null,
  { resolution, queue }: Pick<LocalDeps, 'resolution' | 'queue'>,
): OverviewRelay[] {
  const { config, holds } = resolution();
  const waiting = new Map<string, number>();
  for (const { lane, waiting: count } of lanes) {
    const relay = lane.split('/', 1)[0] ?? lane;
    waiting.set(relay, (waiting.get(relay) ?? 0) + count);
  }
  const all = queue.lanes();
  const worked = new Map(all.map((lane) => [lane.lane, lane]));
  return config.relays.map((relay) => {
    const { name, type } = relay;
    const known = health?.relays.find((one) => one.name === name);
    const lane = worked.get(name);
    const breaker = { state: breakerOf(name, health, lane), spent: lane?.spent ?? false };
    const today = figures.relays[name];
    const state = laneState(name, breaker, { relay, holds, untried });
    return {
      name,
      type,
      state,
      rest: restOf(name, state, all),
      inFlight: known?.inflight ?? lane?.inFlight ?? 0,
      waiting: waiting.get(name) ?? 0,
      deliveredToday: today?.delivered ?? 0,
      failedToday: today?.failed ?? 0,
    };
  });
}

/** The operation `series`. */
export function series(over: RequestOf<'series'>, deps: Pick<LocalDeps, 'views' | 'clock'>): Promise<Series> {
  return seriesAt(deps.clock.wall(), over, deps);
}

/** The same as of a time. */
export async function seriesAt(
  now: number,
  { step, count, relay }: RequestOf<'series'>,
  { views }: Pick<LocalDeps, 'views'>,
): Promise<Series> {
  const stepMs = STEP_MINUTES[step] * MINUTE_MS;
  const from = Math.floor(now / stepMs) - count + 1;
  const counted = await views.counts({ period: step, from, count, relay });
  return {
    from: formatTimestamp(from * stepMs),
    stepSeconds: stepMs / 1000,
    counts: stepsOf(counted, { count, relay }),
  };
}

/** One number a step of each event. */
function stepsOf(counted: Counted, { count, relay }: Pick<CountRange, 'count' | 'relay'>): Series['counts'] {
  const steps = (event: CountedEvent) => counted.get(event) ?? Array.from({ length: count }, () => 0);
  if (relay !== null) return { delivered: steps('relay_delivered'), failed: steps('relay_failed') };
  const captured = steps('captured');
  return {
    received: steps('received'),
    delivered: steps('delivered').map((all, step) => all - (captured[step] ?? 0)),
    captured,
    failed: steps('failed'),
    retried: steps('retried'),
    denied: steps('denied'),
  };
}

/** A message this far in the future means that the clock went back. */
const AHEAD_MS = 60_000;
const HOUR_MS = 3_600_000;

interface BannerFacts {
  /** Null while no server runs. */
  readonly health: HealthReport | null;
  readonly config: Pick<Config, 'delivery' | 'routes'>;
  /** See `RunningServer`. */
  readonly capturesAll: boolean;
  /** How much later than now the newest message was accepted, in ms. */
  readonly aheadMs: number;
}

const LEVELS = { healthy: 'info', degraded: 'warning', critical: 'critical' } as const;

/** The current warnings, the worst first. */
function bannersOf({ health, config, capturesAll, aheadMs }: BannerFacts): OverviewBanner[] {
  const captured = capturesAll ? ALL_CAPTURED : capturedBanner(config);
  const banners = [...healthBanners(health), ...clockBanner(aheadMs), ...captured];
  const ranks = ['critical', 'warning', 'info'];
  return banners.sort((a, b) => ranks.indexOf(a.level) - ranks.indexOf(b.level));
}

/** Checks that fail; for ports, missing ones that nobody configured as well. */
function healthBanners(health: HealthReport | null): OverviewBanner[] {
  return (health?.checks ?? [])
    .filter(({ name, status, detail }) => status !== 'healthy' || (name === 'ports' && /^Port /.test(detail)))
    .map(({ name, status, detail }) => ({ code: name, level: LEVELS[status], text: detail, foundAt: null }));
}

function clockBanner(aheadMs: number): OverviewBanner[] {
  if (aheadMs < AHEAD_MS) return [];
  const text =
    aheadMs < HOUR_MS
      ? `${Math.round(aheadMs / 60_000)} minutes`
      : `${Math.round(aheadMs / HOUR_MS)} hours or more`;
  return [
    {
      code: 'clock',
      level: 'warning',
      text: `This machine's clock is ${text} behind the newest message: it went back, or was ahead before. Check that NTP keeps it right.`,
      foundAt: null,
    },
  ];
}

const ALL_CAPTURED: readonly OverviewBanner[] = [
  {
    code: 'all_captured',
    level: 'info',
    text: 'This is waybill dev: it captures all mail, whatever the routes say.',
    foundAt: null,
  },
];

/** Whether neither a rule nor the default lets mail leave this machine. */
function capturedBanner({ delivery, routes }: BannerFacts['config']): OverviewBanner[] {
  if (delivery.defaultRelay !== INBOX) return [];
  const all = routes.every(({ via }) => via.every(({ relay }) => relay === INBOX));
  const text = all
    ? 'All mail is captured in the local inbox and nothing is sent. To send it, add a relay.'
    : 'Mail that no rule matches is captured in the local inbox and not sent. To send it, set delivery.default_relay.';
  return [{ code: 'captured', level: 'info', text, foundAt: null }];
}
