/** Webhooks at the real program: what an application is told of its mail, over deaths of either side. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { startService } from './service.ts';

const LETTER = { from: 'shop@example.com', to: ['ann@example.net'], subject: 'Hello', text: 'Hi.' };

/** An application that is told of events; while `status` is not 200, it takes none. */
async function startReceiver() {
  const told: { headers: IncomingHttpHeaders; body: string }[] = [];
  const receiver = { told, status: 200, url: '' };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    told.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(receiver.status).end('seen');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/waybill`;
  return receiver;
}

test('an endpoint of the file is told of mail, and changed in the file alone', async () => {
  const receiver = await startReceiver();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const folder = mkdtempSync(join(tmpdir(), 'waybill-webhook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'secret'), `${secret}\n`);
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
webhooks:
  endpoints: [{ name: shop, url: "${receiver.url}", secret_file: "${join(folder, 'secret')}", allow_private: true }]
`);
  onTestFinished(() => service.stop());
  const run = (...words: string[]) => service.installation.run('webhooks', ...words, '--json');
  await expect
    .poll(async () => JSON.parse((await run('list')).stdout).webhooks)
    .toMatchObject([{ url: receiver.url, source: 'file' }]);
  const [{ id }] = JSON.parse((await run('list')).stdout).webhooks;
  await service.client.send(LETTER);
  await expect.poll(() => receiver.told.length).toBeGreaterThan(0);
  const [first] = receiver.told;
  const headers = Object.entries(first?.headers ?? {}).map(([name, value]) => [name, String(value)]);
  expect(() => new Webhook(secret).verify(first?.body ?? '', Object.fromEntries(headers))).not.toThrow();
  const { code, stderr } = await run('rotate', id);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The webhook shop stands in the configuration file'),
  ]);
}, 120_000);

test('an application is told of its mail, signed, and of what happened while it or we were away', async () => {
  const [sink, receiver, witness] = [await startSmtpSink(), await startReceiver(), await startReceiver()];
  const service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [] }
webhooks: { private_urls: ["${receiver.url}", "${witness.url}"] }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`);
  onTestFinished(async () => {
    await service.stop();
    await sink.close();
  });
  const command = async (...words: string[]) =>
    JSON.parse((await service.installation.run('webhooks', ...words, '--json')).stdout);
  const { webhook, secret } = await command('add', receiver.url, '--include', 'subject');
  const types = () => receiver.told.map(({ body }) => JSON.parse(body).type);

  const id = await service.client.send(LETTER);
  await expect.poll(() => types().sort()).toEqual(['message.delivered', 'message.queued']);
  for (const { headers, body } of receiver.told) {
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new Webhook(secret).verify(body, flat)).toMatchObject({
      data: { message: { id, subject: 'Hello' } },
    });
  }

  // It takes nothing when the mail is sent, and we die before it does again.
  receiver.status = 500;
  receiver.told.length = 0;
  const second = await service.client.send(LETTER);
  await expect.poll(() => receiver.told.length).toBeGreaterThan(0);
  await service.server.end('SIGKILL');
  receiver.status = 200;
  receiver.told.length = 0;
  await service.restart();
  await expect.poll(() => [...new Set(types())].sort()).toEqual(['message.delivered', 'message.queued']);
  expect(receiver.told.every(({ body }) => JSON.parse(body).data.message.id === second)).toBe(true);

  const states = async () =>
    (await command('deliveries', webhook.id)).deliveries.map(({ status }: { status: string }) => status);
  await expect.poll(states).toEqual(['delivered', 'delivered', 'delivered', 'delivered']);
  expect((await command('list')).webhooks).toMatchObject([
    { id: webhook.id, health: { state: 'healthy' }, pending: 0 },
  ]);
  expect(await command('test', webhook.id)).toMatchObject({ status: 200, error: null, answer: 'seen' });
  expect(types()).toContain('webhook.test');

  const rotated = await command('rotate', webhook.id);
  receiver.told.length = 0;
  expect(await command('replay', webhook.id, '--since', '2020-01-01T00:00:00Z', '--only', 'all')).toEqual({
    replayed: 4,
  });
  await expect.poll(() => receiver.told.length).toBe(4);
  for (const { headers, body } of receiver.told) {
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    for (const one of [secret, rotated.secret])
      expect(() => new Webhook(one).verify(body, flat)).not.toThrow();
  }
  expect(await command('replay', webhook.id, '--since', '2020-01-01T00:00:00Z')).toEqual({ replayed: 0 });

  // What happens while it is disabled passes it by, as the other endpoint shows, and can be replayed.
  await command('add', witness.url);
  await command('disable', webhook.id);
  receiver.told.length = 0;
  await service.client.send(LETTER);
  await expect.poll(() => witness.told.length).toBe(2);
  await command('enable', webhook.id);
  expect(await command('replay', webhook.id, '--since', '2020-01-01T00:00:00Z')).toEqual({ replayed: 2 });
  await expect.poll(() => receiver.told.length).toBe(2);
  for (const { id: one } of (await command('list')).webhooks) await command('remove', one);
  expect((await command('list')).webhooks).toEqual([]);
}, 120_000);
