/** A dashboard on a free port of this machine, and a client for it. */
import type { IncomingHttpHeaders } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { onTestFinished } from 'vitest';
import type { GuardSettings } from '../../../src/dashboard/guard.ts';
import { createDashboard, type DashboardOptions } from '../../../src/dashboard/server.ts';
import { parseCidrs } from '../../../src/lib/cidr.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import type { Event } from '../../../src/observe/events.ts';
import { createSelfSigned, type KeyAndCertificate } from '../../../src/tls/self-signed.ts';
import { createWorld, type SourceChanges } from './world.ts';

/** What a test may set. */
export interface Setup {
  readonly sources?: SourceChanges;
  readonly settings?: Partial<GuardSettings>;
  readonly limits?: DashboardOptions['limits'];
}

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What to ask. */
export interface Ask {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Speak plain HTTP. */
  readonly plain?: boolean;
}

/** A key and certificate for `localhost`. */
function localPair(): KeyAndCertificate {
  const now = systemClock.wall();
  const hosts = ['localhost', '127.0.0.1'];
  return createSelfSigned({
    hosts,
    notBefore: now - 60_000,
    notAfter: now + 86_400_000,
    random: systemRandom,
  });
}

/** Starts a dashboard for the test that calls it, which also ends it. */
export async function startDashboard(setup: Setup = {}) {
  const world = await createWorld(setup.sources);
  const denied: Event[] = [];
  world.events.on((event) => denied.push(event));
  let pair = localPair();
  const listeners = new Set<(pair: KeyAndCertificate) => void>();
  const state = { ready: true };
  const dashboard = createDashboard({
    hosts: ['127.0.0.1'],
    port: 0,
    certificate: {
      current: pair,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    settings: () => ({
      allowedCidrs: cidrs('0.0.0.0/0', '::/0'),
      trustedProxies: cidrs(),
      allowedHosts: [],
      hostname: 'mail.example.com',
      ...setup.settings,
    }),
    ...(setup.limits === undefined ? {} : { limits: setup.limits }),
    health: world.health,
    metrics: world.metrics,
    ready: () => state.ready,
    clock: systemClock,
    random: systemRandom,
    log: world.log,
    events: world.events,
  });
  const port = await dashboard.listen();
  onTestFinished(async () => {
    world.health.stop();
    await dashboard.close(AbortSignal.abort());
  });
  return {
    ...world,
    dashboard,
    port,
    denied,
    state,
    /** Asks over a connection of its own, TLS verified. */
    ask: (question: Ask) => ask(port, pair.cert, question),
    /** Replaces the certificate, as its source would. */
    replaceCertificate: () => {
      pair = localPair();
      for (const listener of listeners) listener(pair);
    },
  };
}

/** Ranges that are known to be right. */
export function cidrs(...list: string[]) {
  const result = parseCidrs(list);
  if (!result.ok) throw new Error(result.reason);
  return result.cidrs;
}

function ask(
  port: number,
  ca: string,
  { path, method = 'GET', headers = {}, plain = false }: Ask,
): Promise<Answer> {
  const common = { host: '127.0.0.1', port, path, method, agent: false, headers };
  return new Promise((resolve, reject) => {
    const request = plain ? plainRequest(common) : tlsRequest({ ...common, ca, servername: 'localhost' });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.end();
  });
}
