/** `waybill dev`, as a developer and a script use it. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailpitClient } from 'mailpit-api';
import { createTransport } from 'nodemailer';
import { expect, onTestFinished, test } from 'vitest';
import { type Access, launchDev, startDev, stopDev } from '../peers/dev-server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'waybill-dev-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function asKey({ key }: Pick<Access, 'key'>): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}

/** Calls an operation of the dashboard, as its page does, without having signed in. */
async function call({ dashboard }: Access, operation: string, request: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', origin: new URL(dashboard).origin };
  return await fetch(`${dashboard}/api/call/${operation}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(request),
  });
}

/** Lists the keys as a page under this host name would. */
async function statusAt({ dashboard }: Access, name: string): Promise<number | undefined> {
  const { port } = new URL(dashboard);
  const host = `${name}:${port}`;
  const headers = { 'content-type': 'application/json', host, origin: `http://${host}` };
  return await new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/api/call/listKeys', method: 'POST', headers });
    asked.on('error', reject).on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.end('{}');
  });
}

test('it captures all mail, asks for no password, and leaves nothing behind', async () => {
  const configured = join(folder(), 'waybill.yaml');
  writeFileSync(
    configured,
    `delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: 9, tls: none }]
routes: [{ name: all, match: { recipient_domain: example.net }, via: [out] }]
`,
  );
  const running = await startDev(['--config', configured], {
    WAYBILL_SERVER__HOSTNAME: 'my-laptop',
    WAYBILL_WEBUI__ALLOWED_HOSTS: 'panel.example.com',
  });
  const { access } = running;
  expect(access.temporary).toBe(true);
  expect(existsSync(access.data)).toBe(true);

  // Over SMTP, nobody signs in: the key that was printed sees the mail all the same.
  const client = await SmtpClient.connect(access.smtp.port);
  await client.reply();
  for (const line of ['EHLO app', 'MAIL FROM:<a@example.com>', 'RCPT TO:<ann@shop.test>', 'DATA'])
    expect(await client.ask(line)).toMatch(/^[23]/);
  client.say('Subject: Code', '', 'Your code is 482913.', '.');
  expect(await client.reply()).toMatch(/^250/);
  client.destroy();
  const found = await fetch(`${access.api}/api/v1/inbox/wait?to=ann@shop.test&timeout=20`, {
    headers: asKey(access),
  });
  expect(await found.json()).toMatchObject({ message: { subject: 'Code' }, codes: ['482913'] });

  // The dashboard, over plain HTTP; but not for a page of another origin.
  const session = await fetch(`${access.dashboard}/api/session`);
  expect(await session.json()).toMatchObject({ state: 'signed_in', user: { role: 'admin' } });
  const left = await fetch(`${access.dashboard}/api/session/logout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: access.dashboard },
    body: '{}',
  });
  expect(await left.json(), 'nobody can sign out').toMatchObject({ state: 'signed_in', resident: true });
  const activity = { actor: null, action: 'signOut', subject: null, limit: 1, before: null };
  expect(await (await call(access, 'activity', activity)).json()).toMatchObject({ entries: [] });
  const foreign = await fetch(`${access.dashboard}/api/call/listKeys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://localhost:3000' },
    body: '{}',
  });
  expect(foreign.status).toBe(403);

  // Nor under a name that another site could lead here: not that of the machine, nor a configured one.
  for (const name of ['my-laptop', 'panel.example.com', '192.0.2.7'])
    expect(await statusAt(access, name), name).toBe(421);
  expect(await statusAt(access, '127.0.0.1')).toBe(200);

  const overview = await (await call(access, 'overview', {})).json();
  expect(overview).toMatchObject({ banners: [{ code: 'all_captured' }] });

  // Mail of a live key, that a rule sends by a relay, is captured too.
  const made = await call(access, 'createKey', {
    name: 'live',
    test: false,
    scopes: ['messages:send', 'messages:read'],
    expiresAt: null,
    rateLimit: null,
    cidrs: [],
    senderDomains: [],
  });
  const { secret } = (await made.json()) as { secret: string };
  const sent = await fetch(`${access.api}/api/v1/messages`, {
    method: 'POST',
    headers: asKey({ key: secret }),
    body: JSON.stringify({ from: 'a@example.com', to: ['bob@example.net'], subject: 'Live', text: 'x' }),
  });
  const receipt = (await sent.json()) as { id: string };
  expect(receipt).toMatchObject({ message: 'Captured in the local inbox; nothing will be sent.' });
  const record = () =>
    fetch(`${access.api}/api/v1/messages/${receipt.id}`, { headers: asKey({ key: secret }) });
  await expect
    .poll(async () => (await record()).json(), { timeout: 20_000 })
    .toMatchObject({ outcome: 'captured' });
  // None of both was sent, and the first page says so.
  await expect
    .poll(async () => (await call(access, 'overview', {})).json(), { timeout: 20_000 })
    .toMatchObject({ today: { delivered: 0, captured: 2 }, last5m: { delivered: 0, captured: 2 } });

  expect(await stopDev(running)).toBe(0);
  expect(existsSync(access.data)).toBe(false);
  expect(running.printed.out.trim().split('\n'), 'one line for scripts').toHaveLength(1);
}, 120_000);

test('a test suite for Mailpit needs another URL, and nothing else', async () => {
  const running = await startDev();
  const { smtp, api, key } = running.access;
  const transport = createTransport({ ...smtp, secure: false });
  await transport.sendMail({
    from: 'shop@example.com',
    to: 'ann@shop.test',
    subject: 'Order 7',
    text: 'Thanks.',
  });
  transport.close();
  const mailpit = new MailpitClient(`${api}/mailpit`, { auth: { username: 'dev', password: key } });
  const message = await mailpit.waitForMessage({ query: 'subject:"Order 7"' }, { timeout: 20_000 });
  expect(message).toMatchObject({ Text: 'Thanks.', To: [{ Address: 'ann@shop.test' }] });
  // Most suites have no password for Mailpit.
  const found = await fetch(`${api}/mailpit/api/v1/search?query=${encodeURIComponent('subject:"Order 7"')}`);
  expect(await found.json()).toMatchObject({ messages: [{ ID: message.ID }] });
  const foreign = await fetch(`${api}/mailpit/api/v1/messages`, {
    headers: { origin: 'http://localhost:3000' },
  });
  expect(foreign.status).toBe(401);
  expect(await stopDev(running)).toBe(0);
}, 120_000);

test('it offers STARTTLS where TLS is configured: a client would refuse a certificate of its own making', async () => {
  const offers = async (environment: NodeJS.ProcessEnv) => {
    const running = await startDev([], environment);
    const client = await SmtpClient.connect(running.access.smtp.port);
    await client.reply();
    const said = await client.ask('EHLO app');
    client.destroy();
    expect(await stopDev(running)).toBe(0);
    return said.includes('STARTTLS');
  };
  expect(await offers({})).toBe(false);
  expect(await offers({ WAYBILL_API__TLS_ENABLED: 'true', WAYBILL_API__TLS_PORT: '0' })).toBe(true);
}, 120_000);

test('an endpoint on the same machine is told of a bounce', async () => {
  const told: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    told.push(JSON.parse(Buffer.concat(chunks).toString()).type);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const running = await startDev();
  const { access } = running;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/waybill`;
  const post = (path: string, body: object) =>
    fetch(`${access.api}/api/v1/${path}`, {
      method: 'POST',
      headers: asKey(access),
      body: JSON.stringify(body),
    });
  expect((await post('webhooks', { url })).status).toBe(201);
  await post('messages', { from: 'a@example.com', to: ['bounce@shop.test'], subject: 'x', text: 'x' });
  await expect.poll(() => told, { timeout: 30_000 }).toContain('message.bounced');
  expect(await stopDev(running)).toBe(0);
}, 120_000);

test('a directory of its own is kept, with the key', async () => {
  const data = join(folder(), 'kept');
  const first = await startDev(['--data', data]);
  expect(first.access).toMatchObject({ data, temporary: false });
  const sent = await fetch(`${first.access.api}/api/v1/messages`, {
    method: 'POST',
    headers: asKey(first.access),
    body: JSON.stringify({ from: 'a@example.com', to: ['ann@example.net'], subject: 'Kept', text: 'x' }),
  });
  const { id } = (await sent.json()) as { id: string };
  expect(await stopDev(first)).toBe(0);
  const second = await startDev(['--data', data]);
  expect(second.access.key).toBe(first.access.key);
  const record = () => fetch(`${second.access.api}/api/v1/messages/${id}`, { headers: asKey(second.access) });
  await expect
    .poll(async () => (await record()).json(), { timeout: 20_000 })
    .toMatchObject({ subject: 'Kept', outcome: 'captured' });
  expect(await stopDev(second)).toBe(0);
}, 120_000);

test('it refuses what would expose it, or capture the mail of an installation', async () => {
  const foreign = folder();
  writeFileSync(join(foreign, 'waybill.db'), '');
  // biome-ignore format: a table
  const cases: [args: string[], environment: NodeJS.ProcessEnv, code: number, told: string][] = [
    [['--host', '0.0.0.0'], {}, 2, 'the dashboard asks nobody for a password'],
    [['--host', '0.0.0.0/0'], {}, 2, 'the dashboard asks nobody for a password'],
    [['--host', 'localhost'], {}, 2, 'must be a loopback address'],
    [[], { WAYBILL_WEBUI__BIND: '0.0.0.0' }, 1, 'webui.bind = 0.0.0.0: must be a loopback address'],
    [[], { WAYBILL_DATABASE__URL: 'postgres://waybill@db.example.com/waybill' }, 1, 'database.url: must not be set'],
    [['--data', foreign], {}, 1, 'is not a directory of waybill dev'],
  ];
  for (const [args, environment, code, told] of cases) {
    const { printed, exited } = launchDev(args, environment);
    expect(await exited, printed.err).toBe(code);
    expect(printed.err).toContain(told);
  }
  expect(readdirSync(foreign)).toEqual(['waybill.db']);
}, 120_000);

test('several that start at once all run, each on ports of its own', async () => {
  const unset = {
    WAYBILL_API__PORT: undefined,
    WAYBILL_WEBUI__PORT: undefined,
    WAYBILL_LISTENER__PORTS: undefined,
  };
  const running = await Promise.all([1, 2, 3].map(() => startDev(['--host', '127.0.0.77'], unset)));
  const ports = running.flatMap(({ access: { dashboard, api, smtp } }) => [
    new URL(dashboard).port,
    new URL(api).port,
    String(smtp.port),
  ]);
  expect(new Set(ports).size).toBe(9);
  expect(ports, 'one of them has the usual port').toContain('8420');
  for (const { access } of running) {
    expect((await call(access, 'listKeys', {})).status).toBe(200);
    const transport = createTransport({ ...access.smtp, secure: false });
    expect(await transport.verify()).toBe(true);
    transport.close();
  }
  for (const one of running) expect(await stopDev(one)).toBe(0);
}, 120_000);

test('a host that is asked for counts more than the environment, and the printed ones are those it listens on', async () => {
  const environment = { WAYBILL_WEBUI__BIND: '127.0.0.2', WAYBILL_API__BIND: '127.0.0.3' };
  for (const [args, dashboard, api, smtp] of [
    [[], '127.0.0.2', '127.0.0.3', 'localhost'],
    [['--host', '127.0.0.4'], '127.0.0.4', '127.0.0.4', '127.0.0.4'],
  ] as const) {
    const running = await startDev([...args], environment);
    const { access } = running;
    expect(new URL(access.dashboard).hostname).toBe(dashboard);
    expect(new URL(access.api).hostname).toBe(api);
    expect(access.smtp.host).toBe(smtp);
    expect((await fetch(`${access.dashboard}/api/session`)).status).toBe(200);
    expect((await fetch(`${access.api}/mailpit/api/v1/info`)).status).toBe(200);
    expect(await stopDev(running)).toBe(0);
  }
}, 120_000);

test('people are told where it listens, and what to paste', async () => {
  const running = launchDev([]);
  await expect.poll(() => running.printed.out, { timeout: 60_000 }).toContain('Press Ctrl-C to stop.');
  expect(running.printed.out).toMatch(/Dashboard +http:\/\/localhost:\d+/);
  expect(running.printed.out).toMatch(/Test key +wb_test_/);
  expect(running.printed.out).toMatch(/export WAYBILL_URL=http:\/\/localhost:\d+ WAYBILL_TEST_KEY=wb_test_/);
  expect(await stopDev(running)).toBe(0);
}, 120_000);
