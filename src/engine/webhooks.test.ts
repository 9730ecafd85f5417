import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiKey, at, message, T0 } from '../../test/contract/store/fixtures.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { storedEndpoint, tryOf } from '../../test/support/webhooks.ts';
import type { WebhookEndpoint, WebhookPost, WebhookTry } from '../domain/webhook.ts';
import { seededRandom } from '../lib/random.ts';
import { Events } from '../observe/events.ts';
import { EVERY_EVENT } from '../store/events.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { WebhookRoom } from './webhooks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LIMITS = { ofKey: 20, all: 20 };

let stores: SqliteStores;
let clock: ManualClock;
let posts: WebhookPost[];
/** What an endpoint answers, by its id; nothing means 200. */
let answers: Map<string, () => Partial<WebhookTry> | Promise<Partial<WebhookTry>>>;
let room: WebhookRoom;
let stopping: AbortController;
let running: Promise<void>;
let most: number;
let isFirst: boolean;
let lookMs: number;
/** The log seems to be empty. */
let isBlind: boolean;
/** Ends before what comes after this sequence is read. */
let beforeReading: (after: number) => Promise<void>;

beforeEach(() => {
  stores = openSqlite(':memory:');
  clock = new ManualClock(T0);
  posts = [];
  answers = new Map();
  most = 0;
  isFirst = true;
  lookMs = SECOND;
  isBlind = false;
  beforeReading = async () => {};
  let underWay = 0;
  room = new WebhookRoom({
    ...stores,
    views: {
      events: async (query) => {
        const after = 'after' in query.from ? query.from.after : 0;
        await beforeReading(after);
        return isBlind ? { events: [], next: after, more: false } : await stores.views.events(query);
      },
    },
    clock,
    random: seededRandom(3),
    events: new Events(),
    membership: {
      get isFirst() {
        return isFirst;
      },
    },
    post: async (post, signal) => {
      posts.push(post);
      most = Math.max(most, ++underWay);
      const cut = new Promise<Partial<WebhookTry>>((resolve) =>
        signal.addEventListener('abort', () => resolve({ status: null, error: 'stopped' })),
      );
      const answer = await Promise.race([answers.get(post.endpoint.id)?.() ?? {}, cut]);
      underWay--;
      return tryOf({ at: clock.wall(), ...answer });
    },
    maxPending: 50,
    get lookMs() {
      return lookMs;
    },
    fault: (code, error) => expect.unreachable(`${code} ${String(error)}`),
  });
  stopping = new AbortController();
  running = room.run(stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  room.wake();
  await running;
  await stores.store.close();
});

async function endpoint(change: Partial<WebhookEndpoint> = {}): Promise<string> {
  const stored = storedEndpoint(change);
  await stores.webhooks.addWebhookEndpoint(stored, LIMITS);
  return stored.endpoint.id;
}
/** Accepts so many messages, each of which is an event. */
async function happens(count: number, change: object = {}): Promise<void> {
  await stores.store.accept(
    Array.from({ length: count }, () => message(change)),
    at(clock.wall() - T0),
  );
}
const healthOf = async (id: string) =>
  (await stores.webhooks.webhookEndpoints()).find((one) => one.endpoint.id === id)?.health;
const deliveriesOf = async (endpoint: string) =>
  (await stores.webhooks.deliveries({ endpoint, state: null, before: null, from: 0, limit: 200 })).deliveries;
const postsTo = (id: string) => posts.filter((post) => post.endpoint.id === id);

describe('an endpoint', () => {
  test('is told once of each event that it asks for, with the same id and bytes on every try', async () => {
    await happens(1);
    const id = await endpoint();
    const other = await endpoint({ types: ['message.delivered'] });
    await happens(2);
    let tries = 0;
    answers.set(id, () => (tries++ === 0 ? { status: 500 } : {}));
    await clock.advance(10 * SECOND);
    expect(postsTo(other)).toEqual([]);
    const bodies = postsTo(id).map((post) => Buffer.from(post.body).toString());
    expect([bodies.length, new Set(bodies).size, new Set(posts.map((post) => post.id)).size]).toEqual([
      3, 2, 2,
    ]);
    const told = JSON.parse(bodies[0] ?? '');
    expect(told).toMatchObject({
      type: 'message.queued',
      data: { id: posts[0]?.id, message: { from: expect.any(String) } },
    });
    expect(told.data.message.subject).toBeUndefined();
    expect((await deliveriesOf(id)).map(({ state, attempts }) => `${state} ${attempts}`).sort()).toEqual([
      'delivered 1',
      'delivered 2',
    ]);
  });

  test('is told of the events of its key alone, of tags and keys that it names, and of subjects if it asks', async () => {
    const own = await endpoint({ keyId: 'key_one' });
    const tagged = await endpoint({ keyId: null, tags: ['news'], includesSubject: true });
    const named = await endpoint({ keyId: null, keys: ['key_two'] });
    await happens(1);
    await happens(1, { keyId: 'key_two', tags: ['news'] });
    await clock.advance(2 * SECOND);
    expect([own, tagged, named].map((id) => postsTo(id).length)).toEqual([1, 1, 1]);
    expect(JSON.parse(Buffer.from(postsTo(tagged)[0]?.body ?? []).toString()).data.message.subject).toBe(
      'Grüße',
    );
  });

  test('is told of every event, however many pages of the log there are', async () => {
    const id = await endpoint();
    answers.set(id, () => new Promise(() => {}));
    await happens(450);
    await clock.advance(2 * SECOND);
    expect((await stores.webhooks.pendingDeliveries()).get(id)).toBe(450);
  });

  test('gets at most four requests at once', async () => {
    const id = await endpoint();
    answers.set(id, async () => {
      await clock.sleep(SECOND);
      return {};
    });
    await happens(30);
    await clock.advance(MINUTE);
    expect([postsTo(id).length, most]).toEqual([30, 4]);
  });

  test('that is slow or dead costs the others nothing', async () => {
    const [dead, slow, well] = [await endpoint(), await endpoint(), await endpoint()];
    answers.set(dead, () => ({ status: null, error: 'refused' }));
    answers.set(slow, async () => {
      await clock.sleep(20 * SECOND);
      return {};
    });
    await happens(20);
    await clock.advance(5 * SECOND);
    expect(new Set(postsTo(well).map((post) => post.id)).size).toBe(20);
  });

  test('is told nothing while it is switched off, and by one node alone', async () => {
    const off = await endpoint({ enabled: false });
    await happens(1);
    await clock.advance(2 * SECOND);
    isFirst = false;
    const on = await endpoint();
    await happens(1);
    await clock.advance(5 * SECOND);
    expect(posts).toEqual([]);
    isFirst = true;
    await clock.advance(5 * SECOND);
    expect([postsTo(off).length, postsTo(on).length]).toEqual([0, 1]);
  });
});

describe('a try that fails', () => {
  test('is made again ten times over three days, and then the event is given up', async () => {
    lookMs = MINUTE;
    const id = await endpoint();
    const times: number[] = [];
    answers.set(id, () => {
      times.push(clock.wall() - T0);
      return { status: 500 };
    });
    await happens(1);
    await clock.advance(4 * DAY);
    const pauses = times.map((time, place) => time - (times[place - 1] ?? time));
    const expected = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map(
      (pause) => pause * SECOND,
    );
    expect(pauses).toHaveLength(expected.length);
    for (const [place, pause] of expected.entries()) {
      expect(pauses[place]).toBeGreaterThanOrEqual(0.9 * pause);
      expect(pauses[place]).toBeLessThanOrEqual(1.1 * pause + 2 * MINUTE);
    }
    expect(await deliveriesOf(id)).toMatchObject([{ state: 'failed', attempts: 10, nextTryAt: null }]);
  });

  test('is made again where the answer is not 2xx, such as a redirect', async () => {
    lookMs = MINUTE;
    const id = await endpoint();
    const statuses = [302, 304, 404, 299];
    answers.set(id, () => ({ status: statuses.shift() ?? 500 }));
    await happens(1);
    await clock.advance(DAY);
    expect(statuses).toEqual([]);
    expect(await deliveriesOf(id)).toMatchObject([{ state: 'delivered', attempts: 4 }]);
  });

  test('waits as long as the endpoint asks, up to an hour', async () => {
    const id = await endpoint();
    let asks = 10 * MINUTE;
    answers.set(id, () => ({ status: 503, retryAfterMs: asks }));
    await happens(1);
    await clock.advance(9 * MINUTE);
    expect(posts).toHaveLength(1);
    asks = DAY;
    await clock.advance(2 * MINUTE);
    expect(posts).toHaveLength(2);
    await clock.advance(HOUR + MINUTE);
    expect(posts).toHaveLength(3);
  });
});

describe('an endpoint that fails', () => {
  test('gets one request at a time after ten failures, and all that waits once it is well', async () => {
    const id = await endpoint();
    answers.set(id, () => ({ status: 500 }));
    await happens(40);
    await clock.advance(20 * SECOND);
    expect(await healthOf(id)).toMatchObject({ state: 'failing', reason: 'It answered 500.' });
    const before = posts.length;
    await clock.advance(MINUTE);
    expect(posts.length - before).toBeLessThanOrEqual(1);
    const untried = (await deliveriesOf(id)).filter(({ attempts }) => attempts === 0).length;
    expect(untried).toBeGreaterThan(20);
    answers.delete(id);
    await clock.advance(10 * MINUTE);
    expect(await healthOf(id)).toEqual({ state: 'healthy', failures: 0, failingSince: null, reason: null });
    expect((await deliveriesOf(id)).every(({ state }) => state === 'delivered')).toBe(true);
  });

  test('is disabled after five days, or at once when it is gone; its events stay in the log', async () => {
    lookMs = 10 * MINUTE;
    const [dead, gone] = [await endpoint(), await endpoint()];
    const types = ['webhook.*'];
    const [witness, other] = [
      await endpoint({ keyId: null, types }),
      await endpoint({ keyId: 'key_two', types }),
    ];
    answers.set(dead, () => ({ status: 500 }));
    answers.set(gone, () => ({ status: 410 }));
    for (let day = 0; day < 6; day++) {
      await happens(1);
      await clock.advance(DAY);
    }
    expect(await healthOf(gone)).toMatchObject({
      state: 'disabled',
      reason: 'It answered 410: it wants no more events.',
    });
    expect(postsTo(gone)).toHaveLength(1);
    expect(await healthOf(dead)).toMatchObject({ state: 'disabled' });
    expect(Object.fromEntries(await stores.webhooks.pendingDeliveries())).toEqual({});
    const told = postsTo(witness).map(({ body }) => JSON.parse(Buffer.from(body).toString()));
    expect(told).toMatchObject([
      {
        type: 'webhook.disabled',
        data: { message: null, webhook: gone, reply: { text: 'It answered 410: it wants no more events.' } },
      },
      { type: 'webhook.disabled', data: { message: null, webhook: dead } },
    ]);
    expect(postsTo(other)).toEqual([]);
  });

  test('is told of nothing once its key is revoked', async () => {
    await stores.keyring.create(apiKey('shop'), 'hash');
    const { id: keyId } = apiKey('shop');
    const id = await endpoint({ keyId });
    await happens(1, { keyId });
    await clock.advance(2 * SECOND);
    expect(postsTo(id)).toHaveLength(1);
    await stores.keyring.revoke(keyId, clock.wall());
    await happens(1, { keyId });
    await clock.advance(2 * SECOND);
    expect(postsTo(id)).toHaveLength(1);
  });
});

test('what was under way when an endpoint was disabled does not enable it', async () => {
  const id = await endpoint();
  const held = Promise.withResolvers<Partial<WebhookTry>>();
  let tries = 0;
  answers.set(id, () => (tries++ === 0 ? held.promise : { status: 410 }));
  await happens(2);
  await clock.advance(2 * SECOND);
  expect(await healthOf(id)).toMatchObject({ state: 'disabled' });
  held.resolve({});
  await happens(1);
  await clock.advance(MINUTE);
  expect(await healthOf(id)).toMatchObject({ state: 'disabled' });
  expect(postsTo(id)).toHaveLength(2);
});

test('what was about to be told when an endpoint was disabled is not told', async () => {
  const id = await endpoint();
  answers.set(id, () => ({ status: 410 }));
  await happens(2);
  const [first] = (await stores.views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 1 })).events;
  const read = Promise.withResolvers<void>();
  beforeReading = async (after) => (after === first?.sequence ? await read.promise : undefined);
  await clock.advance(2 * SECOND);
  expect(await healthOf(id)).toMatchObject({ state: 'disabled' });
  read.resolve();
  await clock.advance(MINUTE);
  expect(postsTo(id)).toHaveLength(1);
});

test('an endpoint with too much pending is told of no more until that is told', async () => {
  const [full, well] = [await endpoint(), await endpoint()];
  answers.set(full, () => ({ status: 500 }));
  await happens(60);
  await clock.advance(2 * MINUTE);
  expect((await stores.webhooks.pendingDeliveries()).get(full)).toBe(60);
  await happens(1);
  await clock.advance(2 * MINUTE);
  expect((await stores.webhooks.pendingDeliveries()).get(full)).toBe(60);
  expect(await healthOf(full)).toMatchObject({ state: 'failing' });
  expect(new Set(postsTo(well).map((post) => post.id)).size).toBe(61);
});

test('what cannot be seen yet is tried later, and nothing of it is forgotten', async () => {
  const id = await endpoint();
  await happens(1);
  await clock.advance(2 * SECOND);
  expect(postsTo(id)).toHaveLength(1);
  // As over PostgreSQL, while an older transaction is under way when a node starts.
  isBlind = true;
  const [told] = await deliveriesOf(id);
  if (told === undefined) throw new Error('no delivery');
  await stores.webhooks.replayDeliveries(id, [told], clock.wall());
  await clock.advance(5 * MINUTE);
  expect(await deliveriesOf(id)).toMatchObject([{ state: 'pending', attempts: 0 }]);
  isBlind = false;
  await clock.advance(2 * SECOND);
  expect(await deliveriesOf(id)).toMatchObject([{ state: 'delivered' }]);
  expect(postsTo(id)).toHaveLength(2);
});

test('what was under way when the process ends is told by the next one', async () => {
  const id = await endpoint();
  const held = Promise.withResolvers<Partial<WebhookTry>>();
  answers.set(id, () => held.promise);
  await happens(1);
  await clock.advance(2 * SECOND);
  expect(posts).toHaveLength(1);
  stopping.abort();
  room.wake();
  held.resolve({ status: null, error: 'The attempt was stopped' });
  await running;
  expect(await deliveriesOf(id)).toMatchObject([{ state: 'pending', attempts: 0 }]);
});
