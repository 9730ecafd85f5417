/** What is done every now and then: on sending domains (see `control/domain-book.ts`), and removing what is too old. */
import type { Reception } from '../accounts/reception.ts';
import { type MindingDeps, mindDomain } from '../control/domain-book.ts';
import { keepErasing } from '../control/erasing.ts';
import { freshResolver } from '../control/mail-dns.ts';
import type { Resolver } from '../dns/resolver.ts';
import { keyState } from '../domain/domain-keys.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { SharedClock } from '../lib/shared-clock.ts';
import type { DmarcReports } from '../store/dmarc-reports.ts';
import type { Journal } from '../store/journal.ts';
import type { RequestLog } from '../store/request-log.ts';
import type { SuppressionList } from '../store/suppressions.ts';
import type { TlsReports } from '../store/tls-reports.ts';
import type { Traffic } from '../store/traffic.ts';
import type { LiveConfig } from './live-config.ts';
import type { Storage } from './storage.ts';
import type { TlsReporting } from './tls-reporting.ts';

/** What the upkeep needs. */
interface UpkeepOptions extends MindingDeps {
  readonly random: Random;
  readonly log: Log;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Does all that is done every now and then, until the signal aborts. */
export async function keepUp({
  storage,
  live,
  reception,
  tlsReporting,
  engine,
  node,
  clock,
  ...options
}: Pick<UpkeepOptions, 'random' | 'log' | 'signal'> & {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly reception: Reception;
  readonly tlsReporting: TlsReporting;
  readonly engine: Pick<Engine, 'erasing'>;
  readonly node: string;
  readonly clock: SharedClock;
}): Promise<void> {
  const parts = { ...storage, ...options, clock };
  await Promise.all([
    keepDomains({ ...parts, resolution: () => live.loaded, reload: () => live.reload() }),
    keepJournal({ ...parts, days: () => live.config.retention.activityDays }),
    keepSuppressions(parts),
    keepRequests({ ...parts, days: () => live.config.retention.requestsDays }),
    keepTraffic({ ...parts, days: () => live.config.retention.statisticsDays }),
    keepReports({ ...parts, days: () => live.config.retention.reportsDays }),
    tlsReporting.run(options.signal),
    keepErasing({ ...parts, engine: engine.erasing, node, vault: () => live.loaded.vault }),
    reception.keep(options.signal),
    clock.keep(options.log, options.signal),
  ]);
}

/** How often it runs. Records are seen after an hour at most, apart from DNS caches. */
export const UPKEEP_MS = 3_600_000;
/** How long one domain may take: the DNS may be silent. */
const DOMAIN_MS = 30_000;

/** For one query to one DNS server: time must remain to ask another. */
const DNS_TIMEOUT_MS = 5_000;

/** Runs until the signal aborts, first at once. Never rejects. */
export async function keepDomains(options: UpkeepOptions): Promise<void> {
  const { clock, random, signal } = options;
  const config = () => options.resolution().config;
  // With a negative cache, new records would be seen only later.
  const resolver = freshResolver({ config, clock, random, timeoutMs: DNS_TIMEOUT_MS, attempts: 2 });
  while (!signal.aborted) {
    await lookOnce(options, resolver);
    await clock.sleep(UPKEEP_MS, signal);
  }
}

/** Checks each domain that waits for something, one after the other. */
async function lookOnce(options: UpkeepOptions, resolver: Resolver): Promise<void> {
  const { clock, signal, log, resolution } = options;
  for (const domain of resolution().config.domains) {
    if (signal.aborted) return;
    if (domain.keys.every((key) => keyState(key) === 'signing')) continue;
    const limit = new AbortController();
    const done = new AbortController();
    void clock.sleep(DOMAIN_MS, done.signal).then(() => limit.abort());
    const end = () => limit.abort();
    signal.addEventListener('abort', end, { once: true });
    try {
      const { switchedTo, forgotten } = await mindDomain(domain, resolver, options, limit.signal);
      const { name } = domain;
      if (switchedTo.length > 0)
        log.info('domain.keys_switched', { domain: name, selectors: switchedTo.join(' ') });
      if (forgotten.length > 0)
        log.info('domain.keys_forgotten', { domain: name, selectors: forgotten.join(' ') });
    } catch (error) {
      if (!signal.aborted) log.warn('domain.not_minded', { domain: domain.name, message: String(error) });
    } finally {
      signal.removeEventListener('abort', end);
      done.abort();
    }
  }
}

/** What removing what is too old needs. */
interface PruningOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends it. */
  readonly signal: AbortSignal;
}

const DAY_MS = 86_400_000;
const JOURNAL_EVERY_MS = 3_600_000;
/** What is added meanwhile is counted one by one. */
const SUPPRESSIONS_EVERY_MS = 60_000;
/** Entries removed in one transaction. */
const BATCH = 500;

/** Removes expired journal entries, at once and every hour. Resolves some time after the signal aborts. */
export async function keepJournal({
  journal,
  days,
  ...options
}: PruningOptions & {
  readonly journal: Journal;
  /** The current `retention.activity_days`. */
  readonly days: () => number;
}): Promise<void> {
  const { clock, log } = options;
  const prune = () => journal.forgetEntries(clock.wall() - days() * DAY_MS, BATCH);
  await keepPruning(JOURNAL_EVERY_MS, options, prune, (message) =>
    log.warn('journal.not_shortened', { message }),
  );
}

/** Removes entries of the suppression list that have ended, at once and every minute, as {@link keepJournal} does. */
export async function keepSuppressions({
  suppressions,
  ...options
}: PruningOptions & { readonly suppressions: SuppressionList }): Promise<void> {
  const { clock, log } = options;
  const prune = () => suppressions.forgetSuppressions(clock.wall(), BATCH);
  await keepPruning(SUPPRESSIONS_EVERY_MS, options, prune, (message) =>
    log.warn('suppressions.not_shortened', { message }),
  );
}

const REPORTS_EVERY_MS = 600_000;
/** Most rows of DMARC reports; the oldest reports go first. */
const MOST_DMARC_ROWS = 500_000;
/** Reports removed in one transaction: each may have 2,000 rows. */
const REPORTS_BATCH = 10;

/** Removes reports that are too old, or too many, at once and every ten minutes. */
export async function keepReports({
  dmarc,
  tlsReports,
  days,
  most = () => MOST_DMARC_ROWS,
  ...options
}: PruningOptions & {
  readonly dmarc: Pick<DmarcReports, 'forgetDmarcReports'>;
  readonly tlsReports: Pick<TlsReports, 'forgetTlsReports'>;
  /** The current `retention.reports_days`. */
  readonly days: () => number;
  readonly most?: () => number;
}): Promise<void> {
  const { clock, log } = options;
  const prune = async () => {
    const before = clock.wall() - days() * DAY_MS;
    let forgotten = BATCH;
    while (forgotten === BATCH && !options.signal.aborted)
      forgotten = await tlsReports.forgetTlsReports(Math.floor(before / DAY_MS), BATCH);
    return await dmarc.forgetDmarcReports(before, most(), REPORTS_BATCH);
  };
  const failed = (message: string) => log.warn('reports.not_shortened', { message });
  await keepPruning(REPORTS_EVERY_MS, options, prune, failed, REPORTS_BATCH);
}

const TRAFFIC_EVERY_MS = 3_600_000;
/** As the operation `traffic` promises. */
const TRAFFIC_HOURS = { minute: 3, hour: 3 * 24 };
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Removes counts of mail that are too old, at once and every hour. */
export async function keepTraffic({
  traffic,
  days,
  ...options
}: PruningOptions & {
  readonly traffic: Pick<Traffic, 'forgetTraffic'>;
  /** The current `retention.statistics_days`. */
  readonly days: () => number;
}): Promise<void> {
  const { clock, log } = options;
  const prune = () => {
    const now = clock.wall();
    const before = {
      minute: Math.floor((now - TRAFFIC_HOURS.minute * HOUR_MS) / MINUTE_MS),
      hour: Math.floor(now / HOUR_MS) - TRAFFIC_HOURS.hour,
      day: Math.floor(now / DAY_MS) - days(),
    };
    return traffic.forgetTraffic(before, BATCH);
  };
  await keepPruning(TRAFFIC_EVERY_MS, options, prune, (message) =>
    log.warn('traffic.not_shortened', { message }),
  );
}

/** To find what a key has too many of takes some milliseconds. */
const REQUESTS_EVERY_MS = 300_000;
/** Most lines of requests: in all; of a key, refused ones and others each; and so of requests without a known key. */
const MOST_REQUESTS = { all: 1_000_000, ofKey: 50_000, ofNobody: 5_000 };

/** Removes lines of the log of requests that are too old, or too many, at once and every five minutes. */
export async function keepRequests({
  requests,
  days,
  most = MOST_REQUESTS,
  ...options
}: PruningOptions & {
  readonly requests: RequestLog;
  /** The current `retention.requests_days`. */
  readonly days: () => number;
  readonly most?: typeof MOST_REQUESTS;
}): Promise<void> {
  const { clock, log, signal } = options;
  const prune = async () => {
    const pruned = await requests.forgetRequests(clock.wall() - days() * DAY_MS, most.all, BATCH);
    if (pruned === BATCH) return pruned;
    for (const key of await requests.keysOfRequests()) {
      const keep = key === null ? most.ofNobody : most.ofKey;
      // One at a time, so that whoever needs the store waits for one.
      let trimmed = BATCH;
      while (trimmed === BATCH && !signal.aborted) trimmed = await requests.trimRequests(key, keep, BATCH);
    }
    return pruned;
  };
  await keepPruning(REQUESTS_EVERY_MS, options, prune, (message) =>
    log.warn('requests.not_shortened', { message }),
  );
}

/** `prune` removes at most a batch, and says how many. */
async function keepPruning(
  everyMs: number,
  { clock, signal }: PruningOptions,
  prune: () => Promise<number>,
  failed: (message: string) => void,
  batch = BATCH,
): Promise<void> {
  while (!signal.aborted) {
    try {
      let pruned = batch;
      while (pruned === batch && !signal.aborted) pruned = await prune();
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
    }
    await clock.sleep(everyMs, signal);
  }
}
