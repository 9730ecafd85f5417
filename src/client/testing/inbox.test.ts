/** How an inbox asks, and what it says of what it is told. Against the real server: test/e2e/testing.test.ts. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Answer, FaultyApi, json, problem } from '../../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../../test/support/manual-machine.ts';
import { Inbox, InboxError, inbox as ofEnvironment } from './inbox.ts';

let api: FaultyApi;
let machine: ManualMachine;
let inbox: Inbox;
beforeEach(async () => {
  api = await FaultyApi.start();
  machine = new ManualMachine();
  inbox = new Inbox({ url: api.url, key: 'wb_test_x', machine });
});

const record = (id: string, fields: object = {}) => ({
  id,
  box: null,
  createdAt: '2027-01-01T00:00:00.000Z',
  from: 'Shop <shop@example.com>',
  to: ['ann@example.com'],
  cc: [],
  bcc: [],
  subject: `Mail ${id}`,
  tags: [],
  ...fields,
});
const page = (...records: object[]) => json(200, { messages: records });
/** A page of fifty, with another behind it. */
const fullPage = (number: number) => {
  const messages = Array.from({ length: 50 }, (_, n) => record(`m${number}-${n}`));
  return json(200, { messages, nextCursor: `c${number}` });
};
const content = (message: object, fields: object = {}): Answer =>
  json(200, {
    message,
    text: 'Hello.',
    html: null,
    links: [],
    codes: [],
    headers: [],
    attachments: [],
    ...fields,
  });
/** What was asked, but for the time that is meant without one. */
const RECENT = 'since=2026-12-31T23%3A50%3A00.000Z&';
const paths = () =>
  api.received.map(
    ({ method, path }) => `${method} ${path.replace('/api/v1/inbox', '').replace(RECENT, '')}`,
  );

test('gives the newest that fits: strings are asked of the server, patterns looked at here', async () => {
  api.faults = [
    page(record('c'), record('b', { subject: 'Your code' }), record('a', { subject: 'code' })),
    content(record('b')),
  ];
  const mail = await inbox.box('w1').waitFor({ to: 'ann@example.com', subject: /code/ });
  expect(mail.id).toBe('b');
  expect(paths()).toEqual(['GET /messages?to=ann%40example.com&box=w1&limit=50', 'GET /messages/b']);
  expect(api.received[0]?.path).toContain(RECENT);
  expect(api.received[0]?.headers.authorization).toBe('Bearer wb_test_x');
});

test('goes on waiting for one more than there were, and reads none twice', async () => {
  api.faults = [
    page(record('a')),
    content(record('a')),
    json(200, {}),
    // Accepted before it, and captured after it.
    page(record('a'), record('b')),
    content(record('b'), { text: 'Code 12.' }),
  ];
  const found = inbox.waitFor({ text: /code \d+/i });
  await machine.asked(100);
  machine.advance(100);
  expect((await found).text).toBe('Code 12.');
  expect(paths()).toEqual([
    'GET /messages?limit=50',
    'GET /messages/a',
    'GET /wait?count=2&timeout=4',
    'GET /messages?limit=50',
    'GET /messages/b',
  ]);
});

test('passes over a mail that goes away meanwhile', async () => {
  api.faults = [page(record('b'), record('a')), problem(404, 'not_found'), content(record('a'))];
  expect((await inbox.waitFor()).id).toBe('a');
});

test('looks once more when the time is over', async () => {
  api.faults = [page(), { kind: 'hang' }, page(record('a')), content(record('a'))];
  const found = inbox.waitFor({ timeoutMs: 1500 });
  await api.until(2);
  expect(paths()[1]).toBe('GET /wait?count=1&timeout=2');
  machine.advance(1500);
  expect((await found).id).toBe('a');
});

describe('when none comes', () => {
  test('says what is there instead, field by field', async () => {
    const a = record('msg_a', { subject: 'Your code', to: ['bob@example.com'], cc: ['eve@example.com'] });
    const b = record('msg_b');
    api.faults = [page(), { kind: 'hang' }, page(), page(a, b), content(a), content(b, { text: null })];
    const failed = inbox
      .waitFor({ to: 'ann@example.com', subject: /code/, text: '1234', timeoutMs: 200 })
      .catch((thrown: unknown) => thrown);
    await api.until(2);
    machine.advance(200);
    const error = await failed;
    expect(error).toBeInstanceOf(InboxError);
    expect(String(error)).toBe(
      `InboxError: No such mail came within 200 ms:
    to       "ann@example.com"
    subject  /code/
    text     "1234"

The newest that were captured in the last ten minutes; ✗ is not as asked for:
1. msg_a, accepted at 2027-01-01T00:00:00.000Z
  ✗ to       "bob@example.com", "eve@example.com"
  ✓ subject  "Your code"
  ✗ text     "Hello."
2. msg_b, accepted at 2027-01-01T00:00:00.000Z
  ✓ to       "ann@example.com"
  ✗ subject  "Mail msg_b"
  ✗ text     ""`,
    );
  });
  test('says so when nothing was captured, in the box or outside of it', async () => {
    api.faults = [page(), page(), page()];
    await expect(inbox.box('w1').waitFor({ timeoutMs: 0, since: '2027-01-01T00:00:00Z' })).rejects.toThrow(
      `No such mail came within 0 ms:
    box    "w1"
    since  2027-01-01T00:00:00Z

No mail at all was captured since then. Does the application send with this key, to ${api.url}?`,
    );
    expect(paths().at(-1)).toBe('GET /messages?since=2027-01-01T00%3A00%3A00Z&limit=3');
  });
  test('shows mail outside of the box, where there is none in it', async () => {
    const a = record('msg_a', { box: 'w2' });
    api.faults = [page(), page(), page(a), content(a)];
    await expect(inbox.box('w1').waitFor({ timeoutMs: 0 })).rejects.toThrow(/ {2}✗ box {6}"w2"$/);
  });
});

describe('none', () => {
  test('resolves when nothing came in time', async () => {
    api.faults = [page(), { kind: 'hang' }, page()];
    const none = inbox.none({ to: 'ann@example.com', within: 300 });
    await api.until(2);
    machine.advance(300);
    expect(await none).toBeUndefined();
  });
  test('rejects at once, and shows what came', async () => {
    const a = record('msg_a', { tags: ['welcome'], box: 'w1', bcc: ['eve@example.com'] });
    api.faults = [page(a), content(a, { text: 'Hello\r\n\u001b[31mAnn.' })];
    await expect(inbox.none({ subject: /mail/i, within: 60_000 })).rejects.toThrow(
      `A mail came that should not:
    from      "Shop <shop@example.com>"
    to        "ann@example.com", "eve@example.com"
    subject   "Mail msg_a"
    tags      "welcome"
    box       "w1"
    text      "Hello\\r\\n\\u001b[31mAnn."
    accepted  2027-01-01T00:00:00.000Z, as msg_a

None was to be like this:
    subject  /mail/i`,
    );
  });
});

test('all gives those that fit, and latest the newest or null', async () => {
  api.faults = [
    page(record('b'), record('a', { subject: 'x' }), record('c')),
    content(record('b')),
    content(record('c')),
  ];
  expect((await inbox.all({ subject: /^Mail/ })).map(({ id }) => id)).toEqual(['b', 'c']);
  api.faults = [page()];
  expect(await inbox.latest({ tag: 'x' })).toBeNull();
});

test('clear removes what passes a filter, or all; of a box what is in it', async () => {
  api.faults = [json(200, { deleted: 3 }), json(200, { deleted: 2 }), json(200, { deleted: 0 })];
  expect(await inbox.clear()).toBe(3);
  expect(await inbox.clear({ to: '@example.com' })).toBe(2);
  expect(await inbox.box('w1').clear()).toBe(0);
  expect(paths()).toEqual([
    'DELETE /messages?all=true',
    'DELETE /messages?to=%40example.com',
    'DELETE /messages?box=w1',
  ]);
  await expect(inbox.clear({ subject: /x/ })).rejects.toThrow('clear takes strings only');
});

test('what is behind fifty that do not fit is found, too', async () => {
  const old = record('old', { subject: 'code' });
  for (const look of [() => inbox.latest({ subject: /code/ }), () => inbox.none({ subject: /code/ })]) {
    api.received.length = 0;
    api.faults = [fullPage(0), page(record('x'), old), content(old)];
    await look().catch((thrown: unknown) => expect(String(thrown)).toContain('A mail came'));
    expect(paths()).toEqual([
      'GET /messages?limit=50',
      'GET /messages?cursor=c0&limit=50',
      'GET /messages/old',
    ]);
  }
  api.faults = [fullPage(0), page(old), content(old)];
  expect(await inbox.all({ subject: /code/ })).toMatchObject([{ id: 'old' }]);
});

test('no more than five hundred are looked at', async () => {
  for (const look of [() => inbox.latest({ subject: /code/ }), () => inbox.all({ subject: /code/ })]) {
    api.received.length = 0;
    api.faults = Array.from({ length: 11 }, (_, number) => fullPage(number));
    await look();
    expect(paths()).toHaveLength(10);
  }
});

test('a query that is undefined is refused, as any mail would pass', async () => {
  const wrong = [undefined] as unknown as [query?: object];
  for (const name of ['waitFor', 'none', 'all', 'latest', 'clear'] as const)
    await expect(inbox[name](...wrong), name).rejects.toThrow('The query is undefined, so that any mail');
  expect(paths()).toEqual([]);
});

test('clear removes nothing for what was to be a filter and is none', async () => {
  for (const query of [
    undefined,
    null,
    { to: undefined },
    { to: null },
    { since: null },
    { to: '' },
    /x/,
    [],
  ])
    await expect(inbox.clear(query as object)).rejects.toThrow(TypeError);
  expect(paths()).toEqual([]);
});

test('none finds a text in HTML alone, however it is written', async () => {
  const a = record('a');
  api.faults = [page(a), content(a, { text: null, html: '<p>Don&#39;t tell: se<b>cret</b></p>' })];
  await expect(inbox.none({ text: /Don't tell: secret/ })).rejects.toThrow('A mail came');
});

test('a server that stops between two questions is told of as one that is not there', async () => {
  api.faults = [page(record('a')), { kind: 'drop' }, { kind: 'drop' }, { kind: 'drop' }];
  await expect(inbox.latest()).rejects.toThrow('Is it running? waybill dev starts one.');
});

test('asks a server that counts no further after a pause, and looks no further back than it has to', async () => {
  const seen = record('new', { subject: 'code' });
  api.faults = [fullPage(0), page(record('x')), fullPage(0), fullPage(1), page(seen), content(seen)];
  const found = inbox.waitFor({ subject: /code/ });
  for (const _ of ['nothing new', 'fifty that do not fit']) {
    await machine.asked(100);
    machine.advance(100);
  }
  expect((await found).id).toBe('new');
  expect(paths()).toEqual([
    'GET /messages?limit=50',
    'GET /messages?cursor=c0&limit=50',
    'GET /messages?limit=50',
    'GET /messages?limit=50',
    'GET /messages?cursor=c1&limit=50',
    'GET /messages/new',
  ]);
});

test('a server that refuses is no empty inbox', async () => {
  api.faults = [problem(403, 'scope_missing')];
  await expect(inbox.none()).rejects.toThrow('This is scope_missing.');
  api.faults = [page(), problem(403, 'scope_missing')];
  await expect(inbox.none()).rejects.toThrow('This is scope_missing.');
});

test('what can never work is refused', async () => {
  for (const box of ['', 'A', 'a b', 'x'.repeat(65), undefined, null])
    expect(() => inbox.box(box as string)).toThrow('The box');
  expect(() => new Inbox({ timeoutMs: -1 })).toThrow('timeoutMs');
  await expect(inbox.waitFor({ timeoutMs: Number.NaN })).rejects.toThrow('timeoutMs');
  await expect(inbox.none({ within: -1 })).rejects.toThrow('within');
});

describe('the inbox of the environment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  test('says what is not set', async () => {
    vi.stubEnv('WAYBILL_URL', undefined);
    await expect(ofEnvironment.latest()).rejects.toThrow('WAYBILL_URL is not set. waybill dev prints');
    vi.stubEnv('WAYBILL_URL', api.url);
    vi.stubEnv('WAYBILL_TEST_KEY', '');
    await expect(ofEnvironment.latest()).rejects.toThrow('WAYBILL_TEST_KEY is not set.');
  });
  test('asks where the environment says, with its key', async () => {
    vi.stubEnv('WAYBILL_URL', api.url);
    vi.stubEnv('WAYBILL_TEST_KEY', 'wb_test_e');
    api.faults = [page()];
    expect(await ofEnvironment.latest()).toBeNull();
    expect(api.received[0]?.headers.authorization).toBe('Bearer wb_test_e');
  });
});
