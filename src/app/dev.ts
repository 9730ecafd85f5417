import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Found } from '../accounts/sessions.ts';
import type { Fault } from '../config/fault.ts';
import type { Config, SettingKey } from '../config/schema.ts';
import { SETTINGS } from '../config/settings.ts';
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
  /** The settings of ports that nobody asked for: if one is taken meanwhile, any other does. */
  readonly preferredPorts: ReadonlySet<SettingKey>;
}

/** Who may use it without signing in. */
export interface DevAccess extends Pick<DevMode, 'preferredPorts'> {
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
  { secret, preferredPorts }: DevMode,
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
  return { key, resident: residentSince(now), preferredPorts };
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
    recordDays: null,
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
      provider: null,
      passwordHash: null,
      lastSignInAt: null,
      secondFactor: null,
      recoveryCodesLeft: 0,
      passkeys: 0,
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

/** The rule for the addresses. */
const LOOPBACK_RULE =
  'must be a loopback address, such as 127.0.0.1: the dashboard of waybill dev asks nobody for a password. To serve other machines, use waybill serve';

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

/** The variables of a section that listens. */
const SECTIONS = {
  api: { bind: 'WAYBILL_API__BIND', port: 'WAYBILL_API__PORT', key: 'api.port' },
  webui: { bind: 'WAYBILL_WEBUI__BIND', port: 'WAYBILL_WEBUI__PORT', key: 'webui.port' },
  smtp: { bind: 'WAYBILL_LISTENER__BIND', port: 'WAYBILL_LISTENER__PORTS', key: 'listener.ports' },
} as const satisfies Record<string, { bind: string; port: string; key: SettingKey }>;

/** Reads the variable `bind` of each of them. */
const BIND = SETTINGS['webui.bind'].kind;

/** What such a server is started with. */
export interface DevPlan extends Pick<DevMode, 'preferredPorts'> {
  readonly environment: Record<string, string | undefined>;
  /** The host by which each section is reached. */
  readonly hosts: Readonly<Record<keyof typeof SECTIONS, string>>;
}

/**
 * Plans such a server: as the developer's environment says, and otherwise as suits a laptop. A host that is asked for
 * counts more than the environment; null asks for none.
 */
export async function planDev(
  environment: Readonly<Record<string, string | undefined>>,
  host: string | null,
  wanted: PreferredPorts = PREFERRED,
): Promise<DevPlan> {
  const usual = loopbackHosts();
  const preferredPorts = new Set<SettingKey>();
  const place = async (section: keyof typeof SECTIONS) => {
    const { bind, port, key } = SECTIONS[section];
    const said = environment[bind];
    const hosts =
      host === null ? (said === undefined ? usual : (BIND.read(BIND.fromText(said)) ?? [])) : [host];
    if (environment[port] === undefined) preferredPorts.add(key);
    return {
      shown: usual.every((one) => hosts.includes(one)) ? 'localhost' : (hosts[0] ?? ''),
      variables: {
        [bind]: host === null && said !== undefined ? said : hosts.join(','),
        [port]: environment[port] ?? String(await freePort(hosts, wanted[section])),
      },
    };
  };
  const [api, webui, smtp] = await Promise.all([place('api'), place('webui'), place('smtp')]);
  return {
    preferredPorts,
    hosts: { api: api.shown, webui: webui.shown, smtp: smtp.shown },
    environment: {
      WAYBILL_API__RATE_LIMIT_PER_KEY: '0',
      WAYBILL_LISTENER__RATE_LIMIT_PER_SOURCE: '0',
      WAYBILL_LISTENER__ALLOW_INSECURE_AUTH: 'true',
      WAYBILL_LISTENER__FIRST_CONTACT_DELAY_MS: '0',
      WAYBILL_WEBHOOKS__PRIVATE_URLS: '*',
      WAYBILL_SHUTDOWN__GRACE_SECONDS: '2',
      WAYBILL_LOG__LEVEL: 'warn',
      ...environment,
      ...api.variables,
      ...webui.variables,
      ...smtp.variables,
      // It works on nothing that a variable of the same shell may be about.
      WAYBILL_DATA: undefined,
      WAYBILL_CONFIG: undefined,
      WAYBILL_THREADS__INGEST: '1',
    },
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
