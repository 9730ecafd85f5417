import { afterEach, beforeEach, expect, test } from 'vitest';
import { cidrs } from '../../support/cidrs.ts';
import { type Answer, MAIL, World } from './world.ts';

/** `api.rate_limit_per_key` (contract §6). */

let world: World;

beforeEach(async () => {
  world = await World.start({
    limits: { rateLimitPerKey: 3 },
    allowedCidrs: cidrs('127.0.0.0/8', '198.51.100.0/24'),
    trustedProxies: cidrs('127.0.0.1/32'),
  });
});
afterEach(() => world.close());

const rateOf = ({ headers }: Answer) => [
  headers['ratelimit-limit'],
  headers['ratelimit-remaining'],
  headers['ratelimit-reset'],
];

/** Sends `count` submissions one after the other; gives their statuses. */
async function submit(key: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await world.post(key, MAIL)).status);
  return statuses;
}

test('the limit is let through and the next is 429 with real seconds to wait', async () => {
  const key = await world.key();
  expect(await submit(key, 3)).toEqual([202, 202, 202]);
  await world.clock.advance(20_000);
  const refused = await world.post(key, MAIL);
  expect([refused.status, refused.json['code'], refused.headers['retry-after']]).toEqual([
    429,
    'rate_limited',
    '40',
  ]);
  await world.clock.advance(39_000);
  expect(await submit(key, 1)).toEqual([429]);
  await world.clock.advance(1000);
  expect(await submit(key, 1)).toEqual([202]);
});

test('every authenticated answer says where the limit stands, in both forms', async () => {
  const key = await world.key();
  const first = await world.post(key, MAIL);
  expect(rateOf(first)).toEqual(['3', '2', '60']);
  expect([first.headers['ratelimit-policy'], first.headers['ratelimit']]).toEqual([
    '"send";q=3;w=60',
    '"send";r=2;t=60',
  ]);
  await submit(key, 2);
  expect(rateOf(await world.post(key, MAIL))).toEqual(['3', '0', '60']);
  expect(rateOf(await world.ask({ key }))).toEqual(['3', '2', '60']);
});

test('refused requests carry the headers too, and count', async () => {
  const key = await world.key();
  const bad = await world.post(key, {});
  expect([bad.status, ...rateOf(bad)]).toEqual([400, '3', '2', '60']);
  const wrongType = await world.ask({ method: 'POST', key, body: 'x' });
  expect([wrongType.status, ...rateOf(wrongType)]).toEqual([415, '3', '1', '60']);
  const unscoped = await world.key({ scopes: [] });
  const forbidden = await world.post(unscoped, MAIL);
  expect([forbidden.status, ...rateOf(forbidden)]).toEqual([403, '3', '2', '60']);
});

test('what is not authenticated counts for nobody and carries no rate headers', async () => {
  const key = await world.key();
  const answer = await world.post(`${key.slice(0, -1)}-`, MAIL);
  expect(rateOf(answer)).toEqual([undefined, undefined, undefined]);
  expect(await submit(key, 3)).toEqual([202, 202, 202]);
});

test('a poller of statuses never blocks a send', async () => {
  const key = await world.key();
  for (let i = 0; i < 4; i++) await world.ask({ key });
  expect((await world.ask({ key })).status).toBe(429);
  expect(await submit(key, 3)).toEqual([202, 202, 202]);
});

test('the Mailgun path shares the window of sends', async () => {
  const key = await world.key();
  await submit(key, 3);
  const Authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
  const answer = await world.ask({ method: 'POST', path: '/v3/x.test/messages', headers: { Authorization } });
  expect([answer.status, answer.headers['retry-after']]).toEqual([429, '60']);
});

test('a key has the limit it was given, and 0 is none', async () => {
  expect(await submit(await world.key({ rateLimit: 1 }), 2)).toEqual([202, 429]);
  const free = await world.key({ rateLimit: 0 });
  expect(await submit(free, 5)).toEqual([202, 202, 202, 202, 202]);
  expect(rateOf(await world.post(free, MAIL))).toEqual([undefined, undefined, undefined]);
});

test('keys do not share a limit', async () => {
  await submit(await world.key(), 4);
  expect(await submit(await world.key(), 1)).toEqual([202]);
});
