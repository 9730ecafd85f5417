import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../../src/domain/key.ts';
import { messageUuid } from '../../../src/lib/id.ts';
import { StoreError } from '../../../src/store/store.ts';
import { attempt, CAPTURED, DEFERRED, DELIVERED, REJECTED } from './deliver.ts';
import { type Answer, type Ask, faultsOf, MAIL, World } from './world.ts';

/** `GET /api/v1/events`, page by page and waiting (contract-2 §B1). */

const FOLLOWING: readonly Scope[] = ['messages:send', 'messages:read', 'events:read'];

let world: World;
let key: string;
beforeEach(async () => {
  world = await World.start();
  key = await world.key({ name: 'shop', scopes: FOLLOWING });
});
afterEach(() => world.close());

interface Page {
  readonly events: readonly {
    readonly type: string;
    readonly data: {
      readonly id: string;
      readonly sequence: number;
      readonly message: { readonly id: string };
    };
  }[];
  readonly hasMore: boolean;
  readonly nextCursor?: string;
  readonly nextAfter?: number;
}

const ask = (query: string, asked: Partial<Ask> = {}) =>
  world.ask({ key, path: `/api/v1/events${query}`, ...asked });
/** The page in an answer; every answer is held to its schema. */
const pageOf = (answer: Answer) => answer.json as unknown as Page;
const typesOf = (answer: Answer) => pageOf(answer).events.map(({ type }) => type);
const messagesOf = (answer: Answer) => pageOf(answer).events.map(({ data }) => data.message.id);

async function submit(fields: object = {}, from = key): Promise<string> {
  return String((await world.post(from, { ...MAIL, ...fields })).json['id']);
}

describe('an event', () => {
  test('tells of the message and the recipient, and not of the subject', async () => {
    const id = await submit({ subject: 'Secret', tags: ['welcome'], metadata: { order: '7' } });
    await world.clock.advance(1000);
    await attempt(world, REJECTED);
    const answer = await ask('?after=0');
    expect(typesOf(answer)).toEqual(['message.queued', 'message.failed']);
    expect(answer.text).not.toContain('Secret');
    const { messageId } = (await world.ask({ key, path: `/api/v1/messages/${id}` })).json;
    expect(pageOf(answer).events[1]).toEqual({
      type: 'message.failed',
      timestamp: '2026-11-20T00:00:01.000Z',
      data: {
        id: expect.stringMatching(/^evt_/),
        sequence: 2,
        message: {
          id,
          messageId,
          from: 'jane@example.com',
          tags: ['welcome'],
          metadata: { order: '7' },
          stream: null,
          key: 'shop',
          source: 'api',
          createdAt: '2026-11-20T00:00:00.000Z',
        },
        recipient: { address: 'bob@example.org', type: 'to', status: 'failed', outcome: 'rejected' },
        relay: 'out',
        attempt: 1,
        providerMessageId: null,
        nextAttemptAt: null,
        reply: { code: 550, enhancedCode: '5.1.1', text: '5.1.1 No such user' },
        bounce: { type: 'hard', source: 'smtp' },
        suppression: null,
      },
    });
  });

  test('has the same id whenever it is read', async () => {
    await submit();
    const ids = async (query: string) => pageOf(await ask(query)).events.map(({ data }) => data.id);
    expect(await ids('')).toEqual(await ids('?after=0'));
  });
});

describe('which events', () => {
  test.each([
    ['types=message.queued', ['message.queued', 'message.queued']],
    ['types=message.deferred,message.delivered', ['message.deferred', 'message.delivered']],
    ['types=message.*', 4],
    ['recipient=ANN@Example.org', ['message.deferred', 'message.delivered']],
    ['tag=news', ['message.queued', 'message.deferred', 'message.delivered']],
    ['since=2026-11-20T00:00:01Z', ['message.delivered']],
    ['until=2026-11-20T00:00:01Z', 3],
    ['tag=news&types=message.queued&limit=1', ['message.queued']],
  ] as const)('%s', async (query, expected) => {
    await submit();
    await submit({ to: ['ann@example.org'], tags: ['news'] });
    // The one without a tag waits for a lane that nobody attempts.
    await world.stores.store.cancel([pageOf(await ask('')).events[1]?.data.message.id ?? ''], {
      node: 'test',
      now: world.clock.wall(),
    });
    await attempt(world, DEFERRED);
    await world.clock.advance(60_000);
    await attempt(world, DELIVERED);
    const types = typesOf(await ask(`?after=0&${query}`)).filter((type) => type !== 'message.failed');
    if (typeof expected === 'number') expect(types).toHaveLength(expected);
    else expect(types).toEqual(expected);
  });

  test('those of a message', async () => {
    await submit();
    const id = await submit();
    expect(messagesOf(await ask(`?message=${id}`))).toEqual([id]);
    expect(messagesOf(await ask(`?message=${messageUuid(id)}&after=0`))).toEqual([id]);
  });

  test('only those of its own messages, unless the key may read all', async () => {
    const other = await world.key({ scopes: FOLLOWING });
    const mine = await submit();
    const foreign = await submit({}, other);
    expect(messagesOf(await ask('?after=0'))).toEqual([mine]);
    expect(messagesOf(await ask(`?message=${foreign}`))).toEqual([]);
    const all = await world.key({ scopes: ['events:read', 'messages:read_all'] });
    expect(messagesOf(await ask('?after=0', { key: all }))).toEqual([mine, foreign]);
  });
});

describe('is refused', () => {
  test('without the scope, which a default key lacks', async () => {
    const answer = await ask('', { key: await world.key() });
    expect([answer.status, answer.json['code'], answer.json['detail']]).toEqual([
      403,
      'scope_missing',
      'This needs a key with the scope events:read.',
    ]);
  });

  test.each([
    ['types=message.opened', '/types event_type'],
    ['types=', '/types event_type'],
    ['types=message.failed,', '/types event_type'],
    ['message=msg_1', '/message message_id'],
    ['recipient=@example.org', '/recipient address_syntax'],
    ['recipient=Bob <bob@example.org>', '/recipient address_syntax'],
    ['since=yesterday', '/since timestamp'],
    ['limit=0', '/limit out_of_range'],
    ['limit=201', '/limit out_of_range'],
    ['after=-1', '/after out_of_range'],
    ['after=1.5', '/after out_of_range'],
    ['cursor=x', '/cursor bad_cursor'],
    ['cursor=0', '/cursor bad_cursor'],
    ['after=1&cursor=2', '/cursor combination'],
    ['wait=1', '/wait combination'],
    ['cursor=2&wait=1', '/wait combination'],
    ['after=0&wait=61', '/wait out_of_range'],
    ['type=message.failed', '/type unknown_parameter'],
  ])('?%s', async (query, fault) => {
    const answer = await ask(`?${query.replaceAll(' ', '%20')}`);
    expect([answer.status, answer.json['code'], faultsOf(answer)]).toEqual([400, 'invalid_query', [fault]]);
  });

  test('with the rule, and everything at once', async () => {
    const answer = await ask('?types=opened&limit=500');
    expect(answer.json.errors?.map(({ detail }) => detail)).toEqual([
      'Must be types of events, separated by commas: message.queued, message.delivered, message.captured, message.deferred, message.failed, message.suppressed, message.bounced, message.confirmed, message.delayed, message.complained, message.unsubscribed, suppression.added, suppression.removed, suppression.guarded, relay.resting, relay.recovered, webhook.disabled, webhook.test; message.* names all that begin so, not "opened".',
      'Must be an integer from 1 to 200, not "500".',
    ]);
  });

  test('when the key has made its requests', async () => {
    const limited = await world.key({ scopes: FOLLOWING, rateLimit: 1 });
    expect((await ask('', { key: limited })).status).toBe(200);
    expect((await ask('', { key: limited })).status).toBe(429);
  });
});

describe('page by page', () => {
  test('newest first, as far back as there are any, with a link', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 25; i++) ids.unshift(await submit());
    const pages: string[][] = [];
    for (let path: string | undefined = '/api/v1/events?limit=10'; path !== undefined; ) {
      const answer = await world.ask({ key, path });
      pages.push(messagesOf(answer));
      expect(pageOf(answer).hasMore).toBe(pageOf(answer).nextCursor !== undefined);
      path = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1];
    }
    expect(pages.flat()).toEqual(ids);
    expect((await ask('')).json['events']).toHaveLength(20);
  });

  test('oldest first, nothing is missed or told twice while mail comes in', async () => {
    const ids: string[] = [];
    const seen: string[] = [];
    let after = 0;
    for (let turn = 0; turn < 12; turn++) {
      for (let i = 0; turn < 8 && i < 5; i++) ids.push(await submit());
      const answer = await ask(`?after=${after}&limit=4`);
      seen.push(...messagesOf(answer));
      after = pageOf(answer).nextAfter ?? 0;
    }
    expect(seen).toEqual(ids);
    expect((await ask(`?after=${after}`)).json).toEqual({ events: [], hasMore: false, nextAfter: after });
  });

  test('oldest first, it goes on from what was looked at, not from what was found', async () => {
    await submit();
    const none = { events: [], hasMore: false, nextAfter: 1 };
    expect((await ask('?after=0&types=message.failed')).json).toEqual(none);
  });

  test('the newest say where to go on, also when there are none', async () => {
    expect((await ask('')).json).toEqual({ events: [], hasMore: false, nextAfter: 0 });
    await submit();
    const { nextAfter = -1 } = pageOf(await ask('?limit=1'));
    const id = await submit();
    expect(messagesOf(await ask(`?after=${nextAfter}`))).toEqual([id]);
    expect(pageOf(await ask('?cursor=2'))).not.toHaveProperty('nextAfter');
  });

  test('HEAD has no body', async () => {
    await submit();
    const answer = await ask('?after=0', { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

/** Resolves when the log has been read so many times, and what waited for it goes on. */
function reads(count: number): Promise<void> {
  const { views } = world.stores;
  const { events } = views;
  const done = Promise.withResolvers<void>();
  let seen = 0;
  views.events = async (query) => {
    const page = await events(query);
    seen++;
    if (seen === count) setImmediate(done.resolve);
    return page;
  };
  return done.promise;
}

describe('wait', () => {
  test('answers at once when there is something', async () => {
    const id = await submit();
    expect(messagesOf(await ask('?after=0&wait=60'))).toEqual([id]);
  });

  test('answers as soon as there is something that is asked for', async () => {
    const readOnce = reads(1);
    const waiting = ask('?after=0&wait=60&types=message.captured');
    await readOnce;
    const id = await submit();
    // Told of an event that is not asked for, it waits on.
    const readAgain = reads(2);
    await world.clock.advance(200);
    await readAgain;
    await attempt(world, CAPTURED);
    await world.clock.advance(200);
    const answer = await waiting;
    expect([messagesOf(answer), pageOf(answer).nextAfter]).toEqual([[id], 2]);
  });

  test('answers when the time is up, with where to go on', async () => {
    await submit();
    const readOnce = reads(1);
    const waiting = ask('?after=1&wait=2');
    await readOnce;
    await world.clock.advance(2000);
    expect((await waiting).json).toEqual({ events: [], hasMore: false, nextAfter: 1 });
  });

  test('wait=0 answers at once', async () =>
    expect((await ask('?after=0&wait=0')).json).toEqual({ events: [], hasMore: false, nextAfter: 0 }));

  test('is answered when the service stops', async () => {
    const readOnce = reads(1);
    const waiting = ask('?after=0&wait=60');
    await readOnce;
    world.stop();
    expect((await waiting).status).toBe(200);
  });

  test('tells nothing to a key that was revoked meanwhile', async () => {
    const ended = await world.key({ id: 'ended', scopes: [...FOLLOWING, 'messages:read_all'] });
    const readOnce = reads(1);
    const waiting = ask('?after=0&wait=60', { key: ended });
    await readOnce;
    await world.stores.keyring.revoke('ended', world.clock.wall());
    // For so long at most a key is remembered.
    await world.clock.advance(600);
    await submit();
    await world.clock.advance(200);
    expect((await waiting).status).toBe(401);
  });

  test('more readers than allowed are refused, until one has gone', async () => {
    const readTwice = reads(2);
    const waiting = [ask('?after=0&wait=60'), ask('?after=0&wait=60')];
    await readTwice;
    const refused = await ask('?after=0&wait=60');
    expect([refused.status, refused.json['code'], refused.headers['retry-after']]).toEqual([
      503,
      'too_many_event_readers',
      '5',
    ]);
    expect((await ask('?after=0')).status).toBe(200);
    await submit();
    await world.clock.advance(200);
    for (const answer of await Promise.all(waiting)) expect(typesOf(answer)).toEqual(['message.queued']);
    expect((await ask('?after=0&wait=60')).status).toBe(200);
  });

  test('a client that has left makes room for another', async () => {
    const readTwice = reads(2);
    const path = '/api/v1/events?after=0&wait=60';
    const gone = connect(world.port, '127.0.0.1').on('error', () => {});
    gone.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
    const waiting = ask('?after=0&wait=60');
    await readTwice;
    gone.destroy();
    const head = { key, method: 'HEAD', path, headers: { accept: 'text/event-stream' } };
    await expect.poll(async () => (await world.ask(head)).status).toBe(200);
    world.stop();
    await waiting;
  });

  test('however many wait, the log is looked at once at a time', async () => {
    const many = await World.start({ maxEventReaders: 30 });
    onTestFinished(() => many.close());
    const secret = await many.key({ scopes: FOLLOWING });
    let count = 0;
    const all = Promise.withResolvers<void>();
    const { views } = many.stores;
    const { events } = views;
    views.events = async (query) => {
      count++;
      if (count === 30) setImmediate(all.resolve);
      return await events(query);
    };
    const path = '/api/v1/events?after=0&wait=2';
    const waiting = Array.from({ length: 30 }, () => many.ask({ key: secret, path }));
    await all.promise;
    count = 0;
    for (let i = 0; i < 5; i++) await many.clock.advance(200);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(5);
    await many.clock.advance(2000);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(30).fill(200));
  });

  test('503 when the log cannot be read, also for those who wait', async () => {
    const readOnce = reads(1);
    const waiting = ask('?after=0&wait=60');
    await readOnce;
    world.stores.views.events = () => Promise.reject(new StoreError('store_unavailable', 'gone'));
    await world.clock.advance(200);
    expect([(await waiting).status, (await ask('')).status]).toEqual([503, 503]);
  });
});
