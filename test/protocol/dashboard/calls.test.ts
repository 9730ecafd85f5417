/** Calls of operations: what is answered, refused and told step by step. */
import { expect, test } from 'vitest';
import { startDashboard } from '../ops/dashboard-server.ts';

const BACKUP = { file: null, passphrase: null };

test('an operation is done with its request, as the one who is signed in', async () => {
  const { call, done, journal } = await startDashboard();
  const { status, headers, body } = await call('hold', { body: '{"target":"inbox","kind":"pause"}' });
  expect([status, JSON.parse(body)]).toEqual([200, { did: 'hold' }]);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  });
  expect(done).toEqual([{ name: 'hold', request: { target: 'inbox', kind: 'pause' } }]);
  const query = { actor: null, action: null, subject: null, limit: 10, before: null };
  const { entries } = await journal.entries(query);
  expect(entries).toMatchObject([{ actorKind: 'user', actor: 'admin', action: 'hold', subject: 'inbox' }]);
});

test.each([
  ['a field of the wrong kind', 'hold', '{"target":"inbox","kind":"stop"}', 400, 'invalid'],
  ['a field that there is not', 'relays', '{"x":1}', 400, 'invalid'],
  ['what cannot be done now', 'removeBackup', '{"name":"x"}', 409, 'refused'],
  ['what is not available', 'backup', JSON.stringify({ ...BACKUP, file: '/full' }), 503, 'unavailable'],
  ['no JSON', 'relays', 'x', 400, 'malformed_json'],
  ['nothing', 'relays', '', 400, 'malformed_json'],
  ['a name twice', 'hold', '{"target":"a","target":"b","kind":null}', 400, 'duplicate_name'],
  ['the prototype', 'relays', '{"__proto__":{}}', 400, 'forbidden_name'],
])('%s is refused as a problem', async (_, name, body, status, code) => {
  const { call } = await startDashboard();
  const answer = await call(name, { body });
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
  expect(JSON.parse(answer.body)).toMatchObject({ status, code, requestId: answer.headers['x-request-id'] });
});

test('a request has 2 MiB, one with a message half as much again as a message', async () => {
  const { call } = await startDashboard({ maxMessageBytes: 4_000_000 });
  const message = (size: number) => JSON.stringify({ message: { text: 'x'.repeat(size) } });
  expect((await call('relays', { body: `{${' '.repeat(2 * 1024 * 1024)}}` })).status).toBe(413);
  expect((await call('submit', { body: message(5_900_000) })).status).toBe(200);
  expect((await call('submit', { body: message(6_000_000) })).status).toBe(413);
});

test('who asks for lines is told each step, then the result or the error', async () => {
  const { call, asBrowser } = await startDashboard();
  const headers = { ...asBrowser(), accept: 'application/x-ndjson, application/problem+json' };
  const lines = async (request: object) => {
    const answer = await call('backup', { headers, body: JSON.stringify(request) });
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    return answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  };
  const steps = [{ step: { step: 1 } }, { step: { step: 2 } }];
  expect(await lines(BACKUP)).toEqual([...steps, { result: { did: 'backup' } }]);
  expect(await lines({ ...BACKUP, file: '/full' })).toMatchObject([
    ...steps,
    { error: { code: 'unavailable', detail: 'The disk is full.' } },
  ]);
});

test('who asks for lines and is refused at once hears it as anybody does', async () => {
  const { call, asBrowser } = await startDashboard();
  const headers = { ...asBrowser(), accept: 'application/x-ndjson' };
  const answer = await call('removeBackup', { headers, body: '{"name":"x"}' });
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([409, 'refused']);
});
