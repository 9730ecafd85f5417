/** What programs may give by mistake: no call rejects, and each says what is wrong without asking the server. */
import { beforeEach, expect, test } from 'vitest';
import { FaultyApi } from '../../test/peers/faulty-api.ts';
import { ManualMachine } from '../../test/support/manual-machine.ts';
import type { Result } from './result.ts';
import { Waybill } from './waybill.ts';

const LETTER = { from: 'a@example.com', to: 'b@example.net', text: 'x' };
const RAW = 'From: a@example.com\r\n\r\nx\r\n';
const ENVELOPE = { from: 'a@example.com', to: 'b@example.net' };
const HALF_A_CHARACTER = '\ud800';

let api: FaultyApi;
let client: Waybill;
beforeEach(async () => {
  api = await FaultyApi.start();
  client = new Waybill({ url: api.url, key: 'wb_live_x', machine: new ManualMachine() });
});

/** What a program without types gives: taken for whatever type is asked for. */
function untyped<T>(value: unknown): T {
  return value as T;
}

const gone = new Blob([]);
gone.arrayBuffer = () => Promise.reject(new Error('the file is gone'));

test.for<[string, (client: Waybill) => Promise<Result<unknown>>, RegExp]>([
  ['a key with a line break', (c) => c.send(LETTER, { idempotencyKey: 'a\nb' }), /^idempotencyKey must/],
  [
    'a key that is a number',
    (c) => c.send(LETTER, { idempotencyKey: untyped(4711) }),
    /^idempotencyKey must/,
  ],
  ['a file that is gone', (c) => c.send({ ...LETTER, attachments: [{ content: gone }] }), /the file is gone/],
  [
    'an attachment that names a path',
    (c) => c.send({ ...LETTER, attachments: [{ content: 'eA==' }, untyped({ path: '/x' })] }),
    /^attachments\[1\]\.content must be .*readFile/,
  ],
  [
    'an attachment that is a buffer',
    (c) => c.send({ ...LETTER, attachments: [{ content: untyped(new ArrayBuffer(4)) }] }),
    /^attachments\[0\]\.content must be .*new Uint8Array\(buffer\)/,
  ],
  ['attachments that are none', (c) => c.send({ ...LETTER, attachments: untyped('x') }), /^attachments must/],
  ['no message', (c) => c.send(untyped(undefined)), /^A message must/],
  ['a dry run that sends', (c) => c.send(untyped({ ...LETTER, dryRun: true })), /check\(message\)/],
  ['a dry run in a batch', (c) => c.sendBatch([LETTER, untyped({ ...LETTER, dryRun: true })]), /check\(/],
  ['a batch that is none', (c) => c.sendBatch(untyped(LETTER)), /^messages must be an array/],
  ['a time that is a number', (c) => c.send({ ...LETTER, sendAt: untyped(5) }), /^sendAt must be a Date/],
  ['what JSON cannot say', (c) => c.send({ ...LETTER, subject: untyped(5n) }), /BigInt/],
  ['a list since a number', (c) => c.listPage({ since: untyped(5) }), /^since must be a Date/],
  ['a raw message that is none', (c) => c.sendRaw(untyped(5), ENVELOPE), /^content must be/],
  ['a raw message to nobody', (c) => c.sendRaw(RAW, untyped({ from: 'a@x' })), /^envelope\.to must/],
  ['a raw message without envelope', (c) => c.checkRaw(RAW, untyped(undefined)), /^envelope\.from must/],
  ['no id', (c) => c.get(''), /^id must/],
  ['an id that leads up', (c) => c.cancel('..'), /^id must/],
  ['an id that leads nowhere', (c) => c.resend('.'), /^id must/],
  ['an id that is none', (c) => c.attempts(untyped(undefined)), /^id must/],
  ['half a character', (c) => c.get(HALF_A_CHARACTER), /cannot be sent/],
  ['no number of milliseconds', (c) => c.get('msg_1', { timeoutMs: Number.NaN }), /^timeoutMs must/],
  ['time before now', (c) => c.get('msg_1', { timeoutMs: -1 }), /^timeoutMs must/],
  ['no number to wait', (c) => c.wait('msg_1', { timeoutMs: Number.NaN }), /^timeoutMs must/],
  ['a signal that is none', (c) => c.ready({ signal: untyped({}) }), /^signal must/],
])('%s', async ([, call, message]) => {
  expect(await call(client)).toEqual({
    ok: false,
    error: { kind: 'input', message: expect.stringMatching(message), maybeAccepted: false },
  });
  expect(api.received).toEqual([]);
});

test('null is nothing', async () => {
  const sent = await client.send(LETTER, { idempotencyKey: null, signal: null, timeoutMs: null });
  expect(sent).toMatchObject({ ok: true, value: { idempotencyKey: 'key-1' } });
  expect(await client.send(LETTER, untyped(null))).toMatchObject({ ok: true });
  const options = { fetch: null, timeoutMs: null, tryTimeoutMs: null, maxRetries: null };
  expect(await new Waybill({ ...options, url: api.url, key: 'k' }).send(LETTER)).toMatchObject({ ok: true });
});

test('a URL or a key that can never work is refused when the client is made', () => {
  const make =
    (url: string | undefined, key: string | undefined = 'wb_live_x') =>
    () =>
      new Waybill({ url, key });
  for (const url of ['', 'localhost:8025', 'ftp://localhost', 'http://me@localhost', 'http://localhost/?a=b'])
    expect(make(url), url).toThrow(TypeError);
  for (const key of ['', 'wb live', 'wb_live_x\n'])
    expect(make('http://localhost', key), key).toThrow(TypeError);
  expect(make('http://localhost:8025/mail/')).not.toThrow();
  expect(make(undefined)).toThrow(/^url is undefined: .*environment variable/);
  const { UNSET_KEY: key } = process.env;
  expect(() => new Waybill({ url: 'http://localhost', key })).toThrow(/^key is undefined: .*is not set/);
  const timeoutMs = Number.NaN;
  expect(() => new Waybill({ url: 'http://localhost', key: 'k', timeoutMs })).toThrow(TypeError);
});

test('the address of the API is as good as that of the server', async () => {
  for (const end of ['', '/', '/api/v1', '/api/v1/'])
    await new Waybill({ url: `${api.url}${end}`, key: 'k' }).get('msg_1');
  expect(api.received.map(({ path }) => path)).toEqual(Array(4).fill('/api/v1/messages/msg_1'));
});
