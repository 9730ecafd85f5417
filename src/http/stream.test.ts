import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { exchangeRaw, serve, WIDE_LIMITS } from '../../test/peers/http.ts';
import type { Exchange } from './exchange.ts';
import type { Flow, StreamedBody } from './stream.ts';

const MIB = 1024 * 1024;
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A body of so many pieces of 1 MiB that tells how many were read and when reading has ended. */
class Pieces implements StreamedBody {
  readonly sizeBytes: number;
  read = 0;
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;
  readonly #count: number;
  readonly #failAt: number;

  constructor(count: number, failAt = Number.POSITIVE_INFINITY) {
    this.sizeBytes = count * MIB;
    this.#count = count;
    this.#failAt = failAt;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async *chunks() {
    try {
      for (let place = 0; place < this.#count; place++) {
        if (place === this.#failAt) throw new Error('damaged');
        this.read++;
        yield Buffer.alloc(MIB, 97 + (place % 26));
      }
      if (this.#failAt === this.#count) throw new Error('damaged at the end');
    } finally {
      this.#end();
    }
  }
}

test('a body arrives whole, with its length', async () => {
  const { origin } = await serve((x) => x.stream(200, 'text/plain', new Pieces(5), { ETag: '"1"' }));
  const response = await fetch(origin);
  expect([response.headers.get('content-length'), response.headers.get('etag')]).toEqual([
    String(5 * MIB),
    '"1"',
  ]);
  const text = await response.text();
  expect([text.length, text[0], text[MIB], text.at(-1)]).toEqual([5 * MIB, 'a', 'b', 'e']);
});

test('an empty body is one too', async () => {
  const { origin } = await serve((x) => x.stream(200, 'text/plain', new Pieces(0)));
  const response = await fetch(origin);
  expect([response.status, await response.text()]).toEqual([200, '']);
});

test('bodies follow each other on one connection, also after a request whose own body nobody read', async () => {
  const { port } = await serve((x) => x.stream(200, 'text/plain', new Pieces(2)));
  const posted = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello';
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const received = await exchangeRaw(port, `${GET}${posted}${last}`);
  expect([received.split('HTTP/1.1 200 OK').length - 1, received.split('a'.repeat(MIB)).length - 1]).toEqual([
    3, 3,
  ]);
  expect(received.endsWith('b'.repeat(MIB))).toBe(true);
});

test('HEAD gets the headers and reads nothing', async () => {
  const body = new Pieces(5);
  const { port } = await serve((x) => x.stream(200, 'text/plain', body));
  const answer = await exchangeRaw(port, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect([answer.includes(`Content-Length: ${5 * MIB}\r\n`), answer.endsWith('\r\n\r\n'), body.read]).toEqual(
    [true, true, 0],
  );
});

test('what fails before anything was sent is answered with 500', async () => {
  for (const body of [new Pieces(3, 0), new Pieces(3, 1), new Pieces(1, 1)]) {
    const { origin, log } = await serve((x) => x.stream(200, 'text/plain', body));
    const response = await fetch(origin);
    expect([response.status, log.length]).toEqual([500, 1]);
  }
});

test('what fails on the way, even after the last piece, cuts the connection before the body is whole', async () => {
  for (const failAt of [3, 9, 10]) {
    const { port, log } = await serve((x) => x.stream(200, 'text/plain', new Pieces(10, failAt)));
    const answer = await exchangeRaw(port, GET);
    expect(answer).toContain(`Content-Length: ${10 * MIB}\r\n`);
    expect(answer.length).toBeLessThan(10 * MIB);
    expect(log.map(({ event }) => event)).toEqual(['http.handler_failed']);
  }
});

test('pieces that do not add up to the size never pass for a whole body', async () => {
  const chunks = () => [Buffer.alloc(10), Buffer.alloc(10)];
  const { port } = await serve((x) => x.stream(200, 'text/plain', { sizeBytes: 15, chunks }));
  const [, received = ''] = (await exchangeRaw(port, GET)).split('\r\n\r\n');
  expect(received.length).toBeLessThan(15);
});

test('no more is read than the client takes, and a client that goes away ends the reading', async () => {
  const body = new Pieces(200);
  const { port, log } = await serve((x) => x.stream(200, 'text/plain', body));
  const socket = connect(port, '127.0.0.1');
  socket.write(GET);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause().destroy();
  await body.ended;
  expect(body.read).toBeLessThan(200);
  expect(log).toEqual([]);
});

test('a client that stalls is cut off', async () => {
  const body = new Pieces(200);
  const { port, log } = await serve((x) => x.stream(200, 'text/plain', body), {
    limits: { ...WIDE_LIMITS, bodyTimeoutMs: 20 },
  });
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => undefined).write(GET);
  await body.ended;
  expect(body.read).toBeLessThan(200);
  expect(log.map(({ event }) => event)).toEqual(['http.answer_not_read']);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
});

describe('flow', () => {
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
});
