/** HTTP clients in use, pointed at an SMTP port by mistake or by a health check: always 404 (contract §1). */
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import { describeWith, locate } from '../peers/need.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const peer = (name: string) => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));
/** Each of the four asks all of {@link REQUESTS} of both ports this often: together more than 1,000 times. */
const ROUNDS = 20;
/** As in `http_clients.py` and `http_fetch.mjs`. */
const REQUESTS: readonly (readonly string[])[] = [
  ['url = /health'],
  ['url = /metrics'],
  ['url = /health', 'head'],
  ['url = /api/v1/messages', 'data-binary = @body'],
  ['url = /api/v1/messages/1', 'request = DELETE'],
  ['url = /', 'request = OPTIONS'],
  ['url = /pot', 'request = BREW'],
];
const ANSWERS = ROUNDS * REQUESTS.length * 2;
const TIMEOUT = { timeout: 180_000 };

let service: SmtpService;
let busy: { readonly end: () => Promise<void> };

/**
 * So long that no client is late because the machine has other work. That what has arrived in time wins over a greeting
 * that is due, however busy the loop is, is held in `test/protocol/smtp-listener`.
 */
const PATIENT = 'greet_delay_ms: 3000, first_contact_delay_ms: 3000, max_messages_per_connection: 100000000';

beforeAll(async () => {
  service = await startSmtpService(PATIENT);
  busy = keepBusy(service.port);
  await vi.waitFor(isBusy, { timeout: 60_000, interval: 100 });
}, 60_000);
afterAll(async () => {
  await busy.end();
  await service.stop();
});

/** Keeps the server's loop at work, with as many messages as it takes, until it is told to end. */
function keepBusy(port: number) {
  const program = locate('smtp-source');
  if (program === null) return { end: async () => {} };
  const args = [
    '-d',
    '-s',
    '20',
    '-m',
    '100000000',
    '-l',
    '5000',
    '-t',
    'to@example.net',
    `127.0.0.1:${port}`,
  ];
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const end = async () => {
    child.kill('SIGTERM');
    expect(await ended, 'smtp-source was at work to the end').toBe('SIGTERM');
  };
  return { end };
}

async function isBusy(): Promise<void> {
  const page = unwrap(await service.reader.api.listPage({ all: true, limit: 1 }));
  expect(page.messages).toHaveLength(1);
}

/** Runs a client in the service's directory; the lines it printed. */
function run(program: string, ...args: readonly string[]): Promise<string[]> {
  const { ca, installation } = service;
  const options = { cwd: installation.dataDir, env: { ...process.env, NODE_EXTRA_CA_CERTS: ca } };
  return new Promise((resolve) => {
    execFile(program, args, options, (_, stdout) => resolve(stdout.replace(/\n$/, '').split('\n')));
  });
}

function urls(): string[] {
  return [`http://localhost:${service.port}`, `https://localhost:${service.tlsPort}`];
}

/** How often each line is there. */
function counted(lines: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}

describeWith(['smtp-source', 'curl'], 'curl', () => {
  test(`sees ${ANSWERS} times 404`, TIMEOUT, async () => {
    const { dataDir } = service.installation;
    writeFileSync(join(dataDir, 'body'), Buffer.alloc(100_000, 'x'));
    const always = [`cacert = ${service.ca}`, 'output = /dev/null'];
    const told = 'write-out = "HTTP/%{http_version} %{response_code} %{errormsg}\\n"';
    const requests = urls().flatMap((url) =>
      REQUESTS.map(([target = '', ...more]) => [target.replace('/', `${url}/`), ...more, ...always, told]),
    );
    const each = Array.from({ length: ROUNDS }, () => requests.map((lines) => lines.join('\n'))).flat();
    writeFileSync(join(dataDir, 'curlrc'), each.join('\nnext\n'));
    const lines = await run('curl', '-sS', '--parallel', '--parallel-max', '4', '-K', 'curlrc');
    expect(counted(lines)).toEqual({ 'HTTP/1.1 404 ': ANSWERS });
  });
});

describeWith(['smtp-source'], 'fetch', () => {
  test(`sees ${ANSWERS} times 404`, TIMEOUT, async () => {
    const lines = await run(process.execPath, peer('http_fetch.mjs'), String(ROUNDS), ...urls());
    expect(counted(lines)).toEqual({ '404 Not Found': ANSWERS });
  });
});

describeWith(['smtp-source', 'python3'], 'http.client and urllib', () => {
  test(`see ${ANSWERS} times 404 each`, TIMEOUT, async () => {
    const lines = await run('python3', peer('http_clients.py'), service.ca, String(ROUNDS), ...urls());
    expect(counted(lines)).toEqual({ 'HTTP/1.1 404 Not Found': 2 * ANSWERS });
  });
});
