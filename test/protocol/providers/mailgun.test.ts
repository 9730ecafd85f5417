/** Mailgun: what it is sent, and what each of its answers makes of a message. */
import { Readable } from 'node:stream';
import busboy from 'busboy';
import { expect, test } from 'vitest';
import { MAILGUN_ANSWERS } from '../../../src/transport/providers/mailgun.ts';
import type { AnswerRow } from '../../../src/transport/providers/provider.ts';
import { type ApiAnswer, type ApiRequest, answerJson } from '../../peers/provider-api.ts';
import { only } from '../smtp-out/rig.ts';
import { expectMeaning, SECRET, startProvider } from './rig.ts';

const MAILGUN = { type: 'mailgun', domain: 'mg.example.com' } as const;
const TAKEN = answerJson(200, { id: '<2026.1@mg.example.com>', message: 'Queued. Thank you.' });

/** What Mailgun says where its status does not tell. */
const TEXTS: Readonly<Record<string, string>> = {
  test_account:
    'Sandbox subdomains are for test purposes only. Please add the address to authorized recipients.',
  limit_exceeded:
    'Domain mg.example.com is not allowed to send: recipient limit exceeded, try again after 1h',
  domain_disabled: 'Domain mg.example.com is not allowed to send: The domain is unverified',
  account_disabled: 'Your account has been disabled',
  too_large: 'message too large',
  bad_message: 'need at least one of text or html parameters specified',
  bad_recipient: "'to' parameter is not a valid address. please check documentation",
};

test('the message goes as it stands in a form, to the envelope’s recipients', async () => {
  const rig = await startProvider(MAILGUN);
  rig.api.script.push(TAKEN);
  const content = 'From: a@example.org\r\nTo: list@example.org\r\n\r\nHello ü.\r\n';
  const to = ['"a,b"@example.net', 'two@example.net'];
  const result = await rig.deliver({ content, to });
  expect(result.outcomes[0]).toMatchObject({
    kind: 'delivered',
    providerMessageId: '<2026.1@mg.example.com>',
  });
  const [request] = rig.api.requests;
  if (!request) throw new Error('nothing came');
  expect(request).toMatchObject({ method: 'POST', path: '/v3/mg.example.com/messages.mime' });
  expect(request.headers['authorization']).toBe(`Basic ${Buffer.from(`api:${SECRET}`).toString('base64')}`);
  expect(await formOf(request)).toEqual({ to, message: content });
});

test('the boundary is one that stands nowhere in the message', async () => {
  const rig = await startProvider(MAILGUN, { api: { answer: () => TAKEN } });
  await rig.deliver();
  const [, boundary = ''] = /boundary=(.+)$/.exec(rig.api.requests[0]?.headers['content-type'] ?? '') ?? [];
  const content = `Subject: x\r\n\r\n--${boundary}--\r\n`;
  await rig.deliver({ content });
  const request = rig.api.requests[1];
  if (!request) throw new Error('nothing came');
  expect(await formOf(request)).toMatchObject({ message: content });
});

test.each([
  ['headers that are not ASCII', { flags: { utf8: true } }, 'smtputf8_unsupported'],
  ['the null reverse-path', { from: '' }, 'null_reverse_path'],
  [
    'more than 1,000 recipients',
    { to: Array.from({ length: 1001 }, (_, i) => `u${i}@x.test`) },
    'too_many_recipients',
  ],
  ['more than 25 MB', { sizeBytes: 25_000_001 }, 'message_too_large'],
])('%s cannot be said to Mailgun: nothing is sent', async (_what, mail, cause) => {
  const rig = await startProvider(MAILGUN);
  const result = await rig.deliver(mail);
  for (const outcome of result.outcomes)
    expect(outcome).toMatchObject({ kind: 'rejected', hopBound: true, reply: { cause } });
  expect(rig.api.requests).toEqual([]);
});

test.each(MAILGUN_ANSWERS)('$status $code: $meaning', async (row) => {
  const rig = await startProvider(MAILGUN);
  rig.api.script.push(answerOf(row));
  expectMeaning(await rig.deliver(), row);
});

test.each([
  [401, 'Forbidden', 'deferred', true, 'provider_401'],
  [400, TEXTS['domain_disabled'], 'deferred', true, 'provider_domain_disabled'],
  [400, TEXTS['limit_exceeded'], 'deferred', true, 'provider_limit_exceeded'],
  [403, TEXTS['test_account'], 'deferred', false, 'provider_test_account'],
  [400, TEXTS['bad_recipient'], 'rejected', false, 'provider_bad_recipient'],
  [400, 'need at least one of text or html', 'rejected', false, 'provider_bad_message'],
  [400, 'Something new', 'deferred', false, 'provider_400'],
  [418, 'Something new', 'deferred', false, 'provider_418'],
  [413, 'Message size limit exceeded', 'rejected', false, 'provider_too_large'],
  [400, 'Message size limit exceeded', 'rejected', false, 'provider_too_large'],
  [400, 'not a valid address: "limit exceeded"@x.example', 'rejected', false, 'provider_bad_recipient'],
  [400, 'cannot parse "account disabled" <limit@exceeded.example>', 'deferred', false, 'provider_400'],
  [400, 'Sending is disabled for this account', 'deferred', true, 'provider_account_disabled'],
  [400, 'Domain is not verified', 'deferred', true, 'provider_domain_disabled'],
  [404, 'Domain not found: mg.example.com', 'deferred', true, 'provider_404'],
] as const)('%i %s', async (status, message = '', kind, hopFailed, cause) => {
  const rig = await startProvider(MAILGUN);
  rig.api.script.push(answerJson(status, { message }));
  expect(only(await rig.deliver())).toMatchObject({ kind, hopFailed, cause, code: status });
});

test.each([
  [400, { message: "'to' parameter is missing" }, true],
  [401, { message: 'Forbidden' }, false],
  [404, { message: 'Domain not found' }, false],
  [400, { message: 'Domain x is not allowed to send' }, false],
  [500, {}, false],
])('asked whether the key is good: %i %j', async (status, body, isGood) => {
  const rig = await startProvider(MAILGUN);
  rig.api.script.push(answerJson(status, body));
  expect((await rig.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(isGood);
  expect(rig.api.requests[0]?.body).toHaveLength(0);
});

/** The answer that a row is for. */
function answerOf({ status, code }: AnswerRow): ApiAnswer {
  if (status === 200) return TAKEN;
  return answerJson(typeof status === 'number' ? status : 400, { message: TEXTS[code ?? ''] ?? 'no' });
}

/** The form's fields as another parser reads them. */
function formOf({ headers, body }: ApiRequest): Promise<{ to: string[]; message: string }> {
  return new Promise((resolve, reject) => {
    const to: string[] = [];
    const message: Buffer[] = [];
    const parser = busboy({ headers });
    parser.on('field', (name, value) => void (name === 'to' && to.push(value)));
    parser.on(
      'file',
      (name, stream) => void (name === 'message' && stream.on('data', (chunk) => message.push(chunk))),
    );
    parser.on('close', () => resolve({ to, message: Buffer.concat(message).toString() }));
    parser.on('error', reject);
    Readable.from([body]).pipe(parser);
  });
}
