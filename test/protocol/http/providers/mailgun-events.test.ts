import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Scope } from '../../../../src/domain/key.ts';
import { EVERY_EVENT } from '../../../../src/store/events.ts';
import { attempt, CAPTURED, DEFERRED, DELIVERED, REJECTED } from '../deliver.ts';
import { World } from '../world.ts';
import { basicAuth, caught, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';

/** `GET /v3/{domain}/events`: our log of events in Mailgun's words (contract-2 §C5). */

const EPOCH = Date.UTC(2026, 10, 20, 11, 15);
const SCOPES: readonly Scope[] = ['messages:send', 'events:read'];
const DOMAIN = 'example.com';

let world: World;
let key: string;
let mailgun: MailgunClient;

// The SDK recommends another API of Mailgun's at every call.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => void vi.restoreAllMocks());
beforeEach(async () => {
  world = await World.start({ epoch: EPOCH });
  key = await world.key({ id: 'shop', scopes: SCOPES, rateLimit: 0 });
  mailgun = mailgunClient(world, key);
});
afterEach(() => world.close());

async function send(fields: object = {}): Promise<string> {
  const mail = { from: 'Jane <jane@example.com>', to: 'bob@example.org', subject: 'Hello', text: 'Hi.' };
  const { id } = await mailgun.messages.create(DOMAIN, { ...mail, ...fields } as never);
  return String(id);
}

interface Item {
  readonly event: string;
  readonly timestamp: number;
  readonly recipient: string;
  readonly reason?: string;
}
type Page = Awaited<ReturnType<MailgunClient['events']['get']>>;
const get = (query: object = {}) => mailgun.events.get(DOMAIN, query as never);
const itemsOf = (page: Page) => page.items as unknown as readonly Item[];
const namesOf = (page: Page) => itemsOf(page).map(({ event }) => event);
const follow = (page: Page, name: string) => get({ page: page.pages[name as 'next'].page });
const ask = (path: string, given: Readonly<Record<string, string>> = {}) =>
  world.ask({ path, headers: { Authorization: basicAuth(key), ...given } });

describe('mailgun.js reads back', () => {
  test('what became of a message, with all that Mailgun tells', async () => {
    const id = await send({ 'o:tag': ['welcome'], 'v:order': '7', cc: 'ann@example.net' });
    await world.clock.advance(1500);
    await attempt(world, DELIVERED);
    const [ann, bob, accepted] = itemsOf(await get());
    const message = {
      headers: {
        'message-id': id.slice(1, -1),
        from: 'Jane <jane@example.com>',
        to: 'bob@example.org',
        subject: 'Hello',
      },
      size: world.last.content.sizeBytes,
      attachments: [],
    };
    expect(accepted).toEqual({
      event: 'accepted',
      id: expect.stringMatching(/^evt_/),
      timestamp: EPOCH / 1000,
      'log-level': 'info',
      recipient: 'bob@example.org',
      'recipient-domain': 'example.org',
      message,
      tags: ['welcome'],
      'user-variables': { order: '7' },
      flags: { 'is-test-mode': false },
      envelope: { sender: 'jane@example.com', targets: 'bob@example.org', transport: 'smtp' },
    });
    expect(bob).toEqual({
      ...accepted,
      event: 'delivered',
      id: expect.stringMatching(/^evt_/),
      timestamp: EPOCH / 1000 + 1.5,
      'delivery-status': {
        code: 250,
        message: '2.0.0 Ok: queued as 4711',
        description: '',
        'attempt-no': 1,
      },
    });
    expect(ann).toMatchObject({ event: 'delivered', recipient: 'ann@example.net' });
  });

  test('failures of each kind', async () => {
    await send();
    await attempt(world, DEFERRED);
    expect(itemsOf(await get({ event: 'failed' }))).toMatchObject([
      {
        event: 'failed',
        severity: 'temporary',
        reason: 'generic',
        'log-level': 'warn',
        'delivery-status': { code: 0, message: 'Come back later.', 'attempt-no': 1 },
      },
    ]);
    await send({ to: 'gone@example.org' });
    await world.clock.advance(500);
    await attempt(world, REJECTED);
    expect(itemsOf(await get({ severity: 'permanent', recipient: 'gone@example.org' }))).toMatchObject([
      {
        event: 'failed',
        severity: 'permanent',
        reason: 'bounce',
        'log-level': 'error',
        'delivery-status': { code: 550, message: '5.1.1 No such user', 'attempt-no': 1 },
      },
    ]);
    await send({ to: 'old@example.org' });
    const [unsent] = (await world.stores.views.events({ ...EVERY_EVENT, from: { before: null }, limit: 1 }))
      .events;
    const later = { node: 'test', now: EPOCH + 100 * 86_400_000 };
    const expiry = { messageId: unsent?.message?.id ?? '', indexes: [0], report: null };
    expect(await world.stores.store.expire([expiry], later)).toEqual([true]);
    expect(itemsOf(await get({ severity: 'permanent', recipient: 'old@example.org' }))).toMatchObject([
      { severity: 'permanent', reason: 'old', 'delivery-status': { code: 602 } },
    ]);
  });

  test.each([
    ['hard_bounce', 'suppress-bounce', 605],
    ['unsubscribe', 'suppress-unsubscribe', 606],
    ['complaint', 'suppress-complaint', 607],
  ] as const)('a recipient suppressed by %s', async (reason, told, code) => {
    const entry = {
      id: 'sup_01k9f5y7f0e2c4a8b6d0e2f4g6',
      address: 'bob@example.org',
      scope: 'global',
      stream: null,
      reason,
      source: 'smtp',
      evidence: null,
      note: '',
      createdAt: EPOCH,
      updatedAt: EPOCH,
      expiresAt: null,
    } as const;
    await world.stores.suppressions.addSuppressions([entry], { max: 10, by: 'hand', now: EPOCH });
    await send();
    expect(itemsOf(await get({ event: 'failed' }))).toMatchObject([
      { severity: 'permanent', reason: told, 'delivery-status': { code } },
    ]);
  });

  test('a captured message as delivered in test mode', async () => {
    await send({ 'o:testmode': true });
    await attempt(world, CAPTURED);
    expect(itemsOf(await get({ event: 'delivered' }))).toMatchObject([{ flags: { 'is-test-mode': true } }]);
  });

  test('by event, recipient, tag and message', async () => {
    const first = await send({ 'o:tag': 'a' });
    await send({ to: 'ann@example.org', 'o:tag': 'b' });
    await attempt(world, DELIVERED);
    expect(namesOf(await get({ event: 'accepted' }))).toEqual(['accepted', 'accepted']);
    expect(namesOf(await get({ event: 'accepted OR delivered' }))).toHaveLength(4);
    expect(namesOf(await get({ event: 'opened' }))).toEqual([]);
    expect(itemsOf(await get({ recipient: 'ann@example.org' }))).toMatchObject([{ event: 'delivered' }]);
    expect(namesOf(await get({ tags: 'a' }))).toEqual(['delivered', 'accepted']);
    for (const id of [first, first.slice(1, -1)])
      expect(namesOf(await get({ 'message-id': id }))).toEqual(['delivered', 'accepted']);
    expect(namesOf(await get({ 'message-id': 'nothing@example.com' }))).toEqual([]);
  });
});

describe('time', () => {
  const recipients = (page: Page) => itemsOf(page).map(({ recipient }) => recipient.split('@')[0]);
  const HOUR = 3_600_000;
  const at = (hours: number) => String((EPOCH + hours * HOUR) / 1000);

  beforeEach(async () => {
    for (const name of ['one', 'two', 'three']) {
      await send({ to: `${name}@example.org` });
      await world.clock.advance(HOUR);
    }
  });

  test.each<[object, string[]]>([
    [{}, ['three', 'two', 'one']],
    [{ ascending: 'yes' }, ['one', 'two', 'three']],
    [{ begin: at(1) }, ['two', 'three']],
    [{ begin: at(1), ascending: 'yes' }, ['two', 'three']],
    [{ begin: at(1.5), ascending: 'no' }, ['two', 'one']],
    [{ end: at(1) }, ['three', 'two']],
    [{ begin: at(1), end: at(2) }, ['two']],
    [{ begin: at(2), end: at(1) }, ['two']],
    [{ begin: at(0), end: at(3), ascending: 'no' }, ['three', 'two', 'one']],
    [{ begin: new Date(EPOCH + HOUR).toUTCString() }, ['two', 'three']],
    [{ limit: 2, pretty: 'yes' }, ['three', 'two']],
  ])('%j', async (query, expected) => {
    expect(recipients(await get(query))).toEqual(expected);
  });
});

describe('pages', () => {
  const recipients = (page: Page) => itemsOf(page).map(({ recipient }) => recipient.split('@')[0]);
  const sendAll = async (names: string) => {
    for (const name of names) await send({ to: `${name}@example.org` });
  };

  test.each([
    ['no', ['ed', 'cb', 'a', '', ''], 'fe'],
    ['yes', ['ab', 'cd', 'e', '', ''], 'f'],
  ])('with ascending=%s are followed to an empty one, and back', async (ascending, expected, news) => {
    await sendAll('abcde');
    const pages = [await get({ limit: 2, ascending })];
    while (pages.length < 5) pages.push(await follow(pages.at(-1) as Page, 'next'));
    const shown = () => pages.map((page) => recipients(page).join(''));
    expect(shown()).toEqual(expected);
    const back = [pages[2] as Page];
    while (back.length < 3) back.push(await follow(back.at(-1) as Page, 'previous'));
    expect(back.map((page) => recipients(page).join(''))).toEqual(expected.slice(0, 3).toReversed());
    const [middle] = pages.slice(1);
    if (middle === undefined) throw new Error('no page');
    expect(recipients(await follow(middle, 'first')).join('')).toBe(expected[0]);
    expect(recipients(await follow(middle, 'last')).join('')).toBe(ascending === 'no' ? 'ba' : 'de');
    // Whoever has read all of it goes on where news appear: at the end, or before the beginning.
    await sendAll('f');
    const [top, end] = [pages[0] as Page, pages[4] as Page];
    const newer = ascending === 'no' ? await follow(top, 'previous') : await follow(end, 'next');
    expect(recipients(newer).join('')).toBe(ascending === 'no' ? 'f' : news);
  });

  test('keep their filter, and lead back from nothing', async () => {
    await sendAll('ab');
    await attempt(world, DELIVERED);
    const page = await get({ event: 'delivered', limit: 1 });
    const second = await follow(page, 'next');
    expect([page, second].map(namesOf)).toEqual([['delivered'], ['delivered']]);
    const nothing = await follow(second, 'next');
    expect(namesOf(nothing)).toEqual([]);
    expect(itemsOf(await follow(nothing, 'previous'))).toEqual(itemsOf(second));
    const future = await get({ event: 'complained' });
    expect(namesOf(await follow(future, 'next'))).toEqual([]);
    expect(namesOf(await follow(future, 'previous'))).toEqual([]);
  });

  test.each([
    ['yes', 'next'],
    ['no', 'previous'],
  ])('of an empty log with ascending=%s lead to what comes', async (ascending, name) => {
    const page = await get({ ascending });
    expect(itemsOf(page)).toEqual([]);
    await sendAll('a');
    expect(recipients(await follow(page, name))).toEqual(['a']);
  });

  test('are not empty while there is more to look through', async () => {
    await sendAll('a');
    const views = world.stores.views;
    const some = vi.spyOn(views, 'events');
    // As where the store examined as much as it may, and found nothing.
    for (const before of [1000, 999]) some.mockResolvedValueOnce({ events: [], next: before, more: true });
    expect(recipients(await get())).toEqual(['a']);
    expect(some.mock.lastCall?.[0].from).toEqual({ before: 999 });
    some.mockRestore();
  });

  test.each([
    ['no', [1004, 1003, 1002, 1001], { before: 1001 }, ['ba'], { after: 1000 }],
    ['yes', [1, 2, 3, 4], { after: 4 }, [''], { before: 1 }],
  ])('with ascending=%s go on where one has looked through enough', async (ascending, places, ...more) => {
    const [next, found, previous] = more;
    await sendAll('ab');
    const some = vi.spyOn(world.stores.views, 'events');
    // As on a busy installation, for a key that sends little.
    for (const place of places) some.mockResolvedValueOnce({ events: [], next: place, more: true });
    const page = await get({ ascending });
    expect([itemsOf(page), some.mock.calls.length]).toEqual([[], places.length]);
    expect([recipients(await follow(page, 'next')).join('')]).toEqual(found);
    expect(some.mock.lastCall?.[0].from).toEqual(next);
    // What is new meanwhile is not missed, either.
    await follow(page, 'previous');
    expect(some.mock.calls[places.length + 1]?.[0].from).toEqual(previous);
    some.mockRestore();
  });

  test('are whole URLs on the host that was asked, below the path that was asked', async () => {
    const { json } = await ask('/mailgun/v3/example.com/events?limit=1', { Host: 'mail.example.com' });
    for (const url of Object.values(Object(json['paging'])))
      expect(url).toMatch(/^http:\/\/mail\.example\.com\/mailgun\/v3\/example\.com\/events\/[\w-]+$/);
  });
});

test.each([
  'begin=soon',
  'end=99999999999',
  'ascending=up',
  'limit=0',
  'limit=301',
  'event=delivered+AND+failed',
  'event=bounced',
  'severity=high',
  'recipient=nobody',
  'subject=x',
])('is not asked for with %s', async (query) => {
  const { status, json } = await ask(`/v3/example.com/events?${query}`);
  const [field] = query.split('=');
  expect([status, json]).toEqual([400, { message: expect.stringMatching(new RegExp(`^${field}: `)) }]);
});

test('a key sees the events of its own messages, and needs the scope', async () => {
  await send();
  const other = mailgunClient(world, await world.key({ id: 'other', scopes: SCOPES }));
  expect((await other.events.get(DOMAIN, {})).items).toEqual([]);
  const all = mailgunClient(
    world,
    await world.key({ id: 'all', scopes: ['events:read', 'messages:read_all'] }),
  );
  expect((await all.events.get(DOMAIN, {})).items).toHaveLength(1);
  const plain = mailgunClient(world, await world.key({ id: 'plain' }));
  expect(await caught(plain.events.get(DOMAIN, {}))).toMatchObject({
    status: 403,
    details: expect.stringContaining('events:read'),
  });
});

test('any page and any query is answered, in Mailgun’s shape', async () => {
  await send();
  const names = fc.constantFrom('begin', 'end', 'ascending', 'limit', 'event', 'recipient', 'tags', 'x');
  const queries = fc
    .dictionary(
      names,
      fc.oneof(fc.string(), fc.constantFrom('yes', '1', 'accepted OR failed', '1763640900.5')),
    )
    .map((query) => `?${new URLSearchParams(query)}`);
  const place = fc.tuple(
    fc.constantFrom('after', 'before', 'x'),
    fc.oneof(fc.nat().map(String), fc.string()),
  );
  const tokens = fc
    .tuple(place, queries)
    .map(([[from, at], query]) => `/${Buffer.from(`${from}:${at}${query}`).toString('base64url')}`);
  const paths = fc.oneof(
    queries,
    tokens,
    fc.string({ minLength: 1 }).map((text) => `/${encodeURIComponent(text)}`),
  );
  await fc.assert(
    fc.asyncProperty(paths, async (path) => {
      const { status, json } = await ask(`/v3/example.com/events${path}`);
      expect([200, 400, 404]).toContain(status);
      expect(json).toHaveProperty(status === 200 ? 'items' : 'message');
    }),
    { numRuns: 200 },
  );
});
