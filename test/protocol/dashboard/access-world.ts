/** A dashboard that people sign in to, over TLS, with a store of its own and a clock that stands still. */
import { request } from 'node:https';
import { onTestFinished } from 'vitest';
import type { IdentityProvider } from '../../../src/accounts/identity-provider.ts';
import { Passwords } from '../../../src/accounts/passwords.ts';
import { createReception, type Reception, type SecretBox } from '../../../src/accounts/reception.ts';
import { createSavedViews } from '../../../src/accounts/saved-views.ts';
import { linkPath, makeLink } from '../../../src/accounts/sign-in.ts';
import { createVault } from '../../../src/config/secrets.ts';
import { accountOperations } from '../../../src/control/accounts.ts';
import { sharingOperations } from '../../../src/control/sharing.ts';
import type { SessionCalls, SessionView } from '../../../src/dashboard/contract.ts';
import { createSharedStories } from '../../../src/dashboard/shared-stories.ts';
import { createVisitors } from '../../../src/dashboard/visitors.ts';
import type { Role } from '../../../src/domain/account.ts';
import { RateLimiter } from '../../../src/ingest/rate.ts';
import { seededRandom, systemRandom } from '../../../src/lib/random.ts';
import { Events } from '../../../src/observe/events.ts';
import { OperationError } from '../../../src/operations/call.ts';
import type { JournalEntry } from '../../../src/store/journal.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import { inShape } from '../../support/in-shape.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingIntake } from '../../support/recording-intake.ts';
import { type Answer, cidrs, startDashboard } from '../ops/dashboard-server.ts';
import { PREVIEW, storyOf } from './shared-story.ts';

/** The password of everybody in these tests who has one. */
export const PASSWORD = 'correct horse battery';
/** Argon2id at a cost that tests can bear. */
const CHEAP = { memoryKib: 64, passes: 1, lanes: 1 };
export const MINUTE = 60_000;
const INSTANCE = 'abc123';

/** What a browser gets for a call, or is refused with. */
export interface Reply<Body> {
  readonly status: number;
  readonly headers: Answer['headers'];
  /** Of a refusal: the problem. */
  readonly body: Body & { readonly code: string; readonly detail: string };
}

/** Starts one for the test that calls it, at that time. Proxies on 127.0.0.1 are trusted, so that browsers come from anywhere. */
export async function startAccess(epoch?: number) {
  const clock = new ManualClock(epoch);
  const { accounts, journal, sharing, store, views } = openSqlite(':memory:');
  const logged: { readonly event: string; readonly fields: object | undefined }[] = [];
  const write = (event: string, fields?: object) => void logged.push({ event, fields });
  const state = {
    limits: { idleMs: 480 * MINUTE, maxMs: 168 * 60 * MINUTE, perUser: 3 },
    box: createVault(new Uint8Array(32), systemRandom) as SecretBox | null,
    hosts: [] as string[],
    /** Most views that a user saves. */
    views: 3,
    /** Most days that a link to a story lasts. */
    linkDays: 30,
    /** Where the identity provider returns to. */
    publicUrl: null as string | null,
    /** The sender of invitations. */
    invitationFrom: null as string | null,
    provider: null as IdentityProvider | null,
  };
  const reception = createReception({
    accounts,
    journal,
    clock,
    random: systemRandom,
    log: { debug: write, info: write, warn: write, error: write },
    box: () => state.box,
    limits: () => state.limits,
    provider: () => state.provider,
    passwords: new Passwords(seededRandom(1), CHEAP),
  });
  const events = new Events();
  const signIns: string[] = [];
  events.on((event) => {
    if (event.type === 'signed_in') signIns.push(`${event.way} ${event.result}`);
  });
  const stories = createSharedStories({
    reception,
    sharing,
    operations: inShape({
      messageStory: async ({ id }) => {
        if ((await views.message(id)) === null) throw new OperationError('not_found', 'There is none.');
        return storyOf(id);
      },
      messagePreview: async () => PREVIEW,
    }),
    document: async (id, { isDark }) => ({ html: `${id} ${isDark ? 'dark' : 'light'}`, policy: 'sandbox' }),
    readings: new RateLimiter({ maxWindows: 100 }),
    maxDays: () => state.linkDays,
  });
  const visitors = createVisitors({
    reception,
    events,
    resident: null,
    version: '1.0.0',
    instance: INSTANCE,
    trustedProxies: () => cidrs('127.0.0.0/8'),
    idleMs: () => state.limits.idleMs,
    pointers: (host) => ({ apiUrl: `http://${host}:8025`, smtp: { host, port: 2525 } }),
    firstSteps: {
      read: async () => ({ skipped: false, hasKey: false, hasMessage: false, hasRelay: false }),
      skip: async () => {},
    },
    stories,
    savedViews: createSavedViews({ sharing, clock, random: systemRandom, max: () => state.views }),
    isClaimed: async () => (await accounts.users(clock.wall())).some((user) => user.passwordHash !== null),
    hasPasskey: (host) => accounts.hasPasskey(host),
    allowHost: async (host) => !host.startsWith('127.') && state.hosts.push(host) > 0,
  });
  // Its server is off, so that no port need be known.
  const resolution = () => ({
    config: {
      server: { hostname: 'mail.example.com' },
      signIn: { oidc: { publicUrl: state.publicUrl } },
      webui: {
        allowedHosts: state.hosts,
        port: 0,
        storyLinkMaxDays: state.linkDays,
        invitationFrom: state.invitationFrom,
      },
    },
  });
  // Of the configuration, it needs no more than this.
  const intake = new RecordingIntake(store, clock);
  const deps = {
    reception,
    running: true,
    dataDir: '/nowhere',
    resolution: resolution as never,
    sharing,
    views,
    intake,
    clock,
    random: systemRandom,
  };
  const dashboard = await startDashboard({
    visitors,
    stories,
    operations: inShape({ ...accountOperations(deps), ...sharingOperations(deps) }),
    settings: {
      trustedProxies: cidrs('127.0.0.0/8'),
      get anyHost() {
        return reception.isLinkOut();
      },
    },
  });
  const keeping = new AbortController();
  const kept = reception.keep(keeping.signal);
  onTestFinished(async () => {
    keeping.abort();
    await kept;
  });
  return {
    clock,
    reception,
    accounts,
    sharing,
    store,
    views,
    intake,
    state,
    logged,
    /** How sign-ins have ended so far, as they are counted. */
    signIns,
    dashboard,
    /** Somebody's browser, without cookies. */
    browser: (source = '192.0.2.7') => new Browser(dashboard.port, dashboard.certificate(), source),
    /** The token of a new set-up link. */
    link: async (name: string | null) => linkPath(await makeLink(reception, name)).replace('/setup#', ''),
    addUser: (name: string, role: Role = 'admin') => addUser(reception, name, role),
    journal: async (): Promise<readonly JournalEntry[]> =>
      (await journal.entries({ actor: null, action: null, subject: null, limit: 200, before: null })).entries,
  };
}

async function addUser({ accounts, passwords, clock }: Reception, name: string, role: Role): Promise<void> {
  const hash = await passwords.hash(PASSWORD);
  if (await accounts.claimFirst(name, hash, clock.wall())) {
    await accounts.changeUser(name, { role, disabled: null });
    return;
  }
  await accounts.addUser({ name, role, createdAt: clock.wall() });
  await accounts.setPassword(name, { hash, expected: null, keep: null });
}

/** A browser, as far as cookies go. */
export class Browser {
  readonly #port: number;
  readonly #ca: string;
  readonly #source: string;
  /** The cookie of its session: name and value. */
  cookie: string | null = null;
  /** That of a sign-in that it began with an identity provider. */
  kept: string | null = null;
  /** The host it knows us by, port included. */
  host: string;

  constructor(port: number, ca: string, source: string) {
    this.#port = port;
    this.#ca = ca;
    this.#source = source;
    this.host = `127.0.0.1:${port}`;
  }

  /** Makes one of the calls of the session. */
  call<Name extends keyof SessionCalls>(
    name: Name,
    body: SessionCalls[Name]['request'],
  ): Promise<Reply<SessionCalls[Name]['answer']>> {
    return this.#ask('POST', `/api/session/${name}`, body);
  }

  /** Makes one of them with a request whose shape may be wrong. */
  raw(name: keyof SessionCalls, body: object): Promise<Reply<object>> {
    return this.#ask('POST', `/api/session/${name}`, body);
  }

  /** Who it is taken for. */
  session(headers: Readonly<Record<string, string>> = {}): Promise<Reply<SessionView>> {
    return this.#ask('GET', '/api/session', undefined, headers);
  }

  /** Asks for an operation. */
  operation<Body>(name: string, body: object, headers = {}): Promise<Reply<Body>> {
    return this.#ask('POST', `/api/call/${name}`, body, headers);
  }

  /** Signs in by name and password. */
  logIn(name: string, password = PASSWORD): Promise<Reply<SessionView>> {
    return this.call('login', { name, password });
  }

  /** Opens the stream of events: resolves once it is there; the promise in it, once it is closed by the server. */
  async events(): Promise<{ readonly closed: Promise<void> }> {
    const asked = request(this.#options('GET', '/api/events', {}));
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    asked.on('response', (response) => {
      response.on('data', () => opened.resolve());
      response.on('close', () => closed.resolve());
      response.on('error', () => closed.resolve());
    });
    asked.on('error', () => closed.resolve()).end();
    onTestFinished(() => void asked.destroy());
    await opened.promise;
    return { closed: closed.promise };
  }

  #options(method: string, path: string, headers: Readonly<Record<string, string>>) {
    return {
      host: '127.0.0.1',
      port: this.#port,
      method,
      path,
      ca: this.#ca,
      servername: 'localhost',
      agent: false,
      headers: {
        host: this.host,
        origin: `https://${this.host}`,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
        'user-agent': 'Test/1',
        'x-forwarded-for': this.#source,
        ...cookies([this.cookie, this.kept]),
        ...headers,
      },
    };
  }

  #ask<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply<Body>> {
    return new Promise((resolve, reject) => {
      const asked = request(this.#options(method, path, headers), (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () => {
          for (const given of response.headers['set-cookie'] ?? []) {
            const pair = /Max-Age=0/.test(given) ? null : (given.split(';')[0] ?? null);
            if (given.includes('-leaving=')) this.kept = pair;
            else this.cookie = pair;
          }
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
        });
      });
      asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

function cookies(given: readonly (string | null)[]): { readonly cookie?: string } {
  const kept = given.filter((pair) => pair !== null);
  return kept.length === 0 ? {} : { cookie: kept.join('; ') };
}
