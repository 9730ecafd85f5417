/** The stream of hints over real sockets: who has one, what it brings, and when it ends. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { MAX_STREAMS_OF_SESSION } from '../../../src/dashboard/event-streams.ts';
import { HINT_MS, type HintStream } from '../../../src/dashboard/hints.ts';
import { cookieOf, startDashboard } from '../ops/dashboard-server.ts';

/** A stream as a browser reads it. */
class Stream {
  text = '';
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Resolves when it has ended, with whether it ended well. */
  readonly ended: Promise<boolean>;
  readonly #request: ClientRequest;

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.on('data', (chunk) => {
      this.text += chunk;
    });
    this.ended = new Promise((resolve) => {
      response.on('end', () => resolve(true)).on('error', () => resolve(false));
    });
  }

  get lastId(): string {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  }

  /** Goes away. */
  leave(): void {
    this.#request.destroy();
  }

  /** Waits for text to come. */
  async until(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.text).toMatch(text);
  }
}

function open(port: number, session = '1', lastEventId: string | null = null): Promise<Stream> {
  const headers = {
    accept: 'text/event-stream',
    cookie: cookieOf('viewer', session),
    ...(lastEventId !== null && { 'last-event-id': lastEventId }),
  };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/api/events', headers, agent: false };
    const request = tlsRequest({ ...options, rejectUnauthorized: false }, (response) =>
      resolve(new Stream(request, response)),
    );
    onTestFinished(() => void request.destroy());
    request.on('error', reject).end();
  });
}

test('a stream begins at once, and brings hints', async () => {
  const { port, feed, clock } = await startDashboard();
  const stream = await open(port);
  expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
    200,
    'text/event-stream',
    'no-store',
  ]);
  await stream.until(/^retry: 2000\nid: \w+-0\n\n$/);
  feed.note(['messages']);
  await clock.advance(HINT_MS);
  await stream.until('event: hint\n');
  expect(stream.text).toContain('data: {"topics":["messages"]}\n\n');
});

test('nobody without a session has one', async () => {
  const { ask, feed } = await startDashboard();
  expect((await ask({ path: '/api/events' })).status).toBe(401);
  expect(feed.streams).toBe(0);
});

test('who comes back with the last id is told what happened meanwhile', async () => {
  const { port, feed, clock } = await startDashboard();
  const first = await open(port);
  await first.until('id: ');
  first.leave();
  await expect.poll(() => feed.streams).toBe(0);
  feed.note(['relays']);
  await clock.advance(HINT_MS);
  const again = await open(port, '1', first.lastId);
  await again.until('"relays"');
  const other = await open(port, '1', `${'0'.repeat(12)}-3`);
  await other.until('event: reset\n');
});

test('it ends with its session, and with no other', async () => {
  const { port, visitors, feed } = await startDashboard();
  const [mine, sibling, other] = [await open(port, 'a'), await open(port, 'a'), await open(port, 'b')];
  await expect.poll(() => feed.streams).toBe(3);
  visitors.end('a');
  expect([await mine.ended, await sibling.ended]).toEqual([true, true]);
  await expect.poll(() => feed.streams).toBe(1);
  other.leave();
  await expect.poll(() => feed.streams).toBe(0);
});

test('a session has so many streams, and may open another when one has gone', async () => {
  const { port, feed } = await startDashboard();
  const streams = await Promise.all(Array.from({ length: MAX_STREAMS_OF_SESSION }, () => open(port, 'a')));
  const refused = await open(port, 'a');
  await refused.ended;
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([429, 'too_many_streams']);
  expect((await open(port, 'b')).status).toBe(200);
  streams[0]?.leave();
  await expect.poll(() => feed.streams).toBe(MAX_STREAMS_OF_SESSION);
  expect((await open(port, 'a')).status).toBe(200);
});

test('all together have webui.max_event_streams', async () => {
  const { port, feed } = await startDashboard({ maxEventStreams: 3 });
  const open3 = [await open(port, 'a'), await open(port, 'b'), await open(port, 'c')];
  const refused = await open(port, 'd');
  await refused.ended;
  expect([refused.status, refused.text.includes('webui.max_event_streams')]).toEqual([429, true]);
  expect(feed.streams).toBe(open3.length);
});

test('a HEAD is answered and is no stream', async () => {
  const { ask, feed } = await startDashboard();
  const answer = await ask({ path: '/api/events', method: 'HEAD', headers: { cookie: cookieOf('viewer') } });
  expect([answer.status, answer.body, feed.streams]).toEqual([200, '', 0]);
});

test('who does not read is cut off, and the others hear on', async () => {
  const streams = new Set<HintStream>();
  const { port, feed, clock } = await startDashboard({
    feed: (inner) => ({
      get streams() {
        return inner.streams;
      },
      add: (stream, lastEventId) => {
        streams.add(stream);
        return inner.add(stream, lastEventId);
      },
    }),
  });
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  const cut = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  socket.pause();
  socket.write(
    `GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookieOf('viewer', 'slow')}\r\n\r\n`,
  );
  await expect.poll(() => streams.size).toBe(1);
  const [slow] = streams;
  const good = await open(port, 'good');
  await good.until('id: ');
  expect(feed.streams).toBe(2);
  // What the sockets between hold is taken; what is left over in memory after that is bounded.
  const bytes = Buffer.alloc(16 * 1024, ':');
  for (let sent = 0; sent < 10_000 && feed.streams === 2; sent++) {
    slow?.send(bytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(feed.streams).toBe(1);
  socket.resume();
  await cut;
  feed.note(['denials']);
  await clock.advance(HINT_MS);
  await good.until('"denials"');
});

test('a server that closes ends them at once', async () => {
  const { port, dashboard, feed } = await startDashboard();
  const streams = [await open(port, 'a'), await open(port, 'b')];
  await expect.poll(() => feed.streams).toBe(2);
  // Without a signal: whatever does not end by itself would keep it open.
  await dashboard.close();
  expect(await Promise.all(streams.map((stream) => stream.ended))).toEqual([true, true]);
});
