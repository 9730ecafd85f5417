import { expect, test } from 'vitest';
import { RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { Budget } from '../lib/budget.ts';
import { receiveBody } from './body.ts';
import type { HttpLimits } from './server.ts';

const SIZE = 100_000;

/** A client that has begun to send a body of SIZE bytes, the clock, and what has arrived of it. */
async function begin(minBodyBytesPerSecond: number) {
  const clock = new ManualClock();
  const limits = { ...WIDE_LIMITS, minBodyBytesPerSecond } satisfies HttpLimits;
  const budget = new Budget({ capacity: SIZE, maxWaiters: 1 });
  let arrived = 0;
  const { port } = await serve(
    async (exchange) => {
      await receiveBody(exchange, { maxBytes: SIZE, budget: budget.share('a key') }, (chunk) => {
        arrived += chunk.length;
      });
      exchange.text(200, 'whole');
    },
    { clock, limits },
  );
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${SIZE}\r\nExpect: 100-continue\r\n\r\n`;
  const client = new RawClient(port, head);
  await client.until(/ 100 Continue/);
  const send = async (bytes: number) => {
    const before = arrived;
    client.socket.write(Buffer.alloc(bytes, 'x'));
    await expect.poll(() => arrived).toBe(before + bytes);
  };
  return { client, clock, limits, budget, send };
}

test('a body that comes in more slowly than the least pace over ten seconds is a 408', async () => {
  const { client, clock, budget, send } = await begin(500);
  await send(5000);
  await clock.advance(11_000);
  await send(4000);
  await clock.advance(11_000);
  expect(await client.until(/"errors"/)).toMatch(/ 408 .*Connection: close.*"body_too_slow"/s);
  client.socket.destroy();
  await expect.poll(() => budget.free).toBe(SIZE);
});

test('one that keeps the pace is taken, however long that takes', async () => {
  const { client, clock, send } = await begin(500);
  for (let sent = 0; sent < SIZE; sent += 10_000) {
    await send(10_000);
    await clock.advance(10_000);
  }
  expect(await client.until(/whole/)).toContain(' 200 OK');
});

test('no pace is asked for with 0, and a change holds for bodies that are being read', async () => {
  const { client, clock, limits, send } = await begin(0);
  await send(1);
  await clock.advance(100_000);
  await send(1);
  limits.minBodyBytesPerSecond = 10;
  await clock.advance(11_000);
  expect(await client.until(/"errors"/)).toMatch(/"body_too_slow"/);
});
