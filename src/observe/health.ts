import {
  assessHealth,
  type DiskLimits,
  type DiskStatus,
  diskStatus,
  type HealthCheck,
  type HealthVerdict,
  type PortFault,
} from '../domain/health.ts';
import type { MissingRelay } from '../domain/route.ts';
import type { Clock } from '../lib/clock.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { Encryption, Spool } from '../spool/spool.ts';
import type { Figures, LaneDepth, Views } from '../store/views.ts';
import type { HealthReport, NodeStatus, RelayStatus } from './health-report.ts';
import { dueBesides, spentRelays } from './health-report.ts';
import { Poll } from './poll.ts';

/**
 * The sources of health. Functions answer at once from memory; only `views`, `spool` and `encryption` are polled in the
 * background.
 */
export interface HealthSources {
  readonly clock: Clock;
  readonly views: Pick<Views, 'figures' | 'waiting' | 'lanes'>;
  readonly spool: Pick<Spool, 'space'>;
  readonly encryption: Spool['encryption'];
  /** The write side of the store. */
  readonly store: () => StoreCondition;
  readonly ports: () => PortsStatus;
  /** Each with the figures of all nodes. */
  readonly relays: () => readonly RelayStatus[];
  /** All nodes, this one included. */
  readonly nodes: () => readonly NodeStatus[];
  /** Relays that rules name and that do not exist. */
  readonly missingRelays: () => readonly MissingRelay[];
  /** Wall ms at which the TLS certificate expires; null: there is none, or none whose end is to be warned of. */
  readonly certificateExpiresAt: () => number | null;
  /** Findings of other rooms. */
  readonly notices: () => readonly HealthCheck[];
  /** Read each time, so that changes apply live. */
  readonly diskLimits: () => DiskLimits;
}

/** The state of the store's write side. */
export interface StoreCondition {
  /** A commit failed so that all writing ends (contract §15). */
  readonly failed: boolean;
  /** How long the oldest write has been waiting for its commit, in ms; 0 when none waits. */
  readonly waitingMs: number;
}

/** The ports configured, and those bound. */
export interface PortsStatus {
  /** Ports with STARTTLS. */
  readonly smtp: PortLists;
  /** Ports with TLS from the first byte. */
  readonly smtpTls: PortLists;
  /** Null where switched off. */
  readonly api: { readonly port: number | null; readonly tlsPort: number | null };
  readonly faults: readonly PortFault[];
}

/** Ports as configured, and those bound. */
export interface PortLists {
  readonly configured: readonly number[];
  readonly listening: readonly number[];
}

/** Facts that do not change while the process runs. */
export interface HealthIdentity {
  readonly version: string;
  readonly engine: 'sqlite' | 'postgres';
}

/** The last known state of the parts that could hang. */
export interface HealthSnapshot {
  /** Null until the store has answered once. */
  readonly figures: Figures | null;
  readonly databaseReachable: boolean;
  /** How long the store takes, or has been taking, to answer a read, in ms. */
  readonly databaseLatencyMs: number;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null;
}

/** How often the store and the volume are polled. */
const POLL_MS = 1000;
/** How often the lanes are polled while a relay is spent: they are many, and change little. */
const LANES_POLL_MS = 10_000;
/** How often the encrypted segments are counted: over PostgreSQL that reads all their rows. */
const ENCRYPTION_POLL_MS = 60_000;
/** Most lanes to examine. */
const MAX_LANES = 10_000;
/** A store that has not answered for this long is unreachable. */
const SILENT_MS = 2000;

/** Health, kept up to date in the background. */
export class Health {
  readonly #sources: HealthSources;
  readonly #identity: HealthIdentity;
  readonly #startedAt: number;
  readonly #startedMono: number;
  readonly #figures: Poll<Figures>;
  /** Whether mail waits without a route. */
  readonly #unrouted: Poll<boolean>;
  /** Lanes with mail; null while no relay is spent, or if there are too many. */
  readonly #lanes: Poll<readonly LaneDepth[] | null>;
  readonly #encryption: Poll<Encryption>;
  readonly #space: Poll<{ readonly freeBytes: number; readonly totalBytes: number } | null>;

  constructor(sources: HealthSources, identity: HealthIdentity) {
    const { clock, views, spool, encryption } = sources;
    this.#sources = sources;
    this.#identity = identity;
    this.#startedAt = clock.wall();
    this.#startedMono = clock.mono();
    this.#figures = new Poll(() => views.figures(clock.wall()), POLL_MS, clock);
    this.#unrouted = new Poll(() => anyUnrouted(views), POLL_MS, clock);
    this.#lanes = new Poll(() => lanesOnceSpent(sources), LANES_POLL_MS, clock);
    this.#encryption = new Poll(encryption, ENCRYPTION_POLL_MS, clock);
    this.#space = new Poll(() => spool.space(), POLL_MS, clock);
  }

  /** Begins to poll. Resolves with a first answer, or when none arrives in time. */
  async start(): Promise<void> {
    const polls = [this.#figures, this.#unrouted, this.#lanes, this.#space, this.#encryption];
    await Promise.all(polls.map((poll) => poll.start(SILENT_MS)));
  }

  stop(): void {
    this.#figures.stop();
    this.#unrouted.stop();
    this.#lanes.stop();
    this.#space.stop();
    this.#encryption.stop();
  }

  /** The figures behind `report`, for metrics. Never waits. */
  snapshot(): HealthSnapshot {
    const { waitingMs } = this.#sources.store();
    return {
      figures: this.#figures.latest,
      databaseReachable: this.#figures.answersWithin(SILENT_MS) && waitingMs < SILENT_MS,
      databaseLatencyMs: Math.max(this.#figures.latencyMs, waitingMs),
      disk: this.#space.answersWithin(SILENT_MS) ? this.#space.latest : null,
    };
  }

  /** The current state. Never waits. */
  report(): HealthReport {
    const { clock, ports, relays, nodes } = this.#sources;
    const now = clock.wall();
    const snapshot = this.snapshot();
    const { figures } = snapshot;
    const verdict = this.#assess(snapshot, now);
    return {
      status: verdict.status,
      message: verdict.message,
      version: this.#identity.version,
      startedAt: formatTimestamp(this.#startedAt),
      uptimeSeconds: Math.floor((clock.mono() - this.#startedMono) / 1000),
      time: formatTimestamp(now),
      database: {
        reachable: snapshot.databaseReachable,
        engine: this.#identity.engine,
        sizeBytes: figures?.databaseBytes ?? 0,
        latencyMs: Math.ceil(snapshot.databaseLatencyMs),
      },
      disk: {
        freeBytes: snapshot.disk?.freeBytes ?? null,
        totalBytes: snapshot.disk?.totalBytes ?? null,
        status: this.#disk(snapshot),
      },
      spool: {
        incoming: figures?.spool.incoming ?? 0,
        processing: figures?.spool.processing ?? 0,
        failed: figures?.spool.failed ?? 0,
        oldestSeconds: Math.floor(lateness(snapshot, now) / 1000),
      },
      encryption: encryptionOf(this.#encryption.latest),
      ...listeners(ports()),
      // Quotas are shown by a check and by metrics.
      relays: relays().map(({ quota: _, refusal: _refusal, ...shown }) => shown),
      nodes: nodes().map(({ missing: _, lastSeenAt, ...node }) => ({
        ...node,
        lastSeenAt: formatTimestamp(lastSeenAt),
      })),
      checks: verdict.checks,
    };
  }

  #assess(snapshot: HealthSnapshot, now: number): HealthVerdict {
    const { store, ports, relays, nodes, missingRelays, certificateExpiresAt, notices } = this.#sources;
    const { faults, smtp, smtpTls } = ports();
    const expiresAt = certificateExpiresAt();
    const states = relays();
    const lanes = this.#lanes.latest;
    const dueAt = dueBesides(snapshot.figures?.oldestDueAt ?? null, states, lanes);
    return assessHealth({
      store: store().failed ? 'failed' : snapshot.databaseReachable ? 'well' : 'silent',
      disk: this.#disk(snapshot),
      diskHoldsMail: this.#identity.engine === 'sqlite',
      portFaults: faults,
      smtpBound: smtp.listening.length + smtpTls.listening.length > 0,
      relays: states,
      spent: spentRelays(states, lanes ?? [], now),
      latenessMs: dueAt === null ? 0 : Math.max(0, now - dueAt),
      unrouted: this.#unrouted.latest ?? false,
      missingRelays: missingRelays(),
      missingNodes: nodes().flatMap(({ id, missing }) => (missing ? [id] : [])),
      certificateLeftMs: expiresAt === null ? null : expiresAt - now,
      restored: snapshot.figures?.restored ?? 0,
      notices: notices(),
    });
  }

  #disk(snapshot: HealthSnapshot): DiskStatus {
    return diskStatus(snapshot.disk?.freeBytes ?? null, this.#sources.diskLimits());
  }
}

async function anyUnrouted(views: Pick<Views, 'waiting'>): Promise<boolean> {
  const { deliveries } = await views.waiting({ lane: 'none', after: null, limit: 1 });
  return deliveries.length > 0;
}

async function lanesOnceSpent({
  views,
  relays,
}: Pick<HealthSources, 'views' | 'relays'>): Promise<readonly LaneDepth[] | null> {
  if (!relays().some(({ quota }) => quota?.spent === true)) return null;
  const lanes = await views.lanes(null, MAX_LANES);
  return lanes.length < MAX_LANES ? lanes : null;
}

/** How long ago the longest waiting due delivery came due, in ms. */
function lateness({ figures }: HealthSnapshot, now: number): number {
  const oldest = figures?.oldestDueAt ?? null;
  return oldest === null ? 0 : Math.max(0, now - oldest);
}

function encryptionOf(known: Encryption | null): HealthReport['encryption'] {
  if (known === null) return null;
  const { encrypting, keyId, segments, encrypted } = known;
  const key = encrypting || encrypted > 0 ? keyId : null;
  return { contents: encrypting, key, segments, encryptedSegments: encrypted };
}

function listeners({ smtp, smtpTls, api }: PortsStatus): Pick<HealthReport, 'smtp' | 'api'> {
  return {
    smtp: {
      listening: smtp.listening.length + smtpTls.listening.length > 0,
      configuredPorts: smtp.configured,
      listeningPorts: smtp.listening,
      ports: smtp.configured,
      configuredTlsPorts: smtpTls.configured,
      listeningTlsPorts: smtpTls.listening,
    },
    api: { listening: api.port !== null || api.tlsPort !== null, port: api.port, tlsPort: api.tlsPort },
  };
}
