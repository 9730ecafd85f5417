import type { Exchange } from '../http/exchange.ts';
import { clientAddress } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import type { Challenges, HttpLimits } from '../http/server.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { Budget } from '../lib/budget.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Certificate } from '../tls/certificate.ts';
import { asProblem } from './calls.ts';
import { EventStreams } from './event-streams.ts';
import type { GuardSettings } from './guard.ts';
import type { HintFeed } from './hints.ts';
import { answerRequest, type DashboardContent } from './routes.ts';
import { Site } from './site.ts';

/** What the dashboard needs. */
export interface DashboardOptions extends Omit<DashboardContent, 'site' | 'streams' | 'budget'> {
  /** `webui.bind` and `webui.port`; see `HttpServerOptions`. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly certificate: Pick<Certificate, 'current' | 'onChange'>;
  /** See `HttpServerOptions`. */
  readonly challenges?: Challenges;
  /** Read for every request, so that changes apply live. */
  readonly settings: () => GuardSettings;
  /** Default: {@link DASHBOARD_LIMITS}. */
  readonly limits?: HttpLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Receives refused sources. */
  readonly events: Events;
  /** The directory of the built page. */
  readonly siteDirectory: string;
  readonly feed: Pick<HintFeed, 'add' | 'streams'>;
  /** `webui.max_event_streams` */
  readonly maxEventStreams: () => number;
}

/** The HTTPS server for operators and their tools. */
export interface Dashboard {
  /** As `HttpServer.listen`. */
  listen(port?: number): Promise<number>;
  /** As `HttpServer.close`. */
  close(signal?: AbortSignal): Promise<void>;
}

/** For people with several connections each, and monitors; the largest requests are messages. */
export const DASHBOARD_LIMITS: HttpLimits = {
  maxConnections: 1024,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  keepAliveMs: 75_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 16,
  minBodyBytesPerSecond: 500,
  maxUnsentBytes: 16 * 1024 * 1024,
};

/** Bytes of all requests in memory. */
const REQUEST_MEMORY = { capacity: 64 * 1024 * 1024, maxWaiters: 64 };

/** Makes the dashboard; it does not listen yet. */
export function createDashboard(options: DashboardOptions): Dashboard {
  const { hosts, port, certificate, clock, random, log, visitors, feed } = options;
  const streams = new EventStreams({ feed, visitors, max: options.maxEventStreams });
  const content = {
    ...options,
    streams,
    site: new Site(options.siteDirectory),
    budget: new Budget(REQUEST_MEMORY),
  };
  const server: HttpServer = createHttpServer({
    hosts,
    port,
    tls: certificate.current,
    plainOnTls: 'serve',
    ...(options.challenges === undefined ? {} : { challenges: options.challenges }),
    limits: options.limits ?? DASHBOARD_LIMITS,
    clock,
    random,
    log,
    handler: (exchange) => handle(exchange, options, content),
  });
  const unsubscribe = certificate.onChange((pair) => server.setSecureContext(pair));
  return {
    listen: (another) => server.listen(another),
    close: (signal) => {
      unsubscribe();
      // They would not end by themselves.
      streams.close();
      return server.close(signal);
    },
  };
}

async function handle(
  exchange: Exchange,
  options: DashboardOptions,
  content: DashboardContent,
): Promise<void> {
  const settings = options.settings();
  try {
    await answerRequest(exchange, settings, content);
  } catch (error) {
    const problem = asProblem(error);
    if (problem instanceof Problem && problem.status === 403 && problem.code !== 'forbidden')
      options.events.emit({
        type: 'denied',
        reason: problem.code,
        sourceAddress: clientAddress(exchange, settings.trustedProxies),
        requestId: exchange.requestId,
        ...(problem.code === 'source_not_allowed' ? { port: 'webui' } : {}),
        count: 1,
      });
    throw problem;
  }
}
