import { describe, expect, test } from 'vitest';
import { postmarkProvider } from '../../../src/transport/providers/postmark.ts';
import { answerJson } from '../../peers/provider-api.ts';
import { only } from '../smtp-out/rig.ts';
import {
  FULL,
  FULL_FILES,
  FULL_HTML,
  FULL_PLAIN,
  REFUSALS,
  SIMPLE,
  sentJson,
  settingsOf,
  startTested,
  type Tested,
  testAnswers,
  testBlindCopies,
  testRefusals,
  testSlices,
  testStrangers,
} from './rebuilt.ts';
import { SECRET } from './rig.ts';

const ID = 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817';
const TAKEN = answerJson(200, { ErrorCode: 0, Message: 'OK', MessageID: ID, To: 'b@b.test' });

const TESTED: Tested = {
  settings: { type: 'postmark', messageStream: 'broadcasts' },
  make: (settings) => {
    if (settings.type !== 'postmark') throw new Error(settings.type);
    return postmarkProvider(settings);
  },
  taken: TAKEN,
};

function refused(code: number, status = 422) {
  return answerJson(status, { ErrorCode: code, Message: 'No.' });
}

test('a message is rebuilt without loss', async () => {
  const { request, json } = await sentJson(TESTED, FULL);
  expect(request).toMatchObject({
    method: 'POST',
    path: '/email',
    headers: {
      'x-postmark-server-token': SECRET,
      'content-type': 'application/json',
      accept: 'application/json',
    },
  });
  expect(json).toEqual({
    From: 'Jörg Müller <joerg@a.test>',
    To: '"Doe, John" <john@b.test>, c@b.test',
    Cc: 'Привет <d@b.test>',
    Bcc: 'blind@c.test',
    ReplyTo: 'Team <team@a.test>, r@a.test',
    Subject: 'Grüße €',
    TextBody: FULL_PLAIN,
    HtmlBody: FULL_HTML,
    Headers: [
      { Name: 'X-PM-KeepID', Value: 'true' },
      { Name: 'Message-ID', Value: '<1@a.test>' },
      { Name: 'List-Unsubscribe', Value: '<https://a.test/u>, <mailto:u@a.test>' },
      { Name: 'X-Note', Value: '=?utf-8?Q?=C3=BC?=' },
    ],
    Attachments: [
      { Name: 'logo.png', ContentType: 'image/png', ContentID: 'cid:logo@a.test', Content: FULL_FILES.png },
      { Name: 'grüße.bin', ContentType: 'application/octet-stream', Content: FULL_FILES.bin },
    ],
    MessageStream: 'broadcasts',
  });
});

test('what a message does not have is left out', async () => {
  const { json } = await sentJson({ ...TESTED, settings: { type: 'postmark', messageStream: null } }, SIMPLE);
  expect(json).toEqual({ From: 'a@a.test', To: 'b@b.test', Subject: 's', TextBody: 'Hello.\r\n' });
});

test('header fields may repeat, and types have parameters', async () => {
  const content =
    'From: a@a.test\r\nTo: b@b.test\r\nComments: 1\r\nComments: 2\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
    '--b\r\n\r\nx\r\n--b\r\nContent-Type: text/csv; charset=utf-8; header="a b"\r\n' +
    'Content-Disposition: attachment; filename=a.csv\r\n\r\nü\r\n--b--\r\n';
  const { json } = await sentJson(TESTED, { ...SIMPLE, content });
  expect(json.Subject).toBe('');
  expect(json.Headers.map(({ Value }: { Value: string }) => Value)).toEqual(['1', '2']);
  expect(json.Attachments[0].ContentType).toBe('text/csv; charset=utf-8; header="a b"');
});

test('the id is kept', async () => {
  const rig = await startTested(TESTED);
  expect((await rig.deliver(SIMPLE)).outcomes).toMatchObject([{ kind: 'delivered', providerMessageId: ID }]);
});

describe('answers', () => {
  testAnswers(TESTED, [
    [TAKEN, 'delivered'],
    [answerJson(200, {}), 'unknown'],
    [answerJson(200, { ErrorCode: 406, Message: 'No.', MessageID: ID }), 'unknown'],
    [{ kind: 'answer', status: 200, body: '<html>' }, 'unknown'],
    [answerJson(202, {}), 'unknown'],
    [{ kind: 'answer', status: 302, headers: { location: 'http://127.0.0.1/' } }, 'ill'],
    [refused(10, 401), 'ill'],
    [{ kind: 'answer', status: 403, body: '<html>Forbidden</html>' }, 'ill'],
    [answerJson(404, {}), 'ill'],
    [answerJson(413, {}), 'rejected'],
    [refused(10), 'ill'],
    [refused(100), 'deferred'],
    [refused(300), 'rejected'],
    [refused(400), 'deferred'],
    [refused(401), 'deferred'],
    [refused(402), 'rejected'],
    [refused(403), 'rejected'],
    [refused(405), 'ill'],
    [refused(406), 'rejected'],
    [refused(409), 'ill'],
    [refused(411), 'rejected'],
    [refused(412), 'ill'],
    [refused(413), 'ill'],
    [refused(429), 'ill'],
    [refused(1226), 'ill'],
    [refused(1235), 'ill'],
    [refused(1236), 'ill'],
    [refused(9999), 'deferred'],
    [answerJson(429, {}, { 'retry-after': '5' }), 'ill'],
    [answerJson(500, {}), 'deferred'],
    [answerJson(503, {}), 'ill'],
    [answerJson(504, {}), 'unknown'],
  ]);
});

describe('answers that nobody knows', () => {
  testStrangers(TESTED, (status) => refused(9999, status));
});

describe.each([1226, 1235, 1236])('a stream that is not there (%i)', (code) => {
  test.each([
    ['that the relay names is its illness', 'broadcasts', true],
    ['that it does not name says nothing of the mail of others', null, false],
  ])('%s', async (_, messageStream, hopFailed) => {
    const rig = await startTested({ ...TESTED, settings: { type: 'postmark', messageStream } });
    rig.api.script.push(refused(code));
    expect(only(await rig.deliver(SIMPLE))).toMatchObject({ kind: 'deferred', hopFailed });
  });
});

test('who is inactive is not delivered to, though the others are', async () => {
  const rig = await startTested(TESTED);
  const Message =
    'Message OK, but will not deliver to these inactive addresses: blind@c.test, C@b.test. Inactive recipients are ones that have generated a hard bounce.';
  rig.api.script.push(answerJson(200, { ErrorCode: 0, Message, MessageID: ID }));
  const { outcomes, hopFailed } = await rig.deliver(FULL);
  expect(hopFailed).toBe(false);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'rejected', 'rejected', 'delivered']);
  expect(outcomes[1]?.reply).toMatchObject({ enhanced: '5.7.1', cause: 'provider_recipient_refused' });
});

describe('what it cannot say', () => {
  testRefusals(TESTED, [
    ...REFUSALS,
    {
      name: 'a file shown inline without an id',
      mail: {
        ...SIMPLE,
        content:
          'From: a@a.test\r\nTo: b@b.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n' +
          '--b\r\nContent-Type: a/b\r\nContent-Disposition: inline; filename=a\r\n\r\nx\r\n--b--\r\n',
      },
      cause: 'not_rebuildable',
      says: /inline/,
    },
  ]);

  test('more recipients or bytes than it takes', async () => {
    const rig = await startTested(TESTED);
    const many = Array.from({ length: 51 }, (_, index) => `r${index}@b.test`);
    expect((await rig.deliver({ ...SIMPLE, to: many })).outcomes[0]?.reply.cause).toBe('too_many_recipients');
    const large = await rig.deliver({ ...SIMPLE, sizeBytes: 10 * 1024 * 1024 + 1 });
    expect(large.outcomes[0]?.reply.cause).toBe('message_too_large');
    expect(rig.api.requests).toEqual([]);
  });
});

testBlindCopies(TESTED);
testSlices(TESTED, 7 * 1024 * 1024);

test('the token is checked by asking for its server', () => {
  const { check, checked } = TESTED.make(settingsOf(TESTED));
  expect(check({ now: 0, token: '' })).toMatchObject({
    method: 'GET',
    url: 'https://api.test/server',
    headers: { 'x-postmark-server-token': SECRET },
  });
  const finding = (status: number, body: unknown) =>
    checked?.({ status, headers: {}, body: JSON.stringify(body) });
  expect(finding(200, { ID: 1, Name: 'Shop' })).toEqual({
    good: true,
    text: 'The token is that of the server "Shop"',
  });
  expect(finding(200, { ID: 1, Name: 'Shop', DeliveryType: 'Sandbox' })).toEqual({
    good: true,
    text: 'The token is that of the server "Shop", a sandbox, which delivers nothing',
  });
  expect(finding(401, { ErrorCode: 10, Message: 'Bad token' })).toBeNull();
  expect(finding(200, [])).toBeNull();
});
