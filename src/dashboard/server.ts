import { clientAddress } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpLimits } from '../http/limits.ts';
import { Problem } from '../http/problem.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { GuardSettings } from './guard.ts';
import { answerRequest, type DashboardContent } from './routes.ts';

/** What the dashboard is made of. */
export interface DashboardOptions extends DashboardContent {
  /** `webui.bind` and `webui.port`; see `HttpServerOptions`. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly certificate: Pick<Certificate, 'current' | 'onChange'>;
  /** Read for every request, so that they apply live. */
  readonly settings: () => GuardSettings;
  /** Default: {@link DASHBOARD_LIMITS}. */
  readonly limits?: HttpLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Is told of refused sources. */
  readonly events: Events;
}

/** The HTTPS server for operators and their tools. */
export interface Dashboard {
  /** Binds. Rejects with `ListenError`. Resolves to the port bound. */
  listen(): Promise<number>;
  /** As `HttpServer.close`. */
  close(signal?: AbortSignal): Promise<void>;
}

/** A few people and monitors, small requests. */
export const DASHBOARD_LIMITS: HttpLimits = {
  maxConnections: 256,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  keepAliveMs: 75_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 16,
  minBodyBytesPerSecond: 500,
  maxUnsentBytes: 16 * 1024 * 1024,
};

/** Makes the dashboard; it listens once told to. */
export function createDashboard(options: DashboardOptions): Dashboard {
  const { hosts, port, certificate, clock, random, log } = options;
  const server: HttpServer = createHttpServer({
    hosts,
    port,
    tls: certificate.current,
    plainOnTls: 'serve',
    limits: options.limits ?? DASHBOARD_LIMITS,
    clock,
    random,
    log,
    handler: (exchange) => handle(exchange, options),
  });
  const unsubscribe = certificate.onChange((pair) => server.setSecureContext(pair));
  return {
    listen: () => server.listen(),
    close: (signal) => {
      unsubscribe();
      return server.close(signal);
    },
  };
}

function handle(exchange: Exchange, options: DashboardOptions): void {
  const settings = options.settings();
  try {
    answerRequest(exchange, settings, options);
  } catch (error) {
    if (error instanceof Problem && error.status === 403)
      options.events.emit({
        type: 'denied',
        reason: error.code,
        sourceAddress: clientAddress(exchange, settings.trustedProxies),
        count: 1,
      });
    throw error;
  }
}
