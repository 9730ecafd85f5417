import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateSecret } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { StoreError } from '../../../src/store/store.ts';
import { RawClient } from '../../peers/http.ts';
import { cidrs } from '../../support/cidrs.ts';
import { twinKeys, wrongKey } from '../../support/wrong-key.ts';
import { MAIL, World } from './world.ts';

/** API keys as the ingestion API enforces them (contract §5, §9). */

let world: World;

beforeAll(async () => {
  world = await World.start({ trustedProxies: cidrs('127.0.0.1/32') });
});
afterAll(() => world.close());

const statusOf = async (key: string) => (await world.ask({ key })).status;

describe('authentication', () => {
  test('every key that is not accepted gets one and the same answer', async () => {
    const good = await world.key();
    const revoked = await world.key({ revokedAt: world.clock.wall() });
    const expired = await world.key({ expiresAt: world.clock.wall() });
    const unknown = generateSecret(seededRandom(99), 'live');
    const authorizations = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${Buffer.from(`api:${good}`).toString('base64')}`,
      `Bearer ${good} x`,
      'Bearer key',
      `Bearer ${wrongKey(good)}`,
      `Bearer ${unknown}`,
      `Bearer ${revoked}`,
      `Bearer ${expired}`,
    ];
    for (const authorization of authorizations) {
      const answer = await world.ask({
        headers: {
          'X-Request-Id': 'same',
          ...(authorization !== undefined && { Authorization: authorization }),
        },
      });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      expect(answer.json).toEqual({
        type: 'urn:waybill:problem:unauthorized',
        title: 'Not authenticated',
        status: 401,
        detail: 'Send a valid API key: Authorization: Bearer <API_KEY>.',
        code: 'unauthorized',
        error: 'Send a valid API key: Authorization: Bearer <API_KEY>.',
        requestId: 'same',
        errors: [],
      });
    }
  });
  test('two keys that differ in their last characters open different things', async () => {
    const [first, second] = twinKeys();
    expect(first.slice(0, 50)).toBe(second.slice(0, 50));
    await world.key({ id: 'first-twin' }, first);
    const { id } = (await world.post(first, MAIL)).json;
    expect(await statusOf(second)).toBe(401);
    await world.key({ id: 'second-twin' }, second);
    await world.clock.advance(999);
    const path = `/api/v1/messages/${id}`;
    expect((await world.ask({ key: second, path })).status).toBe(404);
    expect((await world.ask({ key: first, path })).status).toBe(200);
  });
  test('the scheme is not case-sensitive', async () => {
    const key = await world.key();
    expect((await world.ask({ headers: { Authorization: `bearer ${key}` } })).status).toBe(200);
  });
  test('a revocation holds within one second', async () => {
    const key = await world.key({ id: 'to-be-revoked' });
    expect(await statusOf(key)).toBe(200);
    await world.stores.keyring.revoke('to-be-revoked', world.clock.wall());
    await world.clock.advance(999);
    expect(await statusOf(key)).toBe(401);
  });
  test.each([
    ['', 'application/json', JSON.stringify(MAIL)],
    ['/batch', 'application/json', JSON.stringify({ messages: [MAIL] })],
    ['/raw?from=a@example.com&to=b@example.com', 'message/rfc822', 'From: a@example.com\r\n\r\nx\r\n'],
  ])('and for a message that comes in meanwhile: POST /api/v1/messages%s', async (path, type, body) => {
    const id = `revoked${path.slice(0, 4)}`;
    const key = await world.key({ id });
    const before = world.intake.submissions.length;
    const head = `POST /api/v1/messages${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const fields = `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const client = new RawClient(world.port, `${head}${fields}Expect: 100-continue\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 100 /);
    await world.stores.keyring.revoke(id, world.clock.wall());
    await world.clock.advance(999);
    client.socket.write(body);
    expect(await client.until(/"requestId"/)).toMatch(/\r\n\r\nHTTP\/1\.1 401 /);
    expect(world.intake.submissions.length).toBe(before);
  });
  test('a key ends when it expires, to the millisecond', async () => {
    const key = await world.key({ expiresAt: world.clock.wall() + 100 });
    await world.clock.advance(99);
    expect(await statusOf(key)).toBe(200);
    await world.clock.advance(1);
    expect(await statusOf(key)).toBe(401);
  });
  test('a new key is found although it was asked for before it existed', async () => {
    const secret = generateSecret(seededRandom(7), 'live');
    const fresh = await World.start();
    expect((await fresh.ask({ key: secret })).status).toBe(401);
    expect(await fresh.key()).toBe(secret);
    await fresh.clock.advance(999);
    expect((await fresh.ask({ key: secret })).status).toBe(200);
    await fresh.close();
  });
  test.each([
    ['store_unavailable', 'store_unavailable', '1'],
    ['store_full', 'disk_full', '30'],
  ] as const)(
    'a keyring that cannot be read (%s) is 503, and is asked again at once',
    async (code, told, seconds) => {
      const broken = await World.start();
      const key = await broken.key();
      const { keyring } = broken.stores;
      const { findByHash } = keyring;
      Object.assign(keyring, { findByHash: () => Promise.reject(new StoreError(code, 'gone')) });
      const answer = await broken.ask({ key });
      expect([answer.status, answer.json['code'], answer.headers['retry-after']]).toEqual([
        503,
        told,
        seconds,
      ]);
      Object.assign(keyring, { findByHash });
      expect((await broken.ask({ key })).status).toBe(200);
      await broken.close();
    },
  );
  test('more keys than are kept in memory are served all the same', async () => {
    const small = await World.start({ maxKeysInMemory: 2 });
    const keys = [await small.key(), await small.key(), await small.key()];
    for (const key of [...keys, ...keys]) expect((await small.ask({ key })).status).toBe(200);
    await small.close();
  });
  test('when a key was last used is written down every few seconds, and once more at the end', async () => {
    const using = await World.start();
    const key = await using.key({ id: 'used' });
    const lastUse = async () => (await using.stores.keyring.list())[0]?.lastUsedAt;
    const began = using.clock.wall();
    await using.ask({ key });
    expect(await lastUse()).toBeNull();
    await using.clock.advance(5000);
    expect(await lastUse()).toBe(began);
    await using.ask({ key });
    using.stop();
    await using.clock.advance(0);
    expect(await lastUse()).toBe(began + 5000);
    await using.close();
  });
});

describe('scopes', () => {
  const submission = { method: 'POST', body: MAIL };
  test.each([
    ['messages:send', submission, 202],
    ['messages:read', submission, 403],
    ['messages:read_all', submission, 403],
    ['messages:read', {}, 200],
    ['messages:read_all', {}, 200],
    ['messages:send', {}, 403],
    ['messages:content', {}, 403],
    ['messages:send', { path: `/api/v1/messages/msg_0${'0'.repeat(25)}` }, 403],
    ['messages:read', { path: `/api/v1/messages/msg_0${'0'.repeat(25)}` }, 404],
  ] as const)('with %s alone, %j is %i', async (scope, ask, status) => {
    const key = await world.key({ scopes: [scope] });
    expect((await world.ask({ ...ask, key })).status).toBe(status);
  });
});

describe('source ranges', () => {
  test('a key works from its own ranges only', async () => {
    const key = await world.key({ cidrs: ['127.0.1.0/24', '127.0.2.7'] });
    const from = async (address: string) => {
      const answer = await world.ask({ key, headers: { 'X-Forwarded-For': address } });
      return answer.json['code'] ?? answer.status;
    };
    expect([await from('127.0.1.9'), await from('127.0.2.7')]).toEqual([200, 200]);
    expect([await from('127.0.2.8'), await from('::1')]).toEqual([
      'key_source_not_allowed',
      'key_source_not_allowed',
    ]);
  });
  test('a range that cannot be read lets nobody in', async () =>
    expect(await statusOf(await world.key({ cidrs: ['127.0.0.0/99'] }))).toBe(403));
});

describe('sender domains', () => {
  test('bind From, whatever its name and case', async () => {
    const key = await world.key({ senderDomains: ['example.com', 'xn--bcher-kva.test'] });
    const as = async (from: string) => (await world.post(key, { ...MAIL, from })).status;
    expect([await as('a@example.com'), await as('A <a@EXAMPLE.com>'), await as('a@bücher.test')]).toEqual([
      202, 202, 202,
    ]);
    for (const from of [
      'a@example.net',
      'a@sub.example.com',
      '"a@example.com" <a@evil.test>',
      'a@example.com.evil.test',
    ])
      expect(await as(from)).toBe(403);
  });
  test('the refusal names the domain', async () => {
    const key = await world.key({ senderDomains: ['example.com'] });
    const answer = await world.post(key, { ...MAIL, from: 'a@example.net' });
    expect(answer.json).toMatchObject({
      code: 'sender_not_allowed',
      detail: 'This key may not send as example.net.',
    });
  });
  test('a Sender elsewhere is refused before', async () => {
    const key = await world.key({ senderDomains: ['example.com'] });
    const answer = await world.post(key, { ...MAIL, headers: { Sender: 'a@example.net' } });
    expect(answer.status).toBe(400);
  });
});

test('a test key sends into the local inbox only', async () => {
  await world.post(await world.key({ mode: 'test' }), MAIL);
  expect(world.last.test).toBe(true);
});
