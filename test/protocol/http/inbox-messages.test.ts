import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Problem } from '../../../src/http/problem.ts';
import { ANY_CAPTURED, CapturedMail } from '../../../src/ingest/http/inbox/captured-mail.ts';
import { CapturedWords, type ReadWords } from '../../../src/ingest/http/inbox/captured-words.ts';
import { attempt, CAPTURED, DELIVERED, dropContents } from './deliver.ts';
import { faultsOf, MAIL, World } from './world.ts';

/** `/api/v1/inbox/messages` (contract-2 §G1): captured mail as a list, one by one, and gone. */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ mode: 'test' });
});
afterEach(() => world.close());

const PATH = '/api/v1/inbox/messages';
const get = (rest = '', asked = key) => world.ask({ key: asked, path: `${PATH}${rest}` });
const remove = (rest: string, asked = key) =>
  world.ask({ key: asked, method: 'DELETE', path: `${PATH}${rest}` });

async function captured(fields: object = {}, from = key): Promise<string> {
  const answer = await world.post(from, { ...MAIL, ...fields });
  await attempt(world, CAPTURED);
  return String(answer.json['id']);
}

const list = async (query: string) => {
  const { status, json } = await get(`?${query}`);
  expect(status).toBe(200);
  return (json['messages'] as { id: string }[]).map(({ id }) => id);
};
/** Captured mail of the key whose messages are read so; `reads` are the ids that were read, in order. */
async function mailReading(read: ReadWords) {
  const reads: string[] = [];
  const words = new CapturedWords((message) => {
    reads.push(message.id);
    return read(message);
  });
  const { views, keyring } = world.stores;
  const mail = new CapturedMail({ views, acts: world.intake, words });
  const [owner] = await keyring.list();
  return { mail, words, reads, query: { keyId: owner?.id ?? '', limit: 10 } };
}

const FILE = { filename: 'a b.txt', content: 'SGVsbG8K', contentType: 'text/html' };

describe('the list', () => {
  test('has captured messages, newest first, and how they begin', async () => {
    const one = await captured({ text: ' Your  code\nis 135790.', box: 'a' });
    await world.post(await world.key(), MAIL);
    await attempt(world, DELIVERED);
    const two = await captured({ html: '<p>Hi &amp; <b>bye</b></p>', text: null, attachments: [FILE] });
    const { json } = await get();
    expect(json).toMatchObject({
      messages: [
        { id: two, snippet: 'Hi & bye', attachments: 1, box: null, outcome: 'captured' },
        { id: one, snippet: 'Your code is 135790.', attachments: 0, box: 'a' },
      ],
      hasMore: false,
    });
  });

  test('goes on page by page, with the same filter', async () => {
    const ids = [await captured(), await captured(), await captured()].reverse();
    const first = await get('?limit=2&from=@example.com');
    expect(first.json).toMatchObject({ messages: [{ id: ids[0] }, { id: ids[1] }], hasMore: true });
    const cursor = String(first.json['nextCursor']);
    expect(await list(`limit=2&from=@example.com&cursor=${cursor}`)).toEqual([ids[2]]);
    expect(faultsOf(await get(`?cursor=${cursor}`))).toEqual(['/cursor bad_cursor']);
  });

  test('is filtered', async () => {
    const a = await captured({ box: 'a', tags: ['x'], to: ['ann@example.org'], text: 'Your CODE is here' });
    const b = await captured({
      box: 'b',
      subject: 'Welcome',
      text: null,
      html: '<b>Code</b>',
      attachments: [FILE],
    });
    const mid = await captured({ subject: 'Third', text: 'Other' });
    expect(await list('box=a')).toEqual([a]);
    expect(await list('box=c')).toEqual([]);
    expect(await list('tag=x')).toEqual([a]);
    expect(await list('to=ann@example.org')).toEqual([a]);
    expect(await list('subject=welc')).toEqual([b]);
    expect(await list('text=code')).toEqual([b, a]);
    expect(await list('text=code+your')).toEqual([a]);
    expect(await list('text=code&box=b')).toEqual([b]);
    expect(await list('has=attachment')).toEqual([b]);
    expect(await list('text=code&limit=1')).toEqual([b]);
    expect(await list(`since=${new Date(world.clock.wall() + 1000).toISOString()}`)).toEqual([]);
    expect(await list(`until=${new Date(world.clock.wall() + 1000).toISOString()}`)).toEqual([mid, b, a]);
  });

  test('with words reads only so many messages for a page', async () => {
    const ids: string[] = [];
    for (const text of ['one', 'two', 'one']) ids.push(await captured({ text }));
    const { views, store } = world.stores;
    const reads: string[] = [];
    const words = new CapturedWords(async (message) => {
      reads.push(message.id);
      return await world.readWords(message);
    });
    const acts = {
      discard: async (some: readonly string[]) =>
        (await store.discard(some, { node: 'a', now: world.clock.wall() })).length,
    };
    const mail = new CapturedMail({ views, acts, words }, { maxRead: 2, atOnce: 1 });
    const [owner] = (await world.stores.keyring.list()).map(({ id }) => id);
    const query = { keyId: owner ?? '', limit: 10 };
    const filter = { ...ANY_CAPTURED, text: ['one'] };
    const first = await mail.page({ ...query, filter, before: null });
    expect([first.entries.map(({ message }) => message.id), first.next]).toEqual([[ids[2]], ids[1]]);
    expect(reads).toEqual([ids[2], ids[1]]);
    const second = await mail.page({ ...query, filter, before: first.next });
    expect([second.entries.map(({ message }) => message.id), second.next]).toEqual([[ids[0]], null]);
    const search = { keyId: query.keyId, filter };
    expect(await mail.removeAll(search, AbortSignal.abort())).toBe(1);
    expect(await mail.removeAll(search, world.signal)).toBe(1);
  });

  test('is looked through for the latest, page by page, as long as the client waits', async () => {
    const [id] = [await captured({ text: 'one' }), await captured(), await captured()];
    const { views } = world.stores;
    const words = new CapturedWords(world.readWords);
    const mail = new CapturedMail({ views, acts: world.intake, words }, { maxRead: 1 });
    const [owner] = await world.stores.keyring.list();
    const search = { keyId: owner?.id ?? '', filter: { ...ANY_CAPTURED, text: ['one'] } };
    expect(await mail.find('latest', search, world.signal)).toMatchObject({ id });
    await expect(mail.find('latest', search, AbortSignal.abort())).rejects.toMatchObject({ status: 404 });
    const none = { ...search, filter: { ...ANY_CAPTURED, text: ['none'] } };
    await expect(mail.find('latest', none, world.signal)).rejects.toMatchObject({ status: 404 });
  });

  test('reads once what does not fit, however often it is asked', async () => {
    const ids = [await captured({ text: 'one' }), await captured({ text: 'two' })];
    const { mail, query, words, reads } = await mailReading(world.readWords);
    const asked = {
      ...query,
      filter: { ...ANY_CAPTURED, text: ['two'] },
      before: null,
      misfits: new Set<string>(),
    };
    for (const fitting of [[ids[1]], [ids[1]]]) {
      const { messages } = await mail.matching(asked);
      expect(messages.map(({ id }) => id)).toEqual(fitting);
      words.forget(ids);
    }
    expect(reads).toEqual([ids[1], ids[0], ids[1]]);
  });

  test('says that what it needs cannot be read now, and shows the others without it', async () => {
    const id = await captured();
    const { mail, query } = await mailReading(() =>
      Promise.reject(new Problem(503, 'unreadable_content', '')),
    );
    const page = { ...query, before: null };
    const { entries } = await mail.page({ ...page, filter: ANY_CAPTURED });
    expect(entries).toMatchObject([{ message: { id }, gist: { snippet: '' } }]);
    const filter = { ...ANY_CAPTURED, text: ['one'] };
    await expect(mail.page({ ...page, filter })).rejects.toMatchObject({ status: 503 });
    await expect(mail.removeAll({ ...query, filter }, world.signal)).rejects.toMatchObject({ status: 503 });
  });

  test('asks the store for a few lists at once, however many ask', async () => {
    const { views } = world.stores;
    const list = views.list;
    let [now, most] = [0, 0];
    views.list = async (asked) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return await list(asked);
    };
    const { mail, query } = await mailReading(() => Promise.reject(new Error('read')));
    const asked = { ...query, filter: ANY_CAPTURED, before: null };
    await Promise.all(Array.from({ length: 60 }, () => mail.matching(asked)));
    expect(most).toBe(8);
  });

  test('has only what the key may see', async () => {
    await captured({}, await world.key({ mode: 'test' }));
    expect(await list('')).toEqual([]);
    const live = await world.key();
    expect(await get('', live)).toMatchObject({ status: 403, json: { code: 'scope_missing' } });
    const only = await world.key({ scopes: ['messages:content'] });
    expect(await get('', only)).toMatchObject({ status: 200, json: { messages: [] } });
    const reader = await world.key({ scopes: ['messages:send', 'messages:read', 'messages:content'] });
    const own = await captured({}, reader);
    expect((await get('', reader)).json).toMatchObject({ messages: [{ id: own }] });
  });

  test.each([
    'box=A',
    'text=',
    'text=%20',
    `text=${'a+'.repeat(21)}`,
    `text=${'a'.repeat(501)}`,
    'has=inline',
    'limit=0',
    'all=true',
  ])('refuses %s', async (query) => expect((await get(`?${query}`)).status).toBe(400));
});

describe('a message', () => {
  test('says all that it says', async () => {
    const id = await captured({
      text: 'Your code is 135790.',
      headers: {
        'List-Unsubscribe': '<https://x.test/u>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
      bcc: ['carl@example.org'],
      attachments: [FILE],
    });
    const expected = {
      message: { id },
      codes: ['135790'],
      envelope: { from: 'jane@example.com', to: ['bob@example.org', 'carl@example.org'] },
      listUnsubscribe: { links: ['https://x.test/u'], oneClick: true, faults: [] },
      attachments: [
        {
          index: 0,
          filename: 'a b.txt',
          sizeBytes: 6,
          sha256: createHash('sha256').update('Hello\n').digest('hex'),
        },
      ],
    };
    for (const which of [id, 'latest']) {
      const { status, json } = await get(`/${which}`);
      expect([status, json]).toMatchObject([200, expected]);
      expect(json['headers']).toContainEqual(['Subject', 'Hello']);
    }
  });

  test('may be asked for as the latest of a filter', async () => {
    const one = await captured({ box: 'a', text: 'first' });
    await captured({ box: 'b', text: 'second' });
    for (const query of ['box=a', 'text=first']) {
      expect((await get(`/latest?${query}`)).json).toMatchObject({ message: { id: one } });
    }
    expect((await get('/latest?box=c')).status).toBe(404);
  });

  test('and its files are given as bytes that no browser runs', async () => {
    const id = await captured({ attachments: [FILE] });
    const raw = await get(`/${id}/raw`);
    expect(raw.text).toContain('Subject: Hello');
    const got = await get(`/${id}/attachments/0`);
    expect(got.text).toBe('Hello\n');
    expect(got.headers).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': 'attachment; filename="a b.txt"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    });
    expect(raw.headers).toMatchObject({
      'content-type': 'message/rfc822',
      'content-security-policy': 'sandbox',
    });
    for (const index of ['1', '-1', '00', 'x'])
      expect(await get(`/${id}/attachments/${index}`)).toMatchObject({
        status: 404,
        json: { code: 'attachment_not_found' },
      });
  });

  test('of another key or box, or that is gone, or was sent, is not found', async () => {
    const id = await captured({ box: 'a' });
    const other = await world.key({ mode: 'test' });
    for (const [rest, asked] of [
      [`/${id}`, other],
      [`/${id}/raw`, other],
      [`/${id}/attachments/0`, other],
      [`/${id}?box=b`, key],
      ['/msg_none', key],
    ] as const)
      expect(await get(rest, asked)).toMatchObject({ status: 404, json: { code: 'message_not_found' } });
    expect((await remove(`/${id}`, other)).status).toBe(404);
    const { json } = await world.post(key, MAIL);
    expect((await get(`/${json['id']}`)).status).toBe(404);
    await dropContents(world);
    expect((await get(`/${id}`)).status).toBe(404);
  });
});

describe('deleting', () => {
  test('takes one out', async () => {
    const id = await captured();
    expect(await remove(`/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await list('')).toEqual([]);
    expect((await remove(`/${id}`)).status).toBe(404);
    expect((await world.ask({ key, path: `/api/v1/messages/${id}` })).status).toBe(200);
  });

  test('takes out what a filter finds', async () => {
    await captured({ box: 'a' });
    await captured({ box: 'a', text: 'code' });
    const stays = await captured({ box: 'b' });
    await captured({}, await world.key({ mode: 'test' }));
    expect((await remove('?text=code')).json).toEqual({ deleted: 1 });
    expect((await remove('?box=a')).json).toEqual({ deleted: 1 });
    expect(await list('')).toEqual([stays]);
    const reads = await world.key({ mode: 'test', scopes: ['messages:read'] });
    expect((await remove('?all=true', reads)).status).toBe(403);
    expect((await remove('?all=true')).json).toEqual({ deleted: 1 });
  });

  test.each(['', '?all=false', '?all=true&box=a', '?everything=true'])(
    'needs a filter, or all: %s',
    async (query) => {
      await captured();
      expect((await remove(query)).status).toBe(400);
      expect(await list('')).toHaveLength(1);
    },
  );
});

describe('releasing', () => {
  const release = (id: string, asked: string, body: object = { relay: 'out' }) =>
    world.ask({ key: asked, method: 'POST', path: `${PATH}/${id}/release`, body });

  test('is never for a test key', async () => {
    const id = await captured();
    expect(await release(id, key)).toMatchObject({ status: 409, json: { code: 'test_key' } });
    const admin = await world.key({ scopes: ['messages:read', 'messages:read_all', 'admin'] });
    for (const relay of ['out', 'inbox', 'none'])
      expect(await release(id, admin, { relay })).toMatchObject({ status: 409, json: { code: 'test_key' } });
  });

  test('sends what a live key had captured by a relay, to others where told so', async () => {
    const admin = await world.key({
      scopes: ['messages:send', 'messages:read', 'messages:content', 'admin'],
    });
    const id = await captured({ cc: ['ann@example.org'] }, admin);
    const told = await release(id, admin, { relay: 'out', to: ['Zoe@example.net', 'Zoe@EXAMPLE.net'] });
    expect(told).toMatchObject({ status: 202, json: { status: 'queued' } });
    expect(world.last).toMatchObject({
      via: 'out',
      envelope: { recipients: [{ address: 'Zoe@example.net' }] },
    });
    expect(world.last.envelope.recipients).toHaveLength(1);
    await release(id, admin);
    expect(world.last.envelope.recipients).toMatchObject([
      { address: 'bob@example.org' },
      { address: 'ann@example.org' },
    ]);
    for (const [body, status] of [
      [{ relay: 'out', to: ['nobody'] }, 400],
      [{ relay: 'out', to: [] }, 400],
      [{ relay: 'out', to: Array.from({ length: 51 }, (_, n) => `a${n}@example.net`) }, 400],
      [{}, 400],
      [{ relay: 'none' }, 404],
      [{ relay: 'inbox' }, 400],
    ] as const)
      expect((await release(id, admin, body)).status).toBe(status);
    const sent = await world.post(admin, MAIL);
    expect((await release(String(sent.json['id']), admin)).status).toBe(409);
  });

  test('needs the scope admin, and no other', async () => {
    const live = await world.key();
    const id = await captured({}, live);
    expect((await release(id, await world.key({ scopes: ['admin'] }))).status).toBe(404);
    expect(await release(id, live)).toMatchObject({ status: 403, json: { code: 'scope_missing' } });
  });
});
