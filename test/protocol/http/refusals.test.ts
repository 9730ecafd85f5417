import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import { cidrs } from '../../support/cidrs.ts';
import { type Answer, MAIL, World } from './world.ts';

/** Contract §5: which refusal, in which order, in which shape. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start({ trustedProxies: cidrs('127.0.0.1/32') });
  key = await world.key();
});
afterAll(() => world.close());

/** A request with whatever is to be wrong about it. Without anything it is a good submission. */
interface Plan {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** What its key is like. */
  readonly facts?: Partial<ApiKey>;
  readonly badKey?: boolean;
  /** Its key's rate limit is used up. */
  readonly exhausted?: boolean;
  readonly suspended?: boolean;
  /** Its Idempotency-Key was used for something else. */
  readonly repeated?: boolean;
}

const STRANGER = { 'X-Forwarded-For': '198.51.100.7' };
const SUSPENSION = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 30 } as const;
const LONG = 'x'.repeat(160_000);

/** Every refusal of a submission in the order in which they must be found, with what causes it. */
const ORDER: readonly { status: number; code: string; cause: Plan }[] = [
  { status: 404, code: 'not_found', cause: { path: '/api/v1/nothing' } },
  { status: 403, code: 'source_not_allowed', cause: { headers: STRANGER } },
  { status: 405, code: 'method_not_allowed', cause: { method: 'PUT' } },
  { status: 401, code: 'unauthorized', cause: { badKey: true } },
  { status: 403, code: 'scope_missing', cause: { facts: { scopes: ['messages:read'] } } },
  { status: 429, code: 'rate_limited', cause: { exhausted: true } },
  { status: 503, code: 'disk_full', cause: { suspended: true } },
  { status: 415, code: 'unsupported_media_type', cause: { headers: { 'Content-Type': 'text/plain' } } },
  { status: 413, code: 'content_too_large', cause: { body: { text: LONG } } },
  { status: 400, code: 'invalid_submission', cause: { body: { priority: 'x' } } },
  { status: 403, code: 'sender_not_allowed', cause: { facts: { senderDomains: ['example.net'] } } },
  { status: 409, code: 'idempotency_mismatch', cause: { repeated: true } },
];

async function send(...plans: readonly Plan[]): Promise<Answer> {
  const plan: Plan = Object.assign({}, ...plans);
  const facts = Object.assign({}, ...plans.map((one) => one.facts));
  const body = Object.assign({}, MAIL, ...plans.map((one) => one.body));
  const headers = Object.assign({ 'Content-Type': 'application/json' }, ...plans.map((one) => one.headers));
  const secret = await world.key({ ...facts, rateLimit: plan.exhausted ? 1 : 0 });
  if (plan.repeated) {
    headers['Idempotency-Key'] = 'used';
    await world.post(secret, { ...MAIL, from: 'jane@example.net' }, { 'Idempotency-Key': 'used' });
  }
  if (plan.exhausted) await world.post(secret, MAIL);
  world.seen.length = 0;
  world.intake.suspension = plan.suspended ? SUSPENSION : null;
  const { method = 'POST', path = '/api/v1/messages' } = plan;
  const answer = await world.ask({
    method,
    path,
    headers,
    body,
    key: plan.badKey ? 'wb_live_wrong' : secret,
  });
  world.intake.suspension = null;
  return answer;
}

describe('the order of refusals', () => {
  test('nothing wrong is 202', async () => expect((await send()).status).toBe(202));

  test.each(ORDER)('$status $code stands alone', async ({ status, code, cause }) => {
    const answer = await send(cause);
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
  });

  const pairs = ORDER.flatMap((first, i) => {
    const second = ORDER[i + 1];
    return second === undefined ? [] : [{ first, second }];
  });
  test.each(pairs)(
    '$first.status $first.code before $second.status $second.code',
    async ({ first, second }) => {
      const answer = await send(first.cause, second.cause);
      expect([answer.status, answer.json['code']]).toEqual([first.status, first.code]);
    },
  );

  test('413 for the message as it would be sent comes before 403 for the sender', async () => {
    const answer = await send({
      body: { text: 'é'.repeat(60_000) },
      facts: { senderDomains: ['example.net'] },
    });
    expect([answer.status, answer.json['code']]).toEqual([413, 'message_too_large']);
  });
});

describe('a form without a boundary', () => {
  const FORM = { 'Content-Type': 'multipart/form-data' };
  test.each([
    [400, 'malformed_multipart', { headers: FORM }],
    [413, 'content_too_large', { headers: FORM, body: { text: LONG } }],
    [415, 'unsupported_content_encoding', { headers: { ...FORM, 'Content-Encoding': 'gzip' } }],
  ])('is %i %s', async (status, code, plan) => {
    const answer = await send(plan);
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
  });
});

describe('a problem', () => {
  test('has type, title, status, detail, code, error, requestId and errors', async () => {
    const answer = await send({ body: { from: '' }, headers: { 'X-Request-Id': 'my.id-1' } });
    expect(answer.headers['content-type']).toBe('application/problem+json');
    const detail = 'Is required, such as "Jane Doe <jane@example.com>".';
    expect(answer.json).toEqual({
      type: 'urn:waybill:problem:invalid_submission',
      title: 'Bad request',
      status: 400,
      detail: `from: ${detail}`,
      code: 'invalid_submission',
      error: `from: ${detail}`,
      requestId: 'my.id-1',
      errors: [{ pointer: '/from', code: 'required', detail }],
    });
  });
  test.each(ORDER)('$status $code has X-Request-Id and the type of a problem', async ({ cause }) => {
    const answer = await send(cause);
    expect(answer.headers['x-request-id']).toBe(answer.json['requestId']);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });
  test('405 says what would do', async () => {
    expect((await send({ method: 'DELETE' })).headers.allow).toBe('POST, GET, HEAD, OPTIONS');
    expect((await send({ path: '/v3/x.test/messages', method: 'GET' })).headers.allow).toBe('POST, OPTIONS');
  });
  test('415 says what would do', async () => {
    const answer = await send({ headers: { 'Content-Type': 'text/plain' } });
    expect(answer.headers.accept).toBe('application/json, multipart/form-data');
  });
  test.each([
    '',
    'application/json; charset=latin1',
    'application',
    'application/json; charset=utf-8; charset=utf-8',
    'application/x-www-form-urlencoded',
    'constructor',
  ])('Content-Type %j is 415', async (type) =>
    expect((await send({ headers: { 'Content-Type': type } })).status).toBe(415),
  );
  test('a Content-Encoding is 415', async () => {
    expect((await send({ headers: { 'Content-Encoding': 'gzip' } })).status).toBe(415);
  });
  test('503 says when to come back, and nothing was accepted', async () => {
    const before = world.intake.submissions.length;
    const answer = await send({ suspended: true });
    expect(answer.headers['retry-after']).toBe('30');
    expect(world.intake.submissions).toHaveLength(before);
  });
});

describe('paths', () => {
  test.each([
    '/health',
    '/metrics',
    '/livez',
    '/readyz',
    '/',
    '/api/v1',
    '/api/v1/messages/',
    '/api/v1/messages/a/b',
    '/v3/messages',
  ])('%s is 404, without a key and whatever the source', async (path) => {
    for (const ask of [{ path }, { path, headers: STRANGER }, { path, key }, { path, method: 'DELETE' }]) {
      const answer = await world.ask(ask);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([404, undefined]);
    }
  });
  test('OPTIONS is 204 with Allow and without CORS', async () => {
    const answer = await world.ask({ method: 'OPTIONS' });
    expect([answer.status, answer.headers.allow, answer.headers['access-control-allow-origin']]).toEqual([
      204,
      'POST, GET, HEAD, OPTIONS',
      undefined,
    ]);
  });
  test('HEAD is GET without the body', async () => {
    const answer = await world.ask({ method: 'HEAD', key });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
  });
  test('/api/v1/ready tells without a key whether mail is taken', async () => {
    expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(200);
    expect((await world.ask({ path: '/api/v1/ready?probe=%1' })).status).toBe(200);
    world.ready = false;
    expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(503);
    world.ready = true;
    expect((await world.ask({ path: '/api/v1/ready', headers: STRANGER })).status).toBe(403);
  });
});

describe('the source', () => {
  test('is the rightmost hop that is no trusted proxy', async () => {
    const forwarded = (hops: string) => world.ask({ key, headers: { 'X-Forwarded-For': hops } });
    expect((await forwarded('127.0.0.2')).status).toBe(200);
    expect((await forwarded('127.0.0.2, 198.51.100.7')).status).toBe(403);
    expect((await forwarded('198.51.100.7, 127.0.0.2')).status).toBe(200);
  });
  test('X-Forwarded-For of anyone else is ignored', async () => {
    const direct = await World.start({ allowedCidrs: cidrs('10.0.0.0/8') });
    expect((await direct.ask({ headers: { 'X-Forwarded-For': '10.0.0.1' } })).status).toBe(403);
    await direct.close();
  });
  test('is kept with the message', async () => {
    await world.post(key, MAIL, { 'X-Forwarded-For': '127.0.0.9' });
    expect(world.last.sourceAddress).toBe('127.0.0.9');
    expect(world.lastText).toContain('from [127.0.0.9]');
  });
});

describe('denied', () => {
  test.each([
    ['401', { badKey: true }, 'unauthorized'],
    ['403 for the source', { headers: STRANGER }, 'source_not_allowed'],
    ['403 for the scope', { facts: { scopes: [] } }, 'scope_missing'],
    ['403 for the sender', { facts: { senderDomains: ['example.net'] } }, 'sender_not_allowed'],
    ['429', { exhausted: true }, 'rate_limited'],
  ])('%s is told as an event, once', async (_, plan, reason) => {
    await send(plan);
    expect(world.denied).toEqual([reason]);
  });
  test('with the key that it came with', async () => {
    const keys = () => world.seen.flatMap((event) => (event.type === 'denied' ? [event.keyId] : []));
    await send({ exhausted: true });
    expect(keys()).toEqual([expect.stringMatching(/./)]);
    await send({ badKey: true });
    expect(keys()).toEqual([null]);
  });
  test.each([
    ['400', { body: { from: '' } }],
    ['404', { path: '/x' }],
    ['503', { suspended: true }],
    ['202', {}],
  ])('%s is not', async (_, plan) => {
    await send(plan);
    expect(world.denied).toEqual([]);
  });
});

describe('size', () => {
  test('a declared length over the limit is refused before the body is read', async () => {
    const socket = connect(world.port, '127.0.0.1');
    socket.write(
      `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 150001\r\nExpect: 100-continue\r\n\r\n',
    );
    const [reply] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
    expect(reply?.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
  test('without a length, reading ends at the limit', async () => {
    const answer = await send({ headers: { 'Transfer-Encoding': 'chunked' }, body: { text: LONG } });
    expect([answer.status, answer.json['code']]).toEqual([413, 'content_too_large']);
  });
  test('as it would be sent: api.max_message_bytes are taken, one more is refused', async () => {
    const body = { text: 'é'.repeat(1000) };
    await send({ body });
    const { sizeBytes } = world.last.content;
    for (const [maxMessageBytes, status] of [
      [sizeBytes, 202],
      [sizeBytes - 1, 413],
    ] as const) {
      const exact = await World.start({ limits: { maxMessageBytes } });
      expect((await exact.post(await exact.key(), { ...MAIL, ...body })).status).toBe(status);
      await exact.close();
    }
  });
  test('more bytes in flight than the budget wait their turn, and all are served', async () => {
    const narrow = await World.start({ maxBytesInFlight: 1000 });
    const narrowKey = await narrow.key();
    const text = 'x'.repeat(800);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => narrow.post(narrowKey, { ...MAIL, text })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
    await narrow.close();
  });
});

test('settings that change while it runs hold from the next request on', async () => {
  const live = await World.start();
  const liveKey = await live.key();
  const post = async () => (await live.post(liveKey, MAIL)).status;
  live.options.limits.rateLimitPerKey = 1;
  expect([await post(), await post()]).toEqual([202, 429]);
  live.options.limits.rateLimitPerKey = 0;
  live.options.limits.maxMessageBytes = 100;
  expect(await post()).toBe(413);
  live.options.allowedCidrs = cidrs('10.0.0.0/8');
  expect(await post()).toBe(403);
  live.options.trustedProxies = cidrs('127.0.0.1');
  expect((await live.ask({ path: '/api/v1/ready', headers: { 'X-Forwarded-For': '10.1.1.1' } })).status).toBe(
    200,
  );
  await live.close();
});
