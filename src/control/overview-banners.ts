import type { Config } from '../config/schema.ts';
import { INBOX } from '../domain/relay.ts';
import type { HealthReport } from '../observe/health-report.ts';
import type { OverviewBanner } from '../operations/search.ts';

/** A message that is so much from the future tells that the clock went back. */
const AHEAD_MS = 60_000;
const HOUR_MS = 3_600_000;

/** What banners are made of. */
export interface BannerFacts {
  /** Null while no server runs. */
  readonly health: HealthReport | null;
  readonly config: Pick<Config, 'delivery' | 'routes'>;
  /** How much later than now the newest message was accepted, in ms. */
  readonly aheadMs: number;
}

const LEVELS = { healthy: 'info', degraded: 'warning', critical: 'critical' } as const;

/** What someone should know now, the worst first. */
export function bannersOf({ health, config, aheadMs }: BannerFacts): OverviewBanner[] {
  const banners = [...healthBanners(health), ...clockBanner(aheadMs), ...capturedBanner(config)];
  const ranks = ['critical', 'warning', 'info'];
  return banners.sort((a, b) => ranks.indexOf(a.level) - ranks.indexOf(b.level));
}

/** Checks that are not well; and of ports what is missing although nobody asked for it. */
function healthBanners(health: HealthReport | null): OverviewBanner[] {
  return (health?.checks ?? [])
    .filter(({ name, status, detail }) => status !== 'healthy' || (name === 'ports' && /^Port /.test(detail)))
    .map(({ name, status, detail }) => ({ code: name, level: LEVELS[status], text: detail }));
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
      text: `This machine's clock is ${text} behind the newest message: it went back, or was ahead before. Check that it is kept by NTP.`,
    },
  ];
}

/** Whether nothing that any rule or the default says leaves this machine. */
function capturedBanner({ delivery, routes }: BannerFacts['config']): OverviewBanner[] {
  if (delivery.defaultRelay !== INBOX) return [];
  const all = routes.every(({ via }) => via.every(({ relay }) => relay === INBOX));
  const text = all
    ? 'All mail is captured in the local inbox and nothing is sent. To send it, add a relay.'
    : 'Mail that no rule is for is captured in the local inbox and not sent. To send it, set delivery.default_relay.';
  return [{ code: 'captured', level: 'info', text }];
}
