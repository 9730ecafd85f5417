import { once } from 'node:events';
import { request as tlsRequest } from 'node:https';
import { createServer } from 'node:net';
import type { connect as tlsConnect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../test/peers/certificate.ts';
import { exchangeRaw, RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { ListenError } from '../lib/listen.ts';
import type { Exchange } from './exchange.ts';
import { Problem } from './problem.ts';

const hello = (exchange: Exchange) => exchange.text(200, 'hello');
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A handler that waits until told, and when it has begun. */
function gate() {
  const opened = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const handler = async (exchange: Exchange) => {
    entered.resolve();
    await opened.promise;
    exchange.text(200, 'late');
  };
  return { handler, open: opened.resolve, entered: entered.promise };
}

test('every answer has a request id of its own, or the client’s when it is well formed', async () => {
  const { origin } = await serve(hello);
  const idFor = async (id?: string) => {
    const response = await fetch(origin, id === undefined ? {} : { headers: { 'x-request-id': id } });
    return response.headers.get('x-request-id');
  };
  const [first, second] = [await idFor(), await idFor()];
  expect(first).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(second).not.toBe(first);
  expect(await idFor('trace.7_A-1')).toBe('trace.7_A-1');
  for (const bad of ['a b', 'x'.repeat(65), '<script>']) expect(await idFor(bad)).toMatch(/^[\w-]{12}-/);
});

test('a thrown problem is the answer, with its headers', async () => {
  const { origin, log } = await serve(() => {
    throw new Problem(429, 'rate_limited', 'Too fast.', { headers: { 'Retry-After': '3' } });
  });
  const response = await fetch(origin, { headers: { 'x-request-id': 'r1' } });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('3');
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toEqual({
    type: 'urn:waybill:problem:rate_limited',
    title: 'Too many requests',
    status: 429,
    detail: 'Too fast.',
    code: 'rate_limited',
    error: 'Too fast.',
    requestId: 'r1',
    errors: [],
  });
  expect(log).toEqual([]);
});

test.each([
  ['throws', () => Promise.reject(new Error('secret detail'))],
  [
    'throws at once',
    () => {
      throw new Error('secret detail');
    },
  ],
  ['gives no answer', async () => undefined],
])('a handler that %s is a 500 that tells nothing, logged once', async (_, handler) => {
  const { origin, log } = await serve(handler);
  const response = await fetch(origin);
  const body = await response.text();
  expect(response.status).toBe(500);
  expect(JSON.parse(body)).toMatchObject({ code: 'internal_error' });
  expect(body).not.toMatch(/secret|\.ts/);
  expect(log).toHaveLength(1);
  expect(log[0]).toMatchObject({ level: 'error', event: 'http.handler_failed', code: 'internal_error' });
});

test('a second answer is a bug that leaves the first alone', async () => {
  const { origin, log } = await serve((exchange) => {
    exchange.text(200, 'one');
    exchange.text(200, 'two');
  });
  expect(await (await fetch(origin)).text()).toBe('one');
  expect(log).toHaveLength(1);
});

test.each([
  ['no HTTP at all', 'HELO x\r\n\r\n', 400, 'malformed_request'],
  ['a bad header line', 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400, 'malformed_request'],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'a length that is no number',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1e3\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'a header too large',
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
    'header_too_large',
  ],
])('%s is refused as a problem, logged once', async (_, bytes, status, code) => {
  const { port, log } = await serve(hello);
  const answer = await exchangeRaw(port, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\nX-Request-Id: /);
  expect(answer).toContain('application/problem+json');
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status, code });
  expect(log).toHaveLength(1);
  expect(log[0]).toMatchObject({ event: 'http.request_refused', code, source: '127.0.0.1' });
});

test('a header that does not come in time is a 408', async () => {
  const { port } = await serve(hello, { limits: { ...WIDE_LIMITS, headerTimeoutMs: 50 } });
  expect(await exchangeRaw(port, 'GET / HTTP/1.1\r\nHos')).toMatch(/^HTTP\/1\.1 408 .*"request_timeout"/s);
});

test('HTTP/1.1 without Host is refused, HTTP/1.0 is not', async () => {
  const { port } = await serve(hello);
  expect(await exchangeRaw(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
    / 400 .*host_missing/s,
  );
  expect(await exchangeRaw(port, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/ 200 .*hello/s);
});

test('as many header fields as allowed are all seen; one more is refused, repeated ones counted each', async () => {
  const { port } = await serve((exchange) => exchange.json(200, exchange.headers), {
    limits: { ...WIDE_LIMITS, maxHeaders: 2500 },
  });
  const many = Array.from({ length: 2498 }, (_, i) => `a${i}:\r\n`).join('');
  const ask = (fields: string) =>
    exchangeRaw(port, `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`);
  expect(await ask(many)).toMatch(/ 200 .*"a2497":""/s);
  expect(await ask(`${many}a0:\r\n`)).toMatch(/ 431 .*"too_many_headers"/s);
  expect(await ask('Cookie: a\r\n'.repeat(2499))).toMatch(/ 431 .*"(too_many_headers|header_too_large)"/s);
});

test('a connection over the limit is told so; one that ends makes room', async () => {
  const { port } = await serve(hello, { limits: { ...WIDE_LIMITS, maxConnections: 1 } });
  const first = new RawClient(port, GET);
  await first.until(/hello/);
  expect(await exchangeRaw(port, GET)).toMatch(
    /^HTTP\/1\.1 503 .*Connection: close.*"too_many_connections"/s,
  );
  first.socket.destroy();
  await first.closed;
  let answer = '';
  while (!answer.includes('200 OK'))
    answer = await exchangeRaw(port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  expect(answer).toContain('hello');
});

test('several addresses share one free port', async () => {
  const { port } = await serve(hello, { hosts: ['127.0.0.1', '127.0.0.2'] });
  for (const host of ['127.0.0.1', '127.0.0.2'])
    expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('hello');
});

test('an IPv4 client of the IPv6 wildcard is known by its IPv4 address', async () => {
  const { origin } = await serve((exchange) => exchange.text(200, exchange.peer), { hosts: ['::'] });
  expect(await (await fetch(origin)).text()).toBe('127.0.0.1');
});

test('a port in use is a typed error, and nothing stays bound', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const error = await serve(hello, { hosts: ['127.0.0.2', '127.0.0.1'], port }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({ code: 'address_in_use', host: '127.0.0.1', port });
  await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toThrow();
});

test('closing ends idle connections at once and lets those at work answer', async () => {
  const { handler, open, entered } = gate();
  const { server, port } = await serve((exchange) =>
    exchange.path === '/wait' ? handler(exchange) : hello(exchange),
  );
  const silent = new RawClient(port);
  await once(silent.socket, 'connect');
  const idle = new RawClient(port, GET);
  await idle.until(/hello/);
  const busy = new RawClient(port, GET.replace('/', '/wait'));
  await entered;
  const closed = server.close();
  expect(await silent.closed).toBe('');
  await idle.closed;
  open();
  expect(await busy.closed).toMatch(/Connection: close.*late/s);
  await closed;
});

test('what is still at work when the signal comes is cut', async () => {
  const { handler, open, entered } = gate();
  const { server, port } = await serve(handler);
  const busy = new RawClient(port, GET);
  await entered;
  const signal = new AbortController();
  const closed = server.close(signal.signal);
  signal.abort();
  await closed;
  expect(await busy.closed).toBe('');
  open();
});

test('over TLS an exchange is secure, and the certificate can be replaced', async () => {
  const [first, second] = [createCertificate({ hosts: ['a'] }), createCertificate({ hosts: ['b'] })];
  const { server, port } = await serve((exchange) => exchange.json(200, { secure: exchange.secure }), {
    tls: first,
  });
  const ask = () =>
    new Promise<{ cert: string; body: string }>((resolve, reject) => {
      const request = tlsRequest(
        { port, host: '127.0.0.1', rejectUnauthorized: false, agent: false },
        (response) => {
          const { socket } = response;
          const subject =
            'getPeerCertificate' in socket
              ? (socket as ReturnType<typeof tlsConnect>).getPeerCertificate()
              : null;
          response
            .setEncoding('utf8')
            .on('data', (body: string) => resolve({ cert: String(subject?.subject.CN), body }));
        },
      );
      request.on('error', reject).end();
    });
  expect(await ask()).toEqual({ cert: 'a', body: '{"secure":true}' });
  server.setSecureContext(second);
  expect((await ask()).cert).toBe('b');
});

test('a handshake under way does not hold up a close that is cut short', async () => {
  const { server, port } = await serve(hello, { tls: createCertificate({ hosts: ['a'] }) });
  const half = new RawClient(port, '\x16\x03\x01');
  await once(half.socket, 'connect');
  const closed = server.close(AbortSignal.abort());
  await half.closed;
  await closed;
});
