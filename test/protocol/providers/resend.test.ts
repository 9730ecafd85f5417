import { describe, expect, test } from 'vitest';
import { resendProvider } from '../../../src/transport/providers/resend.ts';
import { answerJson } from '../../peers/provider-api.ts';
import { only } from '../smtp-out/rig.ts';
import {
  FULL,
  FULL_FILES,
  FULL_HTML,
  FULL_PLAIN,
  messageOf,
  prepared,
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

const ID = '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794';
const TESTED: Tested = {
  settings: { type: 'resend' },
  make: resendProvider,
  taken: answerJson(200, { id: ID }),
};
const HEAD = 'From: a@a.test\r\nTo: b@b.test\r\nSubject: s\r\n';

function refused(status: number, name: string) {
  return answerJson(status, { statusCode: status, name, message: 'No.' });
}

test('a message is rebuilt without loss', async () => {
  const { request, json } = await sentJson(TESTED, FULL);
  expect(request).toMatchObject({
    method: 'POST',
    path: '/emails',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  });
  expect(json).toEqual({
    from: 'Jörg Müller <joerg@a.test>',
    to: ['"Doe, John" <john@b.test>', 'c@b.test'],
    cc: ['Привет <d@b.test>'],
    bcc: ['blind@c.test'],
    reply_to: ['Team <team@a.test>', 'r@a.test'],
    subject: 'Grüße €',
    text: FULL_PLAIN,
    html: FULL_HTML,
    headers: {
      'Message-ID': '<1@a.test>',
      'List-Unsubscribe': '<https://a.test/u>, <mailto:u@a.test>',
      'X-Note': '=?utf-8?Q?=C3=BC?=',
    },
    attachments: [
      {
        filename: 'logo.png',
        content: FULL_FILES.png,
        content_type: 'image/png',
        content_id: 'logo@a.test',
      },
      { filename: 'grüße.bin', content: FULL_FILES.bin, content_type: 'application/octet-stream' },
    ],
  });
});

test('no plain text is made of HTML alone', async () => {
  const content = `${HEAD}Content-Type: text/html\r\n\r\n<p>x</p>\r\n`;
  const { json } = await sentJson(TESTED, { ...SIMPLE, content });
  expect(json).toEqual({ from: 'a@a.test', to: ['b@b.test'], subject: 's', text: '', html: '<p>x</p>\r\n' });
});

describe('the idempotency key', () => {
  const key = (message: Parameters<typeof prepared>[1]) =>
    prepared(TESTED, message).headers['idempotency-key'];
  const recipients = ['b@b.test', 'y@c.test', 'x@c.test'];

  test('comes with the request, and the id is kept', async () => {
    const rig = await startTested(TESTED);
    expect((await rig.deliver(SIMPLE)).outcomes).toMatchObject([{ providerMessageId: ID }]);
    await rig.deliver(SIMPLE);
    const keys = rig.api.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^waybill-[0-9a-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test('is the same, as is the body, for the same message and recipients in any order', () => {
    const one = prepared(TESTED, messageOf(null, recipients));
    const other = prepared(TESTED, messageOf(null, recipients.toReversed()));
    expect(other).toEqual(one);
  });

  test('is another for another message, and for other recipients', () => {
    const base = messageOf(null, recipients);
    const keys = [base, { ...base, id: 'msg_other' }, messageOf(null, recipients.slice(0, 2))].map(key);
    expect(new Set(keys).size).toBe(3);
  });
});

describe('answers', () => {
  testAnswers(TESTED, [
    [TESTED.taken, 'delivered'],
    [answerJson(200, {}), 'unknown'],
    [{ kind: 'answer', status: 200, body: '{"id":' }, 'unknown'],
    [answerJson(202, { id: ID }), 'unknown'],
    [{ kind: 'answer', status: 302, headers: { location: 'http://127.0.0.1/' } }, 'ill'],
    [refused(400, 'validation_error'), 'rejected'],
    [refused(400, 'invalid_idempotency_key'), 'deferred'],
    [refused(401, 'missing_api_key'), 'ill'],
    [refused(401, 'restricted_api_key'), 'ill'],
    [refused(403, 'invalid_api_key'), 'ill'],
    [refused(403, 'validation_error'), 'deferred'],
    [refused(403, 'something_new'), 'ill'],
    [refused(404, 'not_found'), 'ill'],
    [refused(405, 'method_not_allowed'), 'ill'],
    [refused(409, 'invalid_idempotent_request'), 'unknown'],
    [refused(409, 'concurrent_idempotent_requests'), 'unknown'],
    [answerJson(413, {}), 'rejected'],
    [refused(422, 'invalid_access'), 'deferred'],
    [refused(422, 'invalid_region'), 'ill'],
    [refused(422, 'invalid_attachment'), 'rejected'],
    [refused(422, 'invalid_from_address'), 'rejected'],
    [refused(422, 'invalid_parameter'), 'rejected'],
    [refused(422, 'missing_required_field'), 'rejected'],
    [refused(422, 'something_new'), 'deferred'],
    [refused(429, 'rate_limit_exceeded'), 'ill'],
    [refused(429, 'daily_quota_exceeded'), 'ill'],
    [refused(429, 'monthly_quota_exceeded'), 'ill'],
    [refused(451, 'security_error'), 'rejected'],
    [refused(500, 'application_error'), 'deferred'],
    [refused(500, 'internal_server_error'), 'deferred'],
    [answerJson(503, {}), 'ill'],
    [answerJson(504, {}), 'unknown'],
  ]);
});

describe('answers that nobody knows', () => {
  testStrangers(TESTED, (status) => refused(status, 'something_new'));
});

test.each([400, 401, 403, 422])(
  '%i: a key that is called a validation error is the relay’s',
  async (status) => {
    const rig = await startTested(TESTED);
    rig.api.script.push(
      answerJson(status, { statusCode: status, name: 'validation_error', message: 'API key is invalid' }),
    );
    expect(only(await rig.deliver(SIMPLE))).toMatchObject({ kind: 'deferred', hopFailed: true });
  },
);

test('a key that is spoken of in the message is not', async () => {
  const rig = await startTested(TESTED);
  const message = 'Invalid `to` field: "API key is invalid"@b.test';
  rig.api.script.push(answerJson(400, { name: 'validation_error', message }));
  expect(only(await rig.deliver(SIMPLE)).kind).toBe('rejected');
});

describe('what it cannot say', () => {
  const cause = 'not_rebuildable';
  testRefusals(TESTED, [
    ...REFUSALS,
    {
      name: 'no subject',
      mail: { ...SIMPLE, content: `${HEAD.replace('Subject: s\r\n', '')}\r\nx\r\n` },
      cause,
      says: /no subject/,
    },
    {
      name: 'a repeated field',
      mail: { ...SIMPLE, content: `Comments: 1\r\ncomments: 2\r\n${HEAD}\r\nx\r\n` },
      cause,
      says: /more than once/,
    },
  ]);
});

testBlindCopies(TESTED);
testSlices(TESTED, 25 * 1024 * 1024);

test('the API key is checked by asking for domains, which a key that may only send is refused', () => {
  const { check, checked } = TESTED.make(settingsOf(TESTED));
  expect(check({ now: 0, token: '' })).toMatchObject({ method: 'GET', url: 'https://api.test/domains' });
  const finding = (status: number, body: unknown) =>
    checked?.({ status, headers: {}, body: JSON.stringify(body) });
  expect(finding(200, { data: [] })).toMatchObject({ good: true });
  expect(finding(401, { name: 'restricted_api_key', message: 'No.' })).toMatchObject({ good: true });
  expect(finding(403, { name: 'invalid_api_key', message: 'No.' })).toBeNull();
  expect(finding(200, {})).toBeNull();
});
