import type { Figures } from '../store/views.ts';
import type { Counters } from './counters.ts';
import { type MetricValues, renderExposition, type Sample } from './exposition.ts';
import type { HealthSnapshot } from './health.ts';
import type { RelayStatus } from './health-report.ts';
import type { ProcessFigures } from './process-figures.ts';

/** Where the values come from. Every function answers at once from memory. */
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
  /** Of the memory for messages that come in, what is taken. */
  readonly bytesInFlight: () => number;
  readonly flushes: () => FlushCounts;
  /** Wall ms; null when there is no certificate. */
  readonly certificateExpiresAt: () => number | null;
  readonly process: () => ProcessFigures;
}

/** How often data was made durable since the process started. */
export interface FlushCounts {
  readonly storeCommits: number;
  readonly spoolFlushes: number;
}

/** Writes `GET /metrics`. */
export interface Metrics {
  /** The text of the exposition. Never waits for anything. */
  render(): string;
}

/** Brings all values together. */
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

/** What the store counts, over all nodes and restarts. */
function storedValues({ today, last5m, spool, possibleDuplicates, databaseBytes }: Figures) {
  return {
    svc_messages_today: byLabel('event', ['received', 'delivered', 'failed', 'retried', 'denied'], today),
    svc_messages_last5m: byLabel('event', ['received', 'sent'], last5m),
    svc_spool_files: byLabel('state', ['incoming', 'processing', 'failed'], spool),
    svc_possible_duplicates_total: single(possibleDuplicates),
    svc_database_bytes: single(databaseBytes),
  } satisfies Partial<MetricValues>;
}

/** How things are now. */
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
  } satisfies Partial<MetricValues>;
}

/** Every relay there is, and those that are gone but did something today. */
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

/** What this process has counted since it started. */
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
