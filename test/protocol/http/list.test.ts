import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { attempt, DELIVERED, REJECTED } from './deliver.ts';
import { type Answer, faultsOf, MAIL, World } from './world.ts';

/** `GET /api/v1/messages` (contract §3.2). */

let world: World;
let key: string;
/** Newest first. */
const ids: string[] = [];

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'lister' });
  for (let i = 0; i < 25; i++) {
    const answer = await world.post(key, { ...MAIL, subject: `No ${i}` });
    ids.unshift(String(answer.json['id']));
    await world.clock.advance(10);
    if (i === 4) await attempt(world, DELIVERED);
    if (i === 9) await attempt(world, REJECTED);
  }
  await world.post(await world.key(), MAIL);
});
afterAll(() => world.close());

const list = (query = '', secret = key) => world.ask({ key: secret, path: `/api/v1/messages${query}` });

interface Page {
  readonly messages: readonly { readonly id: string; readonly status: string }[];
  readonly hasMore: boolean;
  readonly nextCursor?: string;
}

/** The page in an answer; the shape itself is tested below. */
const pageOf = (answer: Answer) => answer.json as unknown as Page;
const idsOf = (answer: Answer) => pageOf(answer).messages.map(({ id }) => id);

/** Follows `Link` from page to page. */
async function walk(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = query; path !== undefined; ) {
    const answer = await list(path);
    pages.push(idsOf(answer));
    path = /^<\/api\/v1\/messages(\?[^>]+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  return pages;
}

test('a page of very large messages ends early, and the next one goes on', async () => {
  const large = await World.start({ limits: { maxMetadata: 200, maxMessageBytes: 2_000_000 } });
  onTestFinished(() => large.close());
  const secret = await large.key();
  const metadata = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`k${i}`, '"'.repeat(4000)]));
  const all: unknown[] = [];
  for (let i = 0; i < 5; i++) all.unshift((await large.post(secret, { ...MAIL, metadata })).json['id']);
  const pages: string[][] = [];
  for (let path: string | undefined = '/api/v1/messages'; path !== undefined; ) {
    const answer = await large.ask({ key: secret, path });
    expect(answer.text.length).toBeLessThan(4 * 1024 * 1024);
    expect(pageOf(answer).hasMore).toBe(pageOf(answer).nextCursor !== undefined);
    pages.push(idsOf(answer));
    path = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1];
  }
  expect(pages.flat()).toEqual(all);
  expect(pages.map(({ length }) => length)).toEqual([3, 2]);
});

describe('a page', () => {
  test('has the newest 20 of the calling key, newest first', async () => {
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(idsOf(answer)).toEqual(ids.slice(0, 20));
    expect(pageOf(answer)).toEqual({
      messages: expect.any(Array),
      hasMore: true,
      nextCursor: expect.any(String),
    });
  });
  test('has status records without the recipients', async () => {
    const record = await world.ask({ key, path: `/api/v1/messages/${ids[0]}` });
    const { recipients, ...rest } = record.json;
    expect(recipients).toHaveLength(1);
    expect(pageOf(await list('?limit=1')).messages).toEqual([rest]);
  });
  test('that is the last has no cursor and no link', async () => {
    const answer = await list('?limit=200');
    expect(idsOf(answer)).toEqual(ids);
    expect([pageOf(answer).hasMore, 'nextCursor' in answer.json, answer.headers['link']]).toEqual([
      false,
      false,
      undefined,
    ]);
  });
  test('of a key without messages is empty', async () =>
    expect((await list('', await world.key())).json).toEqual({ messages: [], hasMore: false }));
});

describe('limit', () => {
  test.each([1, 7, 25, 200])('%i is taken', async (limit) =>
    expect(idsOf(await list(`?limit=${limit}`))).toEqual(ids.slice(0, limit)),
  );
  test.each(['0', '201', '-1', '1.5', '', 'x', '1e2', '%D9%A3', '10&limit=10'])(
    '%j is 400',
    async (limit) => {
      const answer = await list(`?limit=${limit}`);
      expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_query']);
      expect(answer.json.errors).toMatchObject([{ pointer: '/limit' }]);
    },
  );
});

describe('status', () => {
  test('filters', async () => {
    expect(idsOf(await list('?status=delivered'))).toEqual(ids.slice(20));
    expect(idsOf(await list('?status=failed'))).toEqual(ids.slice(15, 20));
    expect(idsOf(await list('?status=processing'))).toEqual([]);
  });
  test('is repeatable', async () =>
    expect(idsOf(await list('?status=failed&status=delivered&status=failed'))).toEqual(ids.slice(15)));
  test.each(['sent', '', 'Delivered', 'constructor', 'failed&status=sent'])('%j is 400', async (status) =>
    expect(faultsOf(await list(`?status=${status}`))).toEqual(['/status unknown_status']),
  );
});

describe('cursor', () => {
  test('leads through every message once, in order', async () => {
    const pages = await walk('?limit=4');
    expect(pages.map((page) => page.length)).toEqual([4, 4, 4, 4, 4, 4, 1]);
    expect(pages.flat()).toEqual(ids);
  });
  test('keeps the filter', async () =>
    expect((await walk('?limit=3&status=delivered&status=failed')).flat()).toEqual(ids.slice(15)));
  test('does not mind what comes in between', async () => {
    const cursor = pageOf(await list('?limit=5')).nextCursor;
    await world.post(key, MAIL);
    ids.unshift(idsOf(await list('?limit=1'))[0] ?? '');
    expect(idsOf(await list(`?limit=5&cursor=${cursor}`))).toEqual(ids.slice(6, 11));
  });
  test('may be used with another limit', async () => {
    const cursor = pageOf(await list('?limit=5')).nextCursor;
    expect(idsOf(await list(`?limit=2&cursor=${cursor}`))).toEqual(ids.slice(5, 7));
  });
  test('of another filter, of another key, or none at all is 400', async () => {
    const cursor = pageOf(await list('?limit=2&status=delivered')).nextCursor;
    const stranger = await world.key();
    for (const [query, secret] of [
      [`?cursor=${cursor}`, key],
      [`?cursor=${cursor}&status=failed`, key],
      [`?cursor=${cursor}&status=delivered`, stranger],
      [`?cursor=${cursor}x&status=delivered`, key],
      ['?cursor=', key],
      ['?cursor=nonsense', key],
      [`?cursor=${ids[3]}`, key],
    ] as const)
      expect(faultsOf(await list(query, secret))).toEqual(['/cursor bad_cursor']);
  });
});

describe('all=true', () => {
  test('shows everyone’s to messages:read_all, which sees its own without it', async () => {
    const auditor = await world.key({ scopes: ['messages:read_all'] });
    expect(idsOf(await list('', auditor))).toEqual([]);
    expect(idsOf(await list('?all=true&limit=200', auditor))).toHaveLength(27);
    expect(idsOf(await list('?all=false', auditor))).toEqual([]);
  });
  test('needs that scope', async () => {
    const answer = await list('?all=true');
    expect([answer.status, answer.json['code']]).toEqual([403, 'scope_missing']);
  });
  test('of anything else is 400', async () =>
    expect(faultsOf(await list('?all=yes'))).toEqual(['/all type']));
});

test('all faulty parameters are reported at once, unknown ones by name', async () =>
  expect(faultsOf(await list('?limit=0&status=x&cursor=y&tags=z&to=q&since=now&all=q'))).toEqual([
    '/tags unknown_parameter',
    '/limit out_of_range',
    '/status unknown_status',
    '/to address_syntax',
    '/since timestamp',
    '/all type',
    '/cursor bad_cursor',
  ]));
