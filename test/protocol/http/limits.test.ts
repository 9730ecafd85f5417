import { expect, onTestFinished, test } from 'vitest';
import type { HttpLimits } from '../../../src/http/server.ts';
import { exchangeRaw, RawClient } from '../../peers/http.ts';
import { MAIL, World } from './world.ts';

/** Limits on connections and requests (contract §6): each is gone past on a real socket. */

async function limited(server: Partial<HttpLimits>): Promise<{ world: World; key: string }> {
  const world = await World.start({ server });
  onTestFinished(() => world.close());
  return { world, key: await world.key() };
}

const READY = 'GET /api/v1/ready HTTP/1.1\r\nHost: x\r\n';
const post = (key: string, fields: string) =>
  `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\n${fields}\r\n`;

test('api.max_request_header_bytes: 431', async () => {
  const { world } = await limited({ maxHeaderBytes: 2048 });
  const ask = (bytes: number) =>
    exchangeRaw(world.port, `${READY}Connection: close\r\nA: ${'a'.repeat(bytes)}\r\n\r\n`);
  expect(await ask(1900)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask(2100)).toMatch(/^HTTP\/1\.1 431 .*"header_too_large".*/s);
});

test('api.max_request_headers: 431, repeated ones counted each', async () => {
  const { world } = await limited({ maxHeaders: 8 });
  const ask = (count: number) =>
    exchangeRaw(world.port, `${READY}Connection: close\r\n${'Cookie: a=b\r\n'.repeat(count)}\r\n`);
  expect(await ask(6)).toMatch(/^HTTP\/1\.1 200 /);
  const refused = await ask(7);
  expect(refused).toMatch(/^HTTP\/1\.1 431 .*"too_many_headers"/s);
  expect(refused).toContain('api.max_request_headers');
});

test('api.max_pipelined_requests: all are answered, a few at a time', async () => {
  const { world, key } = await limited({ maxPipelinedRequests: 2 });
  const body = JSON.stringify(MAIL);
  const one = `${post(key, `Content-Length: ${body.length}\r\n`)}${body}`;
  const last = one.replace('Host: x', 'Host: x\r\nConnection: close');
  const answers = await exchangeRaw(world.port, one.repeat(99) + last);
  expect(answers.match(/HTTP\/1\.1 202 /g)).toHaveLength(100);
  const ids = [...answers.matchAll(/"id":"(msg_\w+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(100);
});

test('api.max_connections: one more is refused, and has room when another ends', async () => {
  const { world } = await limited({ maxConnections: 2 });
  const kept = [new RawClient(world.port, `${READY}\r\n`), new RawClient(world.port, `${READY}\r\n`)];
  for (const client of kept) await client.until(/ready\n$/);
  expect(await exchangeRaw(world.port, `${READY}\r\n`)).toMatch(
    /^HTTP\/1\.1 503 .*Retry-After: 1\r.*"too_many_connections"/s,
  );
  kept[0]?.socket.end();
  await kept[0]?.closed;
  const ask = () => exchangeRaw(world.port, `${READY}Connection: close\r\n\r\n`);
  await expect.poll(ask).toMatch(/ready\n$/);
});

test('api.header_timeout_seconds: 408 for half a header, nothing for a connection that is not used', async () => {
  const { world } = await limited({ headerTimeoutMs: 50 });
  const unused = new RawClient(world.port);
  expect(await exchangeRaw(world.port, 'GET /api/v1/ready HTT')).toMatch(
    /^HTTP\/1\.1 408 .*Connection: close.*"request_timeout"/s,
  );
  expect(await unused.closed).toBe('');
  expect(world.noted).toEqual(['http.request_refused request_timeout']);
});

test('api.header_timeout_seconds holds for a header that comes a byte at a time', async () => {
  const { world } = await limited({ headerTimeoutMs: 50 });
  const client = new RawClient(world.port, `${READY}A: `);
  const dribble = () => {
    client.socket.write('x');
    return client.received;
  };
  await expect.poll(dribble, { interval: 5 }).toMatch(/^HTTP\/1\.1 408 /);
});

test('api.body_timeout_seconds: 408, and nothing is accepted', async () => {
  const { world, key } = await limited({ headerTimeoutMs: 50, bodyTimeoutMs: 50 });
  const answer = await exchangeRaw(world.port, `${post(key, 'Content-Length: 100\r\n')}{"from":`);
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*"request_timeout"/s);
  expect(world.intake.submissions).toEqual([]);
  expect(world.noted).toEqual(['http.request_refused request_timeout']);
});

test('api.keep_alive_seconds: an idle connection is told how long it is kept, and closed without a word', async () => {
  const { world } = await limited({ keepAliveMs: 1000 });
  const client = new RawClient(world.port, `${READY}\r\n`);
  const answer = await client.until(/ready\n$/);
  expect(answer).toMatch(/^Keep-Alive: timeout=1\r$/m);
  expect(await client.closed).toBe(answer);
  expect(world.noted).toEqual([]);
});

test('limits.max_waiting_requests: one more than may wait for memory is a 503 at once', async () => {
  const world = await World.start({ maxBytesInFlight: 1000, maxWaitingRequests: 1 });
  onTestFinished(() => world.close());
  const key = await world.key();
  const sized = (bytes: number) => post(key, `Content-Length: ${bytes}\r\nExpect: 100-continue\r\n`);
  const holding = new RawClient(world.port, sized(1000));
  await holding.until(/100 Continue/);
  const others = [new RawClient(world.port, sized(10)), new RawClient(world.port, sized(10))];
  const refused = await Promise.race(others.map((client) => client.until(/"requestId"/)));
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1\r.*"overloaded"/s);
  holding.socket.destroy();
  await Promise.any(others.map((client) => client.until(/100 Continue/)));
});
