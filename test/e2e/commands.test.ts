/** Every command of the real program, while the server runs and while it does not. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { createCertificate } from '../peers/certificate.ts';
import { type CommandEnd, Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { Client, installed } from './service.ts';

const PASSWORD = 'correct horse battery staple';
const LETTER = ['--from', 'a@example.com', '--to', 'b@example.net', '--subject', 'Hello', '--text', 'hi'];
/** No relay in the file: commands add their own. */
const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
`;

let sink: SmtpSink;
let folder: string;
beforeAll(async () => {
  const certificate = createCertificate({ hosts: ['127.0.0.1'] });
  sink = await startSmtpSink({ tls: 'starttls', certificate, users: { mailer: PASSWORD } });
  folder = mkdtempSync(join(tmpdir(), 'waybill-commands-'));
  writeFileSync(join(folder, 'password'), `${PASSWORD}\n`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await sink.close();
});

describe.each([{ running: true }, { running: false }])('server running: $running', ({ running }) => {
  let installation: Installation;
  let server: RunningServer | null = null;
  beforeAll(async () => {
    installation = new Installation(CONFIGURATION);
    server = running ? await installation.start() : null;
  });
  afterAll(async () => {
    await server?.end('SIGKILL');
    installation.remove();
  });

  test('keys create --quiet prints exactly the key', async () => {
    const { code, stdout, stderr } = await installation.run('keys', 'create', 'quiet', '--quiet');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^wb_live_[0-9A-Za-z]{49}\n$/);
  });

  test('keys are created, listed, rotated and revoked', async () => {
    const created = await json('keys', 'create', 'shop', '--test', '--rate', '7', '--scope', 'messages:send');
    expect(created).toMatchObject({
      secret: expect.stringMatching(/^wb_test_/),
      key: { name: 'shop', mode: 'test', rateLimit: 7, scopes: ['messages:send'], revokedAt: null },
    });
    const again = await installation.run('keys', 'create', 'shop');
    expect([again.code, again.stdout]).toEqual([1, '']);
    const rotated = await json('keys', 'rotate', 'shop');
    expect(rotated['secret']).not.toBe(created['secret']);
    expect(await json('keys', 'revoke', 'shop')).toMatchObject({
      name: 'shop',
      revokedAt: expect.any(String),
    });
    const list = await installation.run('keys', 'list');
    expect(list).toMatchObject({ code: 0, stdout: expect.stringMatching(/shop +wb_test_\w+… +revoked/) });
    for (const secret of [created['secret'], rotated['secret']]) expect(list.stdout).not.toContain(secret);
    expect((await installation.run('keys', 'revoke', 'nobody')).code).toBe(1);
  });

  test('the settings in force are shown with their sources', async () => {
    const settings = (await json('config')) as unknown as { key: string; value: unknown; source: string }[];
    expect(settings.find(({ key }) => key === 'api.port')).toMatchObject({ value: 0 });
    expect(settings.find(({ key }) => key === 'api.port')?.source).toContain('waybill.yaml');
    expect(settings.find(({ key }) => key === 'api.max_recipients')).toMatchObject({
      value: 1000,
      source: 'default',
    });
    expect((await installation.run('config')).stdout).toMatch(/^KEY +VALUE +SOURCE\n/);
  });

  test('a message with an attachment is sent, listed and shown', async () => {
    const file = join(folder, 'note.bin');
    writeFileSync(file, randomBytes(5000));
    const { id } = await json('send', ...LETTER, '--bcc', 'c@example.net', '--attach', file);
    expect(id).toMatch(/^msg_[0-9a-z]{26}$/);
    const page = await json('messages', 'list', '--limit', '5');
    expect(page).toMatchObject({ messages: [{ id, subject: 'Hello', source: 'cli' }], next: null });
    const record = await json('messages', 'show', String(id));
    expect(record).toMatchObject({ id, to: ['b@example.net'], bcc: ['c@example.net'] });
    expect(record['sizeBytes']).toBeGreaterThan(5000);
    const shown = await installation.run('messages', 'show', String(id));
    expect(shown.stdout).toContain('b@example.net');
    expect((await installation.run('messages', 'list')).stdout).toContain(String(id));
    expect((await installation.run('messages', 'show', 'msg_none')).code).toBe(1);
  });

  if (running)
    test('send --wait comes back with the end of the message', async () => {
      expect(await json('send', ...LETTER, '--wait')).toMatchObject({
        status: 'delivered',
        outcome: 'captured',
      });
    });
  else
    test('send --wait refuses where nothing would be delivered, and sends nothing', async () => {
      const before = await json('messages', 'list');
      const { code, stderr } = await installation.run('send', ...LETTER, '--wait');
      expect([code, stderr]).toEqual([1, expect.stringContaining('waybill serve')]);
      expect(await json('messages', 'list')).toEqual(before);
    });

  test('a relay is added, tested, listed and removed, and its password lies nowhere in clear', async () => {
    const smarthost = ['--type', 'smtp', '--host', '127.0.0.1', '--port', String(sink.port), '--no-verify'];
    const login = ['--username', 'mailer', '--password-file', join(folder, 'password')];
    const undecided = await installation.run('relays', 'add', 'out', ...smarthost, ...login);
    expect([undecided.code, undecided.stderr]).toEqual([2, expect.stringContaining('--default')]);
    const added = await installation.run('relays', 'add', 'out', ...smarthost, ...login, '--default');
    expect(added).toMatchObject({ code: 0, stderr: '' });

    const logins = sink.commands.filter(({ line }) => line.startsWith('AUTH')).length;
    const tested = await installation.run('relays', 'test', 'out', '--json');
    const lines = tested.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ ok: true, steps: lines.slice(0, -1) });
    expect(sink.commands.filter(({ line }) => line.startsWith('AUTH'))).toHaveLength(logins + 1);

    const list = await installation.run('relays', 'list', '--json');
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({
        name: 'out',
        port: sink.port,
        username: 'mailer',
        isDefault: true,
        origin: 'stored',
      }),
    );
    const base64 = Buffer.from(PASSWORD).toString('base64').replace(/=+$/, '');
    const printed =
      list.stdout + added.stdout + (await installation.run('config')).stdout + (server?.output ?? '');
    for (const secret of [PASSWORD, base64]) {
      expect(filesWith(installation.dataDir, secret)).toEqual([]);
      expect(printed).not.toContain(secret);
    }
    expect(await json('relays', 'remove', 'out')).toMatchObject({ name: 'out' });
    expect((await installation.run('relays', 'test', 'out')).code).toBe(1);
  });

  async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await installation.run(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }
});

test('what was sent while the server did not run is delivered by a stored relay when it starts', async (context) => {
  const installation = installed(context, CONFIGURATION);
  const to = ['--host', '127.0.0.1', '--port', String(sink.port), '--no-verify', '--username', 'mailer'];
  const password = ['--password-file', join(folder, 'password'), '--default'];
  expect((await installation.run('relays', 'add', 'out', '--type', 'smtp', ...to, ...password)).code).toBe(0);
  const sent = await installation.run('send', ...LETTER, '--subject', 'Meanwhile', '--json');
  expect(JSON.parse(sent.stdout)).toMatchObject({
    message: expect.stringContaining('delivery begins when it starts'),
  });
  await installation.start();
  await sink.until(() => sink.messages.some(({ content }) => content.includes('Subject: Meanwhile')));
  expect(sink.messages.at(-1)).toMatchObject({ user: 'mailer', tls: true, to: ['b@example.net'] });
});

describe.concurrent('the command line', () => {
  const commands = [
    [],
    ['serve'],
    ['keys'],
    ...['create', 'list', 'update', 'revoke', 'rotate'].map((name) => ['keys', name]),
    ['send'],
    ['messages'],
    ...['list', 'show'].map((name) => ['messages', name]),
    ['relays'],
    ...['list', 'show', 'add', 'edit', 'test', 'disable', 'enable', 'remove'].map((name) => ['relays', name]),
    ['config'],
  ];

  test.for(commands.map((command) => [command.join(' '), command] as const))(
    'waybill %s --help explains itself on the standard output',
    async ([name, command], context) => {
      const { code, stdout, stderr } = await run(context, ...command, '--help');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^Usage: waybill ${name}`.trimEnd()));
    },
  );

  test('--version prints the version alone', async (context) => {
    expect(await run(context, '--version')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  test.for<[string, string[]]>([
    ['an unknown command', ['send-all']],
    ['an unknown option', ['config', '--loud']],
    ['a missing argument', ['keys', 'create']],
    ['a missing option', ['send', '--to', 'b@example.net']],
    ['a value that cannot be', ['messages', 'list', '--limit', '0']],
    ['no command at all', []],
  ])('%s is wrong usage: status 2, said on the error output', async ([, args], context) => {
    const { code, stdout, stderr } = await run(context, ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toBe('');
  });

  test('a command for a data directory that does not exist says so and does not make it', async (context) => {
    const installation = installed(context, '');
    installation.remove();
    const { code, stderr } = await installation.run('keys', 'list');
    expect([code, stderr]).toEqual([1, expect.stringContaining(installation.dataDir)]);
    expect(existsSync(installation.dataDir)).toBe(false);
  });

  test.for<[string, string[]]>([
    ['what it was asked for', ['relays', 'add', '--help']],
    ['wrong usage', ['config', '--loud']],
    ['a failure', ['keys', 'revoke', 'nobody']],
  ])('as a process it ends with the same: %s', async ([, args], context) => {
    const installation = installed(context, '');
    expect(await installation.runUnder([], ...args)).toEqual(await installation.run(...args));
  });

  function run(context: TestContext, ...args: readonly string[]): Promise<CommandEnd> {
    return installed(context, '').run(...args);
  }
});

test('what is in the data directory is for its owner alone', async (context) => {
  const installation = installed(context, CONFIGURATION);
  const server = await installation.start();
  const key = (await installation.run('keys', 'create', 'app', '--quiet')).stdout.trim();
  await new Client(server, key).send({ from: 'a@example.com', to: 'b@example.net', text: 'x' });
  const open = filesIn(installation.dataDir).filter((path) => (statSync(path).mode & 0o077) !== 0);
  // The test itself wrote the configuration.
  expect(open.filter((path) => !path.endsWith('waybill.yaml'))).toEqual([]);
});

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));
}

/** The files in a directory that hold a text. */
function filesWith(directory: string, text: string): string[] {
  return filesIn(directory).filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}
