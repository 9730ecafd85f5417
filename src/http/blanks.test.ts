import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeRaw, RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';

/**
 * Blanks that the parser skips without counting them as header: their number is not bounded by `maxHeaderBytes`, so
 * what they cost must be.
 */

const MIB = 1024 * 1024;
const FLOOD = 256 * MIB;
/** What the garbage of a busy process may come to; the flood itself is four times that. */
const MAX_GROWTH = 64 * MIB;

const HELLO = 'Host: x\r\nConnection: close\r\n';
const PLACES = [
  ['blanks before a value', `GET / HTTP/1.1\r\n${HELLO}A:`, ' ', 'x\r\n\r\n'],
  ['tabs before a value', `GET / HTTP/1.1\r\n${HELLO}A:`, '\t', 'x\r\n\r\n'],
  ['blanks before the target', 'GET ', ' ', `/ HTTP/1.1\r\n${HELLO}\r\n`],
  ['empty lines before a request', '', '\r\n', `GET / HTTP/1.1\r\n${HELLO}\r\n`],
] as const;

/** Writes the filler until so much was sent or the server has answered; tells the most that memory grew by. */
async function flood({ socket, closed }: RawClient, filler: string, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(MIB, filler);
  const before = process.memoryUsage.rss();
  let growth = 0;
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length) {
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    growth = Math.max(growth, process.memoryUsage.rss() - before);
  }
  return growth;
}

test.each(PLACES)('%s cost no memory, however many', { timeout: 60_000 }, async (_, begin, filler, end) => {
  const { port } = await serve((exchange) => exchange.json(200, 'hello'), {
    limits: { ...WIDE_LIMITS, headerTimeoutMs: 60_000 },
  });
  const client = new RawClient(port, begin);
  expect(await flood(client, filler, FLOOD)).toBeLessThan(MAX_GROWTH);
  client.socket.write(end);
  expect(await client.closed).toMatch(/^HTTP\/1\.1 200 .*hello/s);
});

test.each(PLACES)('%s end with the time for the header', async (_, begin, filler) => {
  const { port } = await serve((exchange) => exchange.json(200, 'hello'), {
    limits: { ...WIDE_LIMITS, headerTimeoutMs: 50 },
  });
  const client = new RawClient(port, begin);
  await flood(client, filler, Number.POSITIVE_INFINITY);
  expect(await client.closed).toMatch(/^HTTP\/1\.1 408 .*"request_timeout"/s);
});

test('a request that came while the event loop was held up is answered', async () => {
  // As soon as a connection is taken, and before anything is read from it, the time for its header passes.
  const holdUp = () => {
    const until = performance.now() + 200;
    while (performance.now() < until);
  };
  subscribe('net.server.socket', holdUp);
  onTestFinished(() => void unsubscribe('net.server.socket', holdUp));
  const { port } = await serve((exchange) => exchange.json(200, 'hello'), {
    limits: { ...WIDE_LIMITS, headerTimeoutMs: 50 },
  });
  expect(await exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: x')).toMatch(
    /^HTTP\/1\.1 408 .*"request_timeout"/s,
  );
  // A whole one is answered as any other, and the next one too.
  const client = new RawClient(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.until(/hello/);
  client.socket.write(`GET / HTTP/1.1\r\n${HELLO}\r\n`);
  expect(await client.closed).toMatch(/^HTTP\/1\.1 200 .*hello.*HTTP\/1\.1 200 .*hello[^H]*$/s);
});
