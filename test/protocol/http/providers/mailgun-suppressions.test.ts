import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Ask, World } from '../world.ts';
import { suppressing } from './listed-entries.ts';
import { basicAuth, caught, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';

/** Mailgun's lists of bounces, complaints and unsubscribes, which are views of our one list (contract-2 §C5). */

const EPOCH = Date.UTC(2026, 10, 20, 11, 15);
const DOMAIN = 'example.com';

let world: World;
let key: string;
/** Of a key that sees and changes the whole list. */
let mailgun: MailgunClient;

beforeAll(async () => {
  world = await World.start({ epoch: EPOCH });
  const scopes = ['suppressions:read', 'suppressions:write', 'messages:read_all'] as const;
  key = await world.key({ id: 'all', scopes, rateLimit: 0 });
  mailgun = mailgunClient(world, key);
});
afterAll(() => world.close());

const ask = (given: Ask) =>
  world.ask({ ...given, headers: { Authorization: basicAuth(key), ...given.headers } });
const stored = async (name: string) => {
  const answer = await ask({
    path: `/api/v1/suppressions?address=${name}@example.org`,
    headers: { Authorization: `Bearer ${key}` },
  });
  return answer.json['suppressions'];
};

const suppress = suppressing(() => world, EPOCH);

describe('mailgun.js', () => {
  test('lists what stops mail of the domain, by its reason, the newest first', async () => {
    const evidence = { messageId: null, at: EPOCH, code: 552, enhancedCode: '5.2.2', text: 'mailbox full' };
    await suppress('hard', 'hard_bounce', 1);
    await suppress('soft', 'soft_bounces', 2, { evidence });
    await suppress('angry', 'complaint', 3, { scope: 'domain:example.com' });
    await suppress('gone', 'unsubscribe', 4, { stream: 'news' });
    await suppress('manual', 'manual', 5);
    await suppress('elsewhere', 'hard_bounce', 6, { scope: 'domain:example.net' });
    const bounces = await mailgun.suppressions.list(DOMAIN, 'bounces');
    expect(bounces.items).toMatchObject([
      { address: 'soft@example.org', code: 552, error: 'mailbox full', created_at: new Date(EPOCH) },
      { address: 'hard@example.org', code: 550, error: 'hard_bounce', created_at: new Date(EPOCH + 1000) },
    ]);
    expect((await mailgun.suppressions.list(DOMAIN, 'complaints')).items).toMatchObject([
      { address: 'angry@example.org' },
    ]);
    expect((await mailgun.suppressions.list(DOMAIN, 'unsubscribes')).items).toMatchObject([
      { address: 'manual@example.org', tags: ['*'] },
      { address: 'gone@example.org', tags: ['news'] },
    ]);
  });

  test('adds bounces, one and many, for the domain alone; reads one; removes it', async () => {
    expect(
      await mailgun.suppressions.create(DOMAIN, 'bounces', {
        address: 'one@example.org',
        code: 554,
        error: 'no such user',
        created_at: new Date(EPOCH - 1000).toUTCString() as never,
      }),
    ).toMatchObject({ status: 200, message: '1 addresses have been added to the bounces table' });
    expect(await stored('one')).toMatchObject([
      { scope: 'domain:example.com', reason: 'hard_bounce', evidence: { code: 554, text: 'no such user' } },
    ]);
    expect(await mailgun.suppressions.get(DOMAIN, 'bounces', 'one@example.org')).toMatchObject({
      address: 'one@example.org',
      code: 554,
      error: 'no such user',
      created_at: new Date(EPOCH - 1000),
    });
    expect(await mailgun.suppressions.destroy(DOMAIN, 'bounces', 'one@example.org')).toMatchObject({
      status: 200,
      message: 'Bounced address has been removed',
      address: 'one@example.org',
    });
    expect(await caught(mailgun.suppressions.get(DOMAIN, 'bounces', 'one@example.org'))).toMatchObject({
      status: 404,
      details: 'Address not found in bounces table',
    });
    const many = Array.from({ length: 1000 }, (_, n) => ({ address: `many${n}@example.net` }));
    expect(await mailgun.suppressions.create('mg.example.com', 'bounces', many as never)).toMatchObject({
      message: '1000 addresses have been added to the bounces table',
    });
  });

  test('adds complaints, and takes one off again', async () => {
    await mailgun.suppressions.create(DOMAIN, 'complaints', [{ address: 'a+b@example.org' }] as never);
    expect(await mailgun.suppressions.get(DOMAIN, 'complaints', 'a+b@example.org')).toMatchObject({
      address: 'a+b@example.org',
    });
    expect(await mailgun.suppressions.destroy(DOMAIN, 'complaints', 'a+b@example.org')).toMatchObject({
      message: 'Spam complaint has been removed',
    });
    expect(await stored('a%2Bb')).toEqual([]);
  });

  test('adds unsubscribes as a form and as a list; of some tags alone it cannot', async () => {
    const one = { address: 'left@example.org', tag: '*' };
    expect(await mailgun.suppressions.create(DOMAIN, 'unsubscribes', one)).toMatchObject({
      message: 'Address has been added to the unsubscribes table',
    });
    await mailgun.suppressions.create(DOMAIN, 'unsubscribes', [
      { address: 'left2@example.org', tags: ['*'] },
      { address: 'left3@example.org' },
    ] as never);
    for (const name of ['left', 'left2', 'left3'])
      expect(await stored(name)).toMatchObject([{ reason: 'unsubscribe', stream: null }]);
    const some = { address: 'some@example.org', tag: 'news' };
    expect(await caught(mailgun.suppressions.create(DOMAIN, 'unsubscribes', some))).toMatchObject({
      status: 400,
      details: expect.stringContaining('tag: Must be "*"'),
    });
  });

  test('pages through a list, forth and back, to its end', async () => {
    for (let n = 0; n < 5; n++) await suppress(`paged${n}`, 'complaint', 100 + n);
    const names = (page: { items: readonly object[] }) =>
      page.items.map((item) => String(Reflect.get(item, 'address')).split('@')[0]);
    const first = await mailgun.suppressions.list(DOMAIN, 'complaints', { limit: 2 });
    const page = (of: typeof first, name: string) =>
      mailgun.suppressions.list(DOMAIN, 'complaints', { page: of.pages[name as 'next']?.page ?? '' });
    const second = await page(first, 'next');
    const third = await page(second, 'next');
    const end = await page(third, 'next');
    expect([first, second, third, end].map(names)).toEqual([
      ['paged4', 'paged3'],
      ['paged2', 'paged1'],
      ['paged0', 'angry'],
      [],
    ]);
    expect(first.pages['next']?.iteratorPosition).toBe('paged3@example.org');
    expect(names(await page(end, 'next'))).toEqual([]);
    expect(names(await page(end, 'previous'))).toEqual(['paged0', 'angry']);
    expect(names(await page(third, 'previous'))).toEqual(['paged2', 'paged1']);
    expect(names(await page(second, 'previous'))).toEqual(['paged4', 'paged3']);
    expect(names(await page(second, 'first'))).toEqual(['paged4', 'paged3']);
    expect(names(await page(second, 'last'))).toEqual(['paged0', 'angry']);
  });
});

test('the links of pages are whole URLs on the host that was asked', async () => {
  const headers = { Host: 'mail.example.com:8025' };
  const { json } = await ask({ path: '/mailgun/v3/example.com/complaints?limit=1', headers });
  expect(json['paging']).toMatchObject({
    first: 'http://mail.example.com:8025/mailgun/v3/example.com/complaints?page=first&limit=1',
    next: expect.stringMatching(
      /^http:\/\/mail\.example\.com:8025\/mailgun\/v3\/example\.com\/complaints\?page=next&address=paged4%40example\.org&cursor=sup_\w+&limit=1$/,
    ),
  });
});

describe('of a long list', () => {
  const PLACE = 'sup_01k9f5y7f0e2c4a8b6d0e2f4g6';
  const get = (list: string, query: string) => ask({ path: `/v3/example.com/${list}?${query}` });

  test.each(['bounces', 'complaints', 'unsubscribes'])('a page of %s is one walk', async (list) => {
    const asked = vi.spyOn(world.stores.suppressions, 'suppressions');
    await get(list, 'limit=1');
    expect(asked).toHaveBeenCalledOnce();
    asked.mockRestore();
  });

  test.each([
    ['page=first', 200, new RegExp(`page=next&cursor=${PLACE}&`)],
    ['page=last', 200, /page=first&/],
    ['page=previous&cursor=sup_01a9f5y7f0e2c4a8b6d0e2f4g6', 400, /^$/],
  ])('%s looks at a part, and leads on', async (query, status, next) => {
    const asked = vi.spyOn(world.stores.suppressions, 'suppressions');
    // Everything in it is on other lists.
    for (let page = 0; page < 60; page++) asked.mockResolvedValueOnce({ entries: [], next: PLACE });
    for (let page = 0; page < 9; page++) asked.mockResolvedValueOnce({ entries: [], next: null });
    const answer = await get('bounces', query);
    const { length } = asked.mock.calls;
    asked.mockRestore();
    const paging = Object(answer.json['paging']);
    expect([answer.status, paging.next ?? '']).toEqual([status, expect.stringMatching(next)]);
    expect(length).toBe(50);
  });
});

test('a page can be next to an address', async () => {
  const path = '/v3/example.com/complaints?page=next&limit=1&address=paged4@example.org';
  expect((await ask({ path })).json).toMatchObject({ items: [{ address: 'paged3@example.org' }] });
  const unknown = await ask({ path: '/v3/example.com/complaints?page=next&address=x@example.org' });
  expect([unknown.status, unknown.json]).toEqual([
    400,
    { message: expect.stringContaining('address: Must be the address of an entry') },
  ]);
});

test.each(['limit=0', 'limit=1001', 'page=2', 'cursor=sup_1', 'term=a'])(
  'a page is not asked for with %s',
  async (query) => {
    const { status, json } = await ask({ path: `/v3/example.com/bounces?${query}` });
    const [field] = query.split('=');
    expect([status, json]).toEqual([400, { message: expect.stringMatching(new RegExp(`^${field}: `)) }]);
  },
);

describe('what is added', () => {
  const post = (list: string, type: string, body: string) =>
    ask({ method: 'POST', path: `/v3/example.com/${list}`, headers: { 'Content-Type': type }, body });
  const form = 'application/x-www-form-urlencoded';
  const json = 'application/json';

  test('is a form, an object or a list', async () => {
    const added = { message: 'Address has been added to the bounces table', address: 'f@example.org' };
    expect((await post('bounces', form, 'address=f%40example.org&code=550&error=x')).json).toEqual(added);
    expect((await post('bounces', json, '{"address": "f@example.org"}')).json).toEqual(added);
    expect((await post('bounces', json, '[{"address": "f@example.org", "code": "550"}]')).json).toEqual({
      message: '1 addresses have been added to the bounces table',
    });
  });

  test('says nothing against the evidence of an entry that stands, unless it has its own', async () => {
    const evidence = { messageId: null, at: EPOCH, code: 552, enhancedCode: '5.2.2', text: 'mailbox full' };
    await suppress('stood', 'hard_bounce', 400, { scope: 'domain:example.com', evidence });
    await post('bounces', json, '[{"address": "stood@example.org"}]');
    expect(await stored('stood')).toMatchObject([{ evidence: { code: 552, text: 'mailbox full' } }]);
    await post('bounces', json, '[{"address": "stood@example.org", "code": 550}]');
    expect(await stored('stood')).toMatchObject([{ evidence: { code: 550 } }]);
  });

  test.each([
    [
      'a wrong address among good ones',
      json,
      '[{"address":"n1@example.org"},{"address":"n2"}]',
      400,
      /^1\/address: /,
    ],
    ['no address', form, 'code=550', 400, /^address: Is required/],
    [
      'a field that does not exist',
      form,
      'address=n1%40example.org&stream=x',
      400,
      /stream: There is no field/,
    ],
    [
      'a field given twice',
      form,
      'address=n1%40example.org&address=n1%40example.org',
      400,
      /^address: May be/,
    ],
    [
      'a time that is none',
      json,
      '{"address":"n1@example.org","created_at":"soon"}',
      400,
      /created_at: Must be a time/,
    ],
    ['nothing', json, '[]', 400, /./],
    ['a text', json, '"n1@example.org"', 400, /./],
    ['more than 1,000', json, JSON.stringify(Array(1001).fill({ address: 'n1@example.org' })), 400, /./],
    ['another type', 'text/csv', 'address\nn1@example.org\n', 415, /application\/json/],
  ])('is refused whole with %s', async (_, type, body, status, message) => {
    const answer = await post('bounces', type, body);
    expect([answer.status, answer.json]).toEqual([status, { message: expect.stringMatching(message) }]);
    expect(await stored('n1')).toEqual([]);
  });

  test('any JSON and any form is answered in Mailgun’s shape', async () => {
    const names = fc.constantFrom('address', 'code', 'error', 'tag', 'tags', 'created_at', 'x');
    const entry = fc.dictionary(names, fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.emailAddress()));
    const bodies = fc.oneof(
      fc.tuple(
        fc.constant(json),
        fc.oneof(
          fc.json({ maxDepth: 3 }),
          fc.array(entry).map((list) => JSON.stringify(list)),
        ),
      ),
      fc.tuple(
        fc.constant(form),
        fc.oneof(
          fc.string(),
          fc.dictionary(names, fc.string()).map((given) => new URLSearchParams(given).toString()),
        ),
      ),
    );
    const lists = fc.constantFrom('bounces', 'complaints', 'unsubscribes');
    await fc.assert(
      fc.asyncProperty(lists, bodies, async (list, [type, body]) => {
        const answer = await post(list, type, body);
        expect([200, 400]).toContain(answer.status);
        expect(answer.json['message']).toEqual(expect.any(String));
      }),
      { numRuns: 150 },
    );
  });
});

test('an address that is removed is sent to again, though it was suppressed for all', async () => {
  await suppress('again', 'hard_bounce', 500);
  await suppress('again', 'provider', 501, { scope: 'domain:example.net' });
  await mailgun.suppressions.destroy(DOMAIN, 'bounces', 'again@example.org');
  expect(await stored('again')).toMatchObject([{ scope: 'domain:example.net' }]);
});

test('a key needs the scopes, and for entries of a domain messages:read_all', async () => {
  const plain = mailgunClient(world, await world.key({ id: 'plain' }));
  expect(await caught(plain.suppressions.list(DOMAIN, 'bounces'))).toMatchObject({
    status: 403,
    details: expect.stringContaining('suppressions:read'),
  });
  expect(await caught(plain.suppressions.destroy(DOMAIN, 'bounces', 'a@example.org'))).toMatchObject({
    status: 403,
    details: expect.stringContaining('suppressions:write'),
  });
  const scopes = ['suppressions:read', 'suppressions:write'] as const;
  const own = mailgunClient(world, await world.key({ id: 'own', scopes }));
  const added = own.suppressions.create(DOMAIN, 'bounces', [{ address: 'x@example.org' }] as never);
  expect(await caught(added)).toMatchObject({
    status: 403,
    details: expect.stringContaining('messages:read_all'),
  });
  await suppress('theirs', 'hard_bounce', 600);
  expect((await own.suppressions.list(DOMAIN, 'bounces')).items).toEqual([]);
  expect(await own.suppressions.get(DOMAIN, 'bounces', 'theirs@example.org')).toMatchObject({ code: 550 });
  const removed = own.suppressions.destroy(DOMAIN, 'bounces', 'theirs@example.org');
  expect(await caught(removed)).toMatchObject({ status: 404 });
});

test('a test key has entries of its own', async () => {
  const scopes = ['suppressions:read', 'suppressions:write'] as const;
  const tester = mailgunClient(world, await world.key({ id: 'tester', mode: 'test', scopes }));
  await tester.suppressions.create(DOMAIN, 'bounces', [{ address: 't@example.org' }] as never);
  expect(await stored('t')).toMatchObject([{ scope: 'key:tester' }]);
  expect((await tester.suppressions.list(DOMAIN, 'bounces')).items).toMatchObject([
    { address: 't@example.org' },
  ]);
});

test('what is no domain has no lists; a whole list is not removed at once', async () => {
  const { status, json } = await ask({ path: '/v3/no..domain/bounces' });
  expect([status, json]).toEqual([404, { message: expect.any(String) }]);
  expect(await caught(mailgun.suppressions.destroyAll(DOMAIN, 'bounces'))).toMatchObject({ status: 405 });
});
