import { serverName } from '../config/server-name.ts';
import { outlookOf } from '../control/outlook.ts';
import { queueForApi } from '../control/queue-for-api.ts';
import type { HttpLimits } from '../http/limits.ts';
import { Problem } from '../http/problem.ts';
import { createHttpServer, type Handler, type HttpServer } from '../http/server.ts';
import { createIngestApi } from '../ingest/http/api.ts';
import type { ReadWords } from '../ingest/http/inbox.ts';
import { onDashboardOnly } from '../ingest/http/nothing-here.ts';
import type { IngestShared } from '../ingest/shared.ts';
import { PreviewError } from '../preview/parsed.ts';
import type { Certificate } from '../tls/certificate.ts';
import { adminForApi } from './admin-api.ts';
import { cidrs } from './cidr-sets.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { LiveConfig } from './live-config.ts';
import type { BoundPorts } from './ports.ts';

/** Makes what answers the requests of the ingestion API, on its plain port and its TLS port alike. */
export function apiHandler(parts: ListenerParts, shared: IngestShared, bound: BoundPorts): Handler {
  const { engine, storage, live, events, clock, random, log, ready, signal } = parts;
  const { intake, acts } = engine;
  const { views, spool } = storage;
  const queue = queueForApi({
    ...{ views, acts, clock, registry: storage.registry, journal: storage.journal, queue: parts.queue },
    resolution: () => live.loaded,
    reload: () => live.reload(),
  });
  const deps = {
    intake,
    sending: () => live.config,
    acts,
    queue,
    readWords: readWordsOf(parts),
    admin: adminForApi(parts.door, () => live.config.api.maxMessageBytes),
    spool,
    views,
    outlook: outlookOf({ views, clock, queue: parts.queue, resolution: () => live.loaded }),
    shared,
    events,
    clock,
    random,
    log,
    webuiPort: () => bound.webui,
    ready,
    signal,
  };
  return createIngestApi(deps, apiOptions(parts.live));
}

/** What a message says, for the API: a refusal is a problem. */
function readWordsOf({ words }: ListenerParts): ReadWords {
  return async (message) => {
    try {
      return await words.readWords(message);
    } catch (error) {
      throw error instanceof PreviewError ? unreadable(error) : error;
    }
  };
}

function unreadable({ code, message }: PreviewError): Problem {
  const passing = code === 'busy' || code === 'too_slow';
  return new Problem(passing ? 503 : 409, 'unreadable_content', message);
}

/** Makes the server of one port of the ingestion API; plain HTTP without a certificate. */
export function apiServer(
  parts: ListenerParts,
  port: number,
  certificate: Certificate | null,
  handler: Handler,
  bound: BoundPorts,
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
  const server = createHttpServer({
    ...{ hosts, port, tls, limits, clock, random, log, handler },
    plainOnTls: (path) => onDashboardOnly(path, bound.webui),
  });
  certificate?.onChange((pair) => server.setSecureContext(pair));
  return server;
}

/** The API's options, read from the configuration each time so that keys apply live. */
function apiOptions(live: LiveConfig) {
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
  };
}
