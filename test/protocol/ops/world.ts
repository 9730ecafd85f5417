/** Health and metrics over sources that a test can change. */
import { silentLog } from '../../../src/lib/log.ts';
import { Events } from '../../../src/observe/events.ts';
import { Health, type HealthSources } from '../../../src/observe/health.ts';
import type { NodeStatus, RelayQuota } from '../../../src/observe/health-report.ts';
import { Counters, createMetrics, type MetricSources } from '../../../src/observe/metrics.ts';
import type { Figures, Views } from '../../../src/store/views.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** When every test begins. */
export const EPOCH = Date.UTC(2026, 10, 20, 11, 15);
const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;

/** Figures in which every number can be told from every other. */
export const FIGURES: Figures = {
  today: { received: 11, delivered: 12, failed: 13, retried: 14, denied: 15 },
  last5m: { received: 21, sent: 22 },
  spool: { incoming: 31, processing: 32, failed: 33 },
  relays: { inbox: { delivered: 41, failed: 42 }, gone: { delivered: 43, failed: 44 } },
  queuedBytes: 0,
  sentBytes: 0,
  capturedBytes: 0,
  oldestDueAt: EPOCH - 90_000,
  possibleDuplicates: 51,
  restored: 0,
  databaseBytes: 61,
};

/** A quota of which something is left. */
export const QUOTA: RelayQuota = {
  allowance: 500,
  used: 12,
  warming: false,
  begins: null,
  spent: false,
};

/** The node that is asked. */
export function ownNode(lastSeenAt: number): NodeStatus {
  const roles = ['api', 'smtp', 'delivery', 'webui'];
  return { id: 'n1', name: 'one', roles, version: '0.1.0', lastSeenAt, missing: false };
}

/** What a test may change. */
export type SourceChanges = Partial<Omit<HealthSources, 'clock'>>;

/** A store with these figures, in which all mail has a route. */
export function viewsWith(figures: Views['figures']): HealthSources['views'] {
  return { figures, lanes: async () => [], waiting: async () => ({ deliveries: [], next: null }) };
}

/** Sources of a service that is well, a health that has looked once, and the metrics over it. */
export async function createWorld(changes: SourceChanges = {}) {
  const clock = new ManualClock(EPOCH);
  const sources: HealthSources = {
    clock,
    views: viewsWith(async () => FIGURES),
    spool: { space: async () => ({ freeBytes: 5 * GIB, totalBytes: 10 * GIB }) },
    encryption: async () => ({ encrypting: true, keyId: '00000000000000ab', segments: 5, encrypted: 3 }),
    store: () => ({ failed: false, waitingMs: 0 }),
    ports: () => ({
      smtp: { configured: [25, 587], listening: [2525, 587] },
      smtpTls: { configured: [465], listening: [465] },
      api: { port: 8025, tlsPort: null },
      faults: [],
    }),
    relays: () => [
      { name: 'inbox', state: 'closed', inflight: 0, disabled: false, refusal: null, quota: null },
      { name: 'out', state: 'half_open', inflight: 3, disabled: false, refusal: null, quota: QUOTA },
    ],
    nodes: () => [ownNode(clock.wall())],
    missingRelays: () => [],
    certificateExpiresAt: () => EPOCH + 90 * DAY_MS,
    notices: () => [],
    diskLimits: () => ({ lowBytes: GIB, criticalBytes: GIB / 5 }),
    ...changes,
  };
  const health = new Health(sources, {
    version: '0.1.0',
    engine: 'sqlite',
  });
  const started = health.start();
  await clock.advance(2000);
  await started;
  const events = new Events();
  const counters = new Counters();
  counters.listen(events);
  const metrics = createMetrics(metricSources(sources, health, counters));
  return { clock, health, metrics, events, counters, log: silentLog };
}

function metricSources(sources: HealthSources, health: Health, counters: Counters): MetricSources {
  return {
    version: '0.1.0',
    startedAt: EPOCH,
    now: () => EPOCH,
    snapshot: () => health.snapshot(),
    relays: sources.relays,
    counters,
    smtpConnections: () => 74,
    bytesInFlight: () => 75,
    flushes: () => ({ storeCommits: 71, spoolFlushes: 73 }),
    certificateExpiresAt: sources.certificateExpiresAt,
    certificateOrderFailures: () => 0,
    process: () => ({
      cpuSeconds: 1.5,
      residentBytes: 81,
      heapBytes: 82,
      loopDelay: { mean: 0.001, p99: 0.01, max: 0.1 },
    }),
  };
}
