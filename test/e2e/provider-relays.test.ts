/** Relays that speak to a provider's API, from the command that adds one to the provider's id of the message. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type ApiAct, type ApiRequest, answerJson, ProviderApi } from '../peers/provider-api.ts';
import type { Installation } from '../peers/server.ts';
import { type Service, startService } from './service.ts';

const SECRET = 'pm-server-token-1f0c8e';
const MESSAGE_ID = '0a129aee-e1cd-480d-b08d-4f48548ff48d';
const LETTER = { from: 'a@example.org', to: ['b@example.net'], subject: 'Hello', text: 'It works.' };

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
delivery: { retry_first_seconds: 1, private_relays: [pm] }
`;

/** A Postmark that knows one token. */
function postmark({ path, headers }: ApiRequest): ApiAct {
  if (headers['x-postmark-server-token'] !== SECRET)
    return answerJson(401, { ErrorCode: 10, Message: 'The Server Token you provided was invalid.' });
  if (path === '/server') return answerJson(200, { ID: 1, Name: 'Production' });
  return answerJson(200, { To: 'b@example.net', MessageID: MESSAGE_ID, ErrorCode: 0, Message: 'OK' });
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command that reads its standard input. */
async function runWith(
  input: string,
  installation: Installation,
  ...args: readonly string[]
): Promise<Ended> {
  const child = installation.spawn(...args);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stdout, stderr };
}

async function started(): Promise<Service> {
  const service = await startService(CONFIGURATION);
  onTestFinished(() => service.stop());
  return service;
}

/** What a relay is described by that speaks to the peer. */
const described = ({ url }: ProviderApi) => ['--type', 'postmark', '--endpoint', url, '--secret-file', '-'];

/** Every byte that the server keeps, the write-ahead log included. */
function storedBytes({ dataDir }: Installation): Map<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const kept = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return new Map(kept.map((path) => [path, readFileSync(path, 'latin1')]));
}

test('a relay added by command delivers, tells the id of the provider, and shows its secret to nobody', async () => {
  const api = await ProviderApi.start({ answer: postmark });
  const service = await started();
  const { installation } = service;
  const added = await runWith(
    `${SECRET}\n`,
    installation,
    'relays',
    'add',
    'pm',
    ...described(api),
    '--default',
  );
  expect(added).toMatchObject({ code: 0, stderr: '' });
  const tried = await installation.run('relays', 'test', 'pm');
  expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining('Production')]);

  const id = await service.client.send(LETTER);
  expect(await service.client.end(id)).toMatchObject({ status: 'delivered' });
  const delivered = api.requests.find(({ path }) => path === '/email');
  expect(delivered?.headers['x-postmark-server-token']).toBe(SECRET);
  const shown = await installation.run('messages', 'show', id);
  expect(shown.stdout).toContain(MESSAGE_ID);
  const attempts = await (await service.client.get(`/${id}/attempts`)).text();
  expect(attempts).toContain(MESSAGE_ID);

  const told = [added, tried, shown, { stdout: attempts, stderr: service.server.output }];
  for (const command of [
    ['relays', 'list'],
    ['relays', 'list', '--json'],
    ['config'],
    ['config', '--json'],
    ['doctor'],
  ])
    told.push(await installation.run(...command));
  for (const { stdout, stderr } of told) expect(stdout + stderr).not.toContain(SECRET);
  const stored = storedBytes(installation);
  expect([...stored.keys()].filter((path) => /waybill\.db(-wal)?$/.test(path))).toHaveLength(2);
  expect([...stored.values()].join('')).toContain('"type":"postmark"');
  for (const [path, bytes] of stored) expect(bytes.includes(SECRET), path).toBe(false);
});

test('the steps of a test are shown while it runs, of a relay that is not stored, too', async () => {
  const api = await ProviderApi.start({ answer: postmark });
  const { installation } = await started();
  const answered = Promise.withResolvers<void>();
  api.script.push({ ...answerJson(200, { ID: 1, Name: 'Production' }), after: answered.promise });
  const child = installation.spawn('relays', 'test', 'pm', ...described(api), '--json');
  child.stdin.end(SECRET);
  const lines: string[] = [];
  let rest = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    // Only now the provider answers: a step that waited for the answer would never come.
    answered.resolve();
  }
  const [first, ...others] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ ok: true, detail: expect.any(String) });
  expect(others.at(-1)).toEqual({ ok: true, steps: [first, ...others.slice(0, -1)] });
  expect((await installation.run('relays', 'list')).stdout).not.toContain('pm');
});

test('who goes away ends the test', async () => {
  const api = await ProviderApi.start({ answer: postmark });
  const { installation } = await started();
  api.script.push({ kind: 'hang', when: 'body' });
  const child = installation.spawn('relays', 'test', 'pm', ...described(api));
  child.stdin.end(SECRET);
  await api.until(1);
  child.kill('SIGKILL');
  await api.untilClosed(1);
});

test('a wrong secret is told in the words of the provider, and fails no mail', async () => {
  const api = await ProviderApi.start({ answer: postmark });
  const service = await started();
  const { installation } = service;
  const wrong = `${SECRET}-wrong`;
  await runWith(wrong, installation, 'relays', 'add', 'pm', ...described(api), '--default');
  const tried = await installation.run('relays', 'test', 'pm');
  expect([tried.code, tried.stdout]).toEqual([1, expect.stringMatching(/failed.*invalid/)]);
  const asJson = await installation.run('relays', 'test', 'pm', '--json');
  expect(JSON.parse(asJson.stdout.trim().split('\n').at(-1) ?? '').steps.at(-1)).toMatchObject({
    name: 'CHECK',
    ok: false,
    code: 'provider_10',
  });
  const doctor = await installation.run('doctor');
  expect(doctor.stdout).toContain('waybill relays test pm');
  const id = await service.client.send(LETTER);
  await service.client.until(id, 'retrying');
  for (const output of [tried.stdout, tried.stderr, doctor.stdout, service.server.output])
    expect(output).not.toContain(wrong);
});

test('a relay that nobody permitted it does not reach into the network', async () => {
  const api = await ProviderApi.start({ answer: postmark });
  const { installation } = await started();
  const options = [
    '--type',
    'postmark',
    '--endpoint',
    api.url.replace('http:', 'https:'),
    '--secret-file',
    '-',
  ];
  const added = await runWith(SECRET, installation, 'relays', 'add', 'other', ...options, '--default');
  expect([added.code, added.stderr]).toEqual([2, expect.stringContaining('not a public address')]);
  const named = options.map((option) => option.replace('127.0.0.1', 'localhost'));
  const tried = await runWith(SECRET, installation, 'relays', 'test', 'other', ...named);
  expect([tried.code, tried.stdout]).toEqual([1, expect.stringContaining('failed')]);
  expect(api.connections).toBe(0);
});
