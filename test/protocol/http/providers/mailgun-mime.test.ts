import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { World } from '../world.ts';
import { basicAuth, caught, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';

/** `POST /v3/{domain}/messages.mime`: finished messages as a form (contract-2 §C5). */

const LINES = ['From: Jane <jane@example.com>', 'To: everybody@example.net', 'Subject: Hi', '', 'Text.', ''];
const MIME = LINES.join('\r\n');

let world: World;
let key: string;
let mailgun: MailgunClient;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
  mailgun = mailgunClient(world, key);
});
afterAll(() => world.close());

describe('mailgun.js', () => {
  test.each<[string, string | Buffer | Blob]>([
    ['a text', MIME],
    ['a buffer', Buffer.from(MIME)],
    ['a buffer with bare LF', Buffer.from(LINES.join('\n'))],
    ['a file', new Blob([MIME])],
  ])('sends a finished message that is %s', async (_, message) => {
    const answer = await mailgun.messages.create('example.com', {
      to: ['bob@example.org', 'Ann <ann@example.org>'],
      message,
      'o:tag': ['one'],
      'o:tracking': 'yes',
      'v:order': '4711',
    });
    const { envelope, header, tags, metadata } = world.last;
    expect(answer).toMatchObject({ status: 200, id: header.messageId, message: 'Queued for delivery.' });
    expect(envelope).toMatchObject({
      reversePath: 'jane@example.com',
      recipients: [{ address: 'bob@example.org' }, { address: 'ann@example.org' }],
    });
    expect([header.subject, tags, metadata]).toEqual(['Hi', ['one'], { order: '4711' }]);
    expect(world.lastText).toContain(MIME);
  });

  test('sends what its own example shows: From and Subject beside the message', async () => {
    await mailgun.messages.create('example.com', {
      from: 'Other <other@example.com>',
      to: ['bob@example.org'],
      subject: 'Other',
      message: MIME,
    });
    expect(world.last).toMatchObject({
      envelope: { reversePath: 'jane@example.com' },
      header: { subject: 'Hi' },
    });
  });

  test.each<[string, object, RegExp]>([
    ['nobody to send to', { to: '' }, /^to: /],
    ['a copy', { cc: 'ann@example.org' }, /^cc: Name every recipient in "to"/],
    ['a text beside the message', { text: 'x' }, /^text: A finished message is sent as it is/],
    ['a header beside the message', { 'h:X-A': 'b' }, /^h:X-A: A finished message is sent as it is/],
    ['values for each recipient', { 'recipient-variables': '{}' }, /^recipient-variables: /],
    ['a template', { template: 'welcome' }, /^template: A finished message is sent as it is/],
    ['a message without From', { message: 'Subject: x\r\n\r\nx' }, /^message\/From: /],
    ['a message of mixed lines', { message: Buffer.from(`${MIME}x\ny\r\n`) }, /^message: /],
    ['a sender that is none', { message: MIME.replace('jane@example.com', 'jane') }, /^message\/From: /],
  ])('is refused %s', async (_, fields, details) => {
    const sent = mailgun.messages.create('example.com', {
      to: 'bob@example.org',
      message: MIME,
      ...fields,
    });
    expect(await caught(sent)).toMatchObject({ status: 400, details: expect.stringMatching(details) });
  });
});

/** Sends a form without the SDK. */
async function post(fields: readonly (readonly [string, string])[], headers: Record<string, string> = {}) {
  return world.ask({
    method: 'POST',
    path: '/v3/example.com/messages.mime',
    headers: {
      Authorization: basicAuth(key),
      'Content-Type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString(),
  });
}

const MAIL = [
  ['to', 'bob@example.org'],
  ['message', MIME],
] as const;

test('an urlencoded form is taken as well, and what is ignored is named', async () => {
  const answer = await post([...MAIL, ['from', 'x@example.com'], ['o:tracking', 'yes']]);
  expect([answer.status, answer.headers['x-waybill-ignored']]).toEqual([200, 'o:tracking, from']);
});

test('two messages, and none, are refused', async () => {
  expect((await post([...MAIL, ['message', MIME]])).json).toEqual({
    message: expect.stringContaining('message: May be given only once'),
  });
  expect((await post([['to', 'bob@example.org']])).json).toEqual({
    message: expect.stringMatching(/^message: Is required[^:]*: the whole message, header and body\.$/),
  });
});

test.each([
  'Subject: x',
  'From: jane',
  'From:',
  'From: a@example.com, b@example.com',
  'From: a@b\r\nFrom: c@d',
])('of the header %j one fault is told of From', async (header) => {
  const { status, json } = await post([
    ['to', 'bob@example.org'],
    ['message', `${header}\r\n\r\nText.\r\n`],
  ]);
  expect([status, String(json['message']).split('message/From: ').length]).toEqual([400, 2]);
});

test('o:testmode captures, o:dry-run stores nothing, o:dkim must be so', async () => {
  await post([...MAIL, ['o:testmode', 'yes']]);
  expect(world.last.test).toBe(true);
  const accepted = world.last;
  expect((await post([...MAIL, ['o:dry-run', 'yes']])).json).toMatchObject({ dryRun: true });
  expect(world.last).toBe(accepted);
  expect((await post([...MAIL, ['o:dkim', 'yes']])).json).toEqual({
    message: expect.stringContaining('o:dkim: '),
  });
});

test('a repeat gets the first id, and another message under the key is refused', async () => {
  const headers = { 'Idempotency-Key': 'order-4711' };
  const first = await post(MAIL, headers);
  const again = await post(MAIL, headers);
  expect([again.json, again.headers['idempotency-replayed']]).toEqual([first.json, 'true']);
  for (const field of ['v:order', 'o:tag'])
    expect((await post([...MAIL, [field, 'x']], headers)).status, field).toBe(409);
  expect((await post([...MAIL, ['o:testmode', 'yes']], headers)).status).toBe(409);
});

test('sender domains bind the From of the message', async () => {
  const bound = mailgunClient(world, await world.key({ id: 'bound', senderDomains: ['example.net'] }));
  const sent = bound.messages.create('example.net', { to: 'bob@example.org', message: MIME });
  expect(await caught(sent)).toMatchObject({ status: 403, details: expect.stringContaining('example.com') });
});
