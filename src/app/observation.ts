import { statfs } from 'node:fs/promises';
import type { Door } from '../control/door.ts';
import { relaysOfAll } from '../control/nodes/figures.ts';
import type { HealthCheck } from '../domain/health.ts';
import { missingRelays } from '../domain/route.ts';
import type { IntakeTrouble } from '../engine/accept.ts';
import type { Events } from '../observe/events.ts';
import { Health } from '../observe/health.ts';
import {
  Counters,
  createMetrics,
  createProcessMeter,
  type MetricSources,
  type Metrics,
} from '../observe/metrics.ts';
import { OPERATIONS, operationNamed } from '../operations/table.ts';
import type { KeptCertificate } from './certificates.ts';
import type { ListenerParts } from './listener-parts.ts';
import { type BoundPorts, portsStatus } from './ports.ts';
import { relayStates } from './relays.ts';

/** Observes the process. */
export interface Observation {
  readonly health: Health;
  readonly metrics: Metrics;
  /** Stops looking. */
  stop(): void;
}

const TROUBLE: Readonly<Record<IntakeTrouble, HealthCheck>> = {
  disk_full: {
    name: 'room',
    status: 'critical',
    detail: 'The last message found no room: the disk or a quota is full.',
  },
  store_unavailable: {
    name: 'intake',
    status: 'critical',
    detail: 'The last message could not be stored. The log says why.',
  },
};

/** Makes health and metrics of this process. */
export function observe(
  parts: ListenerParts,
  bound: BoundPorts,
  kept: KeptCertificate | null,
  incoming: Pick<MetricSources, 'smtpConnections' | 'bytesInFlight'>,
): Observation {
  const { storage, live, engine, events, clock, version, nodes, failed } = parts;
  const counters = new Counters();
  counters.listen(events);
  const meter = createProcessMeter(clock);
  const relays = () => relaysOfAll(relayStates(engine.relays, clock), nodes.reports());
  const { views, writer, cluster } = storage;
  // With a shared database, only this node's own files are on its disk.
  const spool = cluster === null ? storage.spool : { space: () => volumeOf(parts.dataDir) };
  const health = new Health(
    {
      clock,
      views,
      spool,
      encryption: () => storage.spool.encryption(),
      relays,
      certificateExpiresAt: () => kept?.warnedEnd() ?? null,
      store: () => ({ failed: failed(), waitingMs: writer.waitingMs() }),
      ports: () => portsStatus(live.config, bound),
      nodes: () => nodes.nodes(),
      missingRelays: () => missingRelays(live.config.routes, live.config.relays),
      notices: () => {
        const trouble = engine.trouble();
        return trouble === null ? live.notices() : [...live.notices(), TROUBLE[trouble]];
      },
      diskLimits: () => ({
        lowBytes: live.config.health.diskLowBytes,
        criticalBytes: live.config.health.diskCriticalBytes,
      }),
    },
    { version, engine: cluster === null ? 'sqlite' : 'postgres' },
  );
  const metrics = createMetrics({
    version,
    counters,
    relays,
    certificateExpiresAt: () => kept?.certificate.expiresAt ?? null,
    certificateOrderFailures: () => kept?.keeper.view.renewal.failures ?? 0,
    ...incoming,
    startedAt: clock.wall(),
    now: () => clock.wall(),
    snapshot: () => health.snapshot(),
    flushes: () => ({
      storeCommits: writer.commits(),
      spoolFlushes: storage.spool.flushes(),
    }),
    process: () => meter.read(),
  });
  const stop = () => {
    health.stop();
    meter.stop();
  };
  return { health, metrics, stop };
}

/** Room on the volume of a folder, in bytes. */
async function volumeOf(folder: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The same door; every operation that may have changed something is announced as an event once it is done. */
export function announced(door: Door, events: Events): Door {
  return {
    call: async (actor, name, request, progress) => {
      const result = await door.call(actor, name, request, progress);
      const operation = operationNamed(name);
      if (operation !== null && OPERATIONS[operation].access.audit !== null)
        events.emit({ type: 'operated', operation });
      return result;
    },
  };
}
