/** `POST /api/v1/feedback` over real sockets: what came elsewhere is read, and told to the desk. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_FACTS, NO_MESSAGE } from '../../../src/domain/feedback.ts';
import type { Scope } from '../../../src/domain/key.ts';
import { member } from '../../support/openapi.ts';
import { TELL_RULES, telling } from '../../support/telling.ts';
import { MAIL, World } from './world.ts';

const PATH = '/api/v1/feedback';
const ID = 'msg_01kaj3v7q8x5m2c9t4r6w0ybzn';
const COMPLAINT = { kind: 'complaint', recipient: 'bob@example.org', messageId: '<1@example.com>' };
/** The report of the description. */
const DSN = String(
  member(['paths', PATH, 'post', 'requestBody', 'content', 'message/rfc822', 'examples', 'dsn'])?.value[
    'value'
  ],
);

let world: World;
let key: string;
beforeEach(async () => {
  world = await World.start();
  key = await world.key({ id: 'key_own', scopes: ['feedback:write'] });
});
afterEach(() => world.close());

const tell = (body: object | string, headers: Readonly<Record<string, string>> = {}, secret = key) =>
  world.ask({ method: 'POST', path: PATH, key: secret, body, headers });
const tellMail = (mail: string) => tell(mail, { 'Content-Type': 'message/rfc822' });

test('facts are told as they are, and answered once they are kept', async () => {
  const answer = await tell(COMPLAINT);
  expect([answer.status, answer.json]).toEqual([
    202,
    { id: expect.stringMatching(/^fbk_/), matched: true, changed: true },
  ]);
  expect(world.desk.reports).toEqual([
    {
      source: 'api',
      items: [
        {
          feedback: {
            kind: 'complaint',
            source: 'api',
            message: { ...NO_MESSAGE, messageId: '<1@example.com>' },
            recipient: 'bob@example.org',
            bounce: NO_FACTS,
            at: null,
          },
          onceId: null,
        },
      ],
      evidence: { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(COMPLAINT)) },
      mayBeEarly: false,
      onlyOfKey: 'key_own',
    },
  ]);
});

test.each([
  ['as we write it', ID],
  ['as a UUID', '019aa43d-9ee8-e968-2627-42306e0797f5'],
])('an id of ours may be written %s', async (_, id) => {
  const { messageId: _other, ...rest } = COMPLAINT;
  await tell({ ...rest, id });
  const [told] = world.desk.reports[0]?.items ?? [];
  expect(told?.feedback.message.id).toMatch(/^msg_[0-9a-z]{26}$/);
});

test('a key that may see all tells of the messages of others', async () => {
  const all = await world.key({ scopes: ['feedback:write', 'messages:read_all'] });
  await tell(COMPLAINT, {}, all);
  expect(world.desk.reports[0]).not.toHaveProperty('onlyOfKey');
});

test('a report is read as mail to a return path is', async () => {
  expect((await tellMail(DSN)).status).toBe(202);
  const [report] = world.desk.reports;
  expect(report?.items).toMatchObject([
    {
      feedback: {
        kind: 'bounce',
        source: 'dsn',
        recipient: 'bob@example.org',
        message: { messageId: '<1@example.com>', token: null },
        bounce: { enhancedCode: '5.1.1' },
      },
    },
  ]);
  expect(report?.evidence).toEqual({ contentType: 'message/rfc822', bytes: Buffer.from(DSN) });
});

test('a token in it names the message', async () => {
  const token = { id: ID, recipient: 0 };
  world.tokens.set('b-token@bounces.example.com', token);
  await tellMail(DSN.replace('Message-ID:', 'Return-Path: <b-token@bounces.example.com>\r\nMessage-ID:'));
  expect(world.desk.reports[0]?.items[0]?.feedback.message.token).toEqual(token);
});

test('mail that says nothing is kept as evidence', async () => {
  expect((await tellMail('Subject: Lunch?\r\n\r\nAt one.\r\n')).status).toBe(202);
  expect(world.desk.reports).toMatchObject([{ items: [], evidence: { contentType: 'message/rfc822' } }]);
});

test.each<[string, number, object | string, string]>([
  ['no JSON', 400, '{', 'application/json'],
  ['another kind', 400, { ...COMPLAINT, kind: 'reply' }, 'application/json'],
  ['no message', 400, { kind: 'complaint', recipient: 'bob@example.org' }, 'application/json'],
  ['two messages', 400, { ...COMPLAINT, id: ID }, 'application/json'],
  ['an unknown field', 400, { ...COMPLAINT, colour: 'red' }, 'application/json'],
  ['a code for a complaint', 400, { ...COMPLAINT, code: 550 }, 'application/json'],
  ['deep nesting', 400, '['.repeat(1000), 'application/json'],
  ['another type', 415, 'hello', 'text/plain'],
  ['too many bytes', 413, 'a'.repeat(100_001), 'message/rfc822'],
])('%s gets %d, and nothing is told', async (_, status, body, type) => {
  const answer = await tell(body, { 'Content-Type': type });
  expect([answer.status, world.desk.reports]).toEqual([status, []]);
});

test('every fault is told at once', async () => {
  const answer = await tell({ kind: 'bounce', recipient: 'nobody', id: ID, code: 250, colour: 'red' });
  expect(answer.json.errors?.map(({ pointer }) => pointer).sort()).toEqual([
    '/code',
    '/colour',
    '/recipient',
  ]);
});

test('a nested report ends in a limit, not in memory', async () => {
  const boundary = (depth: number) => `b${depth}`;
  const part = (depth: number) =>
    `Content-Type: multipart/report; report-type=delivery-status; boundary=${boundary(depth)}\r\n\r\n--${boundary(depth)}\r\n`;
  const mail = Array.from({ length: 1000 }, (_, depth) => part(depth)).join('');
  expect((await tellMail(mail)).status).toBe(202);
});

test('another scope is not enough', async () => {
  const reader = await world.key({ scopes: ['messages:send', 'messages:read_all', 'admin'] });
  const answer = await tell(COMPLAINT, {}, reader);
  expect([answer.status, answer.json['detail']]).toEqual([
    403,
    'This needs a key with the scope feedback:write.',
  ]);
});

test('what the store does not take is to be sent again', async () => {
  world.desk.failure = 'store_unavailable';
  const answer = await tell(COMPLAINT);
  expect([answer.status, answer.json['code']]).toEqual([503, 'store_unavailable']);
});

describe('evidence', () => {
  const CONTENT: readonly Scope[] = ['messages:send', 'messages:content'];
  const keep = async (told: ReturnType<typeof telling>) => {
    await world.stores.store.tell([told], TELL_RULES, { node: 'a', now: world.clock.wall() });
    return told.id;
  };
  const get = (path: string, secret: string) => world.ask({ path, key: secret });
  const seen = async (path: string, secret: string) => {
    const { status, json } = await get(path, secret);
    return [status, json['code']];
  };

  test('is shown with its message, and as it came', async () => {
    const owner = await world.key({ scopes: CONTENT });
    const { json } = await world.post(owner, MAIL);
    const message = String(json['id']);
    const id = await keep(telling(message, { kind: 'bounce', recipient: 'bob@example.org' }));
    const entry = {
      id,
      at: new Date(world.clock.wall()).toISOString(),
      source: 'dsn',
      kind: 'bounce',
      message,
      recipient: 'bob@example.org',
      contentType: 'message/rfc822',
    };
    expect((await get(`/api/v1/messages/${message}/feedback`, owner)).json).toEqual({ feedback: [entry] });
    expect((await get(`${PATH}/${id}`, owner)).json).toEqual({ ...entry, content: 'RnJvbTo=' });
  });

  test('of the messages of others is not there, nor what is about no message', async () => {
    const owner = await world.key({ scopes: CONTENT });
    const stranger = await world.key({ scopes: CONTENT });
    const all = await world.key({ scopes: ['messages:content', 'messages:read_all'] });
    const reader = await world.key({ scopes: ['messages:read', 'messages:read_all'] });
    const { json } = await world.post(owner, MAIL);
    const message = String(json['id']);
    const id = await keep(telling(message));
    const nobodys = await keep(telling(null, {}, { items: [] }));
    expect(await seen(`${PATH}/${id}`, stranger)).toEqual([404, 'not_found']);
    expect(await seen(`/api/v1/messages/${message}/feedback`, stranger)).toEqual([404, 'message_not_found']);
    expect(await seen(`${PATH}/${nobodys}`, owner)).toEqual([404, 'not_found']);
    expect(await seen(`${PATH}/fbk_none`, all)).toEqual([404, 'not_found']);
    for (const path of [`${PATH}/${id}`, `${PATH}/${nobodys}`, `/api/v1/messages/${message}/feedback`]) {
      expect(await seen(path, all)).toEqual([200, undefined]);
      expect(await seen(path, reader)).toEqual([403, 'scope_missing']);
    }
  });
});
