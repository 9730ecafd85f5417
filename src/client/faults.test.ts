/** The client against a server that misbehaves. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, FaultyApi, json, problem } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import { Waybill } from './waybill.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };
const RECORD = { id: 'msg_1', status: 'failed', outcome: 'cancelled', recipients: [] };

let api: FaultyApi;
let machine: ManualMachine;
let client: Waybill;
beforeEach(async () => {
  api = await FaultyApi.start();
  machine = new ManualMachine();
  client = new Waybill({ url: api.url, key: 'wb_live_x', machine });
});

const keysUsed = () => api.received.map(({ headers }) => headers['idempotency-key']);

describe('sending', () => {
  test('a connection lost before the message was accepted: it is sent again, under one key', async () => {
    api.faults = [{ kind: 'drop' }, { kind: 'drop' }];
    expect(await client.send(LETTER)).toEqual({
      ok: true,
      value: {
        id: 'msg_1',
        message: 'Queued for delivery.',
        status: 'queued',
        idempotencyKey: 'key-1',
        replayed: false,
      },
    });
    expect(keysUsed()).toEqual(['key-1', 'key-1', 'key-1']);
    expect(new Set(api.received.map(({ body }) => body)).size).toBe(1);
  });

  test.for(['drop-after', 'cut'] as const)(
    'an answer lost (%s) after acceptance sends nothing twice',
    async (kind) => {
      api.faults = [{ kind }];
      expect(await client.send(LETTER)).toMatchObject({ ok: true, value: { id: 'msg_1', replayed: true } });
      expect([...api.accepted.keys()]).toEqual(['key-1']);
    },
  );

  test('each call has a key of its own, unless one is given', async () => {
    await client.send(LETTER);
    await client.send(LETTER);
    await client.send(LETTER, { idempotencyKey: 'order 4711' });
    expect(keysUsed()).toEqual(['key-1', 'key-2', 'order 4711']);
  });

  test('a first try that is still being worked on is waited for', async () => {
    api.faults = [problem(409, 'idempotency_in_progress')];
    expect(await client.send(LETTER)).toMatchObject({ ok: true });
    expect(api.received).toHaveLength(2);
  });

  test('a refusal is told as it is, at once', async () => {
    const errors = [{ pointer: '/to/1', code: 'address_syntax', detail: 'Is no address.' }];
    const body = { code: 'invalid_submission', detail: 'The message is faulty.', requestId: 'req-7', errors };
    api.faults = [json(400, body)];
    expect(await client.send(LETTER)).toEqual({
      ok: false,
      error: {
        kind: 'problem',
        status: 400,
        code: 'invalid_submission',
        detail: 'The message is faulty.',
        message: 'to/1: Is no address.',
        errors,
        requestId: 'req-7',
        retryAfterMs: null,
        maybeAccepted: false,
        idempotencyKey: 'key-1',
      },
    });
    expect(api.received).toHaveLength(1);
  });

  test('faults by the hundred make a message that can be read', async () => {
    const errors = Array.from({ length: 900 }, (_, place) => {
      return { pointer: `/to/${place}`, code: 'address_syntax', detail: 'Is no address.' };
    });
    api.faults = [json(400, { code: 'invalid_submission', detail: 'to/0: Is no address.', errors })];
    const sent = await client.send(LETTER);
    expect(sent).toMatchObject({ ok: false, error: { errors } });
    expect(!sent.ok && sent.error.message).toMatch(/^to\/0: Is no address\. to\/1: .*\(and 895 more\)$/);
    api.faults = [json(400, { code: 'long', detail: 'x'.repeat(100_000), errors: [] })];
    const long = await client.send(LETTER);
    expect(!long.ok && long.error.message.length).toBe(1000);
  });

  test('the last failure is told when all tries have failed', async () => {
    api.faults = Array.from({ length: 9 }, () => ({ kind: 'drop' as const }));
    const result = await client.send(LETTER);
    expect(result).toMatchObject({ ok: false, error: { kind: 'network', idempotencyKey: 'key-1' } });
    expect(api.received).toHaveLength(5);
  });
});

test('a server that is not there is told with the reason', async () => {
  const { url } = api;
  await api.close();
  const result = await new Waybill({ url, key: 'wb_live_x', maxRetries: 0 }).get('msg_1');
  const message = `The server at ${url} could not be reached (ECONNREFUSED).`;
  expect(result).toMatchObject({ ok: false, error: { kind: 'network', message } });
});

describe('a server that asks for patience', () => {
  test.for([
    ['seconds', '7'],
    ['a date', 'Fri, 01 Jan 2027 00:00:07 GMT'],
  ] as const)('Retry-After in %s is waited for', async ([, value]) => {
    api.faults = [problem(503, 'shutting_down', { 'Retry-After': value })];
    const asleep = machine.asked(7000);
    const sent = client.send(LETTER);
    await asleep;
    expect(api.received).toHaveLength(1);
    machine.advance(7000);
    expect(await sent).toMatchObject({ ok: true });
  });

  test('for longer than the call may take gets its answer told instead', async () => {
    api.faults = [problem(429, 'rate_limited', { 'Retry-After': '120' })];
    expect(await client.send(LETTER)).toMatchObject({
      ok: false,
      error: { kind: 'problem', code: 'rate_limited', retryAfterMs: 120_000 },
    });
    expect(api.received).toHaveLength(1);
  });

  test('and a caller who does not have it: the wait ends with the signal', async () => {
    api.faults = [problem(503, 'shutting_down', { 'Retry-After': '7' })];
    const controller = new AbortController();
    const asleep = machine.asked(7000);
    const sent = client.send(LETTER, { signal: controller.signal });
    await asleep;
    controller.abort();
    expect(await sent).toMatchObject({ ok: false, error: { kind: 'aborted', idempotencyKey: 'key-1' } });
    expect(machine.sleeping).toBe(0);
  });
});

describe('an answer that does not come', () => {
  test('is asked for again when a try has had its time', async () => {
    api.faults = [{ kind: 'hang' }];
    const got = client.send(LETTER);
    await api.until(1);
    machine.advance(30_000);
    expect(await got).toMatchObject({ ok: true });
    expect(keysUsed()).toEqual(['key-1', 'key-1']);
  });

  test('ends the call when all of its time is over', async () => {
    api.faults = [{ kind: 'hang' }];
    const got = client.get('msg_1', { timeoutMs: 5000 });
    await api.until(1);
    machine.advance(5000);
    expect(await got).toEqual({
      ok: false,
      error: { kind: 'timeout', message: 'The answer did not come in time.', maybeAccepted: false },
    });
    expect(machine.sleeping).toBe(0);
  });

  test('is not waited for any more once the caller gives up', async () => {
    api.faults = [{ kind: 'hang' }];
    const controller = new AbortController();
    const got = client.get('msg_1', { signal: controller.signal });
    await api.until(1);
    controller.abort();
    expect(await got).toMatchObject({ ok: false, error: { kind: 'aborted' } });
    expect(await client.get('msg_1', { signal: controller.signal })).toMatchObject({
      ok: false,
      error: { kind: 'aborted' },
    });
    expect(api.received).toHaveLength(1);
  });
});

describe('an answer that is not that of the API', () => {
  test.for<[string, Answer]>([
    ['a page', { kind: 'answer', status: 200, body: '<html>Sign in</html>' }],
    ['other JSON', json(200, { hello: 'world' })],
    ['nothing at all', { kind: 'answer', status: 200, body: '' }],
    ['a refusal of something else', { kind: 'answer', status: 404, body: 'no such page' }],
    ['a redirect', { kind: 'answer', status: 302, headers: { Location: 'https://example.com' } }],
  ])('%s is told as such', async ([, answer]) => {
    api.faults = [answer];
    const { status } = answer;
    expect(await client.send(LETTER)).toMatchObject({
      ok: false,
      error: { kind: 'protocol', status, idempotencyKey: 'key-1' },
    });
    expect(api.received).toHaveLength(1);
  });

  test('a redirect says where to, and is not followed', async () => {
    const { url } = api;
    api.faults = [{ kind: 'answer', status: 301, headers: { Location: `${url}/elsewhere` } }];
    const message = expect.stringContaining(`${url}/elsewhere`);
    expect(await client.get('msg_1')).toMatchObject({ ok: false, error: { kind: 'protocol', message } });
    expect(api.received).toHaveLength(1);
  });

  test('the 502 of a proxy is tried again', async () => {
    api.faults = [{ kind: 'answer', status: 502, body: 'Bad gateway' }];
    expect(await client.send(LETTER)).toMatchObject({ ok: true });
  });
});

describe('cancelling and retrying', () => {
  test('a key that may not read is told that an earlier try may have done it', async () => {
    api.answers.set('POST /api/v1/messages/msg_1/cancel', problem(409, 'not_cancellable'));
    api.answers.set('GET /api/v1/messages/msg_1', problem(403, 'scope_missing'));
    api.faults = [{ kind: 'drop-after' }];
    expect(await client.cancel('msg_1')).toMatchObject({
      ok: false,
      error: { code: 'not_cancellable', message: expect.stringMatching(/earlier try.*messages:read/) },
    });
  });

  test('a refusal after an answer that was lost is success: the first try did it', async () => {
    api.answers.set('POST /api/v1/messages/msg_1/cancel', problem(409, 'not_cancellable'));
    api.answers.set('GET /api/v1/messages/msg_1', json(200, RECORD));
    api.faults = [{ kind: 'drop-after' }];
    expect(await client.cancel('msg_1')).toEqual({ ok: true, value: RECORD });
  });

  test('moving a message says when, and may be asked again after an answer that was lost', async () => {
    api.answers.set('PATCH /api/v1/messages/msg_1', json(200, RECORD));
    api.faults = [{ kind: 'drop-after' }];
    const when = new Date('2027-01-31T12:00:00Z');
    expect(await client.reschedule('msg_1', when)).toEqual({ ok: true, value: RECORD });
    expect(api.received.map(({ body }) => JSON.parse(body.toString()))).toEqual(
      Array(2).fill({ sendAt: '2027-01-31T12:00:00.000Z' }),
    );
  });

  test('a refusal of the first try stays one, and so does one after a try that did nothing', async () => {
    api.answers.set('POST /api/v1/messages/msg_1/retry', problem(409, 'nothing_to_retry'));
    expect(await client.retry('msg_1')).toMatchObject({ ok: false, error: { code: 'nothing_to_retry' } });
    api.faults = [problem(503, 'shutting_down')];
    expect(await client.retry('msg_1')).toMatchObject({ ok: false, error: { code: 'nothing_to_retry' } });
  });
});
