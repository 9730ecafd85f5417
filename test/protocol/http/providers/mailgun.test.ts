import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { twinKeys } from '../../../support/wrong-key.ts';
import { World } from '../world.ts';
import { mailgunClient } from './mailgun-sdk.ts';

/** `POST /v3/{domain}/messages`: clients written for Mailgun send unchanged (contract §2). */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
});
afterAll(() => world.close());

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const ask = (body: string, headers: Record<string, string> = {}) =>
  world.ask({
    method: 'POST',
    path: '/v3/example.com/messages',
    headers: {
      Authorization: basic('api', key),
      'Content-Type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body,
  });

const MAIL = 'from=jane%40example.com&to=bob%40example.org&text=Hi';

test('a key that differs from a good one in its last characters is refused', async () => {
  const [good, unknown] = twinKeys();
  await world.key({ id: 'twin' }, good);
  expect((await ask(MAIL, { Authorization: basic('api', good) })).status).toBe(200);
  expect((await ask(MAIL, { Authorization: basic('api', unknown) })).status).toBe(401);
});

describe('mailgun.js', () => {
  const client = (secret = key) => mailgunClient(world, secret);

  test('sends through it unchanged: fields, options, attachments and inline files', async () => {
    const answer = await client().messages.create('example.com', {
      from: 'Jane Doe <jane@example.com>',
      to: ['bob@example.org', 'Eve <eve@example.org>'],
      cc: 'c@example.org',
      bcc: ['d@example.org'],
      subject: 'Grüße',
      text: 'Hi.',
      html: '<img src="cid:logo.png">',
      attachment: [{ data: Buffer.from('abc'), filename: 'a.txt', contentType: 'text/plain' }],
      inline: { data: Buffer.from('png'), filename: 'logo.png' },
      'o:tag': ['one', 'two'],
      'o:tracking': 'no',
      'h:X-Campaign': 'spring',
      'v:order': '4711',
    });
    const { header, envelope, tags, metadata } = world.last;
    expect(answer).toMatchObject({ status: 200, id: header.messageId, message: 'Queued for delivery.' });
    expect(envelope.recipients.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'to bob@example.org',
      'to eve@example.org',
      'cc c@example.org',
      'bcc d@example.org',
    ]);
    expect({ subject: header.subject, tags, metadata }).toEqual({
      subject: 'Grüße',
      tags: ['one', 'two'],
      metadata: { order: '4711' },
    });
    for (const part of ['X-Campaign: spring', 'filename=a.txt', 'YWJj', 'Content-ID: <logo.png>', 'cG5n'])
      expect(world.lastText).toContain(part);
  });
  test('schedules a message, which is cancelled by its id', async () => {
    const holder = await world.key({ id: 'holder', scopes: ['messages:send', 'messages:read'] });
    const at = new Date(world.clock.wall() + 3_600_000);
    const { id } = await client(holder).messages.create('example.com', {
      from: 'jane@example.com',
      to: 'bob@example.org',
      text: 'Later.',
      'o:deliverytime': at.toUTCString(),
    });
    expect(world.last).toMatchObject({ sendAt: at.getTime(), door: 'mailgun' });
    const path = `/api/v1/messages/${encodeURIComponent(String(id))}`;
    const cancelled = await world.ask({ key: holder, method: 'POST', path: `${path}/cancel` });
    expect(cancelled.json['status']).toBe('failed');
  });
  test('reads a refusal: its status and what is wrong', async () => {
    const sent = client().messages.create('example.com', { from: 'jane', to: 'bob@example.org', text: 'x' });
    await expect(sent).rejects.toMatchObject({
      status: 400,
      details: expect.stringContaining('from: jane is not an address'),
    });
  });
  test('is told that its key is wrong', async () => {
    const sent = client('key-0123').messages.create('example.com', {
      from: 'a@x.test',
      to: 'b@x.test',
      text: 'x',
    });
    await expect(sent).rejects.toMatchObject({ status: 401 });
  });
});

test('an urlencoded form is taken; to is a comma list', async () => {
  const answer = await ask(
    'from=jane%40example.com&to=a%40x.test%2C+%22B%2C+C%22+%3Cb%40x.test%3E&text=a+b%26c',
  );
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ id: world.last.header.messageId, message: 'Queued for delivery.' });
  expect(world.last.envelope.recipients.map(({ address }) => address)).toEqual(['a@x.test', 'b@x.test']);
  expect(world.lastText).toContain('\r\n\r\na b&c');
});

test('o:testmode=yes captures, and the message says so', async () =>
  expect((await ask(`${MAIL}&o%3Atestmode=yes`)).json['message']).toBe(
    'Queued. Captured in the local inbox; nothing will be sent.',
  ));

test('every fault is in the message', async () =>
  expect((await ask('from=x&to=y&text=')).json).toEqual({
    message: expect.stringMatching(/^from: .* to: .* text: .*$/),
  }));

test.each([
  ['no key', { Authorization: '' }, 401],
  ['a key as Bearer', { Authorization: 'Bearer x' }, 401],
  ['another user name', { Authorization: basic('root', 'x') }, 401],
  ['JSON', { 'Content-Type': 'application/json' }, 415],
])('%s: the error is {message} alone', async (_, headers, status) => {
  const answer = await ask(MAIL, headers);
  expect(answer.status).toBe(status);
  expect(answer.json).toEqual({ message: expect.any(String) });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('a bug of ours is told in the same shape', async () => {
  const broken = await World.start();
  broken.intake.accept = () => Promise.reject(new Error('a bug'));
  const answer = await broken.ask({
    method: 'POST',
    path: '/v3/example.com/messages',
    headers: {
      Authorization: basic('api', await broken.key()),
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: MAIL,
  });
  expect([answer.status, answer.json]).toEqual([500, { message: 'Something went wrong in the server.' }]);
  expect(broken.logged).toEqual(['http.handler_failed']);
  await broken.close();
});

test('401 asks for Basic', async () =>
  expect((await ask(MAIL, { Authorization: '' })).headers['www-authenticate']).toBe('Basic realm="waybill"'));

test('a malformed percent escape is refused', async () =>
  expect((await ask(`${MAIL}&subject=%zz`)).status).toBe(400));

test('what a test key sends is captured', async () => {
  const testKey = await world.key({ mode: 'test' });
  await ask(MAIL, { Authorization: basic('api', testKey) });
  expect(world.last.test).toBe(true);
});

test('sender domains bind here too', async () => {
  const bound = await world.key({ senderDomains: ['example.net'] });
  expect((await ask(MAIL, { Authorization: basic('api', bound) })).status).toBe(403);
});

test('the id of an answer leads to the message, its attempts and its content, for the key that sent it', async () => {
  const reader = await world.key({
    id: 'reader',
    scopes: ['messages:read', 'messages:content', 'messages:send'],
  });
  const sent = await world.ask({
    method: 'POST',
    path: '/v3/example.com/messages',
    headers: {
      Authorization: basic('api', reader),
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: MAIL,
  });
  const path = `/api/v1/messages/${encodeURIComponent(String(sent.json['id']))}`;
  const record = await world.ask({ key: reader, path });
  expect(record).toMatchObject({ status: 200, json: { messageId: sent.json['id'], status: 'queued' } });
  expect((await world.ask({ key: reader, path: `${path}?wait=0` })).json['id']).toBe(record.json['id']);
  expect((await world.ask({ key: reader, path: `${path}/attempts` })).json).toEqual({
    attempts: [],
    hasMore: false,
  });
  expect((await world.ask({ key: reader, path: `${path}/content` })).text).toContain(
    `Message-ID: ${sent.json['id']}`,
  );
  const cancelled = await world.ask({ key: reader, method: 'POST', path: `${path}/cancel` });
  expect(cancelled).toMatchObject({ status: 200, json: { id: record.json['id'], status: 'failed' } });
  const other = await world.key({ id: 'other', scopes: ['messages:read'] });
  expect((await world.ask({ key: other, path })).status, "another key's message").toBe(404);
});

test('of several messages with one Message-ID the newest is meant, of those that the key may see', async () => {
  const headers = { 'Message-ID': '<order.1@shop.example>' };
  const letter = { from: 'a@example.com', to: 'b@example.org', text: 'Hi', headers };
  const [mine, theirs, all] = [
    await world.key({ id: 'mine' }),
    await world.key({ id: 'theirs' }),
    await world.key({ id: 'all', scopes: ['messages:read_all'] }),
  ];
  await world.post(mine, letter);
  const second = await world.post(mine, letter);
  const third = await world.post(theirs, letter);
  const path = `/api/v1/messages/${encodeURIComponent(headers['Message-ID'])}`;
  expect((await world.ask({ key: mine, path })).json['id']).toBe(second.json['id']);
  expect((await world.ask({ key: theirs, path })).json['id']).toBe(third.json['id']);
  expect((await world.ask({ key: all, path })).json['id']).toBe(third.json['id']);
  const unlike = `/api/v1/messages/${encodeURIComponent('<order-1@shop.example>')}`;
  expect((await world.ask({ key: mine, path: unlike })).status, 'the same words').toBe(404);
});

test('all of it is below /mailgun, too', async () => {
  const headers = { Authorization: basic('api', key), 'Content-Type': 'application/x-www-form-urlencoded' };
  const answer = await world.ask({
    method: 'POST',
    path: '/mailgun/v3/example.com/messages',
    headers,
    body: MAIL,
  });
  expect(answer).toMatchObject({ status: 200, json: { id: world.last.header.messageId } });
});

test('where Mailgun is not offered, nothing is at its paths', async () => {
  const other = await World.start({ dropIn: ['sendgrid'] });
  const path = '/v3/example.com/messages';
  const { status, json } = await other.ask({ method: 'POST', path, body: MAIL });
  await other.close();
  expect([status, json['code']]).toEqual([404, 'not_found']);
});

test('what asks for tracking is taken, and told to be ignored', async () => {
  const answer = await ask(`${MAIL}&o%3Atracking=yes&o%3Atracking-clicks=htmlonly&o%3Atracking-opens=no`);
  expect([answer.status, answer.headers['x-waybill-ignored']]).toEqual([
    200,
    'o:tracking, o:tracking-clicks',
  ]);
  expect((await ask(`${MAIL}&o%3Atracking=no`)).headers['x-waybill-ignored']).toBeUndefined();
});
