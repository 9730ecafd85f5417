/** `/api/v1/suppressions` over real sockets, a real store and the real operations (contract-2 §A5). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import { type Answer, type Ask, faultsOf, MAIL, World } from './world.ts';

const PATH = '/api/v1/suppressions';
const LISTED = ['suppressions:read', 'suppressions:write'] as const;

let world: World;
/** Of the key `shop`, which may send from shop.example; of an administrator; of one that reads all. */
let shop: string;
let admin: string;
let all: string;
beforeEach(async () => {
  world = await World.start();
  shop = await world.key({ id: 'key_shop', name: 'shop', scopes: LISTED, senderDomains: ['shop.example'] });
  admin = await world.key({ id: 'key_admin', name: 'root', scopes: ['admin'] });
  all = await world.key({ id: 'key_all', name: 'all', scopes: [...LISTED, 'messages:read_all'] });
});
afterEach(() => world.close());

const ask = (key: string, path: string, asked: Partial<Ask> = {}) =>
  world.ask({ key, path: `${PATH}${path}`, ...asked });
const post = (key: string, path: string, body: object) => ask(key, path, { method: 'POST', body });
const add = (key: string, entry: object) => post(key, '', entry);
const importing = (key: string, body: string, query = '', type = 'text/csv') =>
  ask(key, `/import${query}`, { method: 'POST', body, headers: { 'Content-Type': type } });
const remove = (key: string, which: string, query = '') =>
  ask(key, `/${encodeURIComponent(which)}${query}`, { method: 'DELETE' });

interface Entry {
  readonly id: string;
  readonly address: string;
  readonly scope: string;
  readonly reason: string;
}

const listOf = (answer: Answer) =>
  (answer.json as unknown as { suppressions: readonly Entry[] }).suppressions;
const addressesOf = (answer: Answer) => listOf(answer).map(({ address }) => address);
const codeOf = ({ status, json }: Answer) => [status, json['code']];

describe('an entry', () => {
  test('is added for the key’s own mail, read by address and id, and removed', async () => {
    const added = await add(shop, {
      address: 'Ann@Example.ORG',
      stream: 'News',
      reason: 'unsubscribe',
      note: 'by phone',
    });
    expect([added.status, added.json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^sup_/),
        address: 'ann@example.org',
        scope: 'key:shop',
        stream: 'news',
        reason: 'unsubscribe',
        source: 'api',
        evidence: null,
        note: 'by phone',
        createdAt: '2026-11-20T00:00:00.000Z',
        updatedAt: '2026-11-20T00:00:00.000Z',
        expiresAt: null,
      },
    ]);
    for (const which of ['ann@example.org', 'ANN@example.org', String(added.json['id'])])
      expect((await ask(shop, `/${encodeURIComponent(which)}`)).json).toEqual(added.json);
    const removed = await remove(shop, 'ann@example.org');
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(codeOf(await ask(shop, '/ann@example.org'))).toEqual([404, 'suppression_not_found']);
    expect(codeOf(await remove(shop, 'ann@example.org'))).toEqual([404, 'suppression_not_found']);
  });

  test('has a note of one line, which steers no display', async () => {
    const { json } = await add(shop, { address: 'ann@example.org', note: ' by\u202e\u001b[2J\r\nphone ' });
    expect(json['note']).toBe('by [2J phone');
  });

  test('that is there already is renewed, and answered with 200', async () => {
    const first = await add(shop, { address: 'ann@example.org' });
    await world.clock.advance(1000);
    const again = await add(shop, {
      address: 'ann@example.org',
      note: 'again',
      expiresAt: '2026-12-01T00:00:00Z',
    });
    expect(again.status).toBe(200);
    expect(again.json).toEqual({
      ...first.json,
      note: 'again',
      updatedAt: '2026-11-20T00:00:01.000Z',
      expiresAt: '2026-12-01T00:00:00.000Z',
    });
  });

  test('that has ended is not there any more', async () => {
    await add(shop, { address: 'ann@example.org', expiresAt: '2026-11-20T00:00:02Z' });
    expect((await ask(shop, '/ann@example.org')).status).toBe(200);
    await world.clock.advance(2000);
    expect((await ask(shop, '/ann@example.org')).status).toBe(404);
    expect(addressesOf(await ask(shop, ''))).toEqual([]);
  });

  test('of an administrator is global, or of the scope that is named', async () => {
    expect((await add(admin, { address: '*@example.org' })).json['scope']).toBe('global');
    expect((await add(all, { address: 'a@example.org' })).json['scope']).toBe('key:all');
    const named = await add(admin, { address: 'a@example.org', scope: 'key:shop' });
    expect(named.json['scope']).toBe('key:shop');
    expect((await add(admin, { address: 'a@example.org', scope: 'domain:Shop.Example' })).json['scope']).toBe(
      'domain:shop.example',
    );
    expect(addressesOf(await ask(shop, ''))).toEqual(['a@example.org']);
  });

  test('by address is the widest of several', async () => {
    await add(admin, { address: 'ann@example.org', scope: 'key:shop' });
    await add(admin, { address: 'ann@example.org', scope: 'global', stream: 'news' });
    await add(admin, { address: 'ann@example.org', scope: 'domain:shop.example' });
    expect((await ask(admin, '/ann@example.org')).json).toMatchObject({ scope: 'global', stream: 'news' });
    await remove(admin, String((await ask(admin, '/ann@example.org')).json['id']));
    expect((await ask(admin, '/ann@example.org')).json).toMatchObject({ scope: 'domain:shop.example' });
  });

  test.each([
    [{}, '/address required'],
    [{ address: 'ann(at)example.org' }, '/address address_syntax'],
    [{ address: '*@*.a.b.c.d.example.org' }, '/address address_domain'],
    [{ address: 'a@b.example', scope: 'everything' }, '/scope scope'],
    [{ address: 'a@b.example', scope: 'key:nobody' }, '/scope scope'],
    [{ address: 'a@b.example', stream: 'a\nb' }, '/stream stream'],
    [{ address: 'a@b.example', reason: 'complaint' }, '/reason type'],
    [{ address: 'a@b.example', expiresAt: 'tomorrow' }, '/expiresAt timestamp'],
    [{ address: 'a@b.example', expiresAt: '2026-11-19T00:00:00Z' }, '/expiresAt in_the_past'],
    [{ address: 'a@b.example', note: 'x'.repeat(501) }, '/note too_long'],
    [{ address: 'a@b.example', adress: 'x' }, '/adress unknown_field'],
  ])('that is wrong is refused by field: %j', async (entry, fault) => {
    const answer = await add(admin, entry);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(faultsOf(answer)).toEqual([fault]);
  });
});

describe('rights', () => {
  test('a key reads its own, those of its domains and global ones; of others it knows nothing', async () => {
    for (const scope of ['global', 'domain:shop.example', 'domain:other.example', 'key:all', 'key:shop'])
      await add(admin, { address: `${scope.replace(':', '-')}@example.org`, scope });
    const seen = async (key: string, which: string) =>
      (await ask(key, `/${encodeURIComponent(`${which}@example.org`)}`)).status;
    for (const which of ['global', 'domain-shop.example', 'key-shop'])
      expect(await seen(shop, which)).toBe(200);
    for (const which of ['domain-other.example', 'key-all']) expect(await seen(shop, which)).toBe(404);
    expect(addressesOf(await ask(shop, ''))).toEqual(['key-shop@example.org']);
    expect(addressesOf(await ask(shop, '?scope=global'))).toEqual([]);
    expect(addressesOf(await ask(shop, '?address=global@example.org'))).toEqual(['global@example.org']);
    expect(addressesOf(await ask(all, ''))).toHaveLength(5);
    expect((await ask(shop, '/export')).text.split('\r\n')).toHaveLength(3);
    expect((await ask(all, '/export')).text.split('\r\n')).toHaveLength(7);
  });

  test('a key changes only its own', async () => {
    await add(admin, { address: 'ann@example.org' });
    await add(shop, { address: 'ann@example.org' });
    expect(codeOf(await add(shop, { address: 'a@example.org', scope: 'global' }))).toEqual([
      403,
      'scope_missing',
    ]);
    expect(codeOf(await add(shop, { address: 'a@example.org', scope: 'key:all' }))).toEqual([
      403,
      'scope_missing',
    ]);
    expect((await remove(shop, 'ann@example.org')).status).toBe(204);
    expect((await ask(shop, '/ann@example.org')).json).toMatchObject({ scope: 'global' });
    expect(codeOf(await remove(shop, 'ann@example.org'))).toEqual([404, 'suppression_not_found']);
    expect((await remove(all, 'ann@example.org')).status).toBe(204);
    expect((await ask(admin, '/ann@example.org')).status).toBe(404);
  });

  test('a test key sees and makes only entries of its own scope', async () => {
    const scopes: ApiKey['scopes'] = [...LISTED, 'messages:read_all'];
    const tests = await world.key({ id: 'key_tests', name: 'tests', mode: 'test', scopes });
    await add(admin, { address: 'ann@example.org' });
    expect((await ask(tests, '/ann@example.org')).status).toBe(404);
    expect((await add(tests, { address: 'ann@example.org' })).json['scope']).toBe('key:tests');
    expect(codeOf(await add(tests, { address: 'bob@example.org', scope: 'global' }))).toEqual([
      403,
      'scope_missing',
    ]);
    expect(addressesOf(await ask(tests, ''))).toEqual(['ann@example.org']);
  });

  test('reading and changing need scopes of their own', async () => {
    const reader = await world.key({ scopes: ['suppressions:read'] });
    const writer = await world.key({ scopes: ['suppressions:write'] });
    expect((await ask(reader, '')).status).toBe(200);
    expect(codeOf(await add(reader, { address: 'a@example.org' }))).toEqual([403, 'scope_missing']);
    expect(codeOf(await remove(reader, 'a@example.org'))).toEqual([403, 'scope_missing']);
    expect((await add(writer, { address: 'a@example.org' })).status).toBe(201);
    expect(codeOf(await ask(writer, ''))).toEqual([403, 'scope_missing']);
  });

  test('what keys change is in the activity under their names', async () => {
    await add(shop, { address: 'ann@example.org' });
    await remove(shop, 'ann@example.org');
    await importing(shop, 'email\nbob@example.org\n');
    const page = { actor: null, action: null, subject: null, limit: 9, before: null };
    const { entries } = await world.stores.journal.entries(page);
    expect(entries.map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
      ['shop', 'importSuppressions', 'csv'],
      ['shop', 'removeSuppressions', 'ann@example.org'],
      ['shop', 'addSuppression', 'ann@example.org'],
    ]);
    expect(entries[0]?.after).not.toContain('bob@example.org');
  });
});

test('one because of a complaint goes only if that is confirmed', async () => {
  const complained = 'address,reason\nann@example.org,complaint\n';
  await importing(shop, complained);
  await add(shop, { address: 'ann@example.org', stream: 'news' });
  expect(codeOf(await remove(shop, 'ann@example.org'))).toEqual([409, 'complaint']);
  expect(addressesOf(await ask(shop, ''))).toHaveLength(2);
  expect(codeOf(await remove(shop, 'ann@example.org', '?confirm=yes'))).toEqual([400, 'invalid_query']);
  expect((await remove(shop, 'ann@example.org', '?confirm=complaint')).status).toBe(204);
  expect(addressesOf(await ask(shop, ''))).toEqual([]);
});

describe('the list', () => {
  test('is filtered, and paged from cursor to cursor', async () => {
    for (let n = 0; n < 5; n++) {
      await add(admin, { address: `r${n}@example.org`, stream: n % 2 ? 'news' : null });
      await world.clock.advance(1000);
    }
    await add(admin, { address: '*@example.net', reason: 'unsubscribe' });
    expect(addressesOf(await ask(admin, '?domain=example.net'))).toEqual(['*@example.net']);
    expect(addressesOf(await ask(admin, '?reason=unsubscribe'))).toEqual(['*@example.net']);
    expect(addressesOf(await ask(admin, '?stream=NEWS'))).toEqual(['r3@example.org', 'r1@example.org']);
    const range = '?since=2026-11-20T00:00:01Z&until=2026-11-20T00:00:03Z';
    expect(addressesOf(await ask(admin, range))).toEqual(['r2@example.org', 'r1@example.org']);
    const first = await ask(admin, '?limit=4&scope=global');
    expect(first.headers['link']).toContain('rel="next"');
    const rest = await ask(admin, `?limit=4&scope=global&cursor=${first.json['nextCursor']}`);
    expect([...addressesOf(first), ...addressesOf(rest)]).toHaveLength(6);
    expect(rest.json).toMatchObject({ hasMore: false });
    expect(rest.json['nextCursor']).toBeUndefined();
  });

  test('of a scope that the key may not see is empty at once, however many entries there are', async () => {
    const rows = Array.from({ length: 2500 }, (_, n) => `r${n}@example.org`);
    await importing(admin, `email\n${rows.join('\n')}\n`);
    const { json } = await ask(shop, '?scope=global');
    expect(json).toEqual({ suppressions: [], hasMore: false });
    expect(codeOf(await ask(shop, '?scope=global&stream=a%0Ab'))).toEqual([400, 'invalid_request']);
  });

  test.each(['?limit=201', '?reason=spam', '?page=2'])('refuses %s', async (query) =>
    expect(codeOf(await ask(admin, query))).toEqual([400, 'invalid_query']),
  );

  test.each(['?address=x', '?domain=@', '?scope=x', '?since=now', '?cursor=x'])('refuses %s', async (query) =>
    expect(codeOf(await ask(admin, query))).toEqual([400, 'invalid_request']),
  );
});

test('a check tells what would be sent from the key, and why not', async () => {
  await add(admin, { address: '*@*.example.org' });
  await add(admin, { address: 'ann@example.net', scope: 'domain:shop.example', stream: 'news' });
  await add(shop, { address: 'bob@example.net' });
  await add(admin, { address: 'eve@example.net', scope: 'key:all' });
  const addresses = ['x@a.b.example.org', 'Ann@example.net', 'bob@example.net', 'eve@example.net'];
  const check = async (key: string, rest: object = {}) => {
    const { json } = await post(key, '/check', { addresses, ...rest });
    const results = json['results'] as readonly { suppressed: boolean; suppression: Entry | null }[];
    return results.map(({ suppressed, suppression }) => suppressed && suppression?.address);
  };
  expect(await check(shop)).toEqual(['*@*.example.org', false, 'bob@example.net', false]);
  const mail = { from: 'News <news@Shop.Example>', stream: 'NEWS' };
  expect(await check(shop, mail)).toEqual(['*@*.example.org', 'ann@example.net', 'bob@example.net', false]);
  expect(await check(all)).toEqual(['*@*.example.org', false, false, 'eve@example.net']);
  expect(faultsOf(await post(shop, '/check', { addresses: ['a@example.org', 'b'] }))).toEqual([
    '/addresses/1 address_syntax',
  ]);
  const many = Array.from({ length: 1000 }, (_, n) => `r${n}@a.b.c.d.e.example.org`);
  expect((await post(shop, '/check', { addresses: many })).json['results']).toHaveLength(1000);
  expect((await post(shop, '/check', { addresses: [...many, 'x@example.org'] })).status).toBe(400);
});

test('a check says that mail is not sent, but nothing of an entry that the key may not read', async () => {
  const key = await world.key({
    id: 'key_bound',
    name: 'bound',
    scopes: LISTED,
    senderDomains: ['a.example'],
  });
  await add(admin, { address: 'ann@example.net', scope: 'domain:b.example', note: 'of others' });
  const addresses = ['ann@example.net'];
  const check = async (asking: string) =>
    (await post(asking, '/check', { addresses, from: 'news@b.example' })).json['results'];
  expect(await check(key)).toEqual([{ address: 'ann@example.net', suppressed: true, suppression: null }]);
  expect(await check(admin)).toMatchObject([{ suppressed: true, suppression: { note: 'of others' } }]);
});

test('a dry run names whom the list would stop', async () => {
  const sender = await world.key({ id: 'key_sender', name: 'sender' });
  await add(admin, { address: '*@example.net', scope: 'domain:shop.example', stream: 'news' });
  await add(admin, { address: 'bob@example.org', scope: 'key:sender' });
  const judged = async (fields: object) => {
    const mail = { ...MAIL, from: 'a@shop.example', dryRun: true, ...fields };
    const { message, suppressed } = (await world.post(sender, mail)).json;
    return [message, suppressed];
  };
  const to = ['ann@example.net', 'bob@example.org', 'eve@example.org'];
  const valid = 'Valid. Nothing was stored, nothing will be sent';
  expect(await judged({ to })).toEqual([`${valid}; 1 recipient is suppressed.`, ['bob@example.org']]);
  expect(await judged({ to, stream: 'News' })).toEqual([
    `${valid}; 2 recipients are suppressed.`,
    to.slice(0, 2),
  ]);
  expect(await judged({ to: 'bob@example.org' })).toEqual([
    'Not sent: every recipient is suppressed.',
    ['bob@example.org'],
  ]);
  expect(await judged({ to: 'eve@example.org' })).toEqual([`${valid}.`, undefined]);
});
