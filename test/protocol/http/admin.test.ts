/** `POST /api/v1/admin/{operation}`: everything that the dashboard does, for scripts with a key. */

import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/ingest/http/endpoints.ts';
import { OPERATION_NAMES } from '../../../src/operations/table.ts';
import { cidrs } from '../../support/cidrs.ts';
import { requestFor } from '../../support/recording-operations.ts';
import { MAIL, World } from './world.ts';

let world: World;
let admin: string;

beforeEach(async () => {
  world = await World.start();
  admin = await world.key({ scopes: ['admin'], name: 'deploy' });
});
afterEach(() => world.close());

const call = (operation: string, body: object, key: string | null = admin, headers = {}) =>
  world.ask({
    method: 'POST',
    path: `/api/v1/admin/${operation}`,
    ...(key !== null && { key }),
    body,
    headers,
  });

/** The lines of an answer that comes step by step. */
function lines(operation: string, body: object): Promise<{ status: number; type: string; lines: unknown[] }> {
  const headers = {
    Authorization: `Bearer ${admin}`,
    'Content-Type': 'application/json',
    Accept: 'application/x-ndjson, application/problem+json',
  };
  const path = `/api/v1/admin/${operation}`;
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ port: world.port, method: 'POST', path, headers, agent: false });
    asked.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const found = text.trimEnd().split('\n');
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          lines: found.map((line) => JSON.parse(line) as unknown),
        });
      });
    });
    asked.end(JSON.stringify(body));
  });
}

test('an operation is done as the key, with the request’s fields checked', async () => {
  expect((await call('hold', { target: 'inbox', kind: 'pause' })).json).toMatchObject({ changed: true });
  expect(await call('listKeys', {})).toMatchObject({ status: 200, json: { did: 'listKeys' } });
  const wrong = await call('hold', { kind: 'stop' });
  expect(wrong).toMatchObject({
    status: 400,
    json: {
      code: 'invalid_request',
      detail: 'target: Is required, as a string. (and 1 more; see errors)',
      errors: [
        { pointer: '/target', code: 'required' },
        { pointer: '/kind', code: 'type', detail: 'Must be "pause" or "drain".' },
      ],
    },
  });
  expect(world.done).toEqual([{ name: 'listKeys', request: {} }]);
});

test('what changes something is written down under the key’s name, what only looks is not', async () => {
  await call('removeUser', { name: 'jane' });
  await call('users', {});
  const query = { actor: null, action: null, subject: null, limit: 10, before: null };
  const { entries } = await world.stores.journal.entries(query);
  expect(entries).toMatchObject([
    { actorKind: 'key', actor: 'deploy', sourceAddress: '127.0.0.1', action: 'removeUser', subject: 'jane' },
  ]);
});

test('no operation is open to a key without the scope admin, nor without a key', async () => {
  const others = await world.key({
    scopes: ['messages:send', 'messages:read', 'messages:content', 'messages:read_all'],
  });
  for (const operation of OPERATION_NAMES) {
    const answer = await call(operation, requestFor(operation), others);
    expect([operation, answer.status, answer.json['code']]).toEqual([operation, 403, 'scope_missing']);
    expect((await call(operation, requestFor(operation), null)).status).toBe(401);
  }
  expect(world.done).toEqual([]);
});

describe('a test key administers nothing, whatever its scopes', () => {
  const ENOUGH_ADMIN = Object.entries(ENDPOINTS).filter(([, { access }]) =>
    (access.scopes as readonly string[]).includes('admin'),
  );

  test.each(ENOUGH_ADMIN)('%s', async (_, { method, path }) => {
    const key = await world.key({ mode: 'test', scopes: ['admin'] });
    const filled = path.replace('{operation}', 'listKeys').replaceAll(/\{\w+\}/g, 'any');
    const answer = await world.ask({ method, path: filled, key, ...(method === 'GET' ? {} : { body: {} }) });
    expect([answer.status, answer.json['code']]).toEqual([409, 'test_key']);
    expect(world.done).toEqual([]);
  });

  test('it acts on no message of another key', async () => {
    const owner = await world.key();
    const { json } = await world.post(owner, MAIL);
    const key = await world.key({ mode: 'test', scopes: ['admin', 'messages:send', 'messages:read_all'] });
    const answer = await world.ask({ method: 'POST', path: `/api/v1/messages/${json['id']}/cancel`, key });
    expect([answer.status, answer.json['code']]).toEqual([403, 'scope_missing']);
  });

  test('a live key with the scope does', async () => {
    const key = await world.key({ scopes: ['admin'] });
    expect((await world.ask({ path: '/api/v1/queue', key })).status).toBe(200);
  });
});

test('refusals come in their order: source, method, key, scope, rate, operation, type, size, content', async () => {
  const path = '/api/v1/admin/nothing';
  const weak = await world.key();
  const limited = await world.key({ scopes: ['admin'], rateLimit: 1 });
  const ask = async (options: object) => {
    const { status, json, headers } = await world.ask({ path, ...options });
    return [status, json['code'], headers.allow].filter((part) => part !== undefined);
  };
  const post = { method: 'POST' };
  expect(await ask({ method: 'GET' })).toEqual([405, 'method_not_allowed', 'POST, OPTIONS']);
  expect(await ask({ ...post, body: 'x' })).toEqual([401, 'unauthorized']);
  expect(await ask({ ...post, body: 'x', key: weak })).toEqual([403, 'scope_missing']);
  await call('listKeys', {}, limited);
  expect(await ask({ ...post, body: 'x', key: limited })).toEqual([429, 'rate_limited']);
  expect(await ask({ ...post, body: 'x', key: admin })).toEqual([404, 'not_found']);
  const held = { ...post, key: admin, path: '/api/v1/admin/hold' };
  expect(await ask({ ...held, body: 'x' })).toEqual([415, 'unsupported_media_type']);
  const headers = { 'Content-Type': 'application/json' };
  expect(await ask({ ...held, headers, body: 'x'.repeat(2 * 1024 * 1024 + 1) })).toEqual([
    413,
    'content_too_large',
  ]);
  expect(await ask({ ...held, headers, body: '{' })).toEqual([400, 'malformed_json']);
  world.options.allowedCidrs = cidrs('192.0.2.0/24');
  expect(await ask({ method: 'GET' })).toEqual([403, 'source_not_allowed']);
});

test('a message may be larger than other requests: as large as one that is submitted', async () => {
  const answer = await call('submit', { message: { text: 'x'.repeat(220_000) } });
  expect(answer.status).toBe(200);
  expect((await call('submit', { message: { text: 'x'.repeat(230_000) } })).status).toBe(413);
});

test('steps come line by line, the result or the error last', async () => {
  const file = { file: null, passphrase: null };
  expect(await lines('backup', file)).toEqual({
    status: 200,
    type: 'application/x-ndjson',
    lines: [{ step: { step: 1 } }, { step: { step: 2 } }, { result: { did: 'backup' } }],
  });
  const failed = await lines('backup', { ...file, file: '/full' });
  expect(failed.lines).toMatchObject([
    { step: { step: 1 } },
    { step: { step: 2 } },
    {
      error: { code: 'unavailable', status: 503, detail: 'The disk is full.', requestId: expect.any(String) },
    },
  ]);
  expect((await lines('listKeys', {})).lines).toEqual([{ result: { did: 'listKeys' } }]);
});

test('what is refused before any step is answered as it would be without steps', async () => {
  expect(await lines('removeBackup', { name: 'x' })).toMatchObject({
    status: 409,
    type: 'application/problem+json',
    lines: [{ code: 'refused', detail: 'It is being written.' }],
  });
});
