import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '../../../src/domain/key.ts';
import { StoreError } from '../../../src/store/store.ts';
import { attempt, REJECTED } from './deliver.ts';
import { faultsOf, MAIL, World } from './world.ts';

/** `GET /api/v1/events` as a stream of server-sent events, over plain sockets. */

const FOLLOWING: readonly Scope[] = ['messages:send', 'messages:read', 'events:read'];

let world: World;
let key: string;
const sockets: Socket[] = [];
beforeEach(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop', scopes: FOLLOWING });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.close();
});

const submit = async (from = key) => String((await world.post(from, MAIL)).json['id']);
const STREAM = { accept: 'text/event-stream' };

interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** A stream that is read from a socket; what has come, so far. */
class Stream {
  readonly socket: Socket;
  #text = '';

  constructor(query: string, headers: Readonly<Record<string, string>> = {}, secret = key, method = 'GET') {
    this.socket = connect(world.port, '127.0.0.1');
    sockets.push(this.socket);
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      this.#text += text;
    });
    const lines = Object.entries({
      host: 'x',
      authorization: `Bearer ${secret}`,
      accept: 'text/event-stream',
      ...headers,
    });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.socket.write(`${method} /api/v1/events${query} HTTP/1.1\r\n${head}\r\n`);
  }

  get head(): string {
    return this.#text.split('\r\n\r\n', 1)[0] ?? '';
  }

  /** The body, without what frames its chunks. */
  get body(): string {
    const chunked = this.#text.slice(this.head.length + 4);
    let text = '';
    for (let rest = chunked; rest !== ''; ) {
      const size = Number.parseInt(rest, 16);
      const begin = rest.indexOf('\r\n') + 2;
      if (begin < 2 || size === 0) break;
      // Everything here is ASCII, so that bytes are characters.
      text += rest.slice(begin, begin + size);
      rest = rest.slice(begin + size + 2);
    }
    return text;
  }

  /** It ended as it should, rather than being cut. */
  get isWhole(): boolean {
    return this.#text.endsWith('\r\n0\r\n\r\n');
  }

  get frames(): Frame[] {
    return [...this.body.matchAll(/^id: (.*)\nevent: (.*)\ndata: (.*)\n\n/gm)].map(
      ([, id = '', event = '', data = '']) => ({ id, event, data }),
    );
  }

  get ids(): string[] {
    return this.frames.map(({ id }) => id);
  }

  /** Resolves when so many events have come. */
  async has(count: number): Promise<void> {
    while (this.frames.length < count) await once(this.socket, 'data');
  }

  /** Resolves when the answer has begun. */
  async begun(): Promise<void> {
    while (!this.body.includes('\n\n')) await once(this.socket, 'data');
  }
}

/** Resolves when somebody waits for news: the log was read to its end so many times. */
function ends(count: number): Promise<void> {
  const { views } = world.stores;
  const { events } = views;
  const done = Promise.withResolvers<void>();
  let seen = 0;
  views.events = async (query) => {
    const page = await events(query);
    if (!page.more) seen++;
    if (seen === count) setImmediate(done.resolve);
    return page;
  };
  return done.promise;
}

describe('a stream', () => {
  test('tells what there is, then what happens, each with its sequence, its type and its JSON', async () => {
    const first = await submit();
    const atEnd = ends(1);
    const stream = new Stream('?after=0');
    await stream.has(1);
    await atEnd;
    await attempt(world, REJECTED);
    await world.clock.advance(200);
    await stream.has(2);
    expect(stream.head).toMatch(/^HTTP\/1\.1 200 /);
    expect(stream.head.toLowerCase()).toContain('content-type: text/event-stream');
    expect(stream.body).toMatch(/^retry: 2000\n\n/);
    expect(stream.frames.map(({ id, event }) => [id, event])).toEqual([
      ['1', 'message.queued'],
      ['2', 'message.failed'],
    ]);
    const { events } = (await world.ask({ key, path: '/api/v1/events?after=0' })).json;
    expect(stream.frames.map(({ data }) => JSON.parse(data))).toEqual(events);
    expect(JSON.stringify(events)).toContain(first);
  });

  test('goes on after a cut connection where it was, by Last-Event-ID, whatever the query says', async () => {
    await submit();
    await submit();
    const stream = new Stream('?after=0');
    await stream.has(2);
    stream.socket.destroy();
    await submit();
    const again = new Stream('?after=0', { 'last-event-id': stream.ids.at(-1) ?? '' });
    await again.has(1);
    expect([...stream.ids, ...again.ids]).toEqual(['1', '2', '3']);
    const whole = new Stream('', { 'last-event-id': '0' });
    await whole.has(3);
  });

  test('tells all of a long log, page after page', async () => {
    for (let i = 0; i < 120; i++) await submit();
    const stream = new Stream('?after=0');
    await stream.has(120);
    expect(stream.ids).toEqual(Array.from({ length: 120 }, (_, i) => String(i + 1)));
  });

  test('has only what was asked for, and what the key may see', async () => {
    await submit(await world.key({ scopes: FOLLOWING }));
    await submit();
    await attempt(world, REJECTED);
    const stream = new Stream('?after=0&types=message.failed');
    await stream.has(1);
    expect(stream.frames.map(({ event }) => event)).toEqual(['message.failed']);
  });

  test('has a comment when nothing happened for 15 seconds', async () => {
    const atEnd = ends(1);
    const stream = new Stream('?after=0');
    await stream.begun();
    await atEnd;
    await world.clock.advance(14_900);
    expect(stream.body).toBe('retry: 2000\n\n');
    await world.clock.advance(100);
    while (!stream.body.includes(': ')) await once(stream.socket, 'data');
    expect(stream.body).toMatch(/\n\n: still here\n\n$/);
  });

  test('ends whole when the service stops', async () => {
    const stream = new Stream('?after=0');
    await stream.begun();
    world.stop();
    while (!stream.isWhole) await once(stream.socket, 'data');
  });

  test('ends when its key is revoked: what happens then is not told any more', async () => {
    const scopes = [...FOLLOWING, 'messages:read_all'] as const;
    const overseer = await world.key({ id: 'overseer', scopes });
    const atEnd = ends(1);
    const stream = new Stream('?after=0', {}, overseer);
    await stream.begun();
    await atEnd;
    await world.stores.keyring.revoke('overseer', world.clock.wall());
    // For so long at most a key is remembered.
    await world.clock.advance(600);
    await submit();
    await world.clock.advance(200);
    while (!stream.isWhole) await once(stream.socket, 'data');
    expect(stream.ids).toEqual([]);
  });

  test('ends when the log cannot be read any more, so that the client comes back', async () => {
    const atEnd = ends(1);
    const stream = new Stream('?after=0');
    await stream.begun();
    await atEnd;
    world.stores.views.events = () => Promise.reject(new StoreError('store_unavailable', 'gone'));
    await world.clock.advance(200);
    while (!stream.isWhole) await once(stream.socket, 'data');
    const again = await world.ask({ key, path: '/api/v1/events?after=0', headers: STREAM });
    expect(again.status).toBe(503);
    expect(world.logged).toEqual([]);
  });

  test('to HEAD is only its head', async () => {
    const stream = new Stream('?after=0', { connection: 'close' }, key, 'HEAD');
    await once(stream.socket, 'end');
    expect(stream.head).toMatch(/text\/event-stream/);
    expect(stream.body).toBe('');
  });
});

describe('readers', () => {
  test('more than allowed are refused; one that has gone makes room', async () => {
    const streams = [new Stream('?after=0'), new Stream('?after=0')];
    for (const stream of streams) await stream.begun();
    const refused = await world.ask({ key, path: '/api/v1/events?after=0', headers: STREAM });
    expect([refused.status, refused.json['code']]).toEqual([503, 'too_many_event_readers']);
    streams[0]?.socket.destroy();
    await expect
      .poll(
        async () =>
          (await world.ask({ key, method: 'HEAD', path: '/api/v1/events?after=0', headers: STREAM })).status,
      )
      .toBe(200);
  });

  test('one that does not read is not read for: a page at most is under way', async () => {
    const large = {
      ...MAIL,
      metadata: Object.fromEntries([1, 2, 3, 4].map((i) => [`n${i}`, 'x'.repeat(4000)])),
    };
    for (let i = 0; i < 600; i++) await world.post(key, large);
    const { views } = world.stores;
    const { events } = views;
    let pages = 0;
    views.events = async (query) => {
      pages++;
      return await events(query);
    };
    const stream = new Stream('?after=0');
    stream.socket.pause();
    let before = 0;
    const stands = () => {
      const stood = pages > 0 && pages === before;
      before = pages;
      return stood;
    };
    await expect.poll(stands, { interval: 300 }).toBe(true);
    // What the kernel's buffers take is little against 12 pages of 800 KiB each.
    expect(pages).toBeLessThan(12);
    stream.socket.resume();
    await stream.has(600);
    expect(stream.ids).toHaveLength(600);
  });
});

describe('is refused', () => {
  test.each([
    ['', {}, ['/after required']],
    ['?cursor=3', {}, ['/cursor combination']],
    ['?after=0&cursor=3', { 'Last-Event-ID': '3' }, ['/cursor combination']],
    ['?after=0', { 'Last-Event-ID': 'x' }, ['/Last-Event-ID out_of_range']],
    ['?after=0', { 'Last-Event-ID': '-1' }, ['/Last-Event-ID out_of_range']],
    ['?types=no', {}, ['/types event_type']],
  ] as const)('%j with %j', async (query, headers, faults) => {
    const answer = await world.ask({
      key,
      path: `/api/v1/events${query}`,
      headers: { ...STREAM, ...headers },
    });
    expect([answer.status, faultsOf(answer)]).toEqual([400, faults]);
  });

  test('without the scope', async () => {
    const path = '/api/v1/events?after=0';
    expect((await world.ask({ key: await world.key(), path, headers: STREAM })).status).toBe(403);
  });
});
