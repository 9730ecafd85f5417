import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { attempt, DEFERRED, DELIVERED, dropContents, REJECTED } from './deliver.ts';
import { faultsOf, MAIL, World } from './world.ts';

/** `POST /api/v1/messages/{id}/cancel` and `…/retry` (contract §3.3). */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key();
});
afterEach(() => world.close());

async function submit(fields: object = {}, secret = key): Promise<string> {
  const answer = await world.post(secret, { ...MAIL, ...fields });
  return String(answer.headers.location);
}

const act = (path: string, name: string, secret = key) =>
  world.ask({ method: 'POST', key: secret, path: `${path}/${name}` });

describe('cancel', () => {
  test('ends what waits, and answers with the record as it is then', async () => {
    const path = await submit({ cc: ['carl@example.net'], sendAt: '2026-11-21T00:00:00Z' });
    const answer = await act(path, 'cancel');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: 'failed',
      outcome: 'cancelled',
      recipients: [
        { status: 'failed', outcome: 'cancelled', nextAttemptAt: null },
        { status: 'failed', outcome: 'cancelled', nextAttemptAt: null },
      ],
    });
    expect((await world.ask({ key, path })).json).toEqual(answer.json);
  });
  test('ends what is retrying', async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    expect((await act(path, 'cancel')).json).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  });
  test.each([
    ['delivered', DELIVERED],
    ['failed', REJECTED],
  ])('of a %s message is 409', async (_, outcome) => {
    const path = await submit();
    await attempt(world, outcome);
    const before = (await world.ask({ key, path })).json;
    const answer = await act(path, 'cancel');
    expect([answer.status, answer.json['code']]).toEqual([409, 'not_cancellable']);
    expect((await world.ask({ key, path })).json).toEqual(before);
  });
  test('of a cancelled message is 409', async () => {
    const path = await submit();
    await act(path, 'cancel');
    expect((await act(path, 'cancel')).json['code']).toBe('not_cancellable');
  });
  test('is allowed for a test key’s message: nothing leaves by it', async () => {
    const tester = await world.key({ mode: 'test' });
    const path = await submit({}, tester);
    expect((await act(path, 'cancel', tester)).json['outcome']).toBe('cancelled');
  });
});

describe('retry', () => {
  test('of a failed message queues it again, due now', async () => {
    const path = await submit();
    await attempt(world, REJECTED);
    await world.clock.advance(5000);
    const answer = await act(path, 'retry');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: 'queued',
      attempts: 1,
      nextAttemptAt: '2026-11-20T00:00:05.000Z',
      recipients: [{ status: 'queued', outcome: null, attempts: 1 }],
    });
    await attempt(world, DELIVERED);
    expect((await world.ask({ key, path })).json).toMatchObject({ status: 'delivered', attempts: 2 });
  });
  test('of a retrying message lets it wait no longer', async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    await world.clock.advance(1000);
    expect((await act(path, 'retry')).json).toMatchObject({
      status: 'retrying',
      nextAttemptAt: '2026-11-20T00:00:01.000Z',
    });
  });
  test('undoes a cancellation', async () => {
    const path = await submit();
    await act(path, 'cancel');
    expect((await act(path, 'retry')).json).toMatchObject({ status: 'queued' });
  });
  test('of a message that is delivered, or only queued, is 409', async () => {
    const path = await submit();
    expect((await act(path, 'retry')).json['code']).toBe('nothing_to_retry');
    await attempt(world, DELIVERED);
    const answer = await act(path, 'retry');
    expect([answer.status, answer.json['code']]).toEqual([409, 'nothing_to_retry']);
    expect((await world.ask({ key, path })).json['status']).toBe('delivered');
  });
  test('of a message whose content is gone is 409', async () => {
    const path = await submit();
    await attempt(world, REJECTED);
    await dropContents(world);
    const answer = await act(path, 'retry');
    expect([answer.status, answer.json['code']]).toEqual([409, 'content_expired']);
  });
  test('of a test key’s message is 409', async () => {
    const tester = await world.key({ mode: 'test' });
    const path = await submit({}, tester);
    await act(path, 'cancel', tester);
    const answer = await act(path, 'retry', tester);
    expect([answer.status, answer.json['code']]).toEqual([409, 'test_key']);
  });
});

describe.each(['cancel', 'retry'] as const)('%s', (name) => {
  test('takes an empty object, and no body whatever its type is said to be', async () => {
    const noBodies = [
      { body: {} },
      { body: ' {} ', headers: { 'Content-Type': 'application/json' } },
      { headers: { 'Content-Type': 'text/plain' } },
      { headers: { 'Content-Length': '0' } },
      { headers: { 'Transfer-Encoding': 'chunked' } },
      { body: '{}' },
    ];
    for (const noBody of noBodies) {
      const path = await submit();
      await attempt(world, DEFERRED);
      const answer = await world.ask({ method: 'POST', key, path: `${path}/${name}`, ...noBody });
      expect([answer.status, noBody]).toEqual([200, noBody]);
      await act(path, 'cancel');
    }
  });
  test('refuses any other body, and does nothing', async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    const before = (await world.ask({ key, path })).json;
    const json = { 'Content-Type': 'application/json' };
    for (const [body, headers, status, code] of [
      [{ recipients: ['bob@example.org'] }, {}, 400, 'body_not_empty'],
      ['[]', json, 400, 'body_not_empty'],
      ['null', json, 400, 'body_not_empty'],
      ['{', json, 400, 'malformed_json'],
      ['a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
      [' '.repeat(2000), json, 413, 'content_too_large'],
      [' '.repeat(2000), { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
    ] as const) {
      const answer = await world.ask({ method: 'POST', key, path: `${path}/${name}`, body, headers });
      expect([answer.status, answer.json['code']]).toEqual([status, code]);
    }
    expect((await world.ask({ key, path })).json).toEqual(before);
  });
  test('the body’s type and size come before the parameters, as contract §5 orders them', async () => {
    const path = `${await submit()}/${name}?force=true`;
    const headers = { 'Content-Type': 'text/plain' };
    const answer = await world.ask({ method: 'POST', key, path, headers, body: 'x' });
    expect(answer.status).toBe(415);
  });
  test('parameters are 400 by name', async () => {
    const answer = await world.ask({ method: 'POST', key, path: `${await submit()}/${name}?force=true` });
    expect(faultsOf(answer)).toEqual(['/force unknown_parameter']);
  });
  test('other methods are 405', async () => {
    const answer = await world.ask({ key, path: `${await submit()}/${name}` });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });
  test('needs messages:send, and counts as a request to send', async () => {
    const reader = await world.key({ scopes: ['messages:read'] });
    const answer = await act(await submit(), name, reader);
    expect([answer.status, answer.json['code']]).toEqual([403, 'scope_missing']);
    const brief = await world.key({ rateLimit: 2 });
    const path = await submit({}, brief);
    await attempt(world, DEFERRED);
    expect((await act(path, name, brief)).status).toBe(200);
    expect((await act(path, name, brief)).status).toBe(429);
  });
  test("another key's message is not there, may only be read with read_all, and acted on with admin too", async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    const send = 'messages:send';
    const answers = [];
    for (const scopes of [
      [send],
      [send, 'admin'],
      [send, 'messages:read_all'],
      [send, 'messages:read_all', 'admin'],
    ] as const) {
      const { status, json } = await act(path, name, await world.key({ scopes }));
      answers.push([status, json['code']]);
    }
    expect(answers).toEqual([
      [404, 'message_not_found'],
      [404, 'message_not_found'],
      [403, 'scope_missing'],
      [200, undefined],
    ]);
  });
  test("what an administrator does to another key's message is in the activity, with what was refused", async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    const scopes = ['messages:send', 'messages:read_all', 'admin'] as const;
    const admin = await world.key({ scopes: [...scopes], name: 'operator' });
    const answer = await act(path, name, admin);
    expect(answer.json).toEqual((await world.ask({ key, path })).json);
    await attempt(world, DELIVERED);
    const refusal = await act(path, name, admin);
    const codes = { cancel: 'not_cancellable', retry: 'nothing_to_retry' };
    expect([refusal.status, refusal.json['code']]).toEqual([409, codes[name]]);
    await act(await submit({}, admin), name, admin);
    const subject = path.split('/').at(-1);
    const who = { actorKind: 'key', actor: 'operator', sourceAddress: '127.0.0.1', subject };
    const all = { actor: null, action: null, subject: null, limit: 10, before: null };
    expect((await world.stores.journal.entries(all)).entries).toMatchObject([
      { ...who, action: `${name}Message`, after: '{"error":"refused"}' },
      { ...who, action: `${name}Message` },
    ]);
  });
  test("another key's message that is removed meanwhile is not there, as for its own key", async () => {
    const path = await submit();
    await attempt(world, DEFERRED);
    const admin = await world.key({ scopes: ['messages:send', 'messages:read_all', 'admin'] });
    const { views } = world.stores;
    const found = await views.message(path.split('/').at(-1) ?? '');
    vi.spyOn(views, 'message').mockResolvedValue(null).mockResolvedValueOnce(found);
    const { status, json } = await act(path, name, admin);
    expect([status, json['code'], json['detail']]).toEqual([
      404,
      'message_not_found',
      'There is no such message.',
    ]);
  });
  test('of an id that does not exist is 404', async () => {
    for (const id of [`msg_0${'0'.repeat(25)}`, 'nonsense', '%00']) {
      const answer = await act(`/api/v1/messages/${id}`, name);
      expect([answer.status, answer.json['code']]).toEqual([404, 'message_not_found']);
    }
  });
});
