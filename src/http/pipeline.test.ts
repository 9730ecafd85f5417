import { expect, test } from 'vitest';
import { exchangeRaw, RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { Budget } from '../lib/budget.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';

/** Answers each request with its path, once the gate is open. */
function gated() {
  const opened = Promise.withResolvers<void>();
  const begun: string[] = [];
  let atWork = 0;
  let most = 0;
  const handler = async (exchange: Exchange) => {
    begun.push(exchange.path);
    most = Math.max(most, ++atWork);
    await opened.promise;
    await new Promise((resolve) => setImmediate(resolve));
    atWork -= 1;
    exchange.text(200, `[${exchange.path}]`);
  };
  return { handler, begun, open: opened.resolve, most: () => most };
}

const get = (path: string | number, fields = '') => `GET /${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
const pathsIn = (text: string) => [...text.matchAll(/\[\/(\d+)\]/g)].map(([, path]) => Number(path));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

test('10,000 pipelined requests are all answered in order, a few at a time, and not read before', async () => {
  const { handler, begun, open, most } = gated();
  const { port, origin } = await serve(async (x) => (x.path === '/other' ? x.text(200, '') : handler(x)), {
    limits: { ...WIDE_LIMITS, maxPipelinedRequests: 8 },
  });
  const padding = `A: ${'a'.repeat(4000)}\r\n`;
  const client = new RawClient(port);
  client.socket.write(
    upTo(10_000)
      .map((i) => get(i, padding))
      .join(''),
  );
  await expect.poll(() => begun.length).toBe(8);
  let unread = -1;
  while (client.socket.bytesWritten - client.socket.writableLength !== unread) {
    unread = client.socket.bytesWritten - client.socket.writableLength;
    for (const _ of upTo(50)) await (await fetch(`${origin}/other`)).text();
  }
  expect(client.socket.writableLength).toBeGreaterThan(1_000_000);
  expect(begun).toEqual(['/0', '/1', '/2', '/3', '/4', '/5', '/6', '/7']);
  open();
  await client.until(/\[\/9999\]/);
  expect(pathsIn(client.received)).toEqual(upTo(10_000));
  expect(most()).toBe(8);
});

test('when all connections hold back too much together, one is ended behind what it was promised', async () => {
  const { handler, begun, open } = gated();
  const { port } = await serve(handler, { limits: { ...WIDE_LIMITS, maxPipelinedRequests: 1 } });
  const requests = upTo(3000).map((i) => get(i, i === 2999 ? 'Connection: close\r\n' : ''));
  const clients = upTo(6).map(() => new RawClient(port, requests.join('')));
  await expect.poll(() => begun.length).toBe(6);
  open();
  const answered = (await Promise.all(clients.map(({ closed }) => closed))).map(pathsIn);
  for (const paths of answered) expect(paths).toEqual(upTo(paths.length));
  expect(answered.some(({ length }) => length === 3000)).toBe(true);
  expect(answered.some(({ length }) => length < 3000)).toBe(true);
});

test('exchanges whose turn to answer had not come end with their connection too', async () => {
  const budget = new Budget({ capacity: 1000, maxWaiters: 1 });
  const first = Promise.withResolvers<void>();
  const { port } = await serve(async (exchange) => {
    if (exchange.path === '/first') return await first.promise;
    await readBody(exchange, { maxBytes: 100, budget: budget.share('a key') });
    await first.promise;
  });
  const post = 'POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n';
  const client = new RawClient(port, get('first') + post + 'x'.repeat(100));
  await expect.poll(() => budget.free).toBe(900);
  client.socket.destroy();
  await expect.poll(() => budget.free).toBe(1000);
  first.resolve();
});

test.each([
  ['behind whole requests', 16, `${get(0)}${get(1)}no sense\r\n\r\n`],
  ['behind requests that are held back', 1, `${get(0)}${get(1)}nonsense\r\n\r\n`],
  ['in the body of one at work', 16, `${get(0)}${get(1)}${get(2, 'Transfer-Encoding: chunked\r\n')}zz\r\n`],
  [
    'in the body of one that is held back',
    1,
    `${get(0)}${get(1)}${get(2, 'Transfer-Encoding: chunked\r\n')}zz\r\n`,
  ],
])(
  'what cannot be read %s is refused behind the answers to those',
  async (_, maxPipelinedRequests, bytes) => {
    const { handler, open, begun } = gated();
    const { port, log } = await serve(handler, { limits: { ...WIDE_LIMITS, maxPipelinedRequests } });
    const client = new RawClient(port, bytes);
    await expect.poll(() => log.length).toBe(1);
    expect(begun).toContain('/0');
    open();
    expect(await client.closed).toMatch(
      /^HTTP\/1\.1 200 .*\[\/0\].* 200 .*\[\/1\]HTTP\/1\.1 400 [^[]*"malformed_request"/s,
    );
    expect(log.map(({ event, code }) => [event, code])).toEqual([
      ['http.request_refused', 'malformed_request'],
    ]);
  },
);

test('a server that closes answers what is at work, all of it, and begins nothing further', async () => {
  const { handler, open, begun } = gated();
  const { port, server } = await serve(handler, { limits: { ...WIDE_LIMITS, maxPipelinedRequests: 3 } });
  const client = new RawClient(
    port,
    upTo(6)
      .map((i) => get(i))
      .join(''),
  );
  await expect.poll(() => begun.length).toBe(3);
  const closed = server.close();
  open();
  const answers = await client.closed;
  expect(pathsIn(answers)).toEqual([0, 1, 2]);
  expect(answers.match(/^Connection: .*$/gim)).toEqual([
    'Connection: keep-alive',
    'Connection: keep-alive',
    'Connection: close',
  ]);
  expect(begun).toHaveLength(3);
  await closed;
});

test('what comes behind the last request is ignored', async () => {
  const { handler, open } = gated();
  const { port, log } = await serve(handler);
  open();
  const answer = await exchangeRaw(port, `${get(0, 'Connection: close\r\n')}${get(1)}nonsense`);
  expect(pathsIn(answer)).toEqual([0]);
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(log).toEqual([]);
});

test('what is cut off gives back what it held, though an answer before it is not ready', async () => {
  const budget = new Budget({ capacity: 1000, maxWaiters: 1 });
  const first = Promise.withResolvers<void>();
  const ends: string[] = [];
  const { port } = await serve(async (exchange) => {
    exchange.onEnd(() => ends.push(exchange.path));
    if (exchange.path === '/first') return await first.promise.then(() => exchange.text(200, '[1]'));
    await readBody(exchange, { maxBytes: 500, budget: budget.share('a key') }).catch((error: Error) =>
      ends.push(error.name),
    );
  });
  const chunked = 'POST /second HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const client = new RawClient(port, `${get('first')}${chunked}5\r\nhello\r\n`);
  await expect.poll(() => budget.free).toBeLessThan(1000);
  client.socket.write('zz\r\n');
  await expect.poll(() => budget.free).toBe(1000);
  expect(ends).toEqual(['/second', 'RequestAborted']);
  first.resolve();
  expect(await client.closed).toMatch(/\[1\]HTTP\/1\.1 400 [^[]*"malformed_request"/s);
  expect(ends.at(-1)).toBe('/first');
});

test('when the client goes away in the middle of a body, nothing of it is kept', async () => {
  const budget = new Budget({ capacity: 1000, maxWaiters: 1 });
  const first = Promise.withResolvers<void>();
  const { port } = await serve(async (exchange) => {
    if (exchange.path === '/first') return await first.promise;
    await readBody(exchange, { maxBytes: 500, budget: budget.share('a key') });
  });
  const post = 'POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n';
  const client = new RawClient(port, `${get('first')}${post}x`);
  await expect.poll(() => budget.free).toBe(500);
  client.socket.destroy();
  await expect.poll(() => budget.free).toBe(1000);
  first.resolve();
});
