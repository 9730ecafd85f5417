import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { DMARC_VERDICTS } from '../domain/dmarc-report.ts';
import type { Outcome } from '../domain/outcome.ts';
import { SUPPRESSION_REASONS } from '../domain/suppression.ts';
import type { Clock } from '../lib/clock.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Figures } from '../store/views.ts';
import {
  type Event,
  type Events,
  SIGN_IN_RESULTS,
  SIGN_IN_WAYS,
  type Unsubscribe,
  WEBHOOK_RESULTS,
} from './events.ts';
import type { HealthSnapshot } from './health.ts';
import type { RelayStatus } from './health-report.ts';
import { type HistogramSample, type MetricValues, renderExposition, type Sample } from './metric-table.ts';

/** The sources of values. Every function answers at once from memory. */
export interface MetricSources {
  readonly version: string;
  /** Wall ms at which the process started. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly snapshot: () => HealthSnapshot;
  readonly relays: () => readonly RelayStatus[];
  readonly counters: Counters;
  /** Open now. */
  readonly smtpConnections: () => number;
  /** Bytes in use of the memory for incoming messages. */
  readonly bytesInFlight: () => number;
  readonly flushes: () => FlushCounts;
  /** Wall ms; null without a certificate. */
  readonly certificateExpiresAt: () => number | null;
  readonly certificateOrderFailures: () => number;
  readonly process: () => ProcessFigures;
}

/** How often data was flushed since the process started. */
export interface FlushCounts {
  readonly storeCommits: number;
  readonly spoolFlushes: number;
}

/** Writes `GET /metrics`. */
export interface Metrics {
  /** The text of the exposition. Never waits. */
  render(): string;
}

/** Combines all sources. */
export function createMetrics(sources: MetricSources): Metrics {
  return {
    render: () => {
      const snapshot = sources.snapshot();
      const figures = snapshot.figures ?? NO_FIGURES;
      return renderExposition({
        ...storedValues(figures),
        ...stateValues(sources, snapshot, figures),
        ...relayValues(sources.relays(), figures),
        ...countedValues(sources.counters, sources.flushes()),
        ...processValues(sources),
      });
    },
  };
}

const NO_FIGURES: Figures = {
  today: { received: 0, delivered: 0, failed: 0, retried: 0, denied: 0 },
  last5m: { received: 0, sent: 0 },
  spool: { incoming: 0, processing: 0, failed: 0 },
  relays: {},
  queuedBytes: 0,
  sentBytes: 0,
  capturedBytes: 0,
  oldestDueAt: null,
  restored: 0,
  possibleDuplicates: 0,
  databaseBytes: 0,
};

/** The store's counts, over all nodes and restarts. */
function storedValues({ today, last5m, spool, possibleDuplicates, databaseBytes }: Figures) {
  return {
    svc_messages_today: byLabel('event', ['received', 'delivered', 'failed', 'retried', 'denied'], today),
    svc_messages_last5m: byLabel('event', ['received', 'sent'], last5m),
    svc_spool_files: byLabel('state', ['incoming', 'processing', 'failed'], spool),
    svc_possible_duplicates_total: single(possibleDuplicates),
    svc_database_bytes: single(databaseBytes),
  } satisfies Partial<MetricValues>;
}

/** The current state. */
function stateValues(sources: MetricSources, snapshot: HealthSnapshot, { oldestDueAt }: Figures) {
  const lateMs = oldestDueAt === null ? 0 : Math.max(0, sources.now() - oldestDueAt);
  return {
    svc_up: single(1),
    svc_database_reachable: single(snapshot.databaseReachable ? 1 : 0),
    svc_smtp_connections: single(sources.smtpConnections()),
    svc_bytes_in_flight: single(sources.bytesInFlight()),
    svc_oldest_due_seconds: single(lateMs / 1000),
    svc_database_latency_seconds: single(snapshot.databaseLatencyMs / 1000),
    svc_disk_free_bytes: single(snapshot.disk?.freeBytes ?? -1),
    svc_certificate_expiry_timestamp_seconds: single((sources.certificateExpiresAt() ?? 0) / 1000),
    svc_certificate_order_failures: single(sources.certificateOrderFailures()),
  } satisfies Partial<MetricValues>;
}

/** Every existing relay, and removed ones with activity today. */
function relayValues(relays: readonly RelayStatus[], figures: Figures) {
  const current = new Map(relays.map((relay) => [relay.name, relay]));
  const names = [...new Set([...current.keys(), ...Object.keys(figures.relays)])];
  const each = (value: (name: string) => number | undefined): Sample[] =>
    names.map((relay) => ({ labels: { relay }, value: value(relay) ?? 0 }));
  return {
    svc_relay_inflight: each((name) => current.get(name)?.inflight),
    svc_relay_delivered_today: each((name) => figures.relays[name]?.delivered),
    svc_relay_failed_today: each((name) => figures.relays[name]?.failed),
    svc_relay_quota_used: each((name) => current.get(name)?.quota?.used),
    svc_relay_quota_limit: each((name) => current.get(name)?.quota?.allowance),
    svc_relay_breaker_open: each((name) => (current.get(name)?.state === 'open' ? 1 : 0)),
  } satisfies Partial<MetricValues>;
}

/** The counts of this process since its start. */
function countedValues(counters: Counters, flushes: FlushCounts) {
  return {
    svc_accepted_total: byLabel('source', ['api', 'smtp', 'cli'], counters.accepted),
    svc_accepted_bytes_total: single(counters.acceptedBytes),
    svc_attempt_results_total: byLabel(
      'result',
      ['delivered', 'deferred', 'rejected', 'unknown'],
      counters.results,
    ),
    svc_denied_total: single(counters.denied),
    svc_accept_duration_seconds: counters.acceptDuration,
    svc_attempt_duration_seconds: counters.attemptDuration,
    svc_feedback_total: counters.feedback.samples(),
    svc_dmarc_reports_total: byLabel('result', DMARC_VERDICTS, counters.dmarcReports),
    svc_webhook_tries_total: byLabel('result', WEBHOOK_RESULTS, counters.webhookTries),
    svc_webhook_pending: single(counters.webhooksPending),
    svc_bounces_total: counters.bounces.samples(),
    svc_complaints_total: counters.complaints.samples(),
    svc_suppressed_total: byLabel('reason', SUPPRESSION_REASONS, counters.suppressed),
    svc_sign_ins_total: SIGN_IN_WAYS.flatMap((way) =>
      SIGN_IN_RESULTS.map((result) => ({ labels: { way, result }, value: counters.signIns[way][result] })),
    ),
    svc_store_commits_total: single(flushes.storeCommits),
    svc_spool_flushes_total: single(flushes.spoolFlushes),
  } satisfies Partial<MetricValues>;
}

function processValues({ version, startedAt, process }: MetricSources) {
  const { cpuSeconds, residentBytes, heapBytes, loopDelay } = process();
  return {
    svc_build_info: [{ labels: { version }, value: 1 }],
    svc_process_start_time_seconds: single(startedAt / 1000),
    svc_process_cpu_seconds_total: single(cpuSeconds),
    svc_process_resident_memory_bytes: single(residentBytes),
    svc_process_heap_bytes: single(heapBytes),
    svc_event_loop_delay_seconds: byLabel('stat', ['mean', 'p99', 'max'], loopDelay),
  } satisfies Partial<MetricValues>;
}

function single(value: number): readonly Sample[] {
  return [{ value }];
}

/** One sample for each of a label's values, in the given order. */
function byLabel<K extends string>(
  label: string,
  keys: readonly K[],
  values: Readonly<Record<K, number>>,
): readonly Sample[] {
  return keys.map((key) => ({ labels: { [label]: key }, value: values[key] }));
}

/** Counts observations in buckets as they come. */
export class Histogram implements HistogramSample {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** Combinations of labels that one series counts; those that were not seen for longest make room, and begin again. */
const MAX_COMBINATIONS = 10_000;

/** Counts by combinations of labels, as they come. */
class LabelledCounts {
  readonly #counts = new NewestMap<string, { readonly labels: NonNullable<Sample['labels']>; value: number }>(
    MAX_COMBINATIONS,
  );

  add(labels: NonNullable<Sample['labels']>, count = 1): void {
    const name = Object.values(labels).join(' ');
    this.#counts.set(name, { labels, value: (this.#counts.get(name)?.value ?? 0) + count });
  }

  samples(): readonly Sample[] {
    return [...this.#counts.values()];
  }
}

const ACCEPT_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const ATTEMPT_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The counts of this process since its start. */
export class Counters {
  readonly accepted: Record<'api' | 'smtp' | 'cli', number> = { api: 0, smtp: 0, cli: 0 };
  acceptedBytes = 0;
  readonly results: Record<Outcome['kind'], number> = { delivered: 0, deferred: 0, rejected: 0, unknown: 0 };
  denied = 0;
  readonly feedback = new LabelledCounts();
  readonly bounces = new LabelledCounts();
  readonly complaints = new LabelledCounts();
  readonly suppressed = zeroes(SUPPRESSION_REASONS);
  readonly dmarcReports = zeroes(DMARC_VERDICTS);
  readonly webhookTries = zeroes(WEBHOOK_RESULTS);
  webhooksPending = 0;
  readonly signIns = {
    password: zeroes(SIGN_IN_RESULTS),
    passkey: zeroes(SIGN_IN_RESULTS),
    provider: zeroes(SIGN_IN_RESULTS),
  };
  /** In seconds. */
  readonly acceptDuration = new Histogram(ACCEPT_BOUNDS);
  /** In seconds. */
  readonly attemptDuration = new Histogram(ATTEMPT_BOUNDS);

  /** Counts the events of the bus from now on. */
  listen(events: Events): Unsubscribe {
    return events.on((event) => this.#count(event));
  }

  #countTold({ source, kind, verdict, changed, relay, bounce }: Extract<Event, { type: 'told' }>): void {
    const result = RESULTS[verdict];
    if (result === null) return;
    this.feedback.add({ source, kind, result });
    if (verdict !== 'matched') return;
    if (bounce !== null) this.bounces.add({ relay: relay ?? '', type: bounce });
    // A provider and a feedback loop may both tell of the same complaint.
    if (kind === 'complaint' && changed) this.complaints.add({ relay: relay ?? '' });
  }

  #count(event: Event): void {
    switch (event.type) {
      case 'accepted':
        if (isSource(event.source)) this.accepted[event.source]++;
        this.acceptedBytes += event.sizeBytes;
        this.acceptDuration.observe(event.durationMs / 1000);
        break;
      case 'attempted':
        this.attemptDuration.observe(event.durationMs / 1000);
        for (const { outcome } of event.results) this.results[outcome.kind]++;
        break;
      case 'denied':
        this.denied += event.count;
        break;
      case 'feedback':
        this.feedback.add({ source: event.source, kind: 'none', result: event.result }, event.count);
        break;
      case 'dmarc_report':
        this.dmarcReports[event.verdict]++;
        break;
      case 'told':
        this.#countTold(event);
        break;
      case 'webhook_tried':
        this.webhookTries[event.result]++;
        break;
      case 'webhooks_pending':
        this.webhooksPending = event.count;
        break;
      case 'signed_in':
        this.signIns[event.way][event.result]++;
        break;
      case 'suppressed':
        for (const { reason } of event.recipients) this.suppressed[reason]++;
        break;
    }
  }
}

/** What was told, as it is counted; null: it is not counted yet. */
const RESULTS = {
  matched: 'matched',
  unmatched: 'unmatched',
  repeated: 'ignored',
  early: null,
} as const satisfies Readonly<Record<Extract<Event, { type: 'told' }>['verdict'], string | null>>;

function zeroes<K extends string>(names: readonly K[]): Record<K, number> {
  // Sound because each name has an entry.
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

function isSource(source: string): source is keyof Counters['accepted'] {
  return source === 'api' || source === 'smtp' || source === 'cli';
}

/** The resources that the process uses. */
export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Seconds. */
  readonly loopDelay: Readonly<Record<'mean' | 'p99' | 'max', number>>;
}

/** Reads the figures; {@link ProcessMeter.stop} ends measuring. */
export interface ProcessMeter {
  read(): ProcessFigures;
  stop(): void;
}

const RESOLUTION_MS = 20;
/** Delays are gathered over at least this long, so that several scrapers see the same figures. */
const WINDOW_MS = 10_000;
const NS_PER_SECOND = 1e9;

/** Measures the process. How late the event loop is is measured from the first reading on: to do so wakes it all the time. */
export function createProcessMeter(clock: Pick<Clock, 'mono'>): ProcessMeter {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let windowStart: number | null = null;
  let loopDelay = readDelay(monitor);
  return {
    read: () => {
      if (windowStart === null) {
        monitor.enable();
        windowStart = clock.mono();
      } else if (clock.mono() - windowStart >= WINDOW_MS) {
        loopDelay = readDelay(monitor);
        monitor.reset();
        windowStart = clock.mono();
      }
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed } = process.memoryUsage();
      return { cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed, loopDelay };
    },
    stop: () => {
      monitor.disable();
    },
  };
}

/** The measured delay less the sampling interval: a loop without delay has 0. */
function readDelay(monitor: ELDHistogram): ProcessFigures['loopDelay'] {
  if (monitor.count === 0) return { mean: 0, p99: 0, max: 0 };
  const late = (ns: number) => Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1000);
  return { mean: late(monitor.mean), p99: late(monitor.percentile(99)), max: late(monitor.max) };
}
