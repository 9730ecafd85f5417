import { expect, test } from 'vitest';
import { exchangeRaw, RawClient, serve } from '../../test/peers/http.ts';
import { parseCidrs } from '../lib/network.ts';
import { clientAddress, clientOrigin, type Exchange } from './exchange.ts';

const CLOSE = 'Host: x\r\nConnection: close\r\n\r\n';

test('path, query and absolute targets are taken apart', async () => {
  const { port } = await serve((x) =>
    x.json(200, { path: x.path, search: x.search, a: x.query.getAll('a'), again: x.query.get('b') }),
  );
  const ask = async (target: string) => {
    const answer = await exchangeRaw(port, `GET ${target} HTTP/1.1\r\n${CLOSE}`);
    return JSON.parse(answer.slice(answer.indexOf('{')));
  };
  expect(await ask('/p%20q/r?a=1&a=%C3%A9&b=x+y?z')).toEqual({
    path: '/p%20q/r',
    search: 'a=1&a=%C3%A9&b=x+y?z',
    a: ['1', 'é'],
    again: 'x y?z',
  });
  expect(await ask('http://other:1/p?a=1')).toMatchObject({ path: '/p', a: ['1'] });
  expect(await ask('http://other')).toMatchObject({ path: '/', search: '' });
});

test('headers set beforehand are in the answer, whatever it is', async () => {
  const { origin } = await serve((x) => {
    x.setHeader('ratelimit-remaining', '7');
    if (x.path === '/empty') x.empty(204, { Allow: 'GET' });
    else x.text(200, 'é', { ETag: '"1"' });
  });
  const text = await fetch(origin);
  expect(Object.fromEntries(text.headers)).toMatchObject({
    'ratelimit-remaining': '7',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '2',
    etag: '"1"',
  });
  expect(await text.text()).toBe('é');
  const empty = await fetch(`${origin}/empty`);
  expect([empty.status, empty.headers.get('allow'), empty.headers.get('content-length')]).toEqual([
    204,
    'GET',
    null,
  ]);
  expect(empty.headers.get('ratelimit-remaining')).toBe('7');
});

test('a header that cannot be sent is a 500, logged', async () => {
  const { origin, log } = await serve((x) => {
    x.setHeader('X-A', 'a\nb');
    x.text(200, '');
  });
  const response = await fetch(origin);
  expect([response.status, response.headers.has('x-a')]).toEqual([500, false]);
  expect(log).toHaveLength(1);
});

test('HEAD gets the headers of GET and no body', async () => {
  const { port } = await serve((x) => x.json(200, { a: 1 }));
  const answer = await exchangeRaw(port, `HEAD / HTTP/1.1\r\n${CLOSE}`);
  expect(answer).toMatch(/Content-Length: 7\r\n/);
  expect(answer).toMatch(/\r\n\r\n$/);
});

test('the end of an exchange is told, also when its client goes away', async () => {
  const ends: string[] = [];
  const begun = Promise.withResolvers<Exchange>();
  const { origin, port } = await serve(async (x) => {
    x.onEnd(() => ends.push(x.path));
    if (x.path !== '/wait') return x.text(200, '');
    begun.resolve(x);
    await new Promise((resolve) => x.signal.addEventListener('abort', resolve));
  });
  await (await fetch(`${origin}/a`)).text();
  const client = new RawClient(port, `GET /wait HTTP/1.1\r\n${CLOSE}`);
  const exchange = await begun.promise;
  client.socket.destroy();
  await new Promise<void>((resolve) => exchange.onEnd(resolve));
  expect(ends).toEqual(['/a', '/wait']);
  expect(exchange.signal.aborted).toBe(true);
  expect(exchange.over).toBe(true);
  exchange.onEnd(() => ends.push('late'));
  expect(ends).toEqual(['/a', '/wait', 'late']);
});

test('pipelined requests are answered in order', async () => {
  const later: (() => void)[] = [];
  const { port } = await serve(async (x) => {
    if (x.path === '/1') await new Promise<void>((resolve) => later.push(resolve));
    x.text(200, `[${x.path}]`);
    for (const go of later) go();
  });
  const two = `GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\n${CLOSE}`;
  expect(await exchangeRaw(port, two)).toMatch(/\[\/1\].*\[\/2\]$/s);
});

function clientOf(peer: string, forwarded?: string): string {
  const trusted = parseCidrs(['10.0.0.0/8', 'fd00::/8']);
  if (!trusted.ok) throw new Error(trusted.reason);
  return clientAddress({ peer, headers: { 'x-forwarded-for': forwarded } }, trusted.cidrs);
}

test.each([
  ['the peer, when nothing is forwarded', '10.0.0.1', undefined, '10.0.0.1'],
  ['the peer, when it is no trusted proxy', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['what a trusted proxy says', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
  [
    'the rightmost untrusted hop, not what the client made up',
    '10.0.0.1',
    '127.0.0.1, 198.51.100.7, 10.0.0.2',
    '198.51.100.7',
  ],
  ['the leftmost hop, when all are trusted', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['without a port', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
  ['without brackets and port', 'fd00::1', '[2001:db8::7]:4711', '2001:db8::7'],
  ['normalised from the mapped form', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
  ['unknown, when the proxy names no address', '10.0.0.1', '127.0.0.1, _hidden', 'unknown'],
  ['unknown, when the header is empty', '10.0.0.1', '', 'unknown'],
])('the client is %s', (_, peer, forwarded, expected) => expect(clientOf(peer, forwarded)).toBe(expected));

test.each([
  ['the host that was asked', '192.0.2.1', {}, 'http://api.test:8025'],
  ['what a trusted proxy says', '10.0.0.1', { proto: 'https', host: 'mail.test' }, 'https://mail.test'],
  [
    'the first of several proxies',
    '10.0.0.1',
    { proto: 'HTTPS, http', host: '[::1]:1, b' },
    'https://[::1]:1',
  ],
  ['not what others say', '192.0.2.1', { proto: 'https', host: 'mail.test' }, 'http://api.test:8025'],
  ['no other scheme', '10.0.0.1', { proto: 'ftp' }, 'http://api.test:8025'],
  ['nothing that is no host', '10.0.0.1', { host: 'a/b?c' }, 'http://api.test:8025'],
])('the origin is %s', (_, peer, { proto, host }: { proto?: string; host?: string }, expected) => {
  const trusted = parseCidrs(['10.0.0.0/8']);
  if (!trusted.ok) throw new Error(trusted.reason);
  const headers = { host: 'api.test:8025', 'x-forwarded-proto': proto, 'x-forwarded-host': host };
  expect(clientOrigin({ peer, secure: false, headers }, trusted.cidrs)).toBe(expected);
});

test('without a Host, as in HTTP/1.0, the origin is this machine', () => {
  const none = parseCidrs([]);
  if (!none.ok) throw new Error(none.reason);
  expect(clientOrigin({ peer: '192.0.2.1', secure: true, headers: {} }, none.cidrs)).toBe(
    'https://localhost',
  );
});
