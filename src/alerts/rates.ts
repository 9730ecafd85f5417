/** What became of recipients of late: by relay from the counters, by recipient domain from the newest events. */
import type { RateFacts } from '../domain/alert-measures.ts';
import type { Event } from '../domain/event.ts';
import { domainOfEvent, RATED_TYPES, type Rated, ratedAs } from '../domain/event-rates.ts';
import type { CountedEvent } from '../store/counting.ts';
import { EVERY_EVENT } from '../store/events.ts';
import type { Views } from '../store/views.ts';

/** What rates are counted from. */
export interface RateSources {
  readonly views: Pick<Views, 'counts' | 'events'>;
  /** Names of relays that send. */
  readonly relays: () => readonly string[];
  /** Deliveries are in the log of events (`events.keep`): without them, there is no rate of a domain. */
  readonly knowsDelivered: () => boolean;
}

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const RECENT_HOURS = 6;
/** Relays whose counters are read. */
const MAX_RELAYS = 200;
/** Events of a page, and pages, that are read. */
const PAGE = 1_000;
const MAX_PAGES = 10;
/** Domains that are counted. */
const MAX_DOMAINS = 5_000;

/** Counts at `now` (wall ms). Rejects with `StoreError`. */
export async function recentRates(sources: RateSources, now: number): Promise<readonly RateFacts[]> {
  const relays: RateFacts[] = [];
  for (const name of sources.relays().slice(0, MAX_RELAYS)) relays.push(await ofRelay(name, sources, now));
  return sources.knowsDelivered() ? [...relays, ...(await ofDomains(sources, now))] : relays;
}

async function ofRelay(name: string, { views }: RateSources, now: number): Promise<RateFacts> {
  const from = Math.floor(now / HOUR_MS) - DAY_HOURS + 1;
  const counted = await views.counts({ period: 'hour', from, count: DAY_HOURS, relay: name });
  const sum = (event: CountedEvent, hours: number) =>
    (counted.get(event) ?? []).slice(-hours).reduce((total, one) => total + one, 0);
  return {
    about: 'relay',
    name,
    recent: {
      delivered: sum('relay_delivered', RECENT_HOURS),
      failed: sum('relay_failed', RECENT_HOURS),
    },
    day: {
      delivered: sum('relay_delivered', DAY_HOURS),
      bounced: sum('relay_bounced', DAY_HOURS),
      complained: sum('relay_complained', DAY_HOURS),
    },
  };
}

type Counted = Record<Rated, number>;

async function ofDomains({ views }: RateSources, now: number): Promise<readonly RateFacts[]> {
  const since = now - DAY_HOURS * HOUR_MS;
  const counting = new Counting(now - RECENT_HOURS * HOUR_MS);
  let before: number | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { ...EVERY_EVENT, types: RATED_TYPES, since, limit: PAGE, from: { before } };
    const read: Awaited<ReturnType<Views['events']>> = await views.events(query);
    for (const event of read.events) counting.add(event);
    before = read.next;
    if (!read.more) break;
  }
  return counting.facts;
}

/** Counts events by the domains of their recipients: of a day, and of its last hours. */
class Counting {
  readonly #recentFrom: number;
  readonly #domains = new Map<string, { readonly recent: Counted; readonly day: Counted }>();

  constructor(recentFrom: number) {
    this.#recentFrom = recentFrom;
  }

  get facts(): readonly RateFacts[] {
    return [...this.#domains].map(([name, { recent, day }]) => ({ about: 'domain', name, recent, day }));
  }

  add(event: Event): void {
    const domain = domainOfEvent(event);
    const counts = domain === null ? null : this.#of(domain);
    if (counts === null) return;
    for (const rated of ratedAs(event)) {
      counts.day[rated]++;
      if (event.at >= this.#recentFrom) counts.recent[rated]++;
    }
  }

  #of(domain: string) {
    const known = this.#domains.get(domain);
    if (known !== undefined || this.#domains.size >= MAX_DOMAINS) return known ?? null;
    const made = { recent: nothing(), day: nothing() };
    this.#domains.set(domain, made);
    return made;
  }
}

function nothing(): Counted {
  return { delivered: 0, failed: 0, bounced: 0, complained: 0 };
}
