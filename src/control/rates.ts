import { INBOX } from '../domain/relay.ts';
import { endedOf, type TrafficSums } from '../domain/traffic.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { RateCounts, RateOperations, RateRow, Rates } from '../operations/rates.ts';
import type { RequestOf } from '../operations/table.ts';
import { dayOf } from '../store/counting.ts';
import type { LocalDeps } from './deps.ts';

/** How much of the mail came back, and how much of it was called spam. */

const DAY_MS = 86_400_000;
/** How long one answer serves all callers. */
const SHARED_MS = 30_000;
/** Names that are told of. */
const MAX_ROWS = 50;
/** Names of a day, and names that are counted; what further ones got is only in the total. */
const MAX_NAMES = 5_000;

/** What rates are made of. */
export interface RateDeps {
  readonly views: Pick<LocalDeps['views'], 'counts' | 'traffic'>;
  readonly clock: Pick<LocalDeps['clock'], 'wall' | 'mono'>;
  readonly resolution: () => {
    readonly config: { readonly relays: readonly { readonly name: string }[] };
  };
}

type Asked = RequestOf<'rates'>;

/** See {@link RateOperations}. */
export function rateOperations(deps: RateDeps): RateOperations {
  const shared = new Map<string, { readonly at: number; readonly answer: Promise<Rates> }>();
  return {
    rates: (request) => {
      const name = `${request.by} ${request.days}`;
      const now = deps.clock.mono();
      for (const [key, { at }] of shared) if (now - at >= SHARED_MS) shared.delete(key);
      const known = shared.get(name);
      if (known !== undefined) return known.answer;
      const answer = request.by === 'relay' ? ratesByRelay(request, deps) : ratesByTraffic(request, deps);
      shared.set(name, { at: now, answer });
      // A failure is not shared with others.
      answer.catch(() => shared.delete(name));
      return answer;
    },
  };
}

/** From the counters of relays that there are: they are written with the mail, and lose nothing in a crash. */
async function ratesByRelay({ by, days }: Asked, { views, clock, resolution }: RateDeps): Promise<Rates> {
  const from = dayOf(clock.wall()) - days + 1;
  const names = resolution().config.relays.flatMap(({ name }) => (name === INBOX ? [] : [name]));
  const rows = await Promise.all(
    names.map(async (name): Promise<RateRow> => {
      const counted = await views.counts({ period: 'day', from, count: days, relay: name });
      const none = nothing(days);
      return {
        name,
        delivered: counted.get('relay_delivered') ?? none.delivered,
        failed: counted.get('relay_failed') ?? none.failed,
        bounced: counted.get('relay_bounced') ?? none.bounced,
        complained: counted.get('relay_complained') ?? none.complained,
      };
    }),
  );
  const totals = (rated: keyof RateCounts) =>
    nothing(days)[rated].map((_, day) => sum(rows.map((row) => row[rated][day] ?? 0)));
  const total = {
    delivered: totals('delivered'),
    failed: totals('failed'),
    bounced: totals('bounced'),
    complained: totals('complained'),
  };
  return { by, ...shownOf(rows, from, days), total, others: 0 };
}

/** From the counters of traffic, which tell domains and tags apart. Their rows add days up, so each day is asked for. */
async function ratesByTraffic({ by, days }: Asked, { views, clock }: RateDeps): Promise<Rates> {
  const from = dayOf(clock.wall()) - days + 1;
  const total = nothing(days);
  const named = new Map<string, Counted>();
  let others = 0;
  for (let day = 0; day < days; day++) {
    const found = await views.traffic({
      period: 'day',
      from: from + day,
      count: 1,
      where: {},
      by: by === 'tag' ? 'tag' : 'domain',
      limit: MAX_NAMES,
      sumsOnly: true,
    });
    for (const { sums } of found.steps) add(total, day, sums);
    for (const { name, sums } of found.rows) {
      if (sums.delivered + sums.failed + sums.complained === 0) continue;
      const counted = named.get(name) ?? nothing(days);
      if (named.size < MAX_NAMES) named.set(name, counted);
      add(counted, day, sums);
    }
    if (found.others !== null) others += endedOf(found.others);
  }
  const rows = [...named].map(([name, counted]) => ({ name, ...counted }));
  return { by, ...shownOf(rows, from, days), total, others };
}

type Counted = Readonly<Record<keyof RateCounts, number[]>>;

function nothing(days: number): Counted {
  const zeroes = () => Array.from({ length: days }, () => 0);
  return { delivered: zeroes(), failed: zeroes(), bounced: zeroes(), complained: zeroes() };
}

function add(to: Counted, day: number, sums: TrafficSums): void {
  for (const rated of ['delivered', 'failed', 'bounced', 'complained'] as const)
    to[rated][day] = (to[rated][day] ?? 0) + sums[rated];
}

function shownOf(
  rows: readonly RateRow[],
  from: number,
  days: number,
): Pick<Rates, 'from' | 'days' | 'rows' | 'moreNames'> {
  const sorted = rows
    .map((row) => ({ row, size: endedOf(sumsOf(row)) }))
    .sort((a, b) => b.size - a.size || (a.row.name < b.row.name ? -1 : 1));
  return {
    from: formatTimestamp(from * DAY_MS),
    days,
    rows: sorted.slice(0, MAX_ROWS).map(({ row }) => row),
    moreNames: Math.max(0, sorted.length - MAX_ROWS),
  };
}

function sumsOf({ delivered, failed, bounced }: RateCounts): Parameters<typeof endedOf>[0] {
  return { delivered: sum(delivered), failed: sum(failed), bounced: sum(bounced) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
