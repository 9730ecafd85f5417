import { describe, expect, test } from 'vitest';
import { sendgridProvider } from '../../../src/transport/providers/sendgrid.ts';
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

const ID = '14c5d75ce93.dfd.64b469';
const TESTED: Tested = {
  settings: { type: 'sendgrid' },
  make: sendgridProvider,
  taken: { kind: 'answer', status: 202, headers: { 'X-Message-Id': ID } },
};
const HEAD = 'From: a@a.test\r\nTo: b@b.test\r\nSubject: s\r\n';

function refused(status: number, field: string | null = null) {
  return answerJson(status, { errors: [{ message: 'No.', field, help: null }] });
}

/** A message with one file. */
function withFile(fields: string, body = 'x'): string {
  return (
    `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n` +
    `--b\r\n${fields}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${body}\r\n--b--\r\n`
  );
}

test('a message is rebuilt without loss', async () => {
  const { request, json } = await sentJson(TESTED, FULL);
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v3/mail/send',
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  });
  expect(json).toEqual({
    personalizations: [
      {
        // Quoted, or it would be taken for two.
        to: [{ email: 'john@b.test', name: '"Doe, John"' }, { email: 'c@b.test' }],
        cc: [{ email: 'd@b.test', name: 'Привет' }],
        bcc: [{ email: 'blind@c.test' }],
      },
    ],
    from: { email: 'joerg@a.test', name: 'Jörg Müller' },
    reply_to_list: [{ email: 'team@a.test', name: 'Team' }, { email: 'r@a.test' }],
    subject: 'Grüße €',
    content: [
      { type: 'text/plain', value: FULL_PLAIN },
      { type: 'text/html', value: FULL_HTML },
    ],
    headers: {
      'Message-ID': '<1@a.test>',
      Date: 'Fri, 20 Nov 2026 11:15:00 +0000',
      'List-Unsubscribe': '<https://a.test/u>, <mailto:u@a.test>',
      'X-Note': '=?utf-8?Q?=C3=BC?=',
    },
    attachments: [
      {
        content: FULL_FILES.png,
        type: 'image/png',
        filename: 'logo.png',
        disposition: 'inline',
        content_id: 'logo@a.test',
      },
      {
        content: FULL_FILES.bin,
        type: 'application/octet-stream',
        filename: 'grüße.bin',
        disposition: 'attachment',
      },
    ],
  });
});

test('what a message does not have is left out', async () => {
  const { json } = await sentJson(TESTED, SIMPLE);
  expect(json).toEqual({
    personalizations: [{ to: [{ email: 'b@b.test' }] }],
    from: { email: 'a@a.test' },
    subject: 's',
    content: [{ type: 'text/plain', value: 'Hello.\r\n' }],
  });
});

test('the charset of a file in ASCII is left out, and a file may be inline without an id', async () => {
  const content = withFile(
    'Content-Type: text/csv; charset=utf-8\r\nContent-Disposition: inline; filename=a.csv',
  );
  const { json } = await sentJson(TESTED, { ...SIMPLE, content });
  expect(json.attachments).toEqual([
    { content: 'eA==', type: 'text/csv', filename: 'a.csv', disposition: 'inline' },
  ]);
});

test('no name of a header field is more than a name', async () => {
  const content = `__proto__: x\r\nconstructor: y\r\n${HEAD}\r\nx\r\n`;
  const { request } = await sentJson(TESTED, { ...SIMPLE, content });
  expect(request.body.toString()).toContain('"headers":{"__proto__":"x","constructor":"y"}');
});

test('the id is kept', async () => {
  const rig = await startTested(TESTED);
  expect((await rig.deliver(SIMPLE)).outcomes).toMatchObject([{ providerMessageId: ID }]);
});

describe('answers', () => {
  testAnswers(TESTED, [
    [TESTED.taken, 'delivered'],
    [{ kind: 'answer', status: 202 }, 'delivered'],
    [answerJson(200, {}), 'ill'],
    [answerJson(201, {}), 'unknown'],
    [{ kind: 'answer', status: 302, headers: { location: 'http://127.0.0.1/' } }, 'ill'],
    [refused(400, 'personalizations.0.to.0.email'), 'rejected'],
    [refused(400, 'from.email'), 'rejected'],
    [refused(400, 'reply_to.email'), 'rejected'],
    [refused(400, 'reply_to_list.0.email'), 'rejected'],
    [refused(400, 'subject'), 'rejected'],
    [refused(400, 'content.0.value'), 'rejected'],
    [refused(400, 'attachments'), 'rejected'],
    [refused(400, 'headers'), 'rejected'],
    [refused(400, 'ip_pool_name'), 'deferred'],
    [refused(400), 'deferred'],
    [{ kind: 'answer', status: 400, body: '<html>' }, 'deferred'],
    [refused(401), 'ill'],
    [refused(403, 'from'), 'deferred'],
    [refused(403), 'ill'],
    [refused(404), 'ill'],
    [refused(405), 'ill'],
    [refused(413), 'rejected'],
    [refused(415), 'ill'],
    [answerJson(429, { errors: [{ message: 'too many requests' }] }, { 'retry-after': '5' }), 'ill'],
    [refused(500), 'deferred'],
    [refused(503), 'ill'],
    [refused(504), 'unknown'],
  ]);
});

describe('answers that nobody knows', () => {
  testStrangers(TESTED, (status) => refused(status, 'something.new'));
});

test('the whole name of a field is told', async () => {
  const rig = await startTested(TESTED);
  rig.api.script.push(refused(400, 'personalizations.0.to.0.email'));
  expect(only(await rig.deliver(SIMPLE))).toMatchObject({
    cause: 'provider_personalizations',
    text: 'personalizations: No. (personalizations.0.to.0.email)',
  });
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
    {
      name: 'a file that needs its charset',
      mail: {
        ...SIMPLE,
        content: withFile(
          'Content-Type: text/csv; charset=utf-8\r\nContent-Disposition: attachment; filename=a',
          'ü',
        ),
      },
      cause,
      says: /parameters/,
    },
    {
      name: 'a type that needs its parameter',
      mail: {
        ...SIMPLE,
        content: withFile(
          'Content-Type: text/calendar; method=REQUEST\r\nContent-Disposition: attachment; filename=a',
        ),
      },
      cause,
      says: /parameters/,
    },
  ]);
});

testBlindCopies(TESTED);
testSlices(TESTED, 20 * 1024 * 1024);

test('the API key is checked by asking what it may', () => {
  const { check, checked } = TESTED.make(settingsOf(TESTED));
  expect(check({ now: 0, token: '' })).toMatchObject({ method: 'GET', url: 'https://api.test/v3/scopes' });
  const finding = (status: number, body: unknown) =>
    checked?.({ status, headers: {}, body: JSON.stringify(body) });
  expect(finding(200, { scopes: ['alerts.read', 'mail.send'] })).toMatchObject({ good: true });
  expect(finding(200, { scopes: ['alerts.read'] })).toMatchObject({
    good: false,
    text: expect.stringMatching(/mail\.send/),
  });
  expect(finding(401, { errors: [{ message: 'authorization required' }] })).toBeNull();
  expect(finding(200, {})).toBeNull();
});
