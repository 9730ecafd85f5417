import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { exchangeRaw, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import type { Exchange } from './exchange.ts';
import type { Flow } from './flow.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Begins an answer, which a test goes on with. */
function begin(exchange: Exchange): Flow {
  const flow = exchange.flow(200, 'text/plain', { ETag: '"1"' });
  if (flow === null) throw new Error('nobody is there');
  return flow;
}

/** Runs a flow, and stays until it is over. */
function flowing(run: (flow: Flow) => Promise<void> | void) {
  return async (exchange: Exchange) => {
    await run(begin(exchange));
  };
}

test('an answer of unknown length arrives piece by piece, and whole', async () => {
  const { origin } = await serve(
    flowing(async (flow) => {
      flow.write(Buffer.from('one '));
      await flow.pass(Buffer.alloc(1024 * 1024, 120));
      flow.write(Buffer.from(' three'));
      flow.end();
      // What comes behind the end is no part of it.
      flow.write(Buffer.from('late'));
      flow.end();
    }),
  );
  const response = await fetch(origin);
  expect([response.headers.get('etag'), response.headers.get('content-length')]).toEqual(['"1"', null]);
  const text = await response.text();
  expect([text.length, text.slice(0, 5), text.slice(-6)]).toEqual([1024 * 1024 + 10, 'one x', ' three']);
});

test('its head goes out at once', async () => {
  const gate = Promise.withResolvers<void>();
  const { origin } = await serve(
    flowing(async (flow) => {
      await gate.promise;
      flow.end();
    }),
  );
  const response = await fetch(origin);
  gate.resolve();
  expect([response.status, await response.text()]).toEqual([200, '']);
});

test('the connection lives on behind it, and to HEAD nothing of it is sent', async () => {
  const { port } = await serve(
    flowing((flow) => {
      flow.write(Buffer.from('body'));
      flow.end();
    }),
  );
  const bye = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const text = await exchangeRaw(port, `${GET.replace('GET', 'HEAD')}${GET}${bye}`);
  expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  expect(text.match(/^body\r$/gm)).toHaveLength(2);
});

test('who has gone is written to no more', async () => {
  const gone = Promise.withResolvers<boolean>();
  const { port } = await serve(async (exchange) => {
    const flow = begin(exchange);
    while (await flow.pass(Buffer.alloc(256 * 1024)));
    flow.write(Buffer.from('x'));
    flow.end();
    gone.resolve(exchange.over);
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(GET);
  await once(socket, 'data');
  socket.destroy();
  expect(await gone.promise).toBe(true);
});

test('who takes nothing for too long is cut off', async () => {
  const ended = Promise.withResolvers<boolean>();
  const { port, log } = await serve(
    async (exchange) => {
      const flow = begin(exchange);
      while (await flow.pass(Buffer.alloc(256 * 1024)));
      ended.resolve(true);
    },
    { limits: { ...WIDE_LIMITS, bodyTimeoutMs: 200 } },
  );
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.write(GET);
  expect(await ended.promise).toBe(true);
  socket.destroy();
  expect(log).toMatchObject([{ event: 'http.answer_not_read', code: 'answer_timeout' }]);
});

test('one that is cut is seen to be cut', async () => {
  const { origin } = await serve(
    flowing((flow) => {
      flow.write(Buffer.from('half'));
      flow.cut();
    }),
  );
  await expect(fetch(origin).then((response) => response.text())).rejects.toThrow();
});
