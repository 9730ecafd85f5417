/** A dashboard on a free port of this machine, and a client for it. */

import type { IncomingHttpHeaders } from 'node:http';
import { request as plainRequest } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import { onTestFinished } from 'vitest';
import { createDoor } from '../../../src/control/door.ts';
import type { Downloads } from '../../../src/dashboard/downloads.ts';
import type { GuardSettings } from '../../../src/dashboard/guard.ts';
import { HintFeed } from '../../../src/dashboard/hints.ts';
import { createDashboard, type DashboardOptions } from '../../../src/dashboard/server.ts';
import type { SharedStories } from '../../../src/dashboard/shared-stories.ts';
import type { Visitors } from '../../../src/dashboard/visitors.ts';
import { ROLES } from '../../../src/domain/account.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { parseCidrs } from '../../../src/lib/network.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import type { Event } from '../../../src/observe/events.ts';
import { OperationError } from '../../../src/operations/call.ts';
import type { Operations } from '../../../src/operations/table.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import { createSelfSigned, type KeyAndCertificate } from '../../../src/tls/self-signed.ts';
import { type Done, recordingOperations } from '../../support/recording-operations.ts';
import { builtSite } from './built-site.ts';
import { createWorld, type SourceChanges } from './world.ts';

/** What a test may set. */
export interface Setup {
  readonly sources?: SourceChanges;
  readonly settings?: Partial<GuardSettings>;
  readonly limits?: DashboardOptions['limits'];
  /** Where the page lies; absent: a small one that was built. */
  readonly site?: string;
  readonly downloads?: Partial<Downloads>;
  readonly stories?: SharedStories;
  readonly maxEventStreams?: number;
  readonly maxMessageBytes?: number;
  /** Instead of ones whose cookie says who they are. */
  readonly visitors?: Visitors;
  /** Instead of operations that only write down that they were asked for. */
  readonly operations?: Partial<Operations>;
  /** Stands before the feed of hints. */
  readonly feed?: (feed: HintFeed) => Pick<HintFeed, 'add' | 'streams'>;
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
  readonly body?: string;
  /** Speak plain HTTP. */
  readonly plain?: boolean;
}

/** Somebody's session, as the browsers of these tests have it. */
export function cookieOf(role: (typeof ROLES)[number], session = '1'): string {
  return `who=${role}.${session}`;
}

/** Knows who asks by {@link cookieOf}, and of sessions that a test ends. */
class TestVisitors implements Visitors {
  readonly #listeners = new Set<(sessionId: string) => void>();

  async actorOf({ headers }: Parameters<Visitors['actorOf']>[0]) {
    const [, name = '', session = ''] = /^who=(\w+)\.(\w+)$/.exec(headers.cookie ?? '') ?? [];
    const role = ROLES.find((known) => known === name);
    if (role === undefined) return null;
    return { kind: 'user' as const, name, role, sourceAddress: '127.0.0.1', sessionId: session };
  }

  async show(exchange: Parameters<Visitors['show']>[0]): Promise<void> {
    exchange.json(200, { state: 'anonymous', version: 'test' });
  }

  async answer(exchange: Parameters<Visitors['answer']>[0], name: string): Promise<void> {
    exchange.json(200, { answered: name });
  }

  visitOf() {
    return { sourceAddress: '127.0.0.1', agent: 'Test/1' };
  }

  onEnded(listener: (sessionId: string) => void) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends a session, as signing out does. */
  end(sessionId: string): void {
    for (const listener of this.#listeners) listener(sessionId);
  }
}

const NO_DOWNLOADS: Downloads = {
  source: () => Promise.reject(new OperationError('not_found', 'There is none.')),
  part: () => Promise.reject(new OperationError('not_found', 'There is none.')),
  document: () => Promise.reject(new OperationError('not_found', 'There is none.')),
  export: () => Promise.reject(new OperationError('not_found', 'There is none.')),
  backup: () => Promise.reject(new OperationError('not_found', 'There is none.')),
};

const NO_STORIES: SharedStories = {
  read: () => Promise.reject(new OperationError('not_found', 'There is none.')),
  document: () => Promise.reject(new OperationError('not_found', 'There is none.')),
};

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
  world.events.on((event) => void (event.type === 'denied' && denied.push(event)));
  const done: Done[] = [];
  const visitors = new TestVisitors();
  const { journal } = openSqlite(':memory:');
  const { clock, events, log } = world;
  const operations = { ...recordingOperations(done), ...setup.operations };
  const feed = new HintFeed({ events, clock, random: systemRandom });
  let pair = localPair();
  const listeners = new Set<(pair: KeyAndCertificate) => void>();
  const state = { ready: true };
  const dashboard = createDashboard({
    hosts: ['127.0.0.1'],
    port: 0,
    servesPlain: false,
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
    visitors: setup.visitors ?? visitors,
    feed: setup.feed?.(feed) ?? feed,
    door: createDoor({ operations, journal, clock, log }),
    downloads: { ...NO_DOWNLOADS, ...setup.downloads },
    stories: setup.stories ?? NO_STORIES,
    siteDirectory: setup.site ?? builtSite(),
    maxEventStreams: () => setup.maxEventStreams ?? 200,
    maxMessageBytes: () => setup.maxMessageBytes ?? 100_000,
    health: world.health,
    metrics: world.metrics,
    ready: () => state.ready,
    clock: systemClock,
    random: systemRandom,
    log: world.log,
    events: world.events,
  });
  const port = await dashboard.listen();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  onTestFinished(async () => {
    world.health.stop();
    feed.stop();
    agent.destroy();
    await dashboard.close(AbortSignal.abort());
  });
  return {
    ...world,
    dashboard,
    port,
    denied,
    state,
    done,
    visitors,
    feed,
    journal,
    certificate: () => pair.cert,
    /** Asks over a connection of its own, TLS verified. */
    ask: (question: Ask) => ask(port, pair.cert, question),
    /** Calls an operation as a browser that is signed in does, over connections that are kept. */
    call: (name: string, { headers, ...rest }: Partial<Ask> = {}) =>
      ask(
        port,
        pair.cert,
        {
          path: `/api/call/${name}`,
          method: 'POST',
          body: '{}',
          ...rest,
          headers: headers ?? asBrowser(port),
        },
        agent,
      ),
    /** What a browser sends with a call. */
    asBrowser: (role: (typeof ROLES)[number] = 'admin') => asBrowser(port, role),
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

function asBrowser(port: number, role: (typeof ROLES)[number] = 'admin'): Record<string, string> {
  return {
    'content-type': 'application/json',
    origin: `https://127.0.0.1:${port}`,
    'sec-fetch-site': 'same-origin',
    cookie: cookieOf(role),
  };
}

function ask(
  port: number,
  ca: string,
  { path, method = 'GET', headers = {}, plain = false, body }: Ask,
  agent: Agent | false = false,
): Promise<Answer> {
  const common = { host: '127.0.0.1', port, path, method, agent, headers };
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
    request.end(body);
  });
}
