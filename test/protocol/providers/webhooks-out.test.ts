import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import type { WebhookTry } from '../../../src/domain/webhook.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createWebhookPost } from '../../../src/transport/providers/webhook-post.ts';
import { endpointOf } from '../../support/webhooks.ts';

/** What leaves for the endpoints of webhooks, over real sockets, and what hostile ones may do (contract-2 §B3). */

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OLD = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = Buffer.from('{"type":"message.delivered","data":{"text":"Grüße"}}');
const GO_ON = new AbortController().signal;

let servers: Server[] = [];
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
});

/** A receiver; its URL. */
async function receiver(answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(request, response, Buffer.concat(chunks));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`;
}

async function post(
  url: string,
  {
    mayBePrivate = true,
    secrets = [SECRET] as readonly string[] | null,
    wholeMs = 20_000,
    signal = GO_ON,
  } = {},
): Promise<WebhookTry> {
  const send = createWebhookPost({
    clock: systemClock,
    version: '1.2.3',
    secretsOf: () => secrets,
    mayBePrivate: () => mayBePrivate,
    wholeMs,
  });
  const endpoint = endpointOf({ url, headers: { 'X-Team': 'shop' } });
  return await send({ endpoint, id: 'evt_1', body: BODY, secrets: 'sealed' }, signal);
}

test('a post is what Standard Webhooks says, with each secret that is in force', async () => {
  const seen: { headers: IncomingMessage['headers']; body: string; path: string | undefined }[] = [];
  const url = await receiver(({ headers, url: path }, response, body) => {
    seen.push({ headers, body: body.toString(), path });
    response.writeHead(204).end();
  });
  expect(await post(url, { secrets: [SECRET, OLD] })).toMatchObject({ status: 204, error: null, answer: '' });
  const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = seen;
  expect(path).toBe('/hook?a=b');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Waybill/1.2.3',
    'webhook-id': 'evt_1',
    'x-team': 'shop',
  });
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  for (const secret of [SECRET, OLD])
    expect(new Webhook(secret).verify(body, flat)).toEqual(JSON.parse(BODY.toString()));
  expect(() => new Webhook(SECRET).verify(body.replace('ü', 'u'), flat)).toThrow(/signature/i);
  expect(() => new Webhook(`whsec_${'A'.repeat(44)}`).verify(body, flat)).toThrow(/signature/i);
});

test('an answer is kept up to 1 KiB, and how long it asks to wait', async () => {
  const url = await receiver((_, response) =>
    response.writeHead(429, { 'Retry-After': '90' }).end('x'.repeat(5000)),
  );
  const told = await post(url);
  expect([told.status, told.answer.length, told.retryAfterMs]).toEqual([429, 1024, 90_000]);
  const date = await receiver((_, response) =>
    response.writeHead(503, { 'Retry-After': new Date(Date.now() + 60_000).toUTCString() }).end(),
  );
  const { retryAfterMs } = await post(date);
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

test('a redirect is an answer like any other, and is not followed', async () => {
  let visits = 0;
  const target = await receiver((_, response) => {
    visits++;
    response.end();
  });
  const url = await receiver((_, response) => response.writeHead(302, { Location: target }).end());
  expect(await post(url)).toMatchObject({ status: 302, error: null });
  expect(visits).toBe(0);
});

test('private addresses and plain HTTP are not reached, unless they may be', async () => {
  let visits = 0;
  const url = await receiver((_, response) => {
    visits++;
    response.end();
  });
  expect(await post(url, { mayBePrivate: false })).toMatchObject({
    status: null,
    error: expect.stringContaining('clear'),
  });
  const secured = url.replace('http:', 'https:');
  expect(await post(secured, { mayBePrivate: false })).toMatchObject({
    status: null,
    error: expect.stringContaining('not a public address'),
  });
  expect(visits).toBe(0);
});

test('a secret that cannot be opened signs nothing, and nothing is sent', async () => {
  const url = await receiver((_, response) => response.end());
  expect(await post(url, { secrets: null })).toMatchObject({
    status: null,
    error: expect.stringContaining('rotate'),
  });
});

test('an endpoint that never answers is given up, and what one never ends is cut', async () => {
  const silent = await receiver(() => {});
  expect(await post(silent, { wholeMs: 300 })).toMatchObject({ status: null, error: expect.any(String) });
  const endless = await receiver((_, response) => void response.writeHead(200).write('x'));
  expect(await post(endless, { wholeMs: 300 })).toMatchObject({ status: 200, answer: 'x' });
});

test.each([
  [
    'an endless body',
    (response: ServerResponse) => {
      const write = (): unknown =>
        response.writable && response.write('x'.repeat(65_536), () => setImmediate(write));
      response.writeHead(200);
      write();
    },
  ],
  [
    'a header of a megabyte',
    (response: ServerResponse) => void response.writeHead(200, { 'X-Much': 'x'.repeat(1_000_000) }).end(),
  ],
])('%s ends soon, and takes no memory', async (_, behave) => {
  const url = await receiver((_request, response) => behave(response));
  const before = process.memoryUsage().rss;
  const told = await post(url);
  expect(told.answer.length).toBeLessThanOrEqual(1024);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
});

test('it ends soon when it is told to stop', async () => {
  const url = await receiver(() => {});
  const stop = new AbortController();
  const told = post(url, { signal: stop.signal });
  stop.abort();
  expect(await told).toMatchObject({ status: null, error: expect.any(String) });
});
