import { Errors, type ServerClient } from 'postmark';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Ask } from '../world.ts';
import { World } from '../world.ts';
import { askWith, clientOf, EMAIL, thrown } from './postmark-sdk.ts';

/** Applications that send with Postmark's API, through its own unchanged SDK (contract-2 §C3). */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let world: World;
let key: string;
let postmark: ServerClient;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
});
afterAll(() => world.close());
beforeEach(() => {
  postmark = client(key);
});

const client = (secret: string, below?: string) => clientOf(world, secret, below);
const ask = (path: string, asked?: Partial<Ask>) => askWith(world, key, path, asked);

async function suppress(address: string): Promise<void> {
  const writer = await world.key({ scopes: ['admin'] });
  const path = '/api/v1/suppressions';
  const { status } = await world.ask({ method: 'POST', path, key: writer, body: { address } });
  expect(status).toBe(201);
}

describe('an email', () => {
  test('is sent with all that Postmark knows', async () => {
    const answer = await postmark.sendEmail({
      ...EMAIL,
      To: 'bob@example.org, "Doe, Eve" <eve@example.org>',
      Cc: 'cc@example.org',
      Bcc: 'bcc@example.org',
      ReplyTo: 'help@example.com, Desk <desk@example.com>',
      HtmlBody: '<img src="cid:logo">',
      Tag: 'receipt',
      Headers: [{ Name: 'X-Order', Value: '4711' }],
      Metadata: { customer: '12' },
      Attachments: [
        {
          Name: 'a.txt',
          Content: Buffer.from('abc').toString('base64'),
          ContentType: 'text/plain',
          ContentID: null,
        },
        {
          Name: 'logo.png',
          Content: Buffer.from('png').toString('base64'),
          ContentType: 'image/png',
          ContentID: 'cid:logo',
        },
      ],
      TrackOpens: false,
    });
    expect(answer).toEqual({
      To: 'bob@example.org, "Doe, Eve" <eve@example.org>',
      Cc: 'cc@example.org',
      Bcc: 'bcc@example.org',
      SubmittedAt: new Date(world.clock.wall()).toISOString(),
      MessageID: expect.stringMatching(UUID),
      ErrorCode: 0,
      Message: 'OK',
    });
    const { envelope, tags, metadata, header, door } = world.last;
    expect(door).toBe('postmark');
    expect(envelope.recipients.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'to bob@example.org',
      'to eve@example.org',
      'cc cc@example.org',
      'bcc bcc@example.org',
    ]);
    expect([tags, metadata, header.subject]).toEqual([['receipt'], { customer: '12' }, 'Hello']);
    for (const part of [
      'Reply-To: help@example.com, Desk <desk@example.com>',
      'X-Order: 4711',
      'YWJj',
      'Content-ID: <logo>',
      'Content-Disposition: inline',
    ])
      expect(world.lastText).toContain(part);
    expect(world.lastText).not.toContain('bcc@example.org');
  });

  test('has fields whose names ignore case, each once', async () => {
    const body = {
      from: 'jane@example.com',
      TO: 'bob@example.org',
      textBody: 'Hi.',
      metadata: { Case: 'x', Order: 4711 },
    };
    expect((await ask('/email', { body })).status).toBe(200);
    expect(world.last.metadata).toEqual({ Case: 'x', Order: '4711' });
    const { status, json } = await ask('/email', { body: { ...body, To: 'eve@example.org' } });
    expect([status, json['ErrorCode']]).toEqual([422, 300]);
  });

  test('is what a library made of a message: files in lines, and how that was written', async () => {
    const Content = Buffer.alloc(60, 'x').toString('base64').replace(/.{40}/, '$&\r\n');
    const Headers = [
      { Name: 'Mime-Version', Value: '1.0' },
      { Name: 'Content-Transfer-Encoding', Value: '7bit' },
      { Name: 'X-Order', Value: '4711' },
    ];
    const Attachments = [{ Name: 'a.txt', Content, ContentType: 'text/plain' }];
    expect((await ask('/email', { body: { ...EMAIL, Headers, Attachments } })).status).toBe(200);
    expect(world.lastText).toContain(`\r\n${Buffer.alloc(57, 'x').toString('base64')}\r\n`);
    expect(world.lastText).toContain('\r\nX-Order: 4711\r\n');
    const broken = { ...EMAIL, Attachments: [{ Name: 'a.txt', Content: 'YWJj\rYWJj', ContentType: 'a/b' }] };
    expect((await ask('/email', { body: broken })).json).toMatchObject({ ErrorCode: 300 });
  });

  test('is refused with another form than a library writes', async () => {
    const send = (Name: string, Value: string) =>
      ask('/email', {
        body: {
          ...EMAIL,
          Headers: [
            { Name: 'X-Order', Value: '1' },
            { Name, Value },
          ],
        },
      });
    for (const [name, value] of [
      ['Content-Type', 'multipart/alternative; boundary="x"'],
      ['content-type', 'Text/Plain; charset=UTF-8'],
      ['Content-Type', 'text/html'],
      ['MIME-Version', '1.0'],
      ['Content-Transfer-Encoding', '8bit'],
      ['Content-Transfer-Encoding', 'Quoted-Printable'],
      ['Content-Transfer-Encoding', 'base64'],
    ] as const)
      expect([value, (await send(name, value)).status]).toEqual([value, 200]);
    for (const [name, value] of [
      ['Content-Type', 'text/calendar; method=REQUEST'],
      ['Content-Type', 'application/pdf'],
      ['Content-Type', 'text/plainer'],
      ['MIME-Version', '2.0'],
      ['Content-Transfer-Encoding', 'binary'],
    ] as const) {
      const { status, json } = await send(name, value);
      expect([value, status, json['ErrorCode'], json['Message']]).toEqual([
        value,
        422,
        300,
        expect.stringContaining('Headers[1]'),
      ]);
    }
  });

  test('names what it ignores, where it asks for something', async () => {
    const all = { ...EMAIL, MessageStream: 'outbound', TrackOpens: true, TrackLinks: 'HtmlOnly' };
    expect((await ask('/email', { body: all })).headers['x-waybill-ignored']).toBe(
      'MessageStream, TrackOpens, TrackLinks',
    );
    const none = { ...EMAIL, TrackOpens: false, TrackLinks: 'None' };
    expect((await ask('/email', { body: none })).headers['x-waybill-ignored']).toBeUndefined();
    const batch = await ask('/email/batch', { body: [EMAIL, { ...EMAIL, TrackOpens: true }] });
    expect(batch.headers['x-waybill-ignored']).toBe('TrackOpens');
  });

  test('leads back by its id, sent below /postmark too', async () => {
    const { MessageID } = await client(key, '/postmark').sendEmail(EMAIL);
    const record = await world.ask({ path: `/api/v1/messages/${MessageID}`, key });
    expect([record.status, record.json['messageId']]).toEqual([200, world.last.header.messageId]);
  });

  test('is sent once under one key', async () => {
    const headers = { 'Idempotency-Key': 'order-1' };
    const [first, again] = [await ask('/email', { headers }), await ask('/email', { headers })];
    expect(again.json['MessageID']).toBe(first.json['MessageID']);
    const other = await ask('/email', { headers, body: { ...EMAIL, Subject: 'Other' } });
    expect([other.status, other.json['ErrorCode']]).toEqual([409, 300]);
  });
});

describe('with the token of Postmark’s tests', () => {
  test('an email is checked, and nothing is stored', async () => {
    const before = world.intake.submissions.length;
    const tester = client('POSTMARK_API_TEST');
    expect(await tester.sendEmail(EMAIL)).toMatchObject({
      ErrorCode: 0,
      Message: 'Test job accepted',
      MessageID: expect.stringMatching(UUID),
    });
    expect(await tester.sendEmailBatch([EMAIL, { ...EMAIL, To: 'nobody' }])).toMatchObject([
      { ErrorCode: 0, Message: 'Test job accepted' },
      { ErrorCode: 300 },
    ]);
    expect(await thrown(tester.sendEmail({ ...EMAIL, To: 'nobody' }))).toMatchObject({ code: 300 });
    expect(world.intake.submissions.length).toBe(before);
  });

  test('nothing else is possible: it is not a key', async () => {
    const bearer = await world.ask({ key: 'POSTMARK_API_TEST', path: '/api/v1/messages' });
    expect(bearer.status).toBe(401);
    const { status, json } = await askWith(world, 'POSTMARK_API_TEST', '/messages/outbound', {
      method: 'GET',
      body: '',
    });
    expect([status, json['ErrorCode']]).toEqual([403, 10]);
  });
});

describe('suppressed recipients', () => {
  beforeAll(() => Promise.all(['gone@example.org', 'left@example.org'].map(suppress)));

  test('are told of, where others get the email', async () => {
    const { ErrorCode, Message } = await postmark.sendEmail({
      ...EMAIL,
      To: 'gone@example.org, bob@example.org, left@example.org',
    });
    expect([ErrorCode, Message]).toEqual([
      0,
      'Message OK, but will not deliver to these inactive addresses: gone@example.org, left@example.org',
    ]);
    // As the SDK reads them.
    expect(Errors.InactiveRecipientsError.parseInactiveRecipients(Message)).toEqual([
      'gone@example.org',
      'left@example.org',
    ]);
  });

  test('are an error where there is nobody else, and nothing is stored', async () => {
    const before = world.intake.submissions.length;
    const email = { ...EMAIL, To: 'gone@example.org', Cc: 'left@example.org' };
    const error = await thrown(postmark.sendEmail(email));
    expect(error).toBeInstanceOf(Errors.InactiveRecipientsError);
    expect(error).toMatchObject({
      statusCode: 422,
      code: 406,
      recipients: ['gone@example.org', 'left@example.org'],
    });
    const [refused, sent] = await postmark.sendEmailBatch([email, EMAIL]);
    expect([refused?.ErrorCode, sent?.ErrorCode]).toEqual([406, 0]);
    expect(world.intake.submissions.length).toBe(before + 1);
  });

  test('do not change the answer to a repeat', async () => {
    const headers = { 'Idempotency-Key': 'before' };
    const body = { ...EMAIL, To: 'late@example.org' };
    const first = await ask('/email', { headers, body });
    await suppress('late@example.org');
    expect((await ask('/email', { headers, body })).json['MessageID']).toBe(first.json['MessageID']);
  });
});

describe('a batch', () => {
  test('is answered one by one, in order', async () => {
    const answers = await postmark.sendEmailBatch([
      EMAIL,
      { ...EMAIL, To: 'nobody' },
      { ...EMAIL, To: 'eve@example.org' },
    ]);
    expect(answers).toMatchObject([
      { ErrorCode: 0, To: 'bob@example.org' },
      { ErrorCode: 300, Message: expect.stringMatching(/^To: /) },
      { ErrorCode: 0, To: 'eve@example.org' },
    ]);
    expect(answers[1]).not.toHaveProperty('MessageID');
    expect(world.last.envelope.recipients.map(({ address }) => address)).toEqual(['eve@example.org']);
  });

  test('has at most 500 emails', async () => {
    const { status, json } = await ask('/email/batch', { body: Array.from({ length: 501 }, () => ({})) });
    expect([status, json['ErrorCode']]).toEqual([422, 410]);
  });

  test('is counted as other batches are', async () => {
    world.options.limits.batchMessagesPerMinute = 1;
    const error = await thrown(postmark.sendEmailBatch([EMAIL, EMAIL]));
    world.options.limits.batchMessagesPerMinute = 0;
    expect(error).toBeInstanceOf(Errors.RateLimitExceededError);
  });

  test('under a key that a single email has is refused', async () => {
    const headers = { 'Idempotency-Key': 'single' };
    await ask('/email', { headers });
    expect((await ask('/email/batch', { headers, body: [EMAIL] })).status).toBe(409);
  });
});

test('where Postmark is not offered, its header means nothing', async () => {
  const other = await World.start({ dropIn: ['resend'] });
  const { status, json } = await askWith(other, 'POSTMARK_API_TEST', '/email');
  await other.close();
  expect([status, json['code']]).toEqual([404, 'not_found']);
});
