import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { DevPlan } from '../app/dev.ts';
import type { BoundPorts } from '../app/ports.ts';
import { makeDataDirectory } from '../control/layout.ts';
import { version } from '../lib/command.ts';
import { generateSecret, inspectSecret } from '../lib/id.ts';
import { isLoopback } from '../lib/network.ts';
import { type CommonOptions, type Context, command } from './context.ts';
import { startServer, toldToStop } from './serve.ts';
import { Exit, terminalJsonLine } from './terminal.ts';

interface DevOptions extends CommonOptions {
  readonly host?: string;
}

/** `waybill dev`: a server for one's own machine that captures everything, until it is told to stop. */
export function devCommand(context: Context): Command {
  return command(
    'dev',
    'run a server on your own machine that captures all mail',
    [
      'waybill dev',
      'waybill dev --data ~/.waybill-dev  # keep what it captures',
      'waybill dev --json  # for scripts: prints where it listens, and the key, as one line of JSON',
    ],
    'data directory to keep (default: a temporary one, removed at the end)',
  )
    .option('--host <address>', 'loopback address to listen on (default: 127.0.0.1 and ::1)', loopbackAddress)
    .action(async (options: DevOptions) => {
      const told = toldToStop(['SIGTERM', 'SIGINT', 'SIGHUP']);
      const place = placeOf(options.data, context);
      try {
        await run(options, place, told, context);
      } finally {
        if (place.isTemporary) rmSync(place.dataDir, { recursive: true, force: true });
      }
    });
}

function loopbackAddress(text: string): string {
  if (isLoopback(text)) return text;
  throw new InvalidArgumentError(
    'It must be a loopback address, such as 127.0.0.1: the dashboard asks nobody for a password. To serve other machines, use waybill serve.',
  );
}

async function run(options: DevOptions, place: Place, told: Promise<0>, context: Context): Promise<void> {
  const { dataDir, secret } = place;
  const { planDev } = await import('../app/dev.ts');
  const { terminal } = context;
  const { environment, hosts, preferredPorts } = await planDev(terminal.environment, options.host ?? null);
  const app = await startServer(
    {
      dataDir,
      configFile: options.config,
      environment,
      logFormat: options.json ? 'json' : 'text',
      dev: { secret, preferredPorts },
    },
    context,
  );
  const access = accessOf(place, hosts, app.ports());
  terminal.out(options.json ? terminalJsonLine(access) : textOf(access));
  const status = await Promise.race([told, app.failed]);
  if (status !== 0) throw new Exit(status, 'The machine failed; the lines above say why.');
  await app.stop();
}

/** Where it keeps everything. */
interface Place {
  readonly dataDir: string;
  readonly isTemporary: boolean;
  /** The test key's. */
  readonly secret: string;
}

/** The file of the test key's secret; a directory without it is no directory of this command. */
const KEY_FILE = 'dev.key';

/**
 * The directory, with a secret in it. Throws `Exit` for one that belongs to something else: mail that waits in an
 * installation would be captured.
 */
function placeOf(given: string | undefined, { random }: Context): Place {
  const isTemporary = given === undefined;
  const dataDir = isTemporary ? mkdtempSync(join(tmpdir(), 'waybill-dev-')) : resolve(given);
  makeDataDirectory(dataDir);
  const file = join(dataDir, KEY_FILE);
  if (existsSync(file)) {
    const secret = readFileSync(file, 'utf8').trim();
    if (inspectSecret(secret) !== 'well_formed')
      throw new Exit(1, `${file} does not contain a key. Empty the directory, or name another one.`);
    return { dataDir, isTemporary, secret };
  }
  if (readdirSync(dataDir).length > 0)
    throw new Exit(
      1,
      `${dataDir} is not a directory of waybill dev, which would capture any mail that waits there. Name an empty directory, or leave out --data.`,
    );
  const secret = generateSecret(random, 'test');
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return { dataDir, isTemporary, secret };
}

/** What a script needs to use it. */
interface Access {
  readonly version: string;
  readonly dashboard: string | null;
  readonly api: string | null;
  readonly smtp: { readonly host: string; readonly port: number } | null;
  readonly key: string;
  readonly data: string;
  /** The data directory is removed at the end. */
  readonly temporary: boolean;
}

function accessOf(
  { dataDir, isTemporary, secret }: Place,
  hosts: DevPlan['hosts'],
  ports: BoundPorts,
): Access {
  const { api, webui, smtp } = ports;
  const [smtpPort] = smtp;
  const urlOf = (host: string, port: number | null) =>
    port === null ? null : `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    version: version(),
    dashboard: urlOf(hosts.webui, webui),
    api: urlOf(hosts.api, api),
    smtp: smtpPort === undefined ? null : { host: hosts.smtp, port: smtpPort },
    key: secret,
    data: dataDir,
    temporary: isTemporary,
  };
}

function textOf({ version, dashboard, api, smtp, key, data, temporary }: Access): string {
  const show = (name: string, value: string | null) => `  ${name.padEnd(13)}${value ?? 'off'}`;
  return [
    `Waybill ${version} for your own machine: it captures all mail; nothing is sent.`,
    '',
    show('Dashboard', dashboard),
    show('API', api),
    show('Mailpit API', api && `${api}/mailpit, without a password`),
    show('SMTP', smtp && `smtp://${smtp.host}:${smtp.port}, without signing in`),
    show('Test key', key),
    show('Data', temporary ? `${data}, removed at the end` : data),
    '',
    ...(api === null ? [] : firstSteps(api, key)),
    'Mail to bounce@shop.test bounces; docs/test-outcomes.md has the other addresses. Press Ctrl-C to stop.',
  ].join('\n');
}

function firstSteps(api: string, key: string): string[] {
  const message = '{"from":"me@example.com","to":["you@example.com"],"subject":"Hello","text":"It works."}';
  return [
    'Send a message, and look at it in the dashboard:',
    '',
    `  curl -s ${api}/api/v1/messages -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${message}'`,
    '',
    'Let your tests read what your application sends (docs/testing.md):',
    '',
    `  export WAYBILL_URL=${api} WAYBILL_TEST_KEY=${key}`,
    '',
  ];
}
