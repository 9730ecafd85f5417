import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../../../src/http/problem.ts';
import { StoreError } from '../../../src/store/store.ts';
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

describe('with count', () => {
  test('waits for so many, and gives them newest first', async () => {
    await captured({ subject: 'One' });
    const looked = looks(1);
    const waiting = wait('count=2&timeout=60');
    await looked;
    await captured({ subject: 'Two' });
    const { json } = await waiting;
    expect(json).toMatchObject({
      messages: [{ message: { subject: 'Two' } }, { message: { subject: 'One' } }],
    });
  });
  test('says how many came', async () => {
    await captured();
    const answer = await wait('count=3&timeout=0');
    expect(answer).toMatchObject({ status: 404, json: { code: 'nothing_captured' } });
    expect(answer.json['detail']).toContain('only 1 of 3');
  });
});

describe('with not', () => {
  test('succeeds when nothing came in time', async () => {
    const looked = looks(1);
    const waiting = wait('not=true&timeout=5&box=a');
    await looked;
    await captured({ box: 'b' });
    await world.clock.advance(5000);
    expect(await waiting).toMatchObject({ status: 200, json: { captured: 0 } });
  });
  test('tells at once what came', async () => {
    const looked = looks(1);
    const waiting = wait('not=true&timeout=60');
    await looked;
    const id = await captured({ box: 'b' });
    const expected = { status: 409, json: { code: 'unexpected_mail', message: { id, box: 'b' } } };
    expect(await waiting).toMatchObject(expected);
    expect(await wait('not=true&timeout=0')).toMatchObject(expected);
  });
  test('refuses to say so of what cannot be read, where it would have to be', async () => {
    const read = await captured();
    const unreadable = await captured();
    const readWords = world.readWords;
    world.readWords = async (message) => {
      if (message.id === unreadable) throw new Problem(409, 'unreadable_content', 'Too slow.');
      return await readWords(message);
    };
    for (const query of ['text=code', 'has=attachment', `text=code&after=${read}`])
      expect([query, await wait(`not=true&timeout=0&${query}`)]).toMatchObject([
        query,
        { status: 409, json: { code: 'unreadable_content', detail: expect.stringContaining(unreadable) } },
      ]);
    for (const query of ['text=code&box=a', 'subject=other', `text=code&after=${unreadable}`])
      expect([query, await wait(`not=true&timeout=0&${query}`)]).toMatchObject([query, { status: 200 }]);
    expect((await wait('text=code&timeout=0')).json).toMatchObject({ code: 'nothing_captured' });
  });
});

test.each(['', '&not=true'])('does not say that nothing came when it could not wait%s', async (query) => {
  const looked = looks(2);
  const others = [wait('timeout=5'), wait('timeout=5')];
  await looked;
  expect(await wait(`timeout=5${query}`)).toMatchObject({ status: 503, json: { code: 'unavailable' } });
  await world.clock.advance(5000);
  await Promise.all(others);
});

test.each(['subject=hello', 'text=code'])('looks at further pages for %s', async (query) => {
  const id = await captured({ subject: 'Hello', text: 'Your code' });
  const { views } = world.stores;
  const list = views.list;
  // As a store answers that has examined as much as it may.
  views.list = async (asked) =>
    asked.before === null ? { messages: [], next: `${id}!` } : await list(asked);
  expect((await wait(`timeout=0&${query}`)).json).toMatchObject({ message: { id } });
  expect((await wait(`timeout=0&not=true&${query}`)).status).toBe(409);
});

test('waits on while the store is busy, and never says then that nothing came', async () => {
  const { views } = world.stores;
  const list = views.list;
  let refused = () => {};
  views.list = async () => {
    refused();
    throw new StoreError('store_busy', 'too many lists are under way');
  };
  expect((await wait('timeout=0&not=true')).status).toBe(503);
  expect((await wait('timeout=0')).status).toBe(503);
  const looked = new Promise<void>((resolve) => {
    refused = resolve;
  });
  const waiting = wait('timeout=60');
  await looked;
  views.list = list;
  const id = await captured();
  expect((await waiting).json).toMatchObject({ message: { id } });
});

test('looks for words, in a box, after a message', async () => {
  const first = await captured({ box: 'a', text: 'Your code is here' });
  const second = await captured({ box: 'b', text: 'Your CODE is there' });
  const found = async (query: string) => {
    const { status, json } = await wait(`timeout=0&${query}`);
    return status === 200 ? (json['message'] as { id: string }).id : status;
  };
  expect(await found('text=code+your&box=a')).toBe(first);
  expect(await found('text=code')).toBe(second);
  expect(await found('text=password')).toBe(404);
  expect(await found(`after=${first}`)).toBe(second);
  expect(await found(`after=${second}`)).toBe(404);
  await world.clock.advance(11 * MINUTE);
  expect(await found('box=a')).toBe(404);
  expect(await found(`after=${first}`)).toBe(second);
});

describe('does not give', () => {
  test('what was sent, or waits', async () => {
    const live = await world.key({ scopes: ['messages:send', 'messages:read', 'messages:content'] });
    await world.post(live, MAIL);
    expect((await wait('timeout=0', live)).status).toBe(404);
    await attempt(world, DELIVERED);
    expect((await wait('timeout=0', live)).status).toBe(404);
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

test.each([
  'timeout=61',
  'count=0',
  'count=51',
  'count=1&not=true',
  'box=A',
  'text=',
  'after=x',
  'after=msg_01m7wd8qsh4008fyzq8yebgvfy&since=2026-11-20T00:00:00Z',
  'timeout=x',
  'to=nobody',
  'since=yesterday',
  'until=2026-11-20T00:00:00Z',
])('refuses %s', async (query) => {
  expect((await wait(query)).status).toBe(400);
});
