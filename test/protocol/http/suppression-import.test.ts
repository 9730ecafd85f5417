/** Tables that come to and from `/api/v1/suppressions`, as `suppressions.test.ts` has the rest. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type Ask, World } from './world.ts';

const PATH = '/api/v1/suppressions';
const LISTED = ['suppressions:read', 'suppressions:write'] as const;

let world: World;
/** Of the key `shop`, which may send from shop.example; of an administrator. */
let shop: string;
let admin: string;
beforeEach(async () => {
  world = await World.start();
  shop = await world.key({ id: 'key_shop', name: 'shop', scopes: LISTED, senderDomains: ['shop.example'] });
  admin = await world.key({ id: 'key_admin', name: 'root', scopes: ['admin'] });
});
afterEach(() => world.close());

const ask = (key: string, path: string, asked: Partial<Ask> = {}) =>
  world.ask({ key, path: `${PATH}${path}`, ...asked });
const add = (key: string, body: object) => ask(key, '', { method: 'POST', body });
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

describe('import', () => {
  test('adds the rows of a table, and tells of those that are wrong', async () => {
    const rows =
      'Address;Stream;Note\r\nann@example.org;news;x\r\n\r\nbob(at)example.org;;\r\n*@example.net;;\r\n';
    const done = await importing(shop, rows);
    expect([done.status, done.json]).toEqual([
      200,
      {
        added: 2,
        updated: 0,
        invalid: [{ line: 4, detail: expect.stringContaining('bob(at)example.org') }],
        moreInvalid: 0,
      },
    ]);
    expect((await importing(shop, rows)).json).toMatchObject({ added: 0, updated: 2 });
    expect((await ask(shop, '/ann@example.org')).json).toMatchObject({
      scope: 'key:shop',
      stream: 'news',
      reason: 'import',
      note: 'x',
    });
  });

  test('takes what was exported, formulas and all', async () => {
    await add(admin, { address: '-x@example.org', note: '=1+1', scope: 'domain:shop.example' });
    await importing(admin, 'email,reason\nann@example.org,complaint\n');
    const { text, headers } = await ask(admin, '/export');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(headers['content-disposition']).toContain('suppressions.csv');
    expect(text).toContain(`"'=1+1"`);
    const before = listOf(await ask(admin, ''));
    for (const { id } of before) await remove(admin, id, '?confirm=complaint');
    expect((await importing(admin, text)).json).toMatchObject({ added: 2, invalid: [] });
    const bare = (entries: readonly Entry[]) => entries.map(({ id: _, ...rest }) => rest);
    expect(new Set(bare(listOf(await ask(admin, ''))))).toEqual(
      new Set(bare(before).map((entry) => ({ ...entry, source: 'api' }))),
    );
  });

  test.each([
    ['others', 'email,name,tags\nann@example.org,Ann,vip', 'import', ''],
    ['ours', 'address,reason\nann@example.org,import', 'import', ''],
    ['others', 'Email Address,bounce_type\nann@example.org,hard', 'hard_bounce', ''],
  ])('knows the columns of %s', async (_, text, reason, note) => {
    expect((await importing(shop, text)).json).toMatchObject({ added: 1, invalid: [] });
    expect((await ask(shop, '/ann@example.org')).json).toMatchObject({ reason, note });
  });

  test('takes JSON: a list, an object that has one, one entry, or any of these a line', async () => {
    const type = 'application/json';
    const added = async (text: string) => (await importing(shop, text, '', type)).json;
    expect(await added('["a@example.org", 5]')).toMatchObject({ added: 1, invalid: [{ line: 2 }] });
    expect(await added('{"next": null, "items": [{"email": "b@example.org"}]}')).toMatchObject({ added: 1 });
    expect(await added('{"email": "c@example.org", "tags": ["*"]}')).toMatchObject({ added: 1 });
    const lines = '{"items": ["d@example.org"]}\r\n\r\n["e@example.org"]\n{"email": "f@example.org"}\n';
    expect(await added(lines)).toMatchObject({ added: 3, invalid: [] });
    for (const wrong of ['["g@example.org"]\n{', '["g@example.org"]\n7', 'null\nnull'])
      expect(codeOf(await importing(shop, wrong, '', type))).toEqual([400, 'invalid_import']);
    expect(addressesOf(await ask(shop, ''))).toHaveLength(6);
  });

  test('never ends an entry because of a complaint', async () => {
    await importing(shop, 'email,reason\nann@example.org,complaint\n');
    const soon = 'email,reason,expiresAt\nann@example.org,complaint,2026-11-20T00:01:00Z\n';
    expect((await importing(shop, soon)).json).toMatchObject({ updated: 1, invalid: [] });
    await world.clock.advance(60_000);
    const { json } = await ask(shop, '/ann@example.org');
    expect(json).toMatchObject({ reason: 'complaint', expiresAt: null });
  });

  test.each([
    ['note,text\nann@example.org,by phone,550 No such user', 'by phone'],
    ['note,text\nann@example.org,,550 No such user', ''],
    ['text\nann@example.org,550 No such user', '550 No such user'],
  ])('takes a text for the note only where there is no column for that: %j', async (rows, note) => {
    await importing(shop, `address,${rows}\n`);
    expect((await ask(shop, '/ann@example.org')).json).toMatchObject({ note });
  });

  test('ends soft bounces by the setting of the list', async () => {
    await importing(shop, 'email,bounce_type\nann@example.org,soft\n');
    expect((await ask(shop, '/ann@example.org')).json).toMatchObject({
      reason: 'soft_bounces',
      expiresAt: '2026-12-20T00:00:00.000Z',
    });
  });

  test('refuses a scope that the key may not use, as a whole and by row', async () => {
    expect(codeOf(await importing(shop, 'email\na@example.org\n', '?scope=global'))).toEqual([
      403,
      'scope_missing',
    ]);
    expect((await importing(shop, 'email,scope\na@example.org,global\nb@example.org,\n')).json).toMatchObject(
      {
        added: 1,
        invalid: [{ line: 2, detail: expect.stringContaining('own scope') }],
      },
    );
  });

  test('adds nothing of what is no table, or too large a one', async () => {
    const json = 'application/json';
    for (const [body, type] of [
      ['ann@example.org\nbob@example.org\n', 'text/csv'],
      ['', 'text/csv'],
      ['email\n"ann@example.org', 'text/csv'],
      ['{', json],
      ['{"a":1}', json],
    ] as const)
      expect(codeOf(await importing(shop, body, '', type))).toEqual([400, 'invalid_import']);
    const latin = { 'Content-Type': 'text/csv' };
    const bytes = Buffer.from('email\n\xe4@example.org', 'latin1');
    expect(codeOf(await ask(shop, '/import', { method: 'POST', body: bytes, headers: latin }))).toEqual([
      400,
      'invalid_utf8',
    ]);
    expect(codeOf(await importing(shop, 'x', '', 'text/plain'))).toEqual([415, 'unsupported_media_type']);
    const rows = `email\n${'a@example.org\n'.repeat(100_001)}`;
    expect(codeOf(await importing(shop, rows))).toEqual([413, 'too_many_rows']);
    expect(codeOf(await importing(shop, 'x'.repeat(10 * 1024 * 1024 + 1)))).toEqual([
      413,
      'content_too_large',
    ]);
    expect(addressesOf(await ask(shop, ''))).toEqual([]);
  });

  test('tells the first thousand of what is wrong, and how much more', async () => {
    const { json } = await importing(shop, `email\n${'x\n'.repeat(1500)}ann@example.org\n`);
    expect(json).toMatchObject({ added: 1, moreInvalid: 500 });
    expect(json['invalid']).toHaveLength(1000);
  });

  test('of many rows is in transactions of a thousand, and exported page by page', async () => {
    const rows = Array.from({ length: 2500 }, (_, n) => `r${n}@example.org`);
    expect((await importing(shop, `email\n${rows.join('\n')}\n`)).json).toMatchObject({ added: 2500 });
    const { text } = await ask(shop, '/export');
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2501);
    expect(new Set(lines.slice(1).map((line) => line.split(',')[1]))).toEqual(new Set(rows));
  });
});
