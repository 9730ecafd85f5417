import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { generateSecret } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { StoreError } from '../../../src/store/store.ts';
import { RawClient } from '../../peers/http.ts';
import { signed } from '../../support/aws-signing.ts';
import { cidrs } from '../../support/cidrs.ts';
import { type Ask, MAIL, World } from './world.ts';

/** What the log of requests has of each request to the ingestion API, whatever its door. */

let world: World;
let shop: string;

beforeAll(async () => {
  world = await World.start({ trustedProxies: cidrs('127.0.0.1/32'), epoch: Date.UTC(2026, 10, 27, 12) });
  shop = await world.key({ id: 'shop' });
});
afterAll(() => world.close());

let asked = 0;

/** The line of a request, which must be the only one of its id, and come to be within a second. */
async function lineOf(ask: Ask) {
  const requestId = `test-${++asked}`;
  const { status } = await world.ask({ ...ask, headers: { ...ask.headers, 'X-Request-Id': requestId } });
  await written();
  const [line, ...more] = (await stored()).filter((one) => one.requestId === requestId);
  expect(more).toEqual([]);
  if (line === undefined) return null;
  const { keyId, method, path, code, faults } = line;
  expect([line.status, line.weight]).toEqual([status, 1]);
  return {
    keyId,
    what: `${method} ${path}`,
    why: [status, code, faults].filter((one) => one !== null).join(' '),
  };
}

/** Lets a second go by. */
async function written() {
  // Who a refused request named is found a moment after its answer.
  await new Promise((resolve) => setImmediate(resolve));
  await world.clock.advance(1000);
  await world.writer.flush();
}

async function stored() {
  const all = {
    of: null,
    refused: null,
    kind: null,
    sourceAddress: null,
    messageId: null,
    looksAt: 100_000,
    since: 0,
    until: null,
    after: null,
    limit: 1000,
  };
  return (await world.stores.requests.requests(all)).lines;
}

const SEND = { method: 'POST', path: '/api/v1/messages' };
const basic = (secret: string) => `Basic ${Buffer.from(`api:${secret}`).toString('base64')}`;
const FORM = 'application/x-www-form-urlencoded';
const partsOf = (...fields: [string, string][]) =>
  `${fields.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--x--\r\n`;
const GRID = {
  personalizations: [{ to: [{ email: 'bob@example.org' }] }],
  from: { email: 'jane@example.com' },
  subject: 'Hello',
  content: [{ type: 'text/plain', value: 'Hi.' }],
};

describe('each door', () => {
  const postmark = { From: 'jane@example.com', To: 'bob@example.org', TextBody: 'Hi.' };
  test.each<[door: string, ask: (key: string) => Ask, what: string, why: string]>([
    ['JSON', (key) => ({ ...SEND, key, body: MAIL }), 'POST /api/v1/messages', '202'],
    ['reading', (key) => ({ key }), 'GET /api/v1/messages', '200'],
    [
      'a form',
      (key) => ({
        ...SEND,
        key,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        body: partsOf(['from', 'jane@example.com'], ['to', 'bob@example.org'], ['text', 'Hi']),
      }),
      'POST /api/v1/messages',
      '202',
    ],
    [
      'a batch',
      (key) => ({ ...SEND, path: '/api/v1/messages/batch', key, body: { messages: [MAIL] } }),
      'POST /api/v1/messages/batch',
      '202',
    ],
    [
      'Mailgun',
      (key) => ({
        ...SEND,
        path: '/v3/example.com/messages',
        headers: { Authorization: basic(key), 'Content-Type': FORM },
        body: 'from=jane%40example.com&to=bob%40example.org&text=Hi',
      }),
      'POST /v3/{domain}/messages',
      '200',
    ],
    [
      'Resend',
      (key) => ({ ...SEND, path: '/emails', key, body: { ...MAIL, html: '<p>Hi.</p>' } }),
      'POST /emails',
      '200',
    ],
    [
      'Resend below its name',
      (key) => ({ ...SEND, path: '/resend/emails', key, body: { ...MAIL, to: 'nobody' } }),
      'POST /resend/emails',
      '422 invalid_submission /to/0 address_syntax',
    ],
    [
      'Postmark',
      (key) => ({ ...SEND, path: '/email', headers: { 'X-Postmark-Server-Token': key }, body: postmark }),
      'POST /email',
      '200',
    ],
    [
      'Postmark, refused',
      (key) => ({
        ...SEND,
        path: '/email',
        headers: { 'X-Postmark-Server-Token': key },
        body: { ...postmark, To: '' },
      }),
      'POST /email',
      '422 invalid_submission /To required',
    ],
    ['SendGrid', (key) => ({ ...SEND, path: '/v3/mail/send', key, body: GRID }), 'POST /v3/mail/send', '202'],
    [
      'SendGrid, an address in its path',
      (key) => ({ path: '/v3/asm/suppressions/global/ann@example.org', key }),
      'GET /v3/asm/suppressions/global/{email}',
      '403 scope_missing',
    ],
  ])('%s', async (_, ask, what, why) => {
    expect(await lineOf(ask(shop))).toEqual({ keyId: 'shop', what, why });
  });

  test('SES, with the key that it was signed for, or that it only named', async () => {
    await world.key({ id: 'ses' }, undefined, { id: 'WBAAAAAAAAAAAAAAAAAA', sealed: 'secret' });
    const body = JSON.stringify({
      FromEmailAddress: 'jane@example.com',
      Destination: { ToAddresses: ['bob@example.org'] },
      Content: { Simple: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'Hi.' } } } },
    });
    const path = '/v2/email/outbound-emails';
    const ask = (secret: string): Ask => {
      const date = new Date(world.clock.wall()).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
      const own: [string, string][] = [
        ['Host', `127.0.0.1:${world.port}`],
        ['x-amz-date', date],
        ['Content-Type', 'application/json'],
      ];
      const request = { method: 'POST', path, search: '', headers: own };
      const { headers } = signed(request, body, { accessKeyId: 'WBAAAAAAAAAAAAAAAAAA', secret });
      return { method: 'POST', path, headers: Object.fromEntries(headers), body };
    };
    const line = { keyId: 'ses', what: `POST ${path}` };
    expect(await lineOf(ask('secret'))).toEqual({ ...line, why: '200' });
    expect(await lineOf(ask('wrong'))).toEqual({ ...line, why: '403 signature_wrong' });
  });
});

describe('a key that is refused', () => {
  test.each<[why: string, facts: Parameters<World['key']>[0], ask: Ask, refusal: string]>([
    ['revoked', { revokedAt: 1 }, {}, '401 unauthorized'],
    ['expired', { expiresAt: 1 }, {}, '401 unauthorized'],
    ['of other sources', { cidrs: ['198.51.100.0/24'] }, {}, '403 key_source_not_allowed'],
    ['without the scope', { scopes: ['messages:read'] }, { ...SEND, body: MAIL }, '403 scope_missing'],
    [
      'of other senders',
      { senderDomains: ['other.example'] },
      { ...SEND, body: MAIL },
      '403 sender_not_allowed',
    ],
  ])('%s has its lines', async (why, facts, ask, refusal) => {
    const id = `refused ${why}`;
    const key = await world.key({ ...facts, id });
    expect(await lineOf({ ...ask, key })).toMatchObject({ keyId: id, why: refusal });
  });

  test('limited has its lines', async () => {
    const key = await world.key({ id: 'limited', rateLimit: 1 });
    expect(await lineOf({ key })).toMatchObject({ keyId: 'limited', why: '200' });
    expect(await lineOf({ key })).toMatchObject({ keyId: 'limited', why: '429 rate_limited' });
  });

  test('from a source that nobody may use has its lines', async () => {
    world.options.allowedCidrs = cidrs('192.0.2.0/24');
    expect(await lineOf({ key: shop })).toMatchObject({ keyId: 'shop', why: '403 source_not_allowed' });
    world.options.allowedCidrs = cidrs('0.0.0.0/0', '::/0');
  });

  test('by an unknown secret, or none at all, has lines that are nobody’s', async () => {
    const unknown = generateSecret(seededRandom(99), 'live');
    for (const key of [unknown, 'no key', undefined])
      expect(await lineOf(key === undefined ? {} : { key })).toEqual({
        keyId: null,
        what: 'GET /api/v1/messages',
        why: '401 unauthorized',
      });
  });
});

describe('a path', () => {
  test('that is none, or takes another method, is a line of the key that asked for it', async () => {
    expect(await lineOf({ path: '/api/v1/mesages?to=ann@example.org', key: shop })).toEqual({
      keyId: 'shop',
      what: 'GET /api/v1/mesages',
      why: '404 not_found',
    });
    expect(await lineOf({ method: 'PUT', key: shop })).toMatchObject({ why: '405 method_not_allowed' });
  });

  test('that strangers ask for, or that needs no key, has no line', async () => {
    for (const path of ['/api/v1/ready', '/.env', '/u/0123456789', '/hooks/out/0123'])
      expect(await lineOf({ path })).toBeNull();
    expect(await lineOf({ method: 'OPTIONS', key: shop })).toBeNull();
    expect(await lineOf({ path: '/u/0123456789', key: shop })).toBeNull();
  });

  test('has no query, and no address', async () => {
    await lineOf({ path: '/api/v1/messages?recipient=ann@secret.example', key: shop });
    await lineOf({ path: '/api/v1/messages/%3Cann@secret.example%3E', key: shop });
    await lineOf({ ...SEND, key: shop, body: { ...MAIL, metadata: { 'ann@secret.example': 1 } } });
    const text = JSON.stringify(await stored());
    expect(text).not.toContain('secret.example');
    expect(text).not.toContain(shop);
    expect(text).toContain('"/metadata/… ');
  });
});

describe('a request that comes to nothing', () => {
  const head = (target: string, id: string) =>
    `${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${shop}\r\nX-Request-Id: ${id}\r\n`;

  /** The line of a client that leaves in the middle of a request, as soon as that has begun. */
  async function leaving(request: string, id: string, hasBegun: () => void) {
    const client = new RawClient(world.port, request);
    await vi.waitFor(hasBegun);
    client.socket.destroy();
    return await vi.waitFor(async () => {
      await written();
      const line = (await stored()).find(({ requestId }) => requestId === id);
      expect(line).toBeDefined();
      return line;
    });
  }

  test('is a line, if the client leaves before its answer', async () => {
    const list = vi.spyOn(world.stores.views, 'list').mockReturnValueOnce(world.clock.sleep(500) as never);
    const request = `${head('GET /api/v1/messages', 'gone')}\r\n`;
    const line = await leaving(request, 'gone', () => expect(list).toHaveBeenCalled());
    list.mockRestore();
    expect(line).toMatchObject({ keyId: 'shop', status: null, code: 'client_left' });
  });

  test('is a line, if the client leaves before the end of its body', async () => {
    const body = 'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"from":';
    const line = await leaving(head('POST /api/v1/messages', 'short') + body, 'short', () =>
      expect(world.shared.budget.taken).toBeGreaterThan(0),
    );
    expect(line).toMatchObject({ keyId: 'shop', status: 400, code: 'malformed_request' });
  });

  test('is a line, if a bug of ours is met', async () => {
    const list = vi.spyOn(world.stores.views, 'list').mockRejectedValueOnce(new Error('a bug'));
    expect(await lineOf({ key: shop })).toMatchObject({ keyId: 'shop', why: '500 internal_error' });
    list.mockRestore();
  });
});

test('lines that cannot be written are lost, without harm; it is said once', async () => {
  const lost = vi.spyOn(world.stores.requests, 'writeRequests');
  lost.mockRejectedValueOnce(new StoreError('store_full', 'no room'));
  lost.mockRejectedValueOnce(new StoreError('store_full', 'no room'));
  expect(await lineOf({ key: shop })).toBeNull();
  expect(await lineOf({ key: shop })).toBeNull();
  lost.mockRestore();
  expect(world.lines.filter(({ event }) => event === 'requests.not_written')).toHaveLength(1);
  expect(await lineOf({ key: shop })).not.toBeNull();
});

test('nothing is written where the log is not kept, from the next request on', async () => {
  world.keepsRequests = false;
  expect(await lineOf({ key: shop })).toBeNull();
  world.keepsRequests = true;
  expect(await lineOf({ key: shop })).not.toBeNull();
});

test('of more than a hundred requests a second, lines say how many they stand for', async () => {
  const key = await world.key({ id: 'busy', rateLimit: 0 });
  await Promise.all(Array.from({ length: 250 }, () => world.ask({ key })));
  await written();
  const lines = (await stored()).filter(({ keyId }) => keyId === 'busy');
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(lines.reduce((sum, { weight }) => sum + weight, 0)).toBe(250);
});

describe('GET /api/v1/requests', () => {
  const read = async (key: string, query = '') => {
    const { status, json, headers } = await world.ask({ key, path: `/api/v1/requests${query}` });
    return {
      status,
      json,
      link: headers['link'],
      list: (json['requests'] ?? []) as Record<string, unknown>[],
    };
  };

  test('shows a key its own requests, why they failed, and what to do', async () => {
    const key = await world.key({ id: 'reader', name: 'Reader' });
    const other = await world.key({ id: 'other' });
    await world.post(key, { ...MAIL, to: ['nobody'] }, { 'X-Request-Id': 'mine' });
    await world.post(other, MAIL, { 'X-Request-Id': 'theirs' });
    await written();
    const { list, json } = await read(key);
    expect(json['hasMore']).toBe(false);
    expect(list).toEqual([
      {
        at: new Date(world.clock.wall() - 1000).toISOString(),
        key: 'Reader',
        method: 'POST',
        path: '/api/v1/messages',
        status: 400,
        code: 'invalid_submission',
        meaning: 'Some fields are not valid; `errors` names each with its rule.',
        cure: 'Correct the fields that `errors` names. Nothing was accepted.',
        faults: [
          {
            pointer: '/to/0',
            code: 'address_syntax',
            meaning: 'The text is not an address, or there are blanks around it.',
            cure: 'Write `a@example.com` or `Name <a@example.com>`.',
          },
        ],
        durationMs: expect.any(Number),
        requestId: 'mine',
        standsFor: 1,
      },
    ]);
  });

  test('by kind, by time, and page by page', async () => {
    const key = await world.key({ id: 'pages' });
    const from = new Date(world.clock.wall()).toISOString();
    for (const requestId of ['a', 'b', 'c']) {
      await world.post(key, requestId === 'b' ? {} : MAIL, { 'X-Request-Id': requestId });
      await written();
    }
    const ids = async (query: string) => (await read(key, query)).list.map(({ requestId }) => requestId);
    expect(await ids('?only=refused')).toEqual(['b']);
    expect(await ids('?only=accepted&limit=2')).toEqual(['c', 'a']);
    expect(await ids(`?until=${from}`)).toEqual([]);
    const { list, json, link } = await read(
      key,
      `?since=${from}&until=${new Date(world.clock.wall()).toISOString()}&limit=2`,
    );
    expect(list.map(({ requestId }) => requestId)).toEqual(['c', 'b']);
    expect(link).toContain(`cursor=${json['nextCursor']}`);
    expect(
      await ids(`?until=${new Date(world.clock.wall()).toISOString()}&cursor=${json['nextCursor']}`),
    ).toEqual(['a']);
  });

  test.each([
    ['only=wrong', '/only unknown_status'],
    ['cursor=x', '/cursor bad_cursor'],
    ['since=now', '/since timestamp'],
    ['limit=201', '/limit out_of_range'],
    ['key=shop', '/key unknown_parameter'],
  ])('refuses %s', async (query, fault) => {
    const { status, json } = await read(shop, `?${query}`);
    expect([status, json['code']]).toEqual([400, 'invalid_query']);
    const faults = json['errors'] as readonly { readonly pointer: string; readonly code: string }[];
    expect(faults.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([fault]);
  });

  test('needs a key that may read', async () => {
    const key = await world.key({ scopes: ['messages:send'] });
    expect((await read(key)).status).toBe(403);
  });
});
