import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hashSecret, messageUuid } from '../../../src/lib/id.ts';
import { attempt, CAPTURED, dropContents } from './deliver.ts';
import { type Answer, type Ask, MAIL, World } from './world.ts';

/** Mailpit's API at `/mailpit`: what its clients cannot show (test/e2e/mailpit.test.ts has those). */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ id: 'tests', mode: 'test' });
});
afterEach(() => world.close());

const basic = (user: string, secret = key) => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
const ask = (path: string, { headers, ...rest }: Ask = {}): Promise<Answer> =>
  world.ask({ path: `/mailpit${path}`, headers: { Authorization: basic('tests'), ...headers }, ...rest });
const list = async (user: string) => {
  const { json } = await ask('/api/v1/messages', { headers: { Authorization: basic(user) } });
  return json as { total: number; messages: readonly { ID: string; Username: string; Read: boolean }[] };
};

/** Deletes messages. Node sends no length of its own with this method, so that servers would see no body. */
const remove = (named: object | null, { headers }: Pick<Ask, 'headers'> = {}) => {
  const body = named === null ? undefined : JSON.stringify(named);
  const typed = body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  return ask('/api/v1/messages', {
    method: 'DELETE',
    headers: { ...typed, ...headers },
    ...(body && { body }),
  });
};

async function captured(fields: object = {}, from = key): Promise<string> {
  const answer = await world.post(from, { ...MAIL, ...fields });
  await attempt(world, CAPTURED);
  return String(answer.json['id']);
}

const HTML = '<p>Hi <img src="cid:x"></p><script>alert(1)</script>';

describe('who asks', () => {
  test('is told by Basic with any user name, or by Bearer', async () => {
    await captured();
    for (const authorization of [basic('tests'), basic(''), basic('Any Name'), `Bearer ${key}`]) {
      const answer = await ask('/api/v1/messages', { headers: { Authorization: authorization } });
      expect([authorization, answer.status, answer.json['total']]).toEqual([authorization, 200, 1]);
    }
  });

  test('sees the box that the user name is; the name of the key, all of them', async () => {
    const inA = await captured({ box: 'a' });
    const inB = await captured({ box: 'b' });
    const inNone = await captured();
    const idsOf = async (user: string) => (await list(user)).messages.map(({ ID }) => ID);
    expect(await idsOf('a')).toEqual([inA]);
    expect(await idsOf('B')).toEqual([inB]);
    expect(await idsOf('tests')).toEqual([inNone, inB, inA]);
    expect((await list('a')).messages).toMatchObject([{ Username: 'a' }]);
    const asA = { headers: { Authorization: basic('a') } };
    expect((await ask(`/api/v1/message/${inA}`, asA)).status).toBe(200);
    for (const path of [`/api/v1/message/${inB}`, `/view/${inNone}.txt`, `/api/v1/message/${inB}/raw`])
      expect((await ask(path, asA)).status).toBe(404);
    const second = await captured({ box: 'a' });
    expect((await remove({ IDs: [inA, inB] }, asA)).text).toBe('ok');
    expect(await idsOf('tests')).toEqual([second, inNone, inB]);
    expect((await remove(null, asA)).text).toBe('ok');
    expect(await idsOf('tests')).toEqual([inNone, inB]);
  });

  test('sees nothing of other keys, whatever its scopes', async () => {
    const id = await captured();
    const other = await world.key({ mode: 'test', scopes: ['messages:read_all', 'messages:content'] });
    // Without a box, which would hide the message as well.
    const asOther = { headers: { Authorization: basic('', other) } };
    expect((await ask('/api/v1/messages', asOther)).json).toMatchObject({ total: 0, messages: [] });
    expect((await ask('/api/v1/message/latest', asOther)).status).toBe(404);
    expect((await ask(`/api/v1/message/${id}`, asOther)).status).toBe(404);
    const marks = { method: 'PUT', body: { Read: true, IDs: [id] }, ...asOther };
    expect((await ask('/api/v1/messages', marks)).text).toBe('ok');
    await ask('/api/v1/messages', { method: 'DELETE', ...asOther });
    expect((await list('tests')).messages).toMatchObject([{ ID: id, Read: false }]);
  });

  test('needs a test key, and its scope', async () => {
    const live = await world.key();
    const sendsOnly = await world.key({ mode: 'test', scopes: ['messages:send'] });
    for (const [secret, status] of [
      [live, 403],
      [sendsOnly, 403],
      ['wb_test_none', 401],
    ] as const) {
      const answer = await ask('/api/v1/messages', { headers: { Authorization: basic('x', secret) } });
      expect([answer.status, typeof answer.json['Error']]).toEqual([status, 'string']);
    }
    const readsOnly = await world.key({ mode: 'test', scopes: ['messages:read'] });
    const asReader = { headers: { Authorization: basic('x', readsOnly) } };
    for (const path of ['/api/v1/messages', '/api/v1/search?query=hello'])
      expect((await ask(path, { method: 'DELETE', ...asReader })).status, path).toBe(403);
    const marks = { method: 'PUT', body: { Read: true }, ...asReader };
    expect((await ask('/api/v1/messages', marks)).text).toBe('ok');
    const unknown = await world.ask({ path: '/mailpit/api/v1/info' });
    expect([unknown.status, unknown.headers['www-authenticate']]).toEqual([401, 'Basic realm="waybill"']);
    const sent = await ask('/api/v1/send', {
      method: 'POST',
      headers: { Authorization: basic('x', live) },
      body: { From: { Email: 'a@example.com' }, To: [{ Email: 'b@example.org' }] },
    });
    expect(sent.status).toBe(403);
    expect(world.intake.submissions).toEqual([]);
  });

  test('may send no key where there is one for such, unless it is a page of another site', async () => {
    await captured();
    const keyless = (headers: Ask['headers'] = {}, path = '/mailpit/api/v1/messages') =>
      world.ask({ path, headers: { Host: 'localhost:8025', ...headers } });
    expect((await keyless()).status).toBe(401);
    world.options.keyless = await world.stores.keyring.findByHash(hashSecret(key), world.clock.wall());
    for (const headers of [{}, { Host: '127.0.0.1' }, { Host: '[::1]:8025' }, { 'Sec-Fetch-Site': 'none' }])
      expect((await keyless(headers)).json, JSON.stringify(headers)).toMatchObject({ total: 1 });
    for (const headers of [
      { Host: 'rebound.example.com' },
      { Host: '192.0.2.7:8025' },
      { Origin: 'http://localhost:3000' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Authorization: basic('x', 'wb_test_none') },
      { Authorization: 'Negotiate' },
    ])
      expect((await keyless(headers)).status, JSON.stringify(headers)).toBe(401);
    for (const path of ['/api/v1/messages', '/api/v1/inbox/messages', '/emails'])
      expect((await keyless({}, path)).status, path).not.toBe(200);
  });
});

describe('a message', () => {
  test('is read when it is shown, but not when its source or header is', async () => {
    const id = await captured({ text: 'Hi.', html: HTML });
    const isRead = async () => (await list('tests')).messages[0]?.Read;
    for (const path of [`/api/v1/message/${id}/headers`, `/api/v1/message/${id}/raw`]) await ask(path);
    expect(await isRead()).toBe(false);
    for (const path of [`/api/v1/message/${id}`, `/view/${id}.txt`, '/view/latest.html']) {
      await ask(path);
      expect([path, await isRead()]).toEqual([path, true]);
      await ask('/api/v1/messages', { method: 'PUT', body: { Read: false } });
    }
  });

  test('cannot run or fetch anything in a browser', async () => {
    const id = await captured({
      html: HTML,
      attachments: [
        { filename: 'ä".html', content: Buffer.from(HTML).toString('base64'), contentType: 'text/html' },
      ],
    });
    const page = await ask(`/view/${id}.html`);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(page.text).toBe(HTML);
    const { json } = await ask(`/api/v1/message/${id}`);
    const [{ PartID = '' } = {}] = json['Attachments'] as { PartID?: string }[];
    const file = await ask(`/api/v1/message/${id}/part/${PartID}`);
    expect(file.headers).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': `attachment; filename="__.html"; filename*=UTF-8''%C3%A4_.html`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect(file.text).toBe(HTML);
    const source = await ask(`/api/v1/message/${id}/raw?dl=1`);
    expect(source.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${id}.eml"`,
    });
    expect(source.text).toBe(world.lastText);
  });

  test('that only has HTML has a text that is made of it', async () => {
    const id = await captured({ text: null, html: '<p>Hello &amp; <b>bye</b></p>' });
    expect((await ask(`/view/${id}.txt`)).text).toBe('Hello & bye');
    expect((await ask(`/api/v1/message/${id}`)).json).toMatchObject({ Text: 'Hello & bye' });
  });

  test('is the latest, or the latest that a query finds', async () => {
    const first = await captured({ subject: 'One' });
    const second = await captured({ subject: 'Two' });
    expect((await ask('/api/v1/message/latest')).json).toMatchObject({ ID: second });
    expect((await ask('/api/v1/message/latest?query=subject:one')).json).toMatchObject({ ID: first });
    expect((await ask('/api/v1/message/latest?query=subject:none')).status).toBe(404);
  });

  test('has the values of its header as they are written, under the names that Go gives them', async () => {
    const id = await captured({ subject: 'Grüße', headers: { 'x-SOME-thing': '1' } });
    const { json } = await ask(`/api/v1/message/${id}/headers`);
    expect(json).toMatchObject({ 'X-Some-Thing': ['1'], Subject: [expect.stringMatching(/^=\?utf-8\?/i)] });
    expect(Object.keys(json)).toEqual(Object.keys(json).toSorted());
  });

  test.each(['', 'msg_none', 'latest2', '..', '%2e%2e'])('is not there: %s', async (id) => {
    await captured();
    expect((await ask(`/api/v1/message/${id}`)).status).toBe(404);
  });

  test('is not there once it is no longer kept, and as long as it waits', async () => {
    const id = await captured();
    await dropContents(world);
    const waits = String((await world.post(key, MAIL)).json['id']);
    for (const path of [id, waits, 'latest', `${waits}/raw`])
      expect((await ask(`/api/v1/message/${path}`)).status).toBe(404);
    expect((await list('tests')).total).toBe(0);
  });

  test('has no such part, and no such view', async () => {
    const id = await captured();
    for (const path of ['part/1', 'part/0', 'part/x'])
      expect((await ask(`/api/v1/message/${id}/${path}`)).status).toBe(404);
    for (const view of [`${id}.html`, `${id}.pdf`, id, '.txt']) {
      const answer = await ask(`/view/${view}`);
      expect([view, answer.status]).toEqual([view, 404]);
    }
  });
});

describe('a list', () => {
  test('takes what is no number as not given, and names that it does not know', async () => {
    for (let place = 0; place < 3; place++) await captured();
    const counts = async (query: string) => {
      const { json } = await ask(`/api/v1/messages?${query}`);
      return [json['start'], json['count'], json['total']];
    };
    expect(await counts('limit=2&start=1')).toEqual([1, 2, 3]);
    expect(await counts('limit=0')).toEqual([0, 3, 3]);
    expect(await counts('limit=-1&start=x&before=y')).toEqual([0, 3, 3]);
    expect(await counts('start=3')).toEqual([3, 0, 3]);
    expect((await ask('/api/v1/search?query=subject:hello&limit=0')).json).toMatchObject({
      count: 0,
      messages_count: 3,
    });
  });

  test.each([
    ['GET', '/api/v1/search', 'no search query'],
    ['GET', '/api/v1/search?query=before:yesterday', 'before: needs a day'],
    ['GET', `/api/v1/search?query=${'x'.repeat(2001)}`, 'at most 2000 characters'],
    ['DELETE', '/api/v1/search?query=%22%22', 'no search query'],
    ['DELETE', '/api/v1/search?query=subject:', 'no search query'],
    ['PUT', '/api/v1/tags/none', 'tag not found: none'],
    ['DELETE', '/api/v1/tags/none', 'tag not found: none'],
  ])('%s %s is refused', async (method, path, detail) => {
    await captured();
    const body = method === 'PUT' ? { Name: 'x' } : undefined;
    const answer = await ask(path, { method, ...(body && { body }) });
    expect([answer.status, answer.json['Error']]).toEqual([400, expect.stringContaining(detail)]);
    expect((await list('tests')).total).toBe(1);
  });
});

describe('a body', () => {
  const put = (body: string | object, path = '/api/v1/messages') =>
    ask(path, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body });

  test.each<[string, string | object, number]>([
    ['that is no JSON', '{', 400],
    ['that is empty', '', 400],
    ['that is a list', [], 400],
    ['with another name', { read: true, All: true }, 400],
    ['with a name twice', '{"Read": true, "read": false}', 400],
    ['with both ids and a query', { IDs: ['msg_1'], Search: 'x' }, 400],
    ['with a query that cannot be read', { Search: 'after:never' }, 400],
    ['with too many ids', { IDs: Array.from({ length: 5001 }, () => 'a') }, 400],
    ['with an id that is too long', { IDs: ['a'.repeat(101)] }, 400],
    ['that is too large', `{"Search": "${'x'.repeat(600_000)}"}`, 413],
  ])('%s is refused', async (_, body, status) => {
    await captured();
    const answer = await put(body);
    expect([answer.status, typeof answer.json['Error']]).toEqual([status, 'string']);
    expect((await list('tests')).messages).toMatchObject([{ Read: false }]);
  });

  test('may name as many as this', async () => {
    const id = await captured();
    const IDs = [...Array.from({ length: 4999 }, () => 'msg_none'), id];
    expect((await put({ IDs, READ: true })).text).toBe('ok');
    expect((await list('tests')).messages).toMatchObject([{ Read: true }]);
  });

  test('names messages also as UUIDs, and no others of the key are changed', async () => {
    const [first, second, third] = [await captured(), await captured(), await captured()];
    const uuid = messageUuid(first);
    expect((await put({ IDs: [uuid, 'latest'], Read: true })).text).toBe('ok');
    expect((await list('tests')).messages.map(({ Read }) => Read)).toEqual([false, false, true]);
    await put({ IDs: [uuid.toUpperCase(), second], Tags: ['x'] }, '/api/v1/tags');
    expect((await ask(`/api/v1/message/${first}`)).json).toMatchObject({ Tags: ['x'] });
    await remove({ IDs: [uuid, first] });
    expect((await list('tests')).messages.map(({ ID }) => ID)).toEqual([third, second]);
  });

  test.each<[string, readonly unknown[]]>([
    ['that is empty', ['']],
    ['that is too long', ['x'.repeat(129)]],
    ['with a line break', ['a\nb']],
    ['that is no text', [1]],
    ['too many', Array.from({ length: 51 }, (_, place) => `t${place}`)],
  ])('with a tag %s is refused', async (_, Tags) => {
    const id = await captured();
    expect((await put({ IDs: [id], Tags }, '/api/v1/tags')).status).toBe(400);
  });

  test('gives tags once each, and nobody without ids', async () => {
    const id = await captured({ tags: ['mine'] });
    await put({ Tags: ['x'] }, '/api/v1/tags');
    expect((await ask('/api/v1/tags')).json).toEqual(['mine']);
    await put({ IDs: [id], Tags: ['B', 'a', 'b'] }, '/api/v1/tags');
    expect((await ask(`/api/v1/message/${id}`)).json).toMatchObject({ Tags: ['B', 'a'] });
    await put({ Name: 'A' }, '/api/v1/tags/B');
    expect((await ask(`/api/v1/message/${id}`)).json).toMatchObject({ Tags: ['A'] });
    // The record of the message stays as it was sent.
    expect((await world.ask({ key, path: `/api/v1/messages/${id}` })).json).toMatchObject({ tags: ['mine'] });
  });

  test('of a deletion may be missing, and must be right if it is there', async () => {
    await captured();
    expect((await remove({ IDs: 'all' })).status).toBe(400);
    expect((await list('tests')).total).toBe(1);
    expect((await remove({ IDs: [] })).text).toBe('ok');
    expect((await list('tests')).total).toBe(0);
  });
});

test.each([
  ['POST', '/api/v1/message/latest/release'],
  ['GET', '/api/v1/message/latest/html-check'],
  ['GET', '/api/v1/message/latest/link-check'],
  ['GET', '/api/v1/message/latest/sa-check'],
  ['GET', '/api/v1/message/latest/part/1/thumb'],
  ['GET', '/api/v1/chaos'],
  ['PUT', '/api/v1/chaos'],
  ['GET', '/api/events'],
])('%s %s is refused, with the reason', async (method, path) => {
  const answer = await ask(path, { method });
  expect([answer.status, answer.json]).toEqual([400, { Error: expect.stringMatching(/^[A-Z].*\.$/) }]);
});

test.each([
  ['GET', '/', 404],
  ['GET', '/api/v1/nothing', 404],
  ['POST', '/api/v1/messages', 405],
])('%s %s is refused in the shape of Mailpit', async (method, path, status) => {
  const answer = await ask(path, { method });
  expect([answer.status, answer.json]).toEqual([status, { Error: expect.any(String) }]);
});
