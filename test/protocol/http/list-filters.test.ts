import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOf, MAIL, World } from './world.ts';

/** The filters of `GET /api/v1/messages` (contract §3.2). What they find is the store's; its suite tries them all. */

let world: World;
let key: string;
/** Ids by subject. */
const ids = new Map<string, string>();

const LETTERS: readonly object[] = [
  { subject: 'Welcome', tags: ['new', 'news'] },
  { subject: 'Your Invoice 7', tags: ['invoice'], to: ['Ann <ann@Example.NET>'], bcc: ['audit@shop.test'] },
  { subject: 'INVOICE 8', tags: ['invoice'], from: 'Billing <billing@shop.test>', to: ['Ann@example.net'] },
  { subject: 'Überraschung', to: ['käte@bücher.example'], cc: ['ann+copies@example.net'] },
  { subject: '100%_off', tags: ['News'] },
];

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'filterer' });
  for (const letter of LETTERS) {
    const { json } = await world.post(key, { ...MAIL, ...letter });
    ids.set(Reflect.get(letter, 'subject'), String(json['id']));
    await world.clock.advance(60_000);
  }
  await world.post(await world.key(), { ...MAIL, tags: ['invoice'] });
});
afterAll(() => world.close());

const ask = (query: string) => world.ask({ key, path: `/api/v1/messages?${query}` });

/** The subjects of what a query finds, newest first. */
async function find(query: string): Promise<string[]> {
  const { json } = await ask(query);
  const found = json['messages'] as readonly { readonly subject: string }[];
  return found.map(({ subject }) => subject);
}

test.each([
  ['tag=invoice', ['INVOICE 8', 'Your Invoice 7']],
  ['tag=news', ['Welcome']],
  ['to=ann@example.net', ['INVOICE 8', 'Your Invoice 7']],
  ['to=ANN@EXAMPLE.NET', ['INVOICE 8', 'Your Invoice 7']],
  ['to=ann%2Bcopies@example.net', ['Überraschung']],
  ['to=@example.net', ['Überraschung', 'INVOICE 8', 'Your Invoice 7']],
  ['to=@shop.test', ['Your Invoice 7']],
  ['to=@b%C3%BCcher.example', ['Überraschung']],
  ['to=@xn--bcher-kva.example', ['Überraschung']],
  ['to=k%C3%A4te@b%C3%BCcher.example', ['Überraschung']],
  ['from=billing@shop.test', ['INVOICE 8']],
  ['from=@SHOP.test', ['INVOICE 8']],
  ['subject=invoice', ['INVOICE 8', 'Your Invoice 7']],
  ['subject=%25_', ['100%_off']],
  ['since=2026-11-20T00:03:00Z', ['100%_off', 'Überraschung']],
  ['until=2026-11-20T00:01:00Z', ['Welcome']],
  ['since=2026-11-20T01:01:00%2B01:00&until=2026-11-20T00:02:00.001Z', ['INVOICE 8', 'Your Invoice 7']],
  ['since=2026-11-20T00:01:00Z&until=2026-11-20T00:01:00Z', []],
  ['tag=invoice&subject=8&status=queued&to=@example.net', ['INVOICE 8']],
  ['tag=invoice&status=failed', []],
])('%s', async (query, subjects) => expect(await find(query)).toEqual(subjects));

describe('a value that can match nothing is 400:', () => {
  test.each([
    ['tag=', '/tag tag'],
    [`tag=${'x'.repeat(129)}`, '/tag tag'],
    ['subject=', '/subject subject'],
    [`subject=${'x'.repeat(2001)}`, '/subject subject'],
    ['to=', '/to address_syntax'],
    ['to=@', '/to address_syntax'],
    ['to=ann', '/to address_syntax'],
    ['to=example.net', '/to address_syntax'],
    ['to=Ann%20%3Cann@example.net%3E', '/to address_syntax'],
    ['to=ann@example.net,bob@example.net', '/to address_syntax'],
    ['to=ann+copies@example.net', '/to address_syntax'],
    ['to=ann@example.net&to=bob@example.net', '/to repeated'],
    ['from=@a%20b', '/from address_syntax'],
    ['since=2026-11-20', '/since timestamp'],
    ['since=2026-11-20T00:00:00+01:00', '/since timestamp'],
    ['until=1700000000', '/until timestamp'],
    ['until=2026-02-30T00:00:00Z', '/until timestamp'],
  ])('%s', async (query, fault) => {
    const answer = await ask(query);
    expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]]);
  });
});

test('a mistyped name suggests the right one', async () => {
  const answer = await ask('statuss=failed');
  expect(answer.json.errors).toMatchObject([
    { detail: 'There is no parameter "statuss". Did you mean "status"?' },
  ]);
});

describe('a cursor', () => {
  test('belongs to the whole filter', async () => {
    const { json } = await ask('limit=1&tag=invoice&to=@example.net&since=2026-11-20T00:00:00Z');
    const cursor = `cursor=${json['nextCursor']}`;
    const same = `tag=invoice&to=@EXAMPLE.net&since=2026-11-20T01:00:00%2B01:00&${cursor}`;
    expect(await find(same)).toEqual(['Your Invoice 7']);
    for (const other of [
      'tag=invoice&to=@example.net',
      'tag=invoice&to=@example.net&since=2026-11-20T00:00:01Z',
      'tag=news&to=@example.net&since=2026-11-20T00:00:00Z',
      'tag=invoice&from=@example.net&since=2026-11-20T00:00:00Z',
      'tag=invoice&to=@example.net&since=2026-11-20T00:00:00Z&subject=8',
      'tag=invoice&to=@example.net&since=2026-11-20T00:00:00Z&status=queued',
    ])
      expect(faultsOf(await ask(`${other}&${cursor}`))).toEqual(['/cursor bad_cursor']);
  });
  test('goes on from page to page, in Link as in the body', async () => {
    const first = await ask('limit=1&subject=invoice');
    const link = /^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))?.[1] ?? '';
    expect(new URLSearchParams(link.split('?')[1]).get('cursor')).toBe(first.json['nextCursor']);
    const second = await world.ask({ key, path: link });
    expect(second.json).toMatchObject({ messages: [{ id: ids.get('Your Invoice 7') }] });
  });
});

test('HEAD has the headers of GET', async () => {
  const path = '/api/v1/messages?limit=1&tag=invoice';
  const [head, get] = [await world.ask({ method: 'HEAD', key, path }), await world.ask({ key, path })];
  expect([head.status, head.text]).toEqual([200, '']);
  for (const name of ['link', 'content-length', 'content-type'])
    expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
});
