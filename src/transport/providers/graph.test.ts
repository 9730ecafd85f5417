import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../domain/relay.ts';
import { atOnce } from '../../lib/clock.ts';
import { graphProvider } from './graph.ts';
import type { HttpAnswer, ProviderMessage } from './provider.ts';

type GraphSettings = Extract<ProviderSettings, { readonly type: 'graph' }>;

const SETTINGS: GraphSettings = {
  type: 'graph',
  endpoint: 'https://graph.microsoft.com/v1.0',
  authority: 'https://login.microsoftonline.com',
  tenant: 'contoso.example',
  clientId: '11112222-aaaa',
  secret: 's3cr+t&',
  mailbox: 'news@example.com',
  allowPrivate: false,
};
const CONTEXT = { now: 1_700_000_000_000, token: 'the.token' };

function mail(text = 'Hello.\r\n', bcc: readonly string[] = []): ProviderMessage {
  const recipients = [
    { address: 'bob@example.org', kind: 'to' as const, notify: null, orcpt: null },
    ...bcc.map((address) => ({ address, kind: 'bcc' as const, notify: null, orcpt: null })),
  ];
  return {
    id: 'msg_01',
    envelope: { reversePath: 'jane@example.com', recipients, ret: null, envid: null },
    flags: { eightBit: false, utf8: false, dotStuffing: false },
    content: Buffer.from(`From: jane@example.com\r\nTo: bob@example.org\r\n\r\n${text}`),
  };
}

function prepared(message: ProviderMessage, settings = SETTINGS) {
  const result = atOnce(graphProvider(settings).prepare(message, CONTEXT));
  if (!result.ok) throw new Error(result.reply.text);
  return { ...result.request, text: Buffer.concat(result.request.body).toString('latin1') };
}

function answer(status: number, body: string): HttpAnswer {
  return { status, headers: {}, body };
}

test('the message is posted as base64, byte for byte', () => {
  const message = mail('Grüße, 1.\r\n');
  const { method, url, headers, text } = prepared(message);
  expect({ method, url, headers }).toEqual({
    method: 'POST',
    url: 'https://graph.microsoft.com/v1.0/users/news%40example.com/sendMail',
    headers: { authorization: 'Bearer the.token', 'content-type': 'text/plain' },
  });
  expect(Buffer.from(text, 'base64')).toEqual(message.content);
});

test('without a mailbox, From names it', () => {
  const { url } = prepared(mail(), { ...SETTINGS, mailbox: null });
  expect(url).toContain('/users/jane%40example.com/sendMail');
});

test('blind copies are told above a message that stays as it is', () => {
  const message = mail('Hello.\r\n', ['ann@example.net']);
  const handed = Buffer.from(prepared(message).text, 'base64').toString();
  expect(handed).toBe(`Bcc: ann@example.net\r\n${message.content}`);
});

test('pieces of a long message join without a seam, and the loop has its turns between them', () => {
  const message = mail('0123456789abcde\r\n'.repeat(130_000));
  const work = graphProvider(SETTINGS).prepare(message, CONTEXT);
  let turns = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) turns++;
  expect(turns).toBe(8);
  if (!step.value.ok) throw new Error(step.value.reply.text);
  const text = Buffer.concat(step.value.request.body).toString();
  expect(text).toBe(message.content.toString('base64'));
});

test('the largest message fits into 4 MB, and blind copies may make it too large', () => {
  const { maxMessageBytes } = graphProvider(SETTINGS);
  const room = maxMessageBytes - mail('').content.length;
  expect(prepared(mail('x'.repeat(room))).text).toHaveLength(4_000_000);
  const tooLarge = atOnce(
    graphProvider(SETTINGS).prepare(mail('x'.repeat(room), ['a@example.net']), CONTEXT),
  );
  expect(tooLarge).toMatchObject({ ok: false, reply: { cause: 'message_too_large', enhanced: '5.3.4' } });
});

test('a header that is not ASCII is refused', () => {
  const message = { ...mail(), flags: { eightBit: true, utf8: true, dotStuffing: false } };
  expect(atOnce(graphProvider(SETTINGS).prepare(message, CONTEXT))).toMatchObject({
    ok: false,
    reply: { cause: 'smtputf8_unsupported' },
  });
});

test('an application asks for its token with its own credentials', () => {
  const tokens = graphProvider(SETTINGS).tokens ?? expect.fail('it needs tokens');
  const request = tokens.ask(0);
  expect(request).toMatchObject({
    method: 'POST',
    url: 'https://login.microsoftonline.com/contoso.example/oauth2/v2.0/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(Object.fromEntries(new URLSearchParams(Buffer.concat(request.body).toString()))).toEqual({
    client_id: '11112222-aaaa',
    client_secret: 's3cr+t&',
    grant_type: 'client_credentials',
    scope: 'https://graph.microsoft.com/.default',
  });
});

test.each([
  ['https://graph.microsoft.us/v1.0', 'https://graph.microsoft.us/.default'],
  ['https://microsoftgraph.chinacloudapi.cn/v1.0', 'https://microsoftgraph.chinacloudapi.cn/.default'],
  ['http://127.0.0.1:8080', 'https://graph.microsoft.com/.default'],
])('at %s the token is for %s', (endpoint, scope) => {
  const tokens = graphProvider({ ...SETTINGS, endpoint }).tokens ?? expect.fail('it needs tokens');
  expect(new URLSearchParams(Buffer.concat(tokens.ask(0).body).toString()).get('scope')).toBe(scope);
});

const given = (token: string, forMs: number) => ({ token, forMs, isRotated: false });

test.each([
  ['seconds', 200, '{"access_token":"a.b-c","expires_in":3599}', given('a.b-c', 3_599_000)],
  ['seconds as text', 200, '{"access_token":"a","expires_in":"60"}', given('a', 60_000)],
  ['no time', 200, '{"access_token":"a"}', given('a', 3_600_000)],
  ['no time left', 200, '{"access_token":"a","expires_in":0}', null],
  ['a time that is none', 200, '{"access_token":"a","expires_in":[60]}', null],
  ['a time in words', 200, '{"access_token":"a","expires_in":"0x10"}', null],
  [
    'a type in capitals',
    200,
    '{"token_type":"BEARER","access_token":"a","expires_in":60}',
    given('a', 60_000),
  ],
  ['a token of another type', 200, '{"token_type":"mac","access_token":"a","expires_in":60}', null],
  [
    'a refresh token, which is of no use here',
    200,
    '{"access_token":"a","refresh_token":"r"}',
    given('a', 3_600_000),
  ],
  ['no token', 200, '{"expires_in":3599}', null],
  ['a token that breaks a line', 200, '{"access_token":"a\\r\\nx: y","expires_in":3599}', null],
  ['no JSON', 200, '<html>', null],
  ['null', 200, 'null', null],
  ['a refusal', 400, '{"error":"invalid_client","access_token":"a","expires_in":1}', null],
])('an answer with %s', (_, status, body, expected) => {
  expect(graphProvider(SETTINGS).tokens?.read(answer(status, body))).toEqual(expected);
});

test('errors are read, and nothing else is understood', () => {
  const { read } = graphProvider(SETTINGS);
  const error = { error: { code: 'ErrorSendAsDenied', message: 'May not.', innerError: { date: 'x' } } };
  expect(read(answer(403, JSON.stringify(error)))).toEqual({
    code: 'ErrorSendAsDenied',
    text: 'May not.',
    messageId: null,
    understood: true,
  });
  expect(read(answer(202, ''))).toMatchObject({ code: null, understood: true });
  for (const body of ['', '<html>', '[]', '"x"', '{"error":"x"}', `{"error":{"code":"${'x'.repeat(101)}"}}`])
    expect(read(answer(200, body))).toMatchObject({ code: null, text: null, understood: false });
});

test('the check hands over what is no message, and only that complaint is a good sign', () => {
  const provider = graphProvider(SETTINGS);
  const request = provider.check(CONTEXT);
  expect(request).toMatchObject({ method: 'POST', url: expect.stringContaining('/users/news%40') });
  expect(Buffer.concat(request?.body ?? []).toString()).toBe('!');
  const says = (status: number, code: string) =>
    provider.checked?.(answer(status, JSON.stringify({ error: { code, message: 'm' } })));
  expect(says(400, 'ErrorMimeContentInvalidBase64String')).toMatchObject({ good: true });
  expect(says(403, 'ErrorAccessDenied')).toBeNull();
  expect(says(202, '')).toBeNull();
});

test('without a mailbox there is nothing to check but the token', () => {
  expect(graphProvider({ ...SETTINGS, mailbox: null }).check(CONTEXT)).toBeNull();
});
