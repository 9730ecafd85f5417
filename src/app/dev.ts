import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Found } from '../accounts/sessions.ts';
import type { Fault } from '../config/fault.ts';
import type { Config } from '../config/schema.ts';
import { newKeyId } from '../control/keys.ts';
import { type ApiKey, keyRefusal, SCOPES } from '../domain/key.ts';
import { INBOX } from '../domain/relay.ts';
import type { EngineSettings } from '../engine/contract.ts';
import type { Clock } from '../lib/clock.ts';
import { hashSecret, secretPrefix } from '../lib/id.ts';
import { bindAll, ListenError } from '../lib/listen.ts';
import { isLoopback } from '../lib/network.ts';
import type { Random } from '../lib/random.ts';
import { OperationError } from '../operations/call.ts';
import type { Keyring } from '../store/accounts.ts';

/**
 * A server for one developer's machine (`waybill dev`): it captures everything, whatever the routes say, asks nobody for
 * a password, and is reached from this machine alone.
 */
export interface DevMode {
  /** The secret of the test key that it has, to which mail over SMTP without a key belongs. */
  readonly secret: string;
}

/** Who may use it without signing in. */
export interface DevAccess {
  /** For mail over SMTP without a key. */
  readonly key: ApiKey;
  /** For the dashboard. */
  readonly resident: Found;
}

/** Its key's name, and its user's. */
const KEY_NAME = 'dev';
/** All that a test key can use: it administers nothing, and sees its own mail alone. */
const KEY_SCOPES = SCOPES.filter((scope) => scope !== 'admin' && scope !== 'messages:read_all');

/** Finds or makes the key, and the user of the dashboard. Rejects with `StoreError`, and if the key cannot be had. */
export async function admitDeveloper(
  { secret }: DevMode,
  keyring: Keyring,
  clock: Pick<Clock, 'wall'>,
  random: Random,
): Promise<DevAccess> {
  const now = clock.wall();
  const hash = hashSecret(secret);
  const found = await keyring.findByHash(hash, now);
  const key = found ?? newKey(secret, now, random);
  const isThere = found === null ? await keyring.create(key, hash) : keyRefusal(found, now) === null;
  if (!isThere)
    throw new OperationError(
      'refused',
      `The key ${KEY_NAME} of this directory was revoked or replaced. Name another directory with --data, or none.`,
    );
  return { key, resident: residentSince(now) };
}

function newKey(secret: string, now: number, random: Random): ApiKey {
  return {
    id: newKeyId(random),
    name: KEY_NAME,
    mode: 'test',
    prefix: secretPrefix(secret),
    scopes: KEY_SCOPES,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    rateLimit: 0,
    cidrs: [],
    senderDomains: [],
    contentDays: null,
  };
}

/** A user whom no account stands for, in a session that nothing ends. */
function residentSince(now: number): Found {
  return {
    user: {
      name: KEY_NAME,
      role: 'admin',
      disabled: false,
      createdAt: now,
      passwordHash: null,
      lastSignInAt: null,
      secondFactor: null,
      recoveryCodesLeft: 0,
      sessions: 1,
    },
    session: {
      hash: '',
      id: KEY_NAME,
      user: KEY_NAME,
      stage: 'full',
      createdAt: now,
      lastSeenAt: now,
      expiresAt: Number.MAX_SAFE_INTEGER,
      sourceAddress: '127.0.0.1',
      agent: '',
      offered: null,
    },
  };
}

/** The same settings, but everything is captured. */
export function capturing(settings: () => EngineSettings): () => EngineSettings {
  let last: { readonly given: EngineSettings; readonly made: EngineSettings } | null = null;
  return () => {
    const given = settings();
    if (last?.given !== given) {
      const routing = { ...given.routing, rules: [], defaultRelay: INBOX, postmaster: null };
      last = { given, made: { ...given, routing, reports: { ...given.reports, relay: null } } };
    }
    return last.made;
  };
}

/** Why such a server must not run with this configuration; empty if it may. */
export function devFaults({
  api,
  webui,
  listener,
}: {
  readonly [Section in 'api' | 'webui' | 'listener']: Pick<Config[Section], 'bind'>;
}): Fault[] {
  const sections = Object.entries({ api, webui, listener });
  return sections.flatMap(([section, { bind }]) =>
    bind
      .filter((host) => !isLoopback(host))
      .map((host) => ({ key: `${section}.bind`, value: host, rule: LOOPBACK_RULE, source: 'environment' })),
  );
}

/** The same, of what is known before the store is opened: a database may be one that others use, too. */
export function earlyDevFaults({ database: { url } }: Pick<Config, 'database'>): Fault[] {
  const rule =
    'must not be set: waybill dev would capture the mail that waits there. It keeps everything in a directory of its own';
  return url === '' ? [] : [{ key: 'database.url', value: null, rule, source: 'environment' }];
}

/** Said where another address is asked for. */
const LOOPBACK_RULE =
  'must be a loopback address, such as 127.0.0.1: the dashboard of waybill dev asks nobody for a password. For other machines there is waybill serve';

/** The loopback addresses of this machine. */
export function loopbackHosts(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return ['127.0.0.1', '::1'].filter((host) => own.some(({ address }) => address === host));
}

/** Ports that are tried first, in their order. */
const PREFERRED: PreferredPorts = { api: [8025], webui: [8420], smtp: [2525, 1025] };

interface PreferredPorts {
  readonly api: readonly number[];
  readonly webui: readonly number[];
  readonly smtp: readonly number[];
}

/** The environment of such a server: what the developer's says, and otherwise what suits a laptop. */
export async function devEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  hosts: readonly string[],
  wanted: PreferredPorts = PREFERRED,
): Promise<Record<string, string | undefined>> {
  const bind = hosts.join(',');
  const portOf = async (name: string, preferred: readonly number[]) =>
    environment[name] ?? String(await freePort(hosts, preferred));
  const [api, webui, smtp] = await Promise.all([
    portOf('WAYBILL_API__PORT', wanted.api),
    portOf('WAYBILL_WEBUI__PORT', wanted.webui),
    portOf('WAYBILL_LISTENER__PORTS', wanted.smtp),
  ]);
  return {
    WAYBILL_API__BIND: bind,
    WAYBILL_WEBUI__BIND: bind,
    WAYBILL_LISTENER__BIND: bind,
    WAYBILL_API__RATE_LIMIT_PER_KEY: '0',
    WAYBILL_LISTENER__RATE_LIMIT_PER_SOURCE: '0',
    WAYBILL_LISTENER__ALLOW_INSECURE_AUTH: 'true',
    WAYBILL_LISTENER__FIRST_CONTACT_DELAY_MS: '0',
    WAYBILL_WEBHOOKS__PRIVATE_URLS: '*',
    WAYBILL_SHUTDOWN__GRACE_SECONDS: '2',
    WAYBILL_LOG__LEVEL: 'warn',
    ...environment,
    WAYBILL_API__PORT: api,
    WAYBILL_WEBUI__PORT: webui,
    WAYBILL_LISTENER__PORTS: smtp,
    // It works on nothing that a variable of the same shell may be about.
    WAYBILL_DATA: undefined,
    WAYBILL_CONFIG: undefined,
    WAYBILL_THREADS__INGEST: '1',
  };
}

/** The first of these ports that is free on all hosts; 0, which means any, if none is. */
async function freePort(hosts: readonly string[], preferred: readonly number[]): Promise<number> {
  for (const port of preferred)
    try {
      const { servers } = await bindAll(hosts, port, createServer, () => {});
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      return port;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
    }
  return 0;
}
