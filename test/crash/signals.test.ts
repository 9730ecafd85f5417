/** Signals and changed files reach the real process (contract §12, §16). */
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { installed } from '../e2e/service.ts';
import type { Installation, RunningServer } from '../peers/server.ts';
import { untilFound } from '../peers/watch.ts';
import { ask, healthOf, untilHealthy } from './customer.ts';
import { HttpCustomer } from './http-customer.ts';

const PORTS = `
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
`;
const faulty = expect.objectContaining({ name: 'configuration', status: 'degraded' });

/** A configuration file; `more` is whole sections. */
function configuration({ api = 'port: 0', more = '' }): string {
  return `${PORTS}api: { bind: ["127.0.0.1"], ${api} }\n${more}`;
}

async function customerOf(installation: Installation): Promise<HttpCustomer> {
  return new HttpCustomer((await installation.run('keys', 'create', 'shop', '--quiet')).stdout.trim());
}

/** The limit that the next answer tells. */
async function rateLimit(server: RunningServer, customer: HttpCustomer): Promise<string | null> {
  return (await customer.send(server)).headers.get('ratelimit-limit');
}

test.concurrent('SIGHUP applies a changed file, and names what needs a restart', async (context) => {
  const installation = installed(context, configuration({ more: 'log: { level: warn }' }));
  const customer = await customerOf(installation);
  const server = await installation.start();
  expect(await rateLimit(server, customer)).toBe('100');
  expect(server.output).not.toContain('message.accepted');
  const changed = { api: 'port: 1, rate_limit_per_key: 77', more: 'log: { level: debug }' };
  installation.configure(configuration(changed));
  server.signal('SIGHUP');
  await server.printed(/"keys":"api.port","event":"config.restart_needed"/);
  expect(await rateLimit(server, customer)).toBe('77');
  await server.printed(/message.accepted/);
  await untilHealthy(server);
  expect(await server.end('SIGTERM')).toBe(0);
});

test.concurrent('a file that changes applies by itself, wherever it lies', async (context) => {
  const installation = installed(context, configuration({}));
  const elsewhere = join(installation.dataDir, 'elsewhere.yaml');
  installation.environment['WAYBILL_CONFIG'] = elsewhere;
  writeFileSync(elsewhere, configuration({ api: 'port: 0, max_message_bytes: 8192' }));
  const large = join(installation.dataDir, 'large.bin');
  writeFileSync(large, Buffer.alloc(20_000));
  const send = ['send', '--from', 'a@example.com', '--to', 'b@example.net', '--text', 'x', '--attach', large];
  const customer = await customerOf(installation);
  const server = await installation.start();
  expect((await installation.run(...send)).code).toBe(2);
  writeFileSync(elsewhere, configuration({ api: 'port: 0, rate_limit_per_key: 78' }));
  await server.printed(/"keys":"api.rate_limit_per_key api.max_message_bytes","event":"config.applied"/);
  expect(await rateLimit(server, customer)).toBe('78');
  expect(await installation.run(...send)).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('a file that is emptied or moved away changes nothing until it is back', async (context) => {
  const relay = 'relays: [{ name: out, type: smtp, host: 127.0.0.1, port: 1, tls: none }]\n';
  const content = configuration({ more: `${relay}delivery: { default_relay: out }\n` });
  const installation = installed(context, content);
  const customer = await customerOf(installation);
  const server = await installation.start();
  installation.configure('');
  server.signal('SIGHUP');
  await server.printed(/is missing or empty now/);
  expect((await customer.send(server)).body).toMatchObject({ message: 'Queued for delivery.' });
  expect((await healthOf(server)).checks).toContainEqual(faulty);
  installation.configure(content);
  await vi.waitFor(async () => expect((await healthOf(server)).checks).not.toContainEqual(faulty), 30_000);
  expect(await server.end('SIGTERM')).toBe(0);
});

test.concurrent('an invalid file changes nothing and degrades health until it is mended', async (context) => {
  const installation = installed(context, configuration({ api: 'port: 0, rate_limit_per_key: 50' }));
  const customer = await customerOf(installation);
  const server = await installation.start();
  installation.configure(configuration({ api: 'port: 0, rate_limit_per_key: 60, allowed_cidrs: []' }));
  server.signal('SIGHUP');
  await server.printed(/"event":"config.fault"/);
  expect(await healthOf(server)).toMatchObject({
    httpStatus: 200,
    status: 'degraded',
    checks: expect.arrayContaining([faulty]),
  });
  expect(await rateLimit(server, customer)).toBe('50');
  const add = ['relays', 'add', 'out', '--type', 'smtp', '--host', '127.0.0.1', '--default'];
  const refused = await installation.run(...add);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('api.allowed_cidrs = []') });
  installation.configure(configuration({ api: 'port: 0, rate_limit_per_key: 60' }));
  server.signal('SIGHUP');
  await server.printed(/"event":"config.applied"/);
  await untilHealthy(server);
  expect(await rateLimit(server, customer)).toBe('60');
  expect((await installation.run('relays', 'list')).stdout).not.toContain('out');
  expect(await installation.run(...add)).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('a file that can no longer be looked at changes nothing until it can', async (context) => {
  const installation = installed(context, configuration({}));
  const customer = await customerOf(installation);
  const server = await installation.start();
  const file = join(installation.dataDir, 'waybill.yaml');
  rmSync(file);
  symlinkSync(file, file);
  await server.printed(/"event":"config.fault"/);
  expect((await healthOf(server)).checks).toContainEqual(faulty);
  expect(await rateLimit(server, customer)).toBe('100');
  rmSync(file);
  installation.configure(configuration({ api: 'port: 0, rate_limit_per_key: 61' }));
  await server.printed(/"event":"config.applied"/);
  expect(await rateLimit(server, customer)).toBe('61');
});

test.concurrent('SIGHUP during the start does no harm', async (context) => {
  const installation = installed(context, configuration({}));
  const server = installation.launch();
  await untilFound(installation.dataDir, () => existsSync(join(installation.dataDir, 'lock.pid')) || null);
  server.signal('SIGHUP');
  await server.ready();
  expect(await server.end('SIGTERM')).toBe(0);
});

test.concurrent('SIGTERM: not ready at once, and goes on for the delay', async (context) => {
  // An hour: whatever it is asked meanwhile, however slow the machine, falls into the delay.
  const installation = installed(context, configuration({ more: 'shutdown: { delay_seconds: 3600 }' }));
  const customer = await customerOf(installation);
  const server = await installation.start();
  const readiness = async () => [
    (await ask(server, '/readyz')).status,
    (await fetch(`${server.api}/api/v1/ready`)).status,
  ];
  expect(await readiness()).toEqual([200, 200]);
  server.signal('SIGTERM');
  await server.printed(/service.stopping/);
  expect(await readiness()).toEqual([503, 503]);
  expect((await customer.send(server)).status).toBe(202);
  expect((await ask(server, '/livez')).status).toBe(200);
  expect(existsSync(join(installation.dataDir, 'runtime.json'))).toBe(true);
});

test.concurrent('SIGTERM: when the delay is over, it ends with 0, and not before', async (context) => {
  const installation = installed(context, configuration({ more: 'shutdown: { delay_seconds: 2 }' }));
  const server = await installation.start();
  const signalledAt = performance.now();
  expect(await server.end('SIGTERM')).toBe(0);
  expect(performance.now() - signalledAt).toBeGreaterThan(1_990);
  expect(existsSync(join(installation.dataDir, 'runtime.json'))).toBe(false);
});

for (const how of ['refuses', 'says nothing'])
  test.concurrent(`SIGTERM ends a start that waits for a PostgreSQL which ${how}`, async (context) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await vi.waitUntil(() => silent.listening, 60_000);
    const { port } = silent.address() as { readonly port: number };
    const asked = new Promise((resolve) => silent.once('connection', resolve));
    if (how === 'refuses') silent.close();
    else context.onTestFinished(() => void silent.close());
    const more = `database: { url: "postgres://waybill@127.0.0.1:${port}/waybill" }`;
    const server = installed(context, configuration({ more })).launch();
    await (how === 'refuses' ? server.printed(/cannot be reached: .* Trying again/) : asked);
    const signalledAt = performance.now();
    // A start that waits to the end of its patience ends with 1, after half a minute.
    const code = await server.end('SIGTERM');
    expect({ code, output: server.output }).toEqual({
      code: 0,
      output: expect.not.stringContaining('Nothing'),
    });
    expect(performance.now() - signalledAt).toBeLessThan(20_000);
  });

test.concurrent('a start that fails does not wait for the delay', async (context) => {
  const taken = createServer().listen(0, '127.0.0.1');
  context.onTestFinished(() => void taken.close());
  await vi.waitUntil(() => taken.listening, 60_000);
  const { port } = taken.address() as { readonly port: number };
  const more = 'shutdown: { delay_seconds: 3600 }';
  const installation = installed(context, configuration({ api: `port: ${port}`, more }));
  const { code, stderr } = await installation.run('serve');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(String(port)) });
});
