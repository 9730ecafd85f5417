import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeRaw, type Served, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { yieldToLoop } from '../lib/clock.ts';
import type { Exchange } from './exchange.ts';
import type { HttpLimits } from './server.ts';

/** Answers that nobody reads: how long they are kept, and how many. */

const MIB = 1024 * 1024;
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** More than the machine itself keeps for a connection. */
const LARGE = 'x'.repeat(20 * MIB);
/** As large as what is read from the spool at once. */
const PIECE = Buffer.alloc(MIB, 120);

/** A server that counts the exchanges begun and ended, with a clock that the test moves. */
async function counted(answer: (exchange: Exchange) => unknown, limits: Partial<HttpLimits> = {}) {
  const counts = { begun: 0, ended: 0 };
  const clock = new ManualClock();
  const served = await serve(
    async (exchange) => {
      counts.begun++;
      exchange.onEnd(() => counts.ended++);
      await answer(exchange);
    },
    { limits: { ...WIDE_LIMITS, ...limits }, clock },
  );
  return { ...served, counts, clock };
}

/** A client that asks and reads nothing. */
function deafClient({ port }: Served, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined).write(bytes);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** How much comes when the client reads at last. */
async function readAll(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  return bytes;
}

const bodyOf = (...pieces: Buffer[]) => ({
  sizeBytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
  chunks: () => pieces,
});

test.each<[string, (exchange: Exchange) => unknown, string]>([
  ['JSON', (x) => x.json(200, LARGE), GET],
  [
    'JSON to a request whose body nobody read',
    (x) => x.json(200, LARGE),
    `${GET.trimEnd()}\r\nContent-Length: 9\r\n\r\n`,
  ],
  ['the last piece of a stream', (x) => x.stream(200, 'text/plain', bodyOf(Buffer.from(LARGE))), GET],
  ['pipelined contents', (x) => x.stream(200, 'text/plain', bodyOf(PIECE)), GET.repeat(16)],
])('a connection whose answer is not read is ended: %s', async (_, answer, requests) => {
  const served = await counted(answer);
  const { counts, clock } = served;
  const socket = deafClient(served, requests);
  await expect.poll(() => counts.begun).toBeGreaterThan(0);
  await clock.advance(WIDE_LIMITS.bodyTimeoutMs - 1000);
  expect(counts.begun - counts.ended).toBeGreaterThan(0);
  await clock.advance(2000);
  await expect.poll(() => counts.begun - counts.ended).toBe(0);
  expect(await readAll(socket)).toBeLessThan(16 * MIB);
  expect(served.log).toMatchObject([{ event: 'http.answer_not_read', source: '127.0.0.1' }]);
});

test('of contents that one client asks for ahead, only the one whose turn it is is read', async () => {
  let reading = 0;
  const chunks = () => {
    reading++;
    return [PIECE, PIECE];
  };
  const body = { sizeBytes: 20 * MIB, chunks };
  const served = await counted((x) => x.stream(200, 'text/plain', body));
  deafClient(served, GET.repeat(16));
  await expect.poll(() => served.counts.begun).toBe(16);
  await yieldToLoop();
  expect(reading).toBe(1);
});

test('one that is read slowly is not, however long it takes', async () => {
  const { port, log, clock } = await counted((x) => x.json(200, LARGE));
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  let received = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received += chunk.length;
    await clock.advance(50);
  }
  expect([received > 20 * MIB, clock.mono() > WIDE_LIMITS.bodyTimeoutMs]).toEqual([true, true]);
  expect(log).toEqual([]);
});

test('waiting for an answer is not the same as not reading it', async () => {
  const first = Promise.withResolvers<void>();
  const { port, log, clock, counts } = await counted(async (exchange) => {
    if (exchange.path === '/first') await first.promise;
    exchange.json(200, 'y'.repeat(MIB));
  });
  const last = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const answers = exchangeRaw(port, `GET /first HTTP/1.1\r\nHost: x\r\n\r\n${last}`);
  await expect.poll(() => counts.begun).toBe(2);
  await clock.advance(10 * WIDE_LIMITS.bodyTimeoutMs);
  first.resolve();
  expect((await answers).length).toBeGreaterThan(2 * MIB);
  expect(log).toEqual([]);
});

test('when too many bytes are unread, the connection that stands still longest is ended first', async () => {
  const served = await counted((x) => x.json(200, LARGE), { maxUnsentBytes: 50 * MIB });
  const sockets: Socket[] = [];
  for (let i = 1; i <= 4; i++) {
    sockets.push(deafClient(served, GET));
    await expect.poll(() => served.counts.begun).toBe(i);
  }
  await expect.poll(() => served.counts.ended).toBe(2);
  const [oldest, second] = sockets;
  if (oldest === undefined || second === undefined) throw new Error('no clients');
  expect(await readAll(oldest)).toBeLessThan(20 * MIB);
  expect(await readAll(second)).toBeLessThan(20 * MIB);
  const reader = await fetch(served.origin);
  expect((await reader.text()).length).toBeGreaterThan(20 * MIB);
  expect(served.log.map(({ event, code }) => [event, code])).toEqual([
    ['http.answer_not_read', 'overloaded'],
    ['http.answer_not_read', 'overloaded'],
    ['http.answer_not_read', 'overloaded'],
  ]);
});
