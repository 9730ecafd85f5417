import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiKey } from '../../test/contract/store/fixtures.ts';
import { requestLine } from '../../test/support/request-line.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { requestOperations } from './requests.ts';

/** The log of requests, as operators are shown it. */

let stores: SqliteStores;
const at = Date.UTC(2026, 10, 27, 12);

beforeEach(async () => {
  stores = openSqlite(':memory:');
  await stores.keyring.create(apiKey('key_old', { name: 'shop', createdAt: at - 2 }), 'a');
  await stores.keyring.revoke('key_old', at - 1);
  await stores.keyring.create(apiKey('key_new', { name: 'shop', createdAt: at }), 'b');
  await stores.requests.writeRequests([
    requestLine({ at: at + 1, keyId: 'key_old', requestId: 'old' }),
    requestLine({ at: at + 2, keyId: 'key_new', requestId: 'new' }),
    requestLine({ at: at + 3, keyId: 'key_new', requestId: 'refused', status: 403, code: 'scope_missing' }),
    requestLine({ at: at + 4, keyId: null, requestId: 'unknown', status: 401, code: 'unauthorized' }),
    requestLine({ at: at + 5, keyId: 'key_gone', requestId: 'gone', status: null, code: 'client_left' }),
    requestLine({
      at: at + 6,
      keyId: 'key_gone',
      requestId: 'newer',
      status: 418,
      code: 'teapot',
      weight: 7,
    }),
  ]);
});
afterEach(() => stores.store.close());

type Request = Parameters<ReturnType<typeof requestOperations>['requestLog']>[0];
const ask = (request: Request) => requestOperations(stores).requestLog(request);
const ids = async (request: Request) => (await ask(request)).requests.map(({ requestId }) => requestId);

test('is of everybody, of a key by name or id, or of nobody', async () => {
  expect(await ids({})).toEqual(['newer', 'gone', 'unknown', 'refused', 'new', 'old']);
  expect(await ids({ key: 'shop' })).toEqual(['refused', 'new']);
  expect(await ids({ key: 'key_old' })).toEqual(['old']);
  expect(await ids({ unknown: true })).toEqual(['unknown']);
  expect(await ids({ only: 'accepted' })).toEqual(['new', 'old']);
  expect(await ids({ key: 'shop', only: 'refused' })).toEqual(['refused']);
  expect(await ids({ since: '2026-11-27T12:00:00.003Z', until: '2026-11-27T12:00:00.005Z' })).toEqual([
    'unknown',
    'refused',
  ]);
});

test('is of a kind, of a source, and of the session that sent a message', async () => {
  const session = {
    hello: 'printer',
    tls: null,
    offered: 1,
    accepted: 0,
    messages: ['msg_sent'],
    refused: 1,
    refusals: [
      { verb: 'RCPT', reply: 550, enhanced: '5.7.1', text: 'No.', code: 'relay_not_allowed', times: 2 },
    ],
    end: 'quit' as const,
  };
  const smtp = { method: 'SMTP', path: '', status: 550, code: 'relay_not_allowed', keyId: null, session };
  const source = { sourceAddress: '192.168.7.20' };
  await stores.requests.writeRequests([
    requestLine({ at: at + 7, requestId: 'session', ...smtp, ...source }),
    requestLine({ at: at + 8, requestId: 'named', ...smtp, keyId: 'source:scanner', sourceAddress: null }),
    requestLine({ at: at + 9, requestId: 'api', status: 403, code: 'source_not_allowed', ...source }),
  ]);
  expect(await ids({ kind: 'smtp' })).toEqual(['named', 'session']);
  expect(await ids({ source: ' ::ffff:192.168.7.20 ' })).toEqual(['api', 'session']);
  expect(await ids({ source: '192.168.7.20', kind: 'api', only: 'refused' })).toEqual(['api']);
  expect(await ids({ message: 'msg_sent', key: 'source:scanner' })).toEqual(['named']);
  const { requests } = await ask({ limit: 3 });
  expect(requests.map(({ kind, key, setting }) => [kind, key, setting])).toEqual([
    ['api', 'key_shop', 'api.allowed_cidrs'],
    ['smtp', 'source:scanner', null],
    ['smtp', null, 'listener.allowed_cidrs'],
  ]);
  expect(requests[2]?.meaning).toMatch(/may not send to others/);
  expect(requests[2]?.session?.refusals[0]).toMatchObject({
    times: 2,
    cure: expect.stringMatching(/API key/),
  });
});

test('has the names of keys, and what codes mean', async () => {
  const { requests } = await ask({});
  expect(requests.map(({ key }) => key)).toEqual(['key_gone', 'key_gone', null, 'shop', 'shop', 'shop']);
  const meanings = requests.map(({ code, meaning }) => `${code}: ${meaning?.slice(0, 20)}`);
  expect(meanings.slice(0, 4)).toEqual([
    'teapot: undefined',
    'client_left: The client closed it',
    'unauthorized: The request has no k',
    'scope_missing: The key lacks the re',
  ]);
  expect(requests[0]?.standsFor).toBe(7);
});

test('goes on where a page ended', async () => {
  const first = await ask({ limit: 4 });
  expect(first.hasMore).toBe(true);
  expect(await ids({ limit: 4, cursor: first.nextCursor ?? null })).toEqual(['new', 'old']);
});

test.each([
  [{ key: 'none' }, 'There is no key none. See: waybill keys list'],
  [{ key: 'shop', unknown: true }, 'Either a key or unknown: such requests named no key that is known.'],
  [{ cursor: 'x' }, 'cursor: Must be the nextCursor of a page of this list.'],
  [{ since: 'now' }, 'since: Must be an RFC 3339 time such as 2026-11-20T11:15:00Z.'],
])('refuses %j', async (request, message) => {
  await expect(ask(request)).rejects.toThrow(message);
});
