import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attempt, CAPTURED, DELIVERED, dropContents } from './deliver.ts';
import { MAIL, World } from './world.ts';

/** `GET /api/v1/inbox/wait`: what tests of other programs ask for. */

const MINUTE = 60_000;

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ mode: 'test' });
});
afterEach(() => world.close());

const wait = (query: string, asked = key) => world.ask({ key: asked, path: `/api/v1/inbox/wait?${query}` });

/** Resolves when the store has been asked for a list so many times, and has answered. */
function looks(count: number): Promise<void> {
  const { views } = world.stores;
  const list = views.list;
  const done = Promise.withResolvers<void>();
  let seen = 0;
  views.list = async (query) => {
    const page = await list(query);
    seen++;
    // What waits for the page goes on first.
    if (seen === count) setImmediate(done.resolve);
    return page;
  };
  return done.promise;
}

async function captured(fields: object = {}, from = key): Promise<string> {
  const answer = await world.post(from, { ...MAIL, ...fields });
  await attempt(world, CAPTURED);
  return String(answer.json['id']);
}

test('gives what is there already, with what it says', async () => {
  const id = await captured({
    subject: 'Your code',
    text: 'Your code is 135790.',
    html: '<p>Your code is <b>135790</b>: <a href="https://example.com/in?a=1&amp;b=2">sign in</a></p>',
    attachments: [{ filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
  });
  const answer = await wait('to=bob@example.org&subject=code');
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    message: { id, status: 'delivered', outcome: 'captured', subject: 'Your code' },
    text: expect.stringContaining('135790'),
    html: expect.stringContaining('<b>135790</b>'),
    links: [{ url: 'https://example.com/in?a=1&b=2', text: 'sign in' }],
    codes: ['135790'],
    attachments: [{ filename: 'a.txt', contentType: 'text/plain', sizeBytes: 2, inline: false }],
  });
});

test('answers as soon as a message comes that matches', async () => {
  const looked = looks(1);
  const waiting = wait('subject=second&timeout=60');
  await looked;
  await captured({ subject: 'The first' });
  const id = await captured({ subject: 'The second' });
  expect((await waiting).json).toMatchObject({ message: { id } });
});

test('gives the newest that matches', async () => {
  await captured({ to: ['ann@example.org'] });
  const second = await captured({ to: ['ann@example.org'] });
  await captured();
  expect((await wait('to=@example.org&to=')).status).toBe(400);
  expect((await wait('to=ann@example.org')).json).toMatchObject({ message: { id: second } });
});

test('says so when nothing came in time', async () => {
  const looked = looks(1);
  const waiting = wait('timeout=5');
  await looked;
  await world.clock.advance(5000);
  expect(await waiting).toMatchObject({ status: 404, json: { code: 'nothing_captured' } });
  expect(await wait('timeout=0')).toMatchObject({ status: 404 });
});

describe('does not give', () => {
  test('what was sent, or waits', async () => {
    await world.post(key, MAIL);
    expect((await wait('timeout=0')).status).toBe(404);
    await attempt(world, DELIVERED);
    expect((await wait('timeout=0')).status).toBe(404);
  });
  test('what is older than asked for', async () => {
    await captured();
    await world.clock.advance(10 * MINUTE + 1);
    expect((await wait('timeout=0')).status).toBe(404);
    expect((await wait('timeout=0&since=2026-11-19T00:00:00Z')).status).toBe(200);
  });
  test('what another key sent, whatever its scopes', async () => {
    await captured({}, await world.key({ mode: 'test' }));
    const all = await world.key({ scopes: ['messages:read_all', 'messages:content'] });
    expect((await wait('timeout=0')).status).toBe(404);
    expect((await wait('timeout=0', all)).status).toBe(404);
  });
  test('content to a live key without its scope', async () => {
    const live = await world.key();
    await captured({}, live);
    expect(await wait('timeout=0', live)).toMatchObject({ status: 403, json: { code: 'scope_missing' } });
  });
  test('what is no longer kept', async () => {
    await captured();
    await dropContents(world);
    expect((await wait('timeout=0')).status).toBe(404);
  });
});

test.each(['timeout=61', 'timeout=x', 'to=nobody', 'since=yesterday', 'until=2026-11-20T00:00:00Z'])(
  'refuses %s',
  async (query) => {
    expect((await wait(query)).status).toBe(400);
  },
);
