import type { SecureContextOptions } from 'node:tls';
import { serverName } from '../config/server-name.ts';
import type { HttpLimits } from '../http/server.ts';
import { createHttpServer, type Handler, type HttpServer } from '../http/server.ts';
import { createIngestApi } from '../ingest/http/api.ts';
import { onDashboardOnly } from '../ingest/http/nothing-here.ts';
import { cidrs } from './cidr-sets.ts';
import { type MailParts, partOf } from './mail-parts.ts';

/** Makes what answers the requests of the ingestion API, on its plain port and its TLS port alike. */
export function apiHandler(parts: MailParts): Handler {
  const { rooms, live, ...rest } = parts;
  return createIngestApi({ ...rooms, ...rest, sending: () => live.config }, apiOptions(parts));
}

/** Makes the server of one port of the ingestion API; plain HTTP without a certificate. */
export function apiServer(
  parts: MailParts,
  port: number,
  tls: SecureContextOptions | null,
  handler: Handler,
): HttpServer {
  const { live, crowd, clock, random, log, webuiPort } = parts;
  const { bind: hosts, ...api } = live.config.api;
  const limits: HttpLimits = {
    maxConnections: partOf(api.maxConnections, live.config),
    headerTimeoutMs: api.headerTimeoutSeconds * 1000,
    bodyTimeoutMs: api.bodyTimeoutSeconds * 1000,
    keepAliveMs: api.keepAliveSeconds * 1000,
    maxHeaderBytes: api.maxRequestHeaderBytes,
    maxHeaders: api.maxRequestHeaders,
    maxPipelinedRequests: api.maxPipelinedRequests,
    maxUnsentBytes: partOf(live.config.limits.maxUnsentBytes, live.config),
    get minBodyBytesPerSecond() {
      return live.config.api.minBodyBytesPerSecond;
    },
  };
  return createHttpServer({
    ...{ hosts, port, tls, limits, clock, random, log, handler },
    sharesPort: crowd !== null,
    plainOnTls: (path) => onDashboardOnly(path, webuiPort()),
  });
}

/** The API's options, read from the configuration each time so that keys apply live. */
function apiOptions({ live }: Pick<MailParts, 'live'>) {
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
    maxWaitingReaders: partOf(limits.maxWaitingReaders, live.config),
  };
}
