import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { BODY, endReceivers, post, receiver, SECRET } from '../../peers/webhook-receiver.ts';

/** What leaves for the endpoints of webhooks, over real sockets, and what hostile ones may do (contract-2 §B3). */

const OLD = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

afterEach(endReceivers);

test('a post is what Standard Webhooks says, with each secret that is in force', async () => {
  const seen: { headers: IncomingHttpHeaders; body: string; path: string | undefined }[] = [];
  const url = await receiver(({ headers, url: path }, response, body) => {
    seen.push({ headers, body: body.toString(), path });
    response.writeHead(204).end();
  });
  expect(await post(url, { secrets: [SECRET, OLD] })).toMatchObject({ status: 204, error: null, answer: '' });
  const [{ headers, body, path } = { headers: {} as IncomingHttpHeaders, body: '', path: '' }] = seen;
  expect([path, body]).toEqual(['/hook?a=b', BODY.toString()]);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Waybill/1.2.3',
    'webhook-id': 'evt_1',
    'x-team': 'shop',
  });
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
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
    error:
      'The connection to 127.0.0.1 would be in clear, which is not allowed, unless webhooks.private_urls lists its URL',
  });
  const secured = url.replace('http:', 'https:');
  expect(await post(secured, { mayBePrivate: false })).toMatchObject({
    status: null,
    error:
      '127.0.0.1 is not a public address; connecting to it is not allowed, unless webhooks.private_urls lists its URL',
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
