import { once } from 'node:events';
import { expect, test } from 'vitest';
import { RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';

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
