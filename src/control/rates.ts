import type { Config } from '../config/schema.ts';
import type { Event } from '../domain/event.ts';
import { domainOfEvent, RATED_TYPES, ratedAs } from '../domain/event-rates.ts';
import { INBOX } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { RateCounts, RateOperations, RateRow, Rates } from '../operations/rates.ts';
import type { RequestOf } from '../operations/table.ts';
import { dayOf } from '../store/counting.ts';
import { EVERY_EVENT } from '../store/events.ts';
import type { LocalDeps } from './deps.ts';

/** How much of the mail came back, and how much of it was called spam. */

const DAY_MS = 86_400_000;
/** How long one answer serves all callers. */
const SHARED_MS = 30_000;
/** Names that are told of. */
const MAX_ROWS = 50;
/** Names that are counted; what further ones got is only in the total. */
const MAX_NAMES = 5_000;
/** Events of a page, and pages, that are read for an answer. */
const PAGE = 1_000;
const MAX_PAGES = 10;

/** What rates are made of. */
export interface RateDeps {
  readonly views: Pick<LocalDeps['views'], 'counts' | 'events'>;
  readonly clock: Pick<LocalDeps['clock'], 'wall' | 'mono'>;
  readonly resolution: () => {
    readonly config: {
      readonly relays: readonly { readonly name: string }[];
      readonly events: Pick<Config['events'], 'keep'>;
    };
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
      const answer = request.by === 'relay' ? ratesByRelay(request, deps) : ratesByEvents(request, deps);
      shared.set(name, { at: now, answer });
      // A failure is not shared with others.
      answer.catch(() => shared.delete(name));
      return answer;
    },
  };
}

/** From the counters of relays that there are. */
async function ratesByRelay({ by, days }: Asked, { views, clock, resolution }: RateDeps): Promise<Rates> {
  const from = dayOf(clock.wall()) - days + 1;
  const names = resolution().config.relays.flatMap(({ name }) => (name === INBOX ? [] : [name]));
  const rows = await Promise.all(
    names.map(async (name): Promise<RateRow> => {
      const counted = await views.counts({ period: 'day', from, count: days, relay: name });
      const nothing = Array.from({ length: days }, () => 0);
      return {
        name,
        delivered: counted.get('relay_delivered') ?? nothing,
        failed: counted.get('relay_failed') ?? nothing,
        bounced: counted.get('relay_bounced') ?? nothing,
        complained: counted.get('relay_complained') ?? nothing,
      };
    }),
  );
  const total = totalOf(rows, days);
  return { by, ...shownOf(rows, from, days), total, since: null, knowsDelivered: true };
}

function totalOf(rows: readonly RateRow[], days: number): RateCounts {
  const sums = (read: (row: RateRow) => readonly number[]) =>
    Array.from({ length: days }, (_, day) => sum(rows.map((row) => read(row)[day] ?? 0)));
  return {
    delivered: sums(({ delivered }) => delivered),
    failed: sums(({ failed }) => failed),
    bounced: sums(({ bounced }) => bounced),
    complained: sums(({ complained }) => complained),
  };
}

/** From the newest events, which name recipients and tags. */
async function ratesByEvents({ by, days }: Asked, { views, clock, resolution }: RateDeps): Promise<Rates> {
  const from = dayOf(clock.wall()) - days + 1;
  const query = { ...EVERY_EVENT, types: RATED_TYPES, since: from * DAY_MS, limit: PAGE };
  const counting = new Counting(from, days, by === 'domain' ? domainsOf : tagsOf);
  let before: number | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { events, next, more }: Awaited<ReturnType<RateDeps['views']['events']>> = await views.events({
      ...query,
      from: { before },
    });
    for (const event of events) counting.add(event);
    before = next;
    if (!more) break;
  }
  const since = before === null ? null : counting.oldest;
  return {
    by,
    ...shownOf(counting.rows, from, days),
    total: by === 'domain' ? counting.total : null,
    since: since === null ? null : formatTimestamp(since),
    knowsDelivered: resolution().config.events.keep === 'all',
  };
}

type Counted = Readonly<Record<keyof RateCounts, number[]>>;

/** Counts events by the names that they have, and by day. */
class Counting {
  readonly total: Counted;
  readonly #rows = new Map<string, Counted>();
  /** When the oldest of them happened (wall ms). */
  oldest: number | null = null;
  readonly #from: number;
  readonly #days: number;
  readonly #namesOf: (event: Event) => readonly string[];

  constructor(from: number, days: number, namesOf: (event: Event) => readonly string[]) {
    this.#from = from;
    this.#days = days;
    this.#namesOf = namesOf;
    this.total = this.#nothing();
  }

  get rows(): RateRow[] {
    return [...this.#rows].map(([name, counted]) => ({ name, ...counted }));
  }

  add(event: Event): void {
    // Others may tell of a time that is long ago.
    if (event.type === 'message.delivered' || event.type === 'message.failed')
      this.oldest = Math.min(this.oldest ?? event.at, event.at);
    const day = dayOf(event.at) - this.#from;
    if (day < 0 || day >= this.#days) return;
    const columns = ratedAs(event);
    const counted = [this.total, ...this.#namesOf(event).map((name) => this.#row(name))];
    for (const row of counted)
      for (const column of columns) if (row !== null) row[column][day] = (row[column][day] ?? 0) + 1;
  }

  #row(name: string): Counted | null {
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    if (this.#rows.size >= MAX_NAMES) return null;
    const row = this.#nothing();
    this.#rows.set(name, row);
    return row;
  }

  #nothing(): Counted {
    const zeroes = () => Array.from({ length: this.#days }, () => 0);
    return { delivered: zeroes(), failed: zeroes(), bounced: zeroes(), complained: zeroes() };
  }
}

function domainsOf(event: Event): readonly string[] {
  const domain = domainOfEvent(event);
  return domain === null ? [] : [domain];
}

function tagsOf({ message }: Event): readonly string[] {
  const tags = message?.tags ?? [];
  return tags.length === 0 ? [''] : tags;
}

function shownOf(
  rows: readonly RateRow[],
  from: number,
  days: number,
): Pick<Rates, 'from' | 'days' | 'rows' | 'moreNames'> {
  const sorted = rows
    .map((row) => ({ row, size: sum(row.delivered) + sum(row.failed) + sum(row.complained) }))
    .sort((a, b) => b.size - a.size || (a.row.name < b.row.name ? -1 : 1));
  return {
    from: formatTimestamp(from * DAY_MS),
    days,
    rows: sorted.slice(0, MAX_ROWS).map(({ row }) => row),
    moreNames: Math.max(0, sorted.length - MAX_ROWS),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
