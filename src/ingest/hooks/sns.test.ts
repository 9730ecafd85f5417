/** The proofs of messages of SNS, and what is never taken for one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../../test/peers/certificate.ts';
import {
  CERTIFICATE_URL,
  confirmation,
  NOW,
  notification,
  SETTINGS,
  SNS_ID,
  type SnsMembers,
  signedSns,
  snsCertificate,
  snsRequest,
  TOPIC,
} from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Hooks } from './hooks.ts';
import type { HookRequest } from './proof.ts';

const HOUR = 3_600_000;
const EVENT = { eventType: 'Open', mail: { messageId: 'x' } };

function world() {
  const fetched: string[] = [];
  const hooks = new Hooks({
    clock: new ManualClock(NOW),
    get: async (url) => {
      fetched.push(url.href);
      return { kind: 'answer', body: Buffer.from(snsCertificate.cert) };
    },
  });
  const proofOf = async (request: HookRequest, settings = SETTINGS, now = NOW) => {
    const proof = await hooks.prove('ses', request, settings, now);
    return proof.kind === 'bad' ? proof.status : proof.kind;
  };
  const prove = (members: unknown, now = NOW) => proofOf(snsRequest(members), SETTINGS, now);
  return { hooks, fetched, proofOf, prove };
}

test.each(['1', '2'])('a notification is proven by its signature of version %s', async (SignatureVersion) => {
  const { prove, fetched } = world();
  expect(await prove(signedSns({ ...notification(EVENT), SignatureVersion }))).toBe('proven');
  expect(fetched).toEqual([CERTIFICATE_URL]);
});

test('a notification needs no subject, and null is none', async () => {
  const { prove } = world();
  const { Subject: _, ...members } = notification(EVENT);
  expect(await prove(signedSns(members))).toBe('proven');
  expect(await prove({ ...signedSns(members), Subject: null })).toBe('proven');
  expect(await prove({ ...signedSns(members), Subject: 'added' })).toBe(401);
});

test.each(['SubscriptionConfirmation', 'UnsubscribeConfirmation'])('%s is proven', async (type) => {
  for (const SignatureVersion of ['1', '2'])
    expect(await world().prove(signedSns({ ...confirmation(type), SignatureVersion }))).toBe('proven');
});

test('a subscription is confirmed by one GET of its URL, and nothing else is', async () => {
  const { hooks, fetched } = world();
  const asked = snsRequest(signedSns(confirmation('SubscriptionConfirmation')));
  expect(hooks.read('ses', asked, 'aws')).toEqual({ ok: true, events: [] });
  expect(await hooks.confirm('ses', asked)).toMatchObject({ kind: 'answer' });
  expect(fetched).toEqual(['https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc']);
  const left = snsRequest(signedSns(confirmation('UnsubscribeConfirmation')));
  expect(hooks.read('ses', left, 'aws')).toEqual({ ok: true, events: [] });
  for (const request of [left, snsRequest(signedSns(notification(EVENT))), snsRequest('{}')])
    expect(await hooks.confirm('ses', request)).toBeNull();
  expect(await hooks.confirm('resend', asked)).toBeNull();
  expect(fetched).toHaveLength(1);
});

const SIGNED = Object.keys(notification(EVENT)).filter((name) => !/URL$|^SignatureVersion$/.test(name));

test.each([...SIGNED, 'Signature'])('a changed %s is a bad proof', async (name) => {
  const { prove } = world();
  const members = signedSns(notification(EVENT));
  const text = String(members[name]);
  // A signature may begin with any letter.
  const other = text.startsWith('B') ? 'C' : 'B';
  const changed = name === 'Timestamp' ? new Date(NOW - 1000).toISOString() : `${other}${text.slice(1)}`;
  const status = name === 'Type' ? 400 : 401;
  expect(await prove({ ...members, [name]: changed })).toBe(status);
  expect(await prove({ ...members, [name]: undefined })).toBe(
    name === 'Type' || name === 'Message' ? 400 : 401,
  );
});

test.each([...Object.keys(confirmation('x')).filter((name) => name !== 'SigningCertURL'), 'Signature'])(
  'a confirmation without %s is none',
  async (name) => {
    const { Message, Type, ...others } = signedSns(confirmation('SubscriptionConfirmation'));
    const members: SnsMembers = { Message, Type, ...others, [name]: undefined };
    expect(await world().prove(members)).toBe(name === 'Type' || name === 'Message' ? 400 : 401);
  },
);

test('a confirmation signed as a notification is signed is a bad proof, and the other way round', async () => {
  const { prove } = world();
  const { Signature } = signedSns({ ...confirmation('SubscriptionConfirmation'), Type: 'Notification' });
  expect(await prove({ ...confirmation('SubscriptionConfirmation'), Signature })).toBe(401);
  const asNotification = { ...signedSns(confirmation('SubscriptionConfirmation')), Type: 'Notification' };
  expect(await prove(asNotification)).toBe(401);
});

test('the signature of one message does not prove another', async () => {
  const { Signature } = signedSns(notification(EVENT));
  expect(await world().prove({ ...notification({ ...EVENT, eventType: 'Complaint' }), Signature })).toBe(401);
});

test('a signature by another key, or of the other version, is bad', async () => {
  const { prove } = world();
  const other = createCertificate({ hosts: ['x'], issuer: createAuthority(), rsaBits: 2048 });
  expect(await prove(signedSns(notification(EVENT), other.key))).toBe(401);
  const { Signature } = signedSns({ ...notification(EVENT), SignatureVersion: '2' });
  expect(await prove({ ...notification(EVENT), Signature })).toBe(401);
  for (const SignatureVersion of ['3', '', 1, null])
    expect(await prove({ ...signedSns(notification(EVENT)), SignatureVersion })).toBe(401);
});

test('one topic, or any', async () => {
  const { proofOf } = world();
  const request = snsRequest(signedSns({ ...notification(EVENT), TopicArn: `${TOPIC}-2` }));
  expect(await proofOf(request)).toBe(401);
  expect(await proofOf(request, { ...SETTINGS, topicArn: null })).toBe('proven');
});

test('a message may be an hour and five minutes old, as SNS repeats it for an hour, or five minutes ahead', async () => {
  const { prove } = world();
  const made = (at: number) => prove(signedSns(notification(EVENT, at)));
  expect(await made(NOW - HOUR - 300_000)).toBe('proven');
  expect(await made(NOW - HOUR - 301_000)).toBe(401);
  expect(await made(NOW + 300_000)).toBe('proven');
  expect(await made(NOW + 301_000)).toBe(401);
  for (const Timestamp of ['', 'now', '2026-11-20', `${new Date(NOW).toISOString()}\nx`])
    expect(await prove(signedSns({ ...notification(EVENT), Timestamp }))).toBe(401);
});

const NOT_OF_SNS = [
  'http://sns.us-east-1.amazonaws.com/a.pem',
  'https://sns.us-east-1.amazonaws.com:8443/a.pem',
  'https://user@sns.us-east-1.amazonaws.com/a.pem',
  'https://:password@sns.us-east-1.amazonaws.com/a.pem',
  'https://sns.us-east-1.amazonaws.com.evil.test/a.pem',
  'https://evil.test/sns.us-east-1.amazonaws.com/a.pem',
  'https://evil.test#sns.us-east-1.amazonaws.com/a.pem',
  'https://evil.test\\@sns.us-east-1.amazonaws.com/a.pem',
  'https://sns.us-east-1.amazonaws.com.cn.evil.test/a.pem',
  'https://sns.a.amazonaws.com/a.pem',
  `https://sns.${'a'.repeat(31)}.amazonaws.com/a.pem`,
  'https://sns.us.east.amazonaws.com/a.pem',
  'https://xsns.us-east-1.amazonaws.com/a.pem',
  'https://sns-us-east-1.amazonaws.com/a.pem',
  'https://sqs.us-east-1.amazonaws.com/a.pem',
  'https://sns.us-east-1.amazonaws.com./a.pem',
  'https://s3.amazonaws.com/sns.us-east-1.amazonaws.com/a.pem',
  'https://sns.us_east_1.amazonaws.com/a.pem',
  'ftp://sns.us-east-1.amazonaws.com/a.pem',
  'file:///a.pem',
  'a.pem',
  '',
  `https://sns.us-east-1.amazonaws.com/${'a'.repeat(2000)}.pem`,
];

test.each(NOT_OF_SNS)('nothing is fetched from %s', async (url) => {
  const { prove, fetched, hooks } = world();
  expect(await prove({ ...signedSns(notification(EVENT)), SigningCertURL: url })).toBe(401);
  const members = signedSns({ ...confirmation('SubscriptionConfirmation'), SubscribeURL: url });
  expect(await prove(members)).toBe(401);
  expect(await hooks.confirm('ses', snsRequest(members))).toBeNull();
  expect(fetched).toEqual([]);
});

test.each([
  'https://sns.us-east-1.amazonaws.com/a.pem?x',
  'https://sns.us-east-1.amazonaws.com/?a=.pem',
  'https://sns.us-east-1.amazonaws.com/a.pem/b',
  'https://sns.us-east-1.amazonaws.com/#a.pem',
  'https://sns.us-east-1.amazonaws.com/apem',
])('no certificate is fetched from %s', async (SigningCertURL) => {
  const { prove, fetched } = world();
  expect(await prove({ ...signedSns(notification(EVENT)), SigningCertURL })).toBe(401);
  expect(fetched).toEqual([]);
});

test.each([
  'https://sns.cn-north-1.amazonaws.com.cn/a.pem',
  'https://sns.us-gov-west-1.amazonaws.com:443/a.pem',
  'https://SNS.us-east-1.amazonaws.com/a.pem',
])('a certificate is fetched from %s', async (SigningCertURL) => {
  expect(await world().prove({ ...signedSns(notification(EVENT)), SigningCertURL })).toBe('proven');
});

test('raw delivery is refused, told by its header or by a body of the publisher alone', async () => {
  const { proofOf, prove } = world();
  const raw = snsRequest(signedSns(notification(EVENT)), { 'x-amz-sns-rawdelivery': 'true' });
  expect(await proofOf(raw)).toBe(400);
  expect(await prove(EVENT)).toBe(400);
});

test.each([
  '',
  'x',
  '[]',
  'null',
  '1',
  '"Type"',
  '{"Type":"Notification"}',
  '{"Type":"notification","Message":""}',
])('what is no message of SNS is refused: %s', async (text) => {
  expect(await world().prove(text)).toBe(400);
});

test('a member of several lines cannot stand for the members after it', async () => {
  const { prove } = world();
  // What is signed is the same text, with the subject in the message, or an id of two lines.
  const { Subject, ...members } = signedSns(notification('a'));
  const Message = `a\nMessageId\n${SNS_ID}\nSubject\n${Subject}`;
  expect(await prove({ ...members, Message, MessageId: SNS_ID })).toBe(401);
  const joined = { ...members, MessageId: `${SNS_ID}\nSubject\n${Subject}` };
  expect(await prove(joined)).toBe(401);
});

test('any members make a bad proof, and never an exception', async () => {
  const { prove, fetched } = world();
  const members = signedSns(notification(EVENT));
  const names = fc.constantFrom(...Object.keys(members), ...Object.keys(confirmation('x')));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(...Object.values(members), ...NOT_OF_SNS),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, value, { minKeys: 1 }), async (changes) => {
      const changed = { ...members, ...changes };
      const proof = await prove(changed);
      expect([400, 401, 'proven']).toContain(proof);
      if (proof === 'proven') for (const name of SIGNED) expect(changed[name]).toEqual(members[name]);
    }),
    { numRuns: 500 },
  );
  for (const url of fetched) expect(url).toMatch(/^https:\/\/sns\.[a-z0-9-]+\.amazonaws\.com\//);
});
