import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../../test/peers/certificate.ts';
import { RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { MAX_TURNED_AWAY } from './connections.ts';
import type { Exchange } from './exchange.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const MANY = 4;
const GREEDY = '127.0.0.1';
const OTHER = '127.0.0.2';
const TURNED_AWAY = /^HTTP\/1\.1 503 .*Retry-After: 1\r.*Connection: close.*"too_many_connections"/s;
const hello = (exchange: Exchange) => exchange.text(200, 'hello');
const limits = { ...WIDE_LIMITS, maxConnections: MANY };

/** Connections that take every place there is, one after the other. */
async function takeAll(port: number, first: string, count = MANY): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  while (clients.length < count) {
    const client = new RawClient(port, first, GREEDY);
    await once(client.socket, 'connect');
    clients.push(client);
  }
  return clients;
}

test('who sends no whole header makes room for another source, the oldest first', async () => {
  const { port } = await serve(hello, { limits });
  const [oldest, ...others] = await takeAll(port, 'GET / HTTP/1.1\r\nX: ');
  const client = new RawClient(port, GET, OTHER);
  await client.until(/200 OK.*hello/s);
  expect(await oldest?.closed).toBe('');
  expect(others.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
});

test('so does who reads no answer, and who sends no whole body; who waits for an answer does not', async () => {
  const opened = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const handler = async (exchange: Exchange) => {
    if (exchange.path === '/body') began.resolve();
    if (exchange.path !== '/') await opened.promise;
    hello(exchange);
  };
  const { port } = await serve(handler, { limits });
  const waiting = await takeAll(port, GET.replace('/', '/wait'), MANY - 1);
  const sending = new RawClient(port, 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na', GREEDY);
  await began.promise;
  await new RawClient(port, GET, OTHER).until(/200 OK.*hello/s);
  expect(await sending.closed).toBe('');
  expect(await new RawClient(port, GET, '127.0.0.3').closed).toMatch(TURNED_AWAY);
  opened.resolve();
  for (const client of waiting) await client.until(/200 OK.*hello/s);
});

test('a source that has most gets no more, and one that has as many takes none of another', async () => {
  const { port, log } = await serve(hello, { limits });
  const greedy = await takeAll(port, GET, MANY - 1);
  const other = new RawClient(port, GET, OTHER);
  await other.until(/hello/);
  for (const client of greedy) await client.until(/hello/);
  expect(await new RawClient(port, GET, GREEDY).closed).toMatch(TURNED_AWAY);
  expect(log.at(-1)).toMatchObject({
    event: 'http.request_refused',
    code: 'too_many_connections',
    source: GREEDY,
  });
  await new RawClient(port, GET, OTHER).until(/hello/);
  expect(await new RawClient(port, GET, OTHER).closed).toMatch(TURNED_AWAY);
});

test('of those that are turned away and do not ask, the oldest are ended', async () => {
  const { port } = await serve(hello, { limits });
  await takeAll(port, GET);
  const turnedAway = await takeAll(port, '', MAX_TURNED_AWAY);
  const last = new RawClient(port, GET, GREEDY);
  expect(await last.closed).toMatch(TURNED_AWAY);
  expect(await turnedAway[0]?.closed).toBe('');
  expect(turnedAway[1]?.socket.destroyed).toBe(false);
});

test('the same over TLS, where those that find no room are ended without a word', async () => {
  const { port } = await serve(hello, { limits, tls: createCertificate({ hosts: ['a'] }) });
  const ask = async (localAddress: string) => {
    const socket = connectTls({
      socket: connect({ port, host: '127.0.0.1', localAddress }),
      rejectUnauthorized: false,
    });
    onTestFinished(() => void socket.destroy());
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    socket.write(GET);
    const ended = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
    const answered = new Promise((resolve) => socket.once('data', resolve));
    await Promise.race([answered, ended]);
    return { socket, answer, ended };
  };
  const greedy = [];
  while (greedy.length < MANY) greedy.push(await ask(GREEDY));
  expect((await ask(GREEDY)).answer).toBe('');
  expect((await ask(OTHER)).answer).toContain('hello');
  await greedy[0]?.ended;
  expect(greedy[1]?.socket.destroyed).toBe(false);
});
