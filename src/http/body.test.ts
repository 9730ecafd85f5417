import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { exchangeRaw, RawClient, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import { Budget } from '../lib/budget.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Gatherer, joinBody, RequestAborted, readBody, readWholeBody, receiveBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { Problem } from './problem.ts';

const MIB = 1024 * 1024;
/** What a body takes of the budget at a time. */
const STEP = 256 * 1024;

function newBudget(capacity = 64 * MIB, maxWaiters = 10): Budget {
  return new Budget({ capacity, maxWaiters });
}

/** Answers with how many bytes and pieces came. */
function counting(maxBytes: number, budget = newBudget()) {
  return async (exchange: Exchange) => {
    const chunks = await readBody(exchange, { maxBytes, budget: budget.share('a key') });
    exchange.json(200, { bytes: joinBody(chunks).length, chunks: chunks.length });
  };
}

const refusing = (exchange: Exchange) => exchange.problem(new Problem(401, 'key_missing', 'No key.'));

/** A clock on which no time passes until told. */
function stoppedClock(): Clock & { readonly elapse: () => void } {
  const sleepers = new Set<() => void>();
  return {
    ...systemClock,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        sleepers.add(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
    elapse: () => {
      for (const wake of sleepers) wake();
    },
  };
}

function post(headers: string, body = ''): string {
  return `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;
}

test('a large body is one piece, whose memory is taken once it has begun to come', async () => {
  const begun = new Set<Exchange>();
  const { origin, port } = await serve(async (exchange) => {
    begun.add(exchange);
    const body = await readWholeBody(exchange, { maxBytes: 32 * MIB, budget: newBudget().share('a key') });
    const isAlone = body.length === body.buffer.byteLength;
    exchange.json(200, { bytes: body.length, isAlone, sum: body.reduce((sum, byte) => sum + byte, 0) });
  });
  const before = process.memoryUsage().arrayBuffers;
  const slow = Array.from(
    { length: 16 },
    () => new RawClient(port, post(`Content-Length: ${32 * MIB}`, 'x')),
  );
  await expect.poll(() => begun.size).toBe(slow.length);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MIB);
  for (const { socket } of slow) socket.destroy();
  const body = Buffer.alloc(8 * MIB + 1, 'abc');
  const answer = await fetch(origin, { method: 'POST', body });
  const sum = body.reduce((all, byte) => all + byte, 0);
  expect(await answer.json()).toEqual({ bytes: body.length, isAlone: true, sum });
});

test('a body stays one piece whose room comes after five reads of 64 KiB, and their memory is given back', () => {
  const pieces: Buffer[] = [];
  const gatherer = new Gatherer((piece) => pieces.push(piece), 4 * MIB);
  for (let read = 0; read < 5; read++) gatherer.push(Buffer.alloc(64 * 1024, read));
  const before = process.memoryUsage().arrayBuffers;
  gatherer.goOnWhole();
  // The 320 KiB that it replaces are not left to the garbage collector.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThanOrEqual(4 * MIB - 5 * 64 * 1024);
  for (let read = 5; read < 64; read++) gatherer.push(Buffer.alloc(64 * 1024, read));
  gatherer.flush();
  expect(pieces).toHaveLength(1);
  const reads = Array.from({ length: 64 }, (_, read) => Buffer.alloc(64 * 1024, read));
  expect(joinBody(pieces).equals(Buffer.concat(reads))).toBe(true);
});

test('a body is read whole, with a length and without', async () => {
  const { origin, port } = await serve(counting(2 * MIB));
  const sized = await fetch(origin, { method: 'POST', body: 'x'.repeat(MIB) });
  expect(await sized.json()).toMatchObject({ bytes: MIB });
  const chunked = exchangeRaw(
    port,
    post('Connection: close\r\nTransfer-Encoding: chunked', '3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n'),
  );
  expect(await chunked).toContain('{"bytes":5,"chunks":2}');
  expect(await exchangeRaw(port, post('Connection: close'))).toContain('{"bytes":0,"chunks":0}');
});

test.each([
  ['a declared length over the limit', 'Content-Length: 101', '', 413, 'content_too_large'],
  [
    'chunks over the limit',
    'Transfer-Encoding: chunked',
    `65\r\n${'x'.repeat(101)}\r\n`,
    413,
    'content_too_large',
  ],
  [
    'a content encoding',
    'Content-Length: 1\r\nContent-Encoding: gzip',
    'x',
    415,
    'unsupported_content_encoding',
  ],
  ['a transfer coding', 'Transfer-Encoding: gzip, chunked', '0\r\n\r\n', 501, 'unsupported_transfer_coding'],
])('%s is refused', async (_, headers, body, status, code) => {
  const { port } = await serve(counting(100));
  const client = new RawClient(port, post(headers, body));
  expect(await client.until(/"errors"/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"code":"${code}"`, 's'));
});

test('a body of exactly the limit is taken', async () => {
  const { origin } = await serve(counting(100));
  expect((await fetch(origin, { method: 'POST', body: 'x'.repeat(100) })).status).toBe(200);
});

test('a body sent byte by byte is kept in few pieces', async () => {
  const { port } = await serve(counting(MIB));
  const client = new RawClient(port, post('Connection: close\r\nTransfer-Encoding: chunked'));
  client.socket.write('1\r\nx\r\n'.repeat(100_000));
  client.socket.write('0\r\n\r\n');
  expect(await client.closed).toContain('{"bytes":100000,"chunks":66}');
});

test('100 Continue is sent only when the body is wanted', async () => {
  const wanting = await serve(counting(100));
  const client = new RawClient(wanting.port, post('Content-Length: 3\r\nExpect: 100-continue'));
  expect(await client.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  client.socket.write('abc');
  expect(await client.until(/bytes/)).toContain('{"bytes":3,');
  const refused = await serve(refusing);
  const other = new RawClient(refused.port, post('Content-Length: 3\r\nExpect: 100-continue'));
  expect(await other.until(/"errors"/)).toMatch(/^HTTP\/1\.1 401 .*Connection: close/s);
});

test('a refused body is read away, and the connection lives on', async () => {
  const { port } = await serve(refusing);
  const client = new RawClient(port, post(`Content-Length: ${MIB}`));
  await client.until(/"errors"/);
  client.socket.write('x'.repeat(MIB));
  client.received = '';
  client.socket.write(post('Content-Length: 0\r\nConnection: close'));
  expect(await client.closed).toMatch(/^HTTP\/1\.1 401/);
});

test('a client that sends a large body before it reads anything gets its refusal', async () => {
  const { port } = await serve(refusing);
  const client = new RawClient(port, post(`Content-Length: ${30 * MIB}`));
  client.socket.pause();
  await new Promise((resolve) => client.socket.write(Buffer.alloc(30 * MIB), resolve));
  client.socket.resume();
  expect(await client.until(/"errors"/)).toMatch(/^HTTP\/1\.1 401 .*Connection: close/s);
});

test('a refused body without end is read away for a while, then our side is closed, then all', async () => {
  const clock = stoppedClock();
  const { port } = await serve(refusing, { clock });
  const client = new RawClient(port, post('Transfer-Encoding: chunked'));
  client.socket.allowHalfOpen = true;
  await client.until(/"errors"/);
  const ended = once(client.socket, 'end');
  clock.elapse();
  await ended;
  // What it goes on sending is not read for ever either.
  const resent = () => {
    client.socket.write('1\r\nx\r\n');
    clock.elapse();
    return client.socket.closed;
  };
  await expect.poll(resent).toBe(true);
});

test('a refused body that does not come is not waited for longer than the limit', async () => {
  const clock = stoppedClock();
  const { port } = await serve(refusing, { clock });
  const client = new RawClient(port, post('Content-Length: 10'));
  await client.until(/"errors"/);
  clock.elapse();
  await client.closed;
});

test('a connection whose refused body is being read away when the server closes ends after it', async () => {
  const { server, port } = await serve(refusing);
  const client = new RawClient(port, post('Content-Length: 10'));
  expect(await client.until(/"errors"/)).toContain('Connection: keep-alive');
  const closed = server.close();
  client.socket.write('x'.repeat(10));
  await client.closed;
  await closed;
});

test('a body that comes too slowly is a 408, and its reader learns of it', async () => {
  const failed = Promise.withResolvers<unknown>();
  const budget = newBudget();
  const limits = { ...WIDE_LIMITS, headerTimeoutMs: 50, bodyTimeoutMs: 50 };
  const { port, log } = await serve(
    async (exchange) => {
      await readBody(exchange, { maxBytes: 100, budget: budget.share('a key') }).catch((error: unknown) => {
        failed.resolve(error);
        throw error;
      });
    },
    { limits },
  );
  const answer = await exchangeRaw(port, post('Content-Length: 10\r\nX-Request-Id: slow', 'abc'));
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*X-Request-Id: slow.*"request_timeout"/s);
  expect(await failed.promise).toBeInstanceOf(RequestAborted);
  expect(budget.free).toBe(64 * MIB);
  expect(log.map((line) => line.event)).toEqual(['http.request_refused']);
});

test('a body whose chunks are malformed is a 400', async () => {
  const { port } = await serve(counting(100));
  const answer = exchangeRaw(port, post('Transfer-Encoding: chunked', '3\r\nabc\r\nzz\r\n'));
  expect(await answer).toMatch(/^HTTP\/1\.1 400 .*"malformed_request"/s);
});

test('a client that goes away ends the reading and gives its budget back', async () => {
  const budget = newBudget();
  const failed = Promise.withResolvers<unknown>();
  const { port, log } = await serve(async (exchange) => {
    await readBody(exchange, { maxBytes: 100, budget: budget.share('a key') }).catch((error: unknown) => {
      failed.resolve(error);
      throw error;
    });
  });
  const client = new RawClient(port, post('Content-Length: 10', 'abc'));
  await once(client.socket, 'connect');
  client.socket.end();
  expect(await failed.promise).toBeInstanceOf(RequestAborted);
  await client.closed;
  await expect.poll(() => budget.free).toBe(64 * MIB);
  expect(log.filter((line) => line.level === 'error')).toEqual([]);
});

test('what the sink throws is the end, and the answer', async () => {
  const { origin } = await serve((exchange) =>
    receiveBody(exchange, { maxBytes: 100, budget: newBudget().share('a key') }, () => {
      throw new Problem(400, 'malformed', 'Not so.');
    }),
  );
  const response = await fetch(origin, { method: 'POST', body: 'abc' });
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({ code: 'malformed' }),
  ]);
});

test('a body waits for its share of the budget, and is told to come back when too long', async () => {
  const budget = newBudget(100);
  const clock = stoppedClock();
  const { port } = await serve(counting(100, budget), { clock });
  const held = budget.share('another').tryAcquire(60);
  const first = new RawClient(port, post('Content-Length: 50', 'x'.repeat(50)));
  await expect.poll(() => budget.waiting).toBe(1);
  held?.();
  await first.until(/"bytes":50/);
  budget.share('another').tryAcquire(60);
  const second = new RawClient(port, post('Content-Length: 50', 'x'.repeat(50)));
  await expect.poll(() => budget.waiting).toBe(1);
  clock.elapse();
  expect(await second.until(/"errors"/)).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1.*"overloaded"/s);
});

test('what is only announced takes no more than a step of the budget', async () => {
  const budget = newBudget();
  const { port } = await serve(counting(50 * MIB, budget));
  const client = new RawClient(port, post(`Content-Length: ${50 * MIB}`, 'x'));
  await expect.poll(() => budget.free).toBe(64 * MIB - STEP);
  client.socket.destroy();
  await expect.poll(() => budget.free).toBe(64 * MIB);
});

test.each([`Content-Length: ${MIB}`, 'Transfer-Encoding: chunked'])(
  'a body that outgrows what is left is read no further until there is room: %s',
  async (header) => {
    const budget = newBudget(2 * MIB);
    const { port } = await serve(counting(MIB, budget));
    const held = budget.share('another').tryAcquire(MIB);
    const body = 'x'.repeat(MIB);
    const isChunked = header.startsWith('Transfer');
    const client = new RawClient(port, post(header, isChunked ? `100000\r\n${body}\r\n0\r\n\r\n` : body));
    await expect.poll(() => budget.waiting).toBe(1);
    // Somebody else's small one passes.
    expect(budget.share('a third').tryAcquire(200)).not.toBeNull();
    held?.();
    expect(await client.until(/"bytes"/)).toContain(`{"bytes":${MIB},`);
  },
);

test('large bodies that come at once do not wait for each other', async () => {
  // Time stands still: none of them gives up.
  const { port } = await serve(counting(MIB, newBudget(2 * MIB)), { clock: stoppedClock() });
  const body = post(`Content-Length: ${MIB}`, 'x'.repeat(MIB));
  const clients = Array.from({ length: 3 }, () => new RawClient(port, body));
  for (const client of clients) expect(await client.until(/"bytes"/)).toContain(`{"bytes":${MIB},`);
});

test('a body of unknown length takes as it comes, whatever it may become', async () => {
  const budget = newBudget(2 * MIB);
  const { port } = await serve(counting(100 * MIB, budget), { clock: stoppedClock() });
  budget.share('another').tryAcquire(MIB);
  const chunk = 'x'.repeat(2 * STEP);
  const client = new RawClient(port, post('Transfer-Encoding: chunked', `80000\r\n${chunk}\r\n`));
  await expect.poll(() => budget.taken).toBeGreaterThanOrEqual(MIB + 2 * STEP);
  expect(budget.taken).toBeLessThanOrEqual(MIB + 3 * STEP);
  client.socket.write('0\r\n\r\n');
  expect(await client.until(/"bytes"/)).toContain(`{"bytes":${2 * STEP},`);
});

test('a body that has some and waits for more is told to come back in the end', async () => {
  const budget = newBudget(2 * MIB);
  const clock = stoppedClock();
  const { port } = await serve(counting(MIB, budget), { clock });
  budget.share('another').tryAcquire(MIB);
  const client = new RawClient(port, post(`Content-Length: ${MIB}`, 'x'.repeat(MIB)));
  await expect.poll(() => budget.waiting).toBe(1);
  expect(budget.free).toBeLessThan(MIB);
  clock.elapse();
  expect(await client.until(/"errors"/)).toMatch(/^HTTP\/1\.1 503 .*"overloaded"/s);
});

test('a client that goes away while its body waits for room is found out in the end', async () => {
  const budget = newBudget(2 * MIB);
  const clock = stoppedClock();
  const { port } = await serve(counting(MIB, budget), { clock });
  budget.share('another').tryAcquire(MIB);
  const client = new RawClient(port, post(`Content-Length: ${MIB}`, 'x'.repeat(MIB)));
  await expect.poll(() => budget.waiting).toBe(1);
  client.socket.destroy();
  const state = () => {
    clock.elapse();
    return [budget.waiting, budget.free];
  };
  await expect.poll(state).toEqual([0, MIB]);
});

test('a body beyond all that its sender may have counts as that much', async () => {
  const { port } = await serve(counting(10 * MIB, newBudget(300 * 1024)));
  const client = new RawClient(port, post(`Content-Length: ${MIB}`, 'x'.repeat(MIB)));
  expect(await client.until(/"bytes"/)).toContain(`{"bytes":${MIB},`);
});

test('nothing keeps what was read but its reader, long before the answer', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { origin } = await serve(async (exchange) => {
    const pieces = await readBody(exchange, { maxBytes: 4 * MIB, budget: newBudget().share('a key') }).then(
      (read) => read.map((piece) => new WeakRef(piece)),
    );
    await turn();
    collectGarbage();
    const kept = pieces.filter((piece) => piece.deref() !== undefined).length;
    exchange.json(200, { pieces: pieces.length, kept });
  });
  const answer = await fetch(origin, { method: 'POST', body: 'x'.repeat(4 * MIB) });
  const { pieces, kept } = (await answer.json()) as { pieces: number; kept: number };
  expect(pieces).toBeGreaterThan(64);
  expect(kept).toBe(0);
});
