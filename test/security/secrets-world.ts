/**
 * The whole service with many secrets, and next hops that say aloud what they were told in confidence. What it and its commands
 * leave behind is kept in `traces`; the secrets are in `book`.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { createControlClient } from '../../src/control/client.ts';
import type { Operations } from '../../src/operations/table.ts';
import { createCertificate } from '../peers/certificate.ts';
import { type ApiRequest, answerJson, type ProviderApi } from '../peers/provider-api.ts';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { SinkEvent } from '../peers/smtp-sink-script.ts';
import { inShape } from '../support/in-shape.ts';
import { SecretBook } from './secret-book.ts';
import { Traces } from './traces.ts';

/** Characters that every way of writing changes. */
const AWKWARD = '+/"&<%41>~\\é';

/** See the file's comment. */
export interface SecretsWorld {
  readonly book: SecretBook;
  readonly traces: Traces;
  /** Where the secrets' own files lie. */
  readonly folder: string;
  readonly installation: Installation;
  /** The server that runs now. */
  server: RunningServer;
  /** Takes mail of those who know the password, and says it aloud in its refusals. */
  readonly hop: SmtpSink;
  readonly provider: ProviderApi;
  readonly operations: Operations;
  /** A new secret of some name. */
  secret(name: string, form?: 'awkward' | 'plain'): string;
  /** The same, in a file: its path. */
  secretFile(name: string): string;
  end(): Promise<void>;
}

/** Starts one whose configuration is told the ports of its peers. `provider` must end with the run, not with a test. */
export async function startSecretsWorld(
  configure: (world: Omit<SecretsWorld, 'server'>) => string,
  provider: ProviderApi,
): Promise<SecretsWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-secrets-'));
  const book = new SecretBook();
  const secret = (name: string, form: 'awkward' | 'plain' = 'awkward') =>
    book.add(name, `${randomBytes(9).toString('hex')}${form === 'awkward' ? AWKWARD : 'xyz'}`);
  const secretFile = (name: string) => {
    const path = join(folder, name.replaceAll(' ', '-'));
    writeFileSync(path, `${secret(name)}\n`, { mode: 0o600 });
    return path;
  };
  const password = secretFile('password of the relay in the file');
  const hop = await startTalkativeHop(readFileSync(password, 'utf8').trim());
  const installation = new Installation('');
  const world = {
    book,
    folder,
    installation,
    hop,
    provider,
    secret,
    secretFile,
    traces: new Traces(),
    operations: inShape(createControlClient(installation.dataDir)),
    end: async () => {
      installation.remove();
      await hop.close();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  installation.configure(configure(world));
  return { ...world, server: await installation.start() };
}

/** A smarthost that repeats in its refusals what it was told, as it came and decoded. */
function startTalkativeHop(password: string): Promise<SmtpSink> {
  const repeat = ({ argument }: SinkEvent) => {
    const [, told = ''] = argument.split(' ');
    const plain = Buffer.from(told, 'base64').toString();
    if (plain.endsWith(`\0${password}`)) return '235 2.7.0 ok';
    return `535 5.7.8 Wrong: ${argument} is ${plain.replaceAll('\0', ' ')}`;
  };
  const refuse = ({ argument, session }: SinkEvent) =>
    argument.includes('nobody@')
      ? `550 5.1.1 No such user; you are ${session.user ?? ''} by ${password} ${Buffer.from(`\0relay-user\0${password}`).toString('base64')}`
      : undefined;
  const certificate = createCertificate({ hosts: ['127.0.0.1'] });
  const users = { nobody: 'never' };
  return startSmtpSink({ tls: 'starttls', certificate, users, script: { AUTH: repeat, RCPT: refuse } });
}

/** What a provider answers that repeats all it was told, decoded too; tokens it gives, and takes back at once. */
export function repeatAloud(token: () => string): (request: ApiRequest) => ReturnType<typeof answerJson> {
  return ({ path, headers, body }) => {
    if (path.includes('/oauth2/'))
      return answerJson(200, { access_token: token(), expires_in: 3600, token_type: 'Bearer' });
    const decoded = Object.values(headers).map((value) =>
      Buffer.from(value.replace(/^\w+ /, ''), 'base64').toString('latin1'),
    );
    const words = JSON.stringify([headers, decoded]);
    const status = path.includes('unwell') ? 503 : 401;
    const answer = {
      ErrorCode: 10,
      Message: words,
      message: words,
      error: { code: 'InvalidAuthenticationToken', message: words },
    };
    return answerJson(
      status,
      { ...answer, sent: body.toString('latin1') },
      { 'x-request-id': words.slice(0, 500).replace(/[^ -~]/g, '') },
    );
  };
}

/** Runs a command, and keeps what it printed. `input` goes to its standard input. */
export async function runCommand(
  world: SecretsWorld,
  args: readonly string[],
  input = '',
  installation = world.installation,
): Promise<string> {
  const child = installation.spawn(...args);
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode === null ? once(child, 'exit') : null,
  ]);
  world.traces.add(`commands: ${args.slice(0, 3).join(' ')}`, stdout + stderr);
  return stdout;
}

/** What the dashboard answered. */
export interface DashboardAnswer {
  readonly status: number;
  /** The cookie that it set: name and value. */
  readonly cookie: string | null;
  readonly body: Buffer;
}

/** Asks the dashboard. What comes is kept, unless it is `confidential`: made to tell the asker a secret, this once. */
export async function askDashboard(
  world: SecretsWorld,
  path: string,
  options: { cookie?: string | null; body?: string | object; confidential?: boolean } = {},
): Promise<DashboardAnswer> {
  const port = world.server.runtime.webui ?? 0;
  const host = `localhost:${port}`;
  const { cookie = null, body } = options;
  const headers = {
    host,
    origin: `https://${host}`,
    'content-type': 'application/json',
    ...(cookie === null ? {} : { cookie }),
  };
  const method = body === undefined ? 'GET' : 'POST';
  const asked = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers,
    agent: false,
    rejectUnauthorized: false,
  });
  asked.end(typeof body === 'object' ? JSON.stringify(body) : body);
  const [response] = await once(asked, 'response');
  const received = await buffer(response);
  const [given = ''] = response.headers['set-cookie'] ?? [];
  if (options.confidential !== true) {
    world.traces.add(`dashboard: ${path}`, received);
    const { 'set-cookie': _theirs, ...rest } = response.headers;
    world.traces.add(`dashboard: header of ${path}`, JSON.stringify(rest));
  }
  return {
    status: response.statusCode,
    cookie: given === '' ? null : (given.split(';')[0] ?? null),
    body: received,
  };
}

/** Asks the API, and keeps what it answers. */
export async function askApi(
  world: SecretsWorld,
  path: string,
  init: RequestInit,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${world.server.api}${path}`, init);
  const body = await response.text();
  world.traces.add(
    `api: ${init.method ?? 'GET'} ${path.split('?')[0]?.slice(0, 40)}`,
    JSON.stringify([...response.headers]) + body,
  );
  return { status: response.status, text: body };
}
