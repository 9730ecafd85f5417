import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';

const SECRET = 'pm-server-token-b4b1';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const ADD = ['relays', 'add', 'pm', '--type', 'postmark', '--message-stream', 'bulk', '--default'];

/** Every byte of the data directory. */
function allBytes(): string {
  const files = readdirSync(here.dataDir, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    .join('\n');
}

test("a provider's secret is asked for without being shown, and lies nowhere in clear", async () => {
  const added = await here.waybill([...ADD, '--max-per-day', '500'], { answer: SECRET });
  expect(added).toMatchObject({ status: 0, err: 'Server token: ' });
  const list = await here.waybill(['relays', 'list']);
  expect(list.out).toMatch(
    /^pm \(default\) +postmark +https:\/\/api\.postmarkapp\.com +stored +not tried yet .* 0 of 500$/m,
  );
  const config = await here.waybill(['config']);
  expect(config.out).toMatch(/relays\.pm\.secret +"\*{8}"/);
  expect(config.out).toMatch(/relays\.pm\.message_stream +"bulk"/);
  expect(config.out).toMatch(/relays\.pm\.quota_reserve_percent +5/);
  const json = await here.waybill(['relays', 'list', '--json']);
  for (const { out, err } of [added, list, config, json]) expect(out + err).not.toContain(SECRET);
  expect(allBytes()).toContain('message_stream');
  expect(allBytes()).not.toContain(SECRET);
});

test('where nobody can be asked, the command says what to give instead', async () => {
  const { status, err } = await here.waybill(ADD);
  expect([status, err]).toEqual([2, expect.stringContaining('--secret-file FILE, or --secret-file -')]);
  expect(await here.waybill(ADD, { answer: '' })).toMatchObject({ status: 1 });
  const file = join(here.folder, 'secret');
  writeFileSync(file, `${SECRET}\n`);
  const wrong = await here.waybill([...ADD, '--password-file', file]);
  expect([wrong.status, wrong.err]).toEqual([2, 'Type postmark has no password: give --secret-file.\n']);
  writeFileSync(file, '\n');
  const empty = await here.waybill([...ADD, '--secret-file', file]);
  expect([empty.status, empty.err]).toEqual([1, `There is no secret in ${file}: it is empty.\n`]);
  writeFileSync(file, 'one\ntwo\n');
  const lines = await here.waybill([...ADD, '--secret-file', file]);
  expect([lines.status, lines.err]).toEqual([1, `A secret is one line, but ${file} has 2.\n`]);
  const absent = await here.waybill([...ADD, '--secret-file', `${file}.none`]);
  expect(absent.err).toBe(`The secret cannot be read from ${file}.none: there is no such file\n`);
  writeFileSync(file, 'x'.repeat(5000));
  const long = await here.waybill([...ADD, '--secret-file', file]);
  expect([long.status, long.err]).toEqual([1, expect.stringContaining('is too long for a secret')]);
});

test('each type has its options', async () => {
  const file = join(here.folder, 'secret');
  writeFileSync(file, SECRET);
  const id = '11111111-2222-3333-4444-555555555555';
  const types: Readonly<Record<string, readonly string[]>> = {
    ses: ['--region', 'eu-west-1', '--access-key-id', 'AKIAIOSFODNN7EXAMPLE', '--configuration-set', 'c'],
    mailgun: ['--domain', 'mg.example.com', '--region', 'eu'],
    postmark: ['--message-stream', 'bulk'],
    sendgrid: ['--endpoint', 'https://api.eu.sendgrid.com'],
    resend: ['--max-recipients', '10'],
    graph: [
      '--tenant',
      'contoso.com',
      '--client-id',
      id,
      '--mailbox',
      'a@contoso.com',
      '--authority',
      'https://login.example.com',
    ],
    webhook: [
      '--url',
      'https://hooks.example.com/mail',
      '--warmup-start',
      '2026-12-01',
      '--warmup-per-day',
      '5,10, 20',
    ],
  };
  const common = ['--secret-file', file, '--quota-reserve-percent', '9', '--default'];
  for (const [type, options] of Object.entries(types)) {
    const name = `my-${type}`;
    const added = await here.waybill(['relays', 'add', name, '--type', type, ...options, ...common]);
    expect(added).toMatchObject({ status: 0, err: '' });
  }
  const { out } = await here.waybill(['config']);
  for (const row of [
    /my-ses\.endpoint +https:\/\/email\.eu-west-1\.amazonaws\.com/,
    /my-ses\.configuration_set +c /,
    /my-mailgun\.endpoint +https:\/\/api\.eu\.mailgun\.net/,
    /my-sendgrid\.endpoint +https:\/\/api\.eu\.sendgrid\.com/,
    /my-resend\.max_recipients +10 /,
    /my-graph\.mailbox +a@contoso\.com/,
    /my-graph\.authority +https:\/\/login\.example\.com/,
    /my-webhook\.url +https:\/\/hooks\.example\.com\/mail/,
    /my-webhook\.warmup_start +2026-12-01/,
    /my-webhook\.warmup_per_day +\[?5, ?10, ?20/,
    /my-webhook\.quota_reserve_percent +9 /,
  ])
    expect(out.replaceAll('"', '')).toMatch(row);
  const bad = await here.waybill(['relays', 'add', 'x', '--type', 'resend', '--warmup-per-day', '5,ten']);
  expect([bad.status, bad.err]).toEqual([2, expect.stringContaining('whole numbers separated by commas')]);
});

async function greeting(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => {
    socket.write('220 sink.example ESMTP\r\n');
    socket.on('error', () => {});
    socket.on('data', (data) =>
      socket.write(`${data}`.startsWith('QUIT') ? '221 bye\r\n' : '250 sink.example\r\n'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

test('a definition is tried that is not stored, and as JSON each step is a line', async () => {
  await here.waybill(['keys', 'create', 'shop']);
  const { port } = await greeting();
  const options = ['--type', 'smtp', '--host', '127.0.0.1', '--port', String(port), '--tls', 'none'];
  const tried = await here.waybill(['relays', 'test', ...options]);
  expect([tried.status, tried.out]).toEqual([0, expect.stringMatching(/ok .*CONNECT[\s\S]*READY/)]);
  expect(tried.err).toBe('');
  const watched = await here.waybill(['relays', 'test', ...options], { columns: 80 });
  expect(watched.err).toBe('Testing, for at most 60 s …\n');
  const lines = (await here.waybill(['relays', 'test', ...options, '--json'])).out.trim().split('\n');
  const [first, ...rest] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ name: 'CONNECT', ok: true });
  expect(rest.at(-1)).toEqual({ ok: true, steps: [first, ...rest.slice(0, -1)] });
  expect((await here.waybill(['relays', 'list'])).out).not.toContain('smtp');
});

test('what is to be tried must be said', async () => {
  await here.waybill(['keys', 'create', 'shop']);
  for (const [args, line] of [
    [[], 'Name a relay, or describe one with --type and its fields.\n'],
    [['out', '--host', 'h'], 'To test a definition that is not stored, give its --type, too.\n'],
    [['out', '--no-verify'], 'To test a definition that is not stored, give its --type, too.\n'],
  ] as const)
    expect(await here.waybill(['relays', 'test', ...args])).toMatchObject({ status: 2, err: line });
  const faulty = await here.waybill(['relays', 'test', '--type', 'ses'], { answer: SECRET });
  expect([faulty.status, faulty.err]).toEqual([2, expect.stringContaining('--region: must be given')]);
  expect(faulty.err).not.toContain(SECRET);
});

test('a secret comes apart from the definition, and that of a stored relay is never used for another', async () => {
  expect(await here.waybill(ADD, { answer: SECRET })).toMatchObject({ status: 0 });
  const { operations, close } = await here.open();
  try {
    const elsewhere = { type: 'postmark', endpoint: 'https://evil.example' };
    const unsaved = { definition: elsewhere, secret: null };
    await expect(operations.testRelay({ name: 'pm', to: null, unsaved })).rejects.toThrow(
      'relay.secret: must be given',
    );
    for (const secret of ['secret', 'secret_file', 'password', 'password_file']) {
      const definition = { name: 'other', type: 'postmark', [secret]: 'hidden' };
      const added = operations.addRelay({ definition, secret: SECRET, makeDefault: false });
      await expect(added).rejects.toThrow(`Give a secret separately from the definition: ${secret}`);
    }
    const again = operations.addRelay({
      definition: { name: 'pm', ...elsewhere },
      secret: null,
      makeDefault: false,
    });
    await expect(again).rejects.toThrow('relay.secret: must be given');
  } finally {
    await close();
  }
});

test('a provider whose secret was lost with its key says so, and rests', async () => {
  expect(await here.waybill(ADD, { answer: SECRET })).toMatchObject({ status: 0 });
  writeFileSync(join(here.dataDir, 'secret.key'), 'a'.repeat(64));
  expect((await here.waybill(['relays', 'list'])).out).toMatch(/^pm .* credentials_unreadable /m);
  const tried = await here.waybill(['relays', 'test', 'pm']);
  expect([tried.status, tried.err]).toEqual([
    1,
    expect.stringContaining('The secret of pm cannot be read with the present key. Put back the secret.key'),
  ]);
});

test('nobody types a secret for a definition that is wrong, and errors name the options', async () => {
  const faults: readonly (readonly [string, string])[] = [
    ['ses --default --region eu-west-1', '--access-key-id: must be given\n'],
    ['mailgun --default --domain mg.example.com --region eur', '--region "eur": must be us or eu'],
    ['resend --default --endpoint http://127.0.0.1', '--endpoint "http://127.0.0.1": must begin with https'],
    ['resend --default --no-verify', '--no-verify: has no meaning for type resend'],
    ['resend --default --warmup-per-day 1,2', '--warmup-start: must be given with --warmup-per-day\n'],
    ['resend --default --warmup-start 1', '--warmup-start "1": must be a day such as 2026-12-01\n'],
    ['resend', 'Repeat the command with --default'],
  ];
  for (const [line, message] of faults) {
    const args = ['relays', 'add', 'x', '--type', ...line.split(' ')];
    const { status, err } = await here.waybill(args, { answer: SECRET });
    expect([line, status, err]).toEqual([line, 2, expect.stringContaining(message)]);
    expect(err).not.toMatch(/secret|key: /i);
  }
  const tried = await here.waybill(['relays', 'test', '--type', 'graph'], { answer: SECRET });
  expect(tried.err).toBe('--tenant: must be given\n--client-id: must be given\n');
  const bad = await here.waybill(ADD, { answer: 'two words' });
  expect(bad.err).toBe(
    'Server token: --secret-file: must be 1 to 1024 visible ASCII characters without blanks\n',
  );
  expect(await here.waybill(ADD, { answer: SECRET })).toMatchObject({ status: 0 });
  expect((await here.waybill(ADD, { answer: SECRET })).err).toMatch(/^There is already a relay pm/);
});
