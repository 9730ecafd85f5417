import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createControlClient } from '../../src/control/client.ts';
import type { EventsKept } from '../../src/domain/event.ts';
import type { Operations } from '../../src/operations/table.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import type { Poster, Relay, SystemOptions, TakerOptions } from './system.ts';
import { until } from './wait.ts';

/** Waybill while it runs. */
export interface Waybill extends Relay, Poster {
  /** Of the dashboard, with the metrics. */
  readonly webuiPort: number;
  /** What the command line can do. */
  readonly operations: Pick<Operations, 'addDomain' | 'resetPassword' | 'createKey'>;
}

const LAUNCHER = fileURLToPath(new URL('../../waybill', import.meta.url));

/** No ports but ephemeral ones, and no limit on how much one client may send, over how many connections. */
const ENVIRONMENT = {
  WAYBILL_API__PORT: '0',
  WAYBILL_WEBUI__PORT: '0',
  WAYBILL_LISTENER__PORTS: '[0]',
  WAYBILL_API__RATE_LIMIT_PER_KEY: '0',
  WAYBILL_LISTENER__MAX_CONNECTIONS_PER_SOURCE: '10000',
};
const OVER_TLS = { WAYBILL_API__TLS_ENABLED: 'true', WAYBILL_API__TLS_PORT: '0' };
const PATH = '/api/v1/messages';
const SCOPES = ['messages:send', 'messages:read', 'messages:read_all'].flatMap((scope) => ['--scope', scope]);

/**
 * Starts `./waybill serve` with everything relayed to `relayPort` over at most 20 connections, as Postfix does; over the
 * PostgreSQL at `databaseUrl`, if there is one; taking mail on so many threads, and keeping those events, if that is said.
 */
export function startWaybill(
  options: TakerOptions & {
    readonly databaseUrl?: string;
    readonly threads?: number;
    readonly eventsKept?: EventsKept;
    /** Days that the log of requests is kept. */
    readonly requestsDays?: number;
    /** Contents are encrypted at rest. */
    readonly encryptContents?: boolean;
  },
): Promise<Waybill> {
  const { relayPort, databaseUrl, threads = 1 } = options;
  const { eventsKept = 'all', requestsDays = 3, encryptContents = false } = options;
  const database = databaseUrl === undefined ? '' : `database: { url: '${databaseUrl}' }\n`;
  const taking = threads === 1 ? '' : `threads: { ingest: ${threads} }\n`;
  const events = `events: { keep: ${eventsKept} }\nretention: { requests_days: ${requestsDays} }\n`;
  const secrets = `secrets: { encrypt_contents: ${encryptContents} }\n`;
  const yaml = `${configuration(relayPort)}${database}${taking}${events}${secrets}`;
  return startConfigured(options, yaml, ['out']);
}

/**
 * Starts it with a configuration of one's own; `held`: the relays that {@link Waybill.hold} holds; `under`: the command
 * that it is run by, with its arguments.
 */
export async function startConfigured(
  options: SystemOptions & Pick<TakerOptions, 'tls'>,
  yaml: string,
  held: readonly string[],
  under: readonly string[] = [],
): Promise<Waybill> {
  const data = path.join(options.directory, 'data');
  const trace = path.join(options.directory, 'flushes.trace');
  await mkdir(data, { mode: 0o700, recursive: true });
  await writeFile(path.join(data, 'waybill.yaml'), yaml);
  const serve = [...under, LAUNCHER, 'serve', '--data', data];
  const child = await startChild(options.trace ? traced(serve, trace) : serve, {
    log: path.join(options.directory, 'waybill.log'),
    env: { ...ENVIRONMENT, ...(options.tls ? OVER_TLS : {}) },
  });
  let ended = false;
  child.ended.then(
    () => {
      ended = true;
    },
    () => {},
  );
  const { api, apiTls, webui, smtp } = await until('Waybill to start', 60, () => {
    if (ended) throw new Error(`Waybill did not start:\n${child.output()}`);
    return portsOf(path.join(data, 'runtime.json'));
  });
  const { stdout } = await promisify(execFile)(
    LAUNCHER,
    ['keys', 'create', `bench-${path.basename(options.directory)}`, '--quiet', '--data', data, ...SCOPES],
    { env: { ...process.env, ...ENVIRONMENT } },
  );
  const operations = createControlClient(data);
  const holdAll = async (kind: 'pause' | null): Promise<void> => {
    for (const target of held) await operations.hold({ target, kind });
  };
  return {
    hold: () => holdAll('pause'),
    release: () => holdAll(null),
    // It asks an ill hop again by itself, after half a minute at most.
    flush: () => Promise.resolve(),
    httpPort: apiTls ?? api,
    paths: { json: PATH, multipart: PATH },
    webuiPort: webui,
    operations,
    smtpPort: smtp[0] ?? Number.NaN,
    key: stdout.trim(),
    usage: () => usageOf(child.pid),
    flushes: () => (options.trace ? countFlushes(trace) : Number.NaN),
    stop: () => child.kill(),
  };
}

function configuration(relayPort: number): string {
  return `delivery: { default_relay: out }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, port: ${relayPort}, tls: none, max_concurrency: 20 }
`;
}

/** Plain ports as the server writes them when all of them are bound. */
interface Ports {
  readonly api: number;
  readonly apiTls: number | null;
  readonly webui: number;
  readonly smtp: readonly number[];
}

function portsOf(runtimeFile: string): Ports | null {
  return existsSync(runtimeFile) ? (JSON.parse(readFileSync(runtimeFile, 'utf8')) as Ports) : null;
}
