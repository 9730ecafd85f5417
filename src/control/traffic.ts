import { timeWithin } from '../domain/delivery-times.ts';
import { addTraffic, noTraffic, OTHERS, successOf, type TrafficSums } from '../domain/traffic.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { RequestOf } from '../operations/table.ts';
import type { TrafficOperations, TrafficSummary, TrafficView } from '../operations/traffic.ts';
import { AnswerShare } from './answer-share.ts';
import type { LocalDeps } from './deps.ts';

/** What became of mail, from its counters. */

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
/** Pages that ask for the same within so long get one answer. */
const SHARED_MS = 250;
const DEFAULT_LIMIT = 50;

/** What it needs. */
export type TrafficDeps = Pick<LocalDeps, 'views' | 'keyring' | 'clock'>;

/** See {@link TrafficOperations}. */
export function trafficOperations(deps: TrafficDeps): TrafficOperations {
  const shared = new AnswerShare<TrafficView>(deps.clock, SHARED_MS);
  return { traffic: (request) => shared.ask(JSON.stringify(request), () => trafficOf(request, deps)) };
}

/** The operation `traffic`. */
export async function trafficOf(
  { step, count, by = null, where = {}, limit = DEFAULT_LIMIT }: RequestOf<'traffic'>,
  { views, keyring, clock }: TrafficDeps,
): Promise<TrafficView> {
  const from = Math.floor(clock.wall() / STEP_MS[step]) - count + 1;
  const found = await views.traffic({ period: step, from, count, where, by, limit });
  const keys = by === 'key' && found.rows.length > 0 ? await keyring.list() : [];
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const steps = new Map(found.steps.map(({ start, sums }) => [start, sums]));
  const total = noTraffic();
  for (const { sums } of found.steps) addTraffic(total, sums);
  return {
    from: formatTimestamp(from * STEP_MS[step]),
    stepSeconds: STEP_MS[step] / 1000,
    steps: Array.from({ length: count }, (_, place) => summaryOf(steps.get(from + place) ?? NOTHING)),
    total: summaryOf(total),
    rows: found.rows.map(({ name, sums, ended }) => ({
      name,
      label: names.get(name) ?? null,
      ended,
      ...summaryOf(sums),
    })),
    others: found.others === null ? null : summaryOf(found.others),
    moreNames: found.moreNames,
    replies: found.replies.map(({ group, messageId, ...rest }) => ({
      ...rest,
      group: group === OTHERS ? null : group,
      messageId: messageId === '' ? null : messageId,
    })),
  };
}

const NOTHING = noTraffic();
const MOST = 0.95;

function summaryOf({ times, ...counts }: TrafficSums): TrafficSummary {
  return {
    ...counts,
    success: successOf(counts),
    p50Ms: timeWithin(0.5, times),
    p95Ms: timeWithin(MOST, times),
  };
}
