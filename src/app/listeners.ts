import type { Config } from '../config/schema.ts';
import { serverName } from '../config/server-name.ts';
import { createDashboard, type Dashboard } from '../dashboard/server.ts';
import type { HealthCheck } from '../domain/health.ts';
import type { IntakeTrouble } from '../engine/accept.ts';
import type { Engine } from '../engine/engine.ts';
import type { HttpLimits } from '../http/limits.ts';
import { createHttpServer, type Handler, type HttpServer } from '../http/server.ts';
import { createIngestApi } from '../ingest/http/api.ts';
import { createShared, type IngestShared } from '../ingest/shared.ts';
import { type CidrSet, parseCidrs } from '../lib/cidr.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { Counters } from '../observe/counters.ts';
import type { Events } from '../observe/events.ts';
import { createHealth, type Health } from '../observe/health.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { createProcessMeter } from '../observe/process-figures.ts';
import { type Certificate, loadCertificate } from '../tls/certificate.ts';
import type { LiveConfig } from './live-config.ts';
import { type BoundPorts, bindPort, portsStatus } from './ports.ts';
import { relayStates } from './relays.ts';
import type { Storage } from './storage.ts';

/** What listeners are made of. */
export interface ListenerParts {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly engine: Engine;
  readonly events: Events;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly node: string;
  readonly dataDir: string;
  /** Whether the machine has failed. */
  readonly failed: () => boolean;
  /** Whether mail is accepted now, and will be for a while. */
  readonly ready: () => boolean;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** Every port of the service. */
export interface Listeners {
  /** Binds them all. Rejects with `ListenError`. */
  listen(): Promise<BoundPorts>;
  reloadCertificate(): Promise<void>;
  /** Stops accepting at once; ends what is under way, at the latest when the signal aborts. */
  close(deadline: AbortSignal): Promise<void>;
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

/** Makes the listeners the configuration asks for; they listen once told to. */
export async function createListeners(parts: ListenerParts): Promise<Listeners> {
  const { config } = parts.live;
  const bound: { -readonly [K in keyof BoundPorts]: BoundPorts[K] } = {
    api: null,
    apiTls: null,
    webui: null,
  };
  const needsTls = config.webui.port !== null || (config.api.tlsEnabled && config.api.tlsPort !== null);
  const certificate = needsTls ? await loadCertificate(certificateOptions(parts)) : null;
  const { health, metrics, stop } = observe(parts, bound, certificate);
  await health.start();
  const shared = createShared({ ...parts, ...parts.storage }, config.limits, parts.signal);
  const handler = createIngestApi(ingestDeps(parts, shared), ingestOptions(parts.live));
  const api = config.api.port === null ? null : apiServer(parts, config.api.port, null, handler);
  const apiTls =
    config.api.tlsEnabled && config.api.tlsPort !== null && certificate !== null
      ? apiServer(parts, config.api.tlsPort, certificate, handler)
      : null;
  const webui =
    config.webui.port === null || certificate === null
      ? null
      : dashboard(parts, config.webui.port, certificate, health, metrics);
  return {
    listen: async () => {
      bound.webui = await bindPort('webui.port', webui);
      bound.apiTls = await bindPort('api.tls_port', apiTls);
      bound.api = await bindPort('api.port', api);
      return bound;
    },
    reloadCertificate: async () => certificate?.reload(),
    close: async (deadline) => {
      await Promise.all([api?.close(deadline), apiTls?.close(deadline), webui?.close(deadline)]);
      certificate?.stop();
      stop();
    },
  };
}

function apiServer(
  parts: ListenerParts,
  port: number,
  certificate: Certificate | null,
  handler: Handler,
): HttpServer {
  const { live, clock, random, log } = parts;
  const { bind: hosts, ...api } = live.config.api;
  const { maxUnsentBytes } = live.config.limits;
  const limits: HttpLimits = {
    maxConnections: api.maxConnections,
    headerTimeoutMs: api.headerTimeoutSeconds * 1000,
    bodyTimeoutMs: api.bodyTimeoutSeconds * 1000,
    keepAliveMs: api.keepAliveSeconds * 1000,
    maxHeaderBytes: api.maxRequestHeaderBytes,
    maxHeaders: api.maxRequestHeaders,
    maxPipelinedRequests: api.maxPipelinedRequests,
    maxUnsentBytes,
    get minBodyBytesPerSecond() {
      return live.config.api.minBodyBytesPerSecond;
    },
  };
  const tls = certificate?.current ?? null;
  const server = createHttpServer({ hosts, port, tls, limits, clock, random, log, handler });
  certificate?.onChange((pair) => server.setSecureContext(pair));
  return server;
}

function dashboard(
  parts: ListenerParts,
  port: number,
  certificate: Certificate,
  health: Health,
  metrics: Metrics,
): Dashboard {
  const { live, clock, random, log, events, ready } = parts;
  return createDashboard({
    ...{ port, certificate, health, metrics, clock, random, log, events, ready },
    hosts: live.config.webui.bind,
    settings: () => ({
      allowedCidrs: cidrs(live.config.webui.allowedCidrs),
      trustedProxies: cidrs(live.config.webui.trustedProxies),
      allowedHosts: live.config.webui.allowedHosts,
      hostname: serverName(live.config),
    }),
  });
}

function observe(parts: ListenerParts, bound: BoundPorts, certificate: Certificate | null) {
  const { storage, live, engine, events, clock, version, node, failed } = parts;
  const counters = new Counters();
  counters.listen(events);
  const meter = createProcessMeter(clock);
  const relays = () => relayStates(engine.relays, clock.mono());
  const certificateExpiresAt = () => certificate?.expiresAt ?? null;
  const { views, spool, thread } = storage;
  const health = createHealth(
    {
      ...{ clock, views, spool, relays, certificateExpiresAt },
      store: () => ({ failed: failed(), waitingMs: thread.waitingMs() }),
      ports: () => portsStatus(live.config, bound),
      notices: () => {
        const trouble = engine.trouble();
        return trouble === null ? live.notices() : [...live.notices(), TROUBLE[trouble]];
      },
      diskLimits: () => ({
        lowBytes: live.config.health.diskLowBytes,
        criticalBytes: live.config.health.diskCriticalBytes,
      }),
    },
    { version, node: { id: node, roles: ['api', 'delivery', 'webui'] }, engine: 'sqlite' },
  );
  const metrics = createMetrics({
    ...{ version, counters, relays, certificateExpiresAt },
    startedAt: clock.wall(),
    now: () => clock.wall(),
    snapshot: () => health.snapshot(),
    flushes: () => ({
      storeCommits: thread.commits(),
      spoolFlushes: spool.flushes(),
    }),
    process: () => meter.read(),
  });
  const stop = () => {
    health.stop();
    meter.stop();
  };
  return { health, metrics, stop };
}

function ingestDeps(parts: ListenerParts, shared: IngestShared) {
  const { engine, storage, events, clock, random, log, version, ready, signal } = parts;
  const { intake, acts } = engine;
  const { views, spool } = storage;
  return { intake, acts, spool, views, shared, events, clock, random, log, version, ready, signal };
}

/** The API's options, read from the configuration each time so that keys apply live. */
function ingestOptions(live: LiveConfig) {
  const { limits } = live.config;
  return {
    get hostname() {
      return serverName(live.config);
    },
    get allowedCidrs() {
      return cidrs(live.config.api.allowedCidrs);
    },
    get trustedProxies() {
      return cidrs(live.config.api.trustedProxies);
    },
    get limits() {
      return live.config.api;
    },
    maxWaitingReaders: limits.maxWaitingReaders,
    maxKeysInMemory: limits.maxKeysInMemory,
  };
}

function certificateOptions({ live, dataDir, clock, random, log }: ListenerParts) {
  const { certFile, keyFile } = live.config.tls;
  const files = certFile !== null && keyFile !== null ? { certFile, keyFile } : null;
  return { files, directory: dataDir, hostname: serverName(live.config), clock, random, log };
}

/** Ranges that the configuration has checked, parsed once for each list. */
function cidrs(list: Config['webui']['allowedCidrs']): CidrSet {
  const known = parsed.get(list);
  if (known) return known;
  const result = parseCidrs(list);
  if (!result.ok) throw new Error(`an unchecked range: ${result.entry}`);
  parsed.set(list, result.cidrs);
  return result.cidrs;
}

const parsed = new WeakMap<readonly string[], CidrSet>();
