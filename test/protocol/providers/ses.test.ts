/** Amazon SES: what it is sent, and what each of its answers makes of a message. */
import { expect, test } from 'vitest';
import type { AnswerRow } from '../../../src/transport/providers/provider.ts';
import { sesAnswers } from '../../../src/transport/providers/ses.ts';
import { type ApiAnswer, type ApiRequest, answerJson } from '../../peers/provider-api.ts';
import { linesOf, only } from '../smtp-out/rig.ts';
import { expectMeaning, type RigSettings, SECRET, startProvider } from './rig.ts';

const SES: RigSettings = {
  type: 'ses',
  region: 'eu-west-1',
  accessKeyId: 'AKIDEXAMPLE',
  configurationSet: 'bulk',
};
const NOT_FOUND = 'provider_not_found_exception';
const PAUSED = 'provider_sending_paused_exception';
const NOT_THIS_IDENTITY =
  "User `arn:aws:iam::1:user/x' is not authorized to perform `ses:SendRawEmail' on resource `arn:aws:ses:eu-west-1:1:identity/other.example'";
const CONTENT = 'From: a@example.org\r\n\r\nHello, 8bit ü.\r\n';

test('the message goes as it stands, to the envelope’s recipients', async () => {
  const rig = await startProvider(SES);
  rig.api.script.push(answerJson(200, { MessageId: '0102-abc' }));
  const result = await rig.deliver({ content: CONTENT, to: ['one@example.net', 'two@example.net'] });
  expect(result.outcomes).toMatchObject([
    { kind: 'delivered', providerMessageId: '0102-abc' },
    { kind: 'delivered', providerMessageId: '0102-abc' },
  ]);
  const [request] = rig.api.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/v2/email/outbound-emails' });
  expect(JSON.parse(String(request?.body))).toEqual({
    FromEmailAddress: 'sender@example.org',
    Destination: { BccAddresses: ['one@example.net', 'two@example.net'] },
    ConfigurationSetName: 'bulk',
    Content: { Raw: { Data: Buffer.from(CONTENT).toString('base64') } },
  });
  expect(request?.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261120\/eu-west-1\/ses\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
  );
  expect(JSON.stringify([result, rig.log])).not.toMatch(/AWS4-HMAC|Signature=/);
});

test('a large message is base64 without a seam', async () => {
  const rig = await startProvider(SES, { api: { answer: () => answerJson(200, { MessageId: 'x' }) } });
  const content = linesOf(3_000_000);
  await rig.deliver({ content: [content] });
  const { Content } = JSON.parse(String(rig.api.requests[0]?.body));
  expect(Buffer.from(Content.Raw.Data, 'base64').equals(content)).toBe(true);
  expect(Content.Raw.Data).toBe(content.toString('base64'));
});

test.each([
  ['headers that are not ASCII', { flags: { utf8: true } }, 'smtputf8_unsupported'],
  ['an address that is not ASCII', { to: ['jürgen@example.net'] }, 'smtputf8_unsupported'],
  ['the null reverse-path', { from: '' }, 'null_reverse_path'],
  [
    'more than 50 recipients',
    { to: Array.from({ length: 51 }, (_, i) => `u${i}@x.test`) },
    'too_many_recipients',
  ],
  ['more than 40 MB', { sizeBytes: 40_000_001 }, 'message_too_large'],
])('%s cannot be said to SES: nothing is sent', async (_what, mail, cause) => {
  const rig = await startProvider(SES);
  const result = await rig.deliver(mail);
  for (const outcome of result.outcomes)
    expect(outcome).toMatchObject({ kind: 'rejected', hopBound: true, reply: { cause } });
  expect(result.hopFailed).toBe(false);
  expect(rig.api.requests).toEqual([]);
});

test('signatures are taken out, of which SES takes one at most', async () => {
  const rig = await startProvider(SES, { api: { answer: refuseDuplicates } });
  const signature = 'v=1; a=rsa-sha256;\r\n\tb=abc\r\n =\r\n';
  const content =
    `DKIM-Signature: ${signature}dkim-signature : ${signature}Received: a\r\nReceived: b\r\n` +
    `From: a@example.org\r\nDomainKey-Signature: x\r\nSubject: x\r\n\r\nDKIM-Signature: stays\r\n`;
  expect(only(await rig.deliver({ content })).kind).toBe('delivered');
  expect(rawOf(rig.api.requests[0])).toBe(
    'Received: a\r\nReceived: b\r\nFrom: a@example.org\r\nSubject: x\r\n\r\nDKIM-Signature: stays\r\n',
  );
});

test.each([0, 1, 2])(
  'what is taken out leaves no seam, whatever its place modulo three (%i)',
  async (more) => {
    const rig = await startProvider(SES, { api: { answer: () => answerJson(200, { MessageId: 'x' }) } });
    const [before, after] = [
      `X: ${'a'.repeat(more)}\r\n`,
      `From: a@example.org\r\n\r\n${'b'.repeat(1000 + more)}\r\n`,
    ];
    await rig.deliver({ content: `${before}DKIM-Signature: x\r\n${after}` });
    const { Data } = JSON.parse(String(rig.api.requests[0]?.body)).Content.Raw;
    expect(Data).toBe(Buffer.from(before + after).toString('base64'));
  },
);

test.each(['Subject', 'LIST-ID', 'Return-Path', 'Thread-Index'])(
  '%s twice: another relay may take it',
  async (name) => {
    const rig = await startProvider(SES, { api: { answer: refuseDuplicates } });
    const content = `${name}: a\r\nX-Other: a\r\n${name.toLowerCase()}: b\r\n\r\nHello.\r\n`;
    expect(only(await rig.deliver({ content }))).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      cause: 'header_repeated',
    });
    expect(rig.api.connections).toBe(0);
  },
);

test.each(sesAnswers('bulk'))('$status $code: $meaning', async (row) => {
  const rig = await startProvider(SES);
  rig.api.script.push(answerOf(row));
  expectMeaning(await rig.deliver(), row);
});

test.each([
  [400, 'MessageRejected', 'Email address is not verified: x', 'deferred', false, 'provider_not_verified'],
  [400, 'MessageRejected', 'Virus', 'rejected', false, 'provider_message_rejected'],
  [400, 'AccountSuspendedException', '', 'deferred', true, 'provider_account_suspended_exception'],
  [400, 'SendingPausedException', '', 'deferred', true, 'provider_sending_paused_exception'],
  [429, 'TooManyRequestsException', '', 'deferred', true, 'provider_too_many_requests_exception'],
  [403, 'InvalidSignatureException', '', 'deferred', true, 'provider_invalid_signature_exception'],
  [403, 'SomethingNew', '', 'deferred', true, 'provider_something_new'],
  [418, 'SomethingNew', '', 'deferred', false, 'provider_something_new'],
  [400, 'BadRequestException', 'Illegal address', 'rejected', false, 'provider_invalid_message'],
  [400, 'BadRequestException', 'Something new', 'deferred', false, 'provider_bad_request_exception'],
  [400, 'BadRequestException', "Duplicate header 'X'.", 'deferred', false, 'provider_duplicate_header'],
  [400, 'BadRequestException', 'Configuration set <x> does not exist.', 'deferred', true, NOT_FOUND],
  [400, 'MessageRejected', 'Sending paused for this account.', 'deferred', true, PAUSED],
  [400, 'MessageRejected', 'Sending suspended for this account.', 'deferred', true, PAUSED],
  [403, 'AccessDeniedException', NOT_THIS_IDENTITY, 'deferred', false, 'provider_identity_denied'],
  [403, 'AccessDeniedException', 'no', 'deferred', true, 'provider_access_denied_exception'],
] as const)('%i %s %s', async (status, code, message, kind, hopFailed, cause) => {
  const rig = await startProvider(SES);
  rig.api.script.push(answerJson(status, { message }, { 'x-amzn-errortype': `${code}:http://aws.example/` }));
  expect(only(await rig.deliver())).toMatchObject({ kind, hopFailed, cause, code: status, hopBound: false });
});

test.each([
  ['BadRequestException', 'Configuration set <x> does not exist.'],
  ['NotFoundException', ''],
  ['ConfigurationSetSendingPausedException', ''],
])('%s %s is no illness of a relay that names no configuration set', async (code, message) => {
  const rig = await startProvider({ ...SES, configurationSet: null } as RigSettings);
  rig.api.script.push(answerJson(400, { message }, { 'x-amzn-errortype': code }));
  expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', hopFailed: false });
});

test('an error’s type may stand in the body', async () => {
  const rig = await startProvider(SES);
  rig.api.script.push(answerJson(400, { __type: 'com.amazonaws.ses#LimitExceededException', Message: 'no' }));
  expect(only(await rig.deliver())).toMatchObject({
    hopFailed: true,
    text: 'LimitExceededException: no (means: A quota of the account is used up)',
  });
});

test.each([
  [answerJson(200, { SendingEnabled: true, ProductionAccessEnabled: true }), true],
  [answerJson(200, { SendingEnabled: true, ProductionAccessEnabled: false }), true],
  [answerJson(200, { SendingEnabled: false, ProductionAccessEnabled: true }), false],
  [answerJson(403, {}, { 'x-amzn-errortype': 'AccessDeniedException' }), true],
  [answerJson(403, {}, { 'x-amzn-errortype': 'UnrecognizedClientException' }), false],
  [answerJson(500, {}), false],
  [answerJson(200, {}), false],
  [{ kind: 'answer', status: 200, body: '<html>hi' }, false],
  [answerJson(200, { SendingEnabled: true, SendQuota: { Max24HourSend: 9, SentLast24Hours: 9 } }), false],
  [answerJson(200, { SendingEnabled: true, SendQuota: { Max24HourSend: -1, SentLast24Hours: 9 } }), true],
] as const)('asked whether the account is well: %j', async (answer, isWell) => {
  const rig = await startProvider(SES);
  rig.api.script.push(answer);
  expect((await rig.transport.probe?.(new AbortController().signal))?.trouble === null).toBe(isWell);
  expect(rig.api.requests).toMatchObject([{ method: 'GET', path: '/v2/email/account' }]);
});

/** Refuses what SES refuses of fields that stand twice. */
function refuseDuplicates(request: ApiRequest): ApiAnswer {
  const [head = ''] = rawOf(request).split('\r\n\r\n');
  const names = [...head.matchAll(/^([^\s:]+)[ \t]*:/gm)].map(([, name = '']) => name.toLowerCase());
  const twice = names.find((name, index) => name !== 'received' && names.indexOf(name) < index);
  if (twice === undefined) return answerJson(200, { MessageId: 'x' });
  return answerJson(
    400,
    { message: `Duplicate header '${twice}'.` },
    { 'x-amzn-errortype': 'BadRequestException' },
  );
}

function rawOf(request: ApiRequest | undefined): string {
  return Buffer.from(JSON.parse(String(request?.body)).Content.Raw.Data, 'base64').toString();
}

/** Of our codes: SES's own, and its text. */
const OURS: Readonly<Record<string, readonly [string, string]>> = {
  NotVerified: ['MessageRejected', 'Email address is not verified.'],
  IdentityDenied: ['AccessDeniedException', NOT_THIS_IDENTITY],
  DuplicateHeader: ['BadRequestException', "Duplicate header 'X'."],
  InvalidMessage: ['BadRequestException', "Missing final '@domain'"],
};

/** The answer that a row is for. */
function answerOf({ status, code }: AnswerRow): ApiAnswer {
  if (status === 200) return answerJson(200, { MessageId: 'x' });
  const [type, text] = OURS[code ?? ''] ?? [code, `no ${SECRET}`];
  const headers: Record<string, string> = type === undefined ? {} : { 'x-amzn-errortype': type };
  return answerJson(typeof status === 'number' ? status : 400, { message: text }, headers);
}
