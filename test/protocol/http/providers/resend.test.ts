import { Resend } from 'resend';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAIL, World } from '../world.ts';

/** Applications that speak Resend's API, through its own unchanged SDK (contract-2 §C2). */

const EMAIL = { from: 'Jane <jane@example.com>', to: 'bob@example.org', subject: 'Hello', text: 'Hi.' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let world: World;
let key: string;
let resend: Resend;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
});
afterAll(() => world.close());
beforeEach(() => {
  resend = client(key);
});

const client = (secret: string, below = '') =>
  new Resend(secret, { baseUrl: `http://127.0.0.1:${world.port}${below}` });
/** What an application gets: the data of a success. */
function taken<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error('there is no data');
  return data;
}

describe('an email', () => {
  test('is sent with all that Resend knows', async () => {
    const { id } = taken(
      await resend.emails.send({
        ...EMAIL,
        to: ['bob@example.org', 'Eve <eve@example.org>'],
        cc: 'cc@example.org',
        bcc: ['bcc@example.org'],
        replyTo: ['help@example.com', 'Desk <desk@example.com>'],
        html: '<img src="cid:logo">',
        headers: { 'X-Order': '4711' },
        tags: [{ name: 'kind', value: 'receipt' }],
        attachments: [
          { filename: 'a.txt', content: Buffer.from('abc') },
          {
            filename: 'logo.png',
            content: Buffer.from('png').toString('base64'),
            contentType: 'image/png',
            contentId: 'logo',
          },
        ],
        topicId: 'topic_1',
      }),
    );
    expect(id).toMatch(UUID);
    const { envelope, tags, header, source, door } = world.last;
    expect([source, door]).toEqual(['api', 'resend']);
    expect(envelope.recipients.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'to bob@example.org',
      'to eve@example.org',
      'cc cc@example.org',
      'bcc bcc@example.org',
    ]);
    expect([tags, header.subject]).toEqual([['kind:receipt'], 'Hello']);
    for (const part of [
      'Reply-To: help@example.com, Desk <desk@example.com>',
      'X-Order: 4711',
      'YWJj',
      'Content-ID: <logo>',
    ])
      expect(world.lastText).toContain(part);
    expect(world.lastText).not.toContain('bcc@example.org');
  });

  test("has files and headers as Resend's libraries for other languages write them", async () => {
    const bytes = Buffer.from(Array.from({ length: 30_000 }, (_, at) => at % 256));
    const attachments = [
      // Go's, Python's, Ruby's.
      { filename: 'a.bin', content: [...bytes], inline_content_id: 'a' },
      // Older ones of Node.js'.
      { filename: 'b.bin', content: Buffer.from('abc') },
      { filename: 'c.bin', content: 'YWJj\r\nYWJj\r\n' },
    ];
    // django-anymail's.
    const headers = { 'X-Tag': ['one', 'two'], 'Reply-To': 'a@example.com, b@example.com' };
    const body = { ...EMAIL, attachments, headers, reply_to: 'a@example.com' };
    // They are no values to be counted.
    const { limits } = world.options;
    world.options.limits = { ...limits, maxJsonValues: 1000 };
    expect((await world.ask({ method: 'POST', path: '/emails', key, body })).status).toBe(200);
    world.options.limits = limits;
    const [, encoded = ''] = /Content-ID: <a>[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(world.lastText) ?? [];
    expect(Buffer.from(encoded, 'base64').equals(bytes)).toBe(true);
    for (const part of [
      '\r\n\r\nYWJj\r\n',
      '\r\n\r\nYWJjYWJj\r\n',
      'X-Tag: one\r\nX-Tag: two\r\n',
      'Reply-To: a@example.com, b@example.com\r\n',
    ])
      expect(world.lastText).toContain(part);
    for (const content of [
      [256],
      [1.5],
      ['a'],
      { type: 'Buffer', data: [-1] },
      { type: 'File', data: [1] },
    ]) {
      const wrong = { ...EMAIL, attachments: [{ filename: 'a', content }] };
      const { status, json } = await world.ask({ method: 'POST', path: '/emails', key, body: wrong });
      expect([status, json['message']]).toEqual([422, expect.stringMatching(/^attachments\[0\]\.content/)]);
    }
    const subject = { ...EMAIL, subject: [97] };
    expect((await world.ask({ method: 'POST', path: '/emails', key, body: subject })).status).toBe(422);
  });

  test('leads back by its id in either form, and below /resend too', async () => {
    const { id } = taken(await client(key, '/resend').emails.send(EMAIL));
    const shown = taken(await client(key, '/resend').emails.get(id));
    expect(shown).toMatchObject({
      object: 'email',
      id,
      to: ['bob@example.org'],
      from: 'Jane <jane@example.com>',
      subject: 'Hello',
      last_event: 'queued',
      html: null,
      text: null,
    });
    const record = await world.ask({ path: `/api/v1/messages/${id}`, key });
    expect(record.json).toMatchObject({ source: 'api', door: 'resend' });
    expect([record.status, record.json['messageId']]).toEqual([200, Reflect.get(shown, 'message_id')]);
  });

  test('names what it ignores', async () => {
    const body = { ...EMAIL, topic_id: 'topic_1' };
    const answer = await world.ask({ method: 'POST', path: '/emails', key, body });
    expect([answer.status, answer.headers['x-waybill-ignored']]).toEqual([200, 'topic_id']);
  });

  test('waits until its time, however it is written, and can be cancelled until then', async () => {
    const at = new Date(world.clock.wall() + 3_600_000).toISOString();
    for (const scheduledAt of [at, 'in 1 hour', 'in 60 min']) {
      const { id } = taken(await resend.emails.send({ ...EMAIL, scheduledAt }));
      expect(new Date(world.last.sendAt ?? 0).toISOString()).toBe(at);
      expect(taken(await resend.emails.get(id))).toMatchObject({ last_event: 'scheduled', scheduled_at: at });
      expect(taken(await resend.emails.cancel(id))).toEqual({ object: 'email', id });
      expect(taken(await resend.emails.get(id))).toMatchObject({ last_event: 'canceled' });
      const again = await resend.emails.cancel(id);
      expect(again.error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    }
  });

  test('is sent once under one key, and refused for another body', async () => {
    const options = { idempotencyKey: 'order-1' };
    const first = taken(await resend.emails.send(EMAIL, options));
    expect(taken(await resend.emails.send(EMAIL, options)).id).toBe(first.id);
    const { error } = await resend.emails.send({ ...EMAIL, subject: 'Other' }, options);
    expect(error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
  });

  test('is sent once under one key, though "in 1 hour" is later by then', async () => {
    const options = { idempotencyKey: 'order-2' };
    const email = { ...EMAIL, scheduledAt: 'in 1 hour' };
    const first = taken(await resend.emails.send(email, options));
    const sendAt = world.last.sendAt;
    await world.clock.advance(1500);
    expect(taken(await resend.emails.send(email, options)).id).toBe(first.id);
    expect(world.last.sendAt).toBe(sendAt);
    for (const scheduledAt of ['in 2 hours', new Date(sendAt ?? 0).toISOString()]) {
      const { error } = await resend.emails.send({ ...EMAIL, scheduledAt }, options);
      expect(error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
    }
  });

  test('says once where replies go', async () => {
    const ask = (reply_to: string | string[], name: string, value: string) =>
      world.ask({
        method: 'POST',
        path: '/emails',
        key,
        body: { ...EMAIL, reply_to, headers: { [name]: value } },
      });
    // Symfony's mailer names the first of them alone.
    for (const same of ['Ann <a@example.com>', ['b@example.com', 'a@example.com']])
      expect((await ask(same, 'reply-to', 'a@example.com, b@example.com')).status).toBe(200);
    expect(world.lastText.match(/^Reply-To: .*$/gim)).toEqual(['reply-to: a@example.com, b@example.com']);
    for (const [given, value] of [
      ['c@example.com', 'a@example.com'],
      [['a@example.com', 'c@example.com'], 'a@example.com'],
      ['nobody', 'a@example.com'],
      ['a@example.com', 'nobody'],
    ] as const) {
      const { status, json } = await ask([given].flat(), 'Reply-To', value);
      expect([status, json['name'], json['message']]).toEqual([
        422,
        'validation_error',
        expect.stringMatching(/headers\.Reply-To: .*reply_to/),
      ]);
    }
  });
});

describe('a batch', () => {
  test('is sent as a whole, in order', async () => {
    const subjects = ['one', 'two', 'three'];
    const { data } = taken(await resend.batch.send(subjects.map((subject) => ({ ...EMAIL, subject }))));
    const shown = await Promise.all(data.map(async ({ id }) => taken(await resend.emails.get(id)).subject));
    expect(shown).toEqual(subjects);
  });

  test('is refused as a whole for one fault, with its place', async () => {
    const before = world.intake.submissions.length;
    const { error } = await resend.batch.send([EMAIL, { ...EMAIL, to: 'nobody' }]);
    expect(error).toMatchObject({ statusCode: 422, name: 'validation_error' });
    expect(error?.message).toMatch(/^emails\[1\]\.to/);
    expect(world.intake.submissions.length).toBe(before);
  });

  test('that is permissive sends what it can, and says what it could not', async () => {
    const { data, errors } = taken(
      await resend.batch.send([{ ...EMAIL, to: 'nobody' }, EMAIL], { batchValidation: 'permissive' }),
    );
    expect(data).toHaveLength(1);
    expect(errors).toEqual([{ index: 0, message: expect.stringMatching(/^to/) }]);
  });

  test.each(['strict', 'permissive'] as const)(
    'is another one with more, fewer or other emails: %s',
    async (mode) => {
      const [a, b, c] = ['a', 'b', 'c'].map((subject) => ({ ...EMAIL, subject }));
      if (!a || !b || !c) throw new Error('three are fewer');
      const bad = { ...EMAIL, to: 'nobody' };
      const own = client(await world.key({ id: mode }));
      const send = (emails: (typeof EMAIL)[], idempotencyKey: string) =>
        own.batch.send(emails, { idempotencyKey, batchValidation: mode });
      const before = world.intake.submissions.length;
      const one = taken(await send([a], 'one'));
      const two = taken(await send([a, b], 'two'));
      expect(taken(await send([a], 'one')).data).toEqual(one.data);
      expect(taken(await send([a, b], 'two')).data).toEqual(two.data);
      for (const [emails, used] of [
        [[a, b], 'one'],
        [[a, c], 'two'],
        [[a], 'two'],
        [[a, b, c], 'two'],
      ] as const) {
        const { error } = await send([...emails], used);
        expect(error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
      }
      expect(world.intake.submissions.length - before).toBe(3);
      if (mode === 'strict') return;
      const mixed = taken(await send([bad, a], 'mixed'));
      expect(taken(await send([bad, a], 'mixed'))).toEqual(mixed);
      const { error } = await send([c, a], 'mixed');
      expect(error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
      expect(world.intake.submissions.length - before).toBe(4);
    },
  );

  test('takes neither attachments nor a time', async () => {
    const answer = await world.ask({
      method: 'POST',
      path: '/emails/batch',
      key,
      body: [{ ...EMAIL, scheduled_at: 'in 1 hour' }],
    });
    expect([answer.status, answer.json['name']]).toEqual([422, 'validation_error']);
  });
});

test('emails are listed, the newest first, page by page', async () => {
  const own = client(await world.key({ id: 'lister' }));
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) ids.unshift(taken(await own.emails.send(EMAIL)).id);
  const first = taken(await own.emails.list({ limit: 2 }));
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([ids.slice(0, 2), true]);
  const rest = taken(await own.emails.list({ limit: 2, after: ids[1] ?? '' }));
  expect([rest.data.map(({ id }) => id), rest.has_more]).toEqual([ids.slice(2), false]);
});

describe('each error', () => {
  const refused = async (path: string, ask: object = {}) => {
    const { status, json } = await world.ask({ method: 'POST', path, key, body: EMAIL, ...ask });
    expect(json).toEqual({ statusCode: status, name: json['name'], message: expect.any(String) });
    return [status, json['name']];
  };

  test.each([
    ['a field that is missing', { ...EMAIL, to: undefined }, 'missing_required_field', 'Missing `to` field.'],
    ['an address that is none', { ...EMAIL, to: 'nobody' }, 'validation_error', /^to\[0\]: /],
    ['a field that does not exist', { ...EMAIL, subjekt: 'x' }, 'validation_error', /^subjekt: /],
    ['a template beside texts', { ...EMAIL, template: { id: 'x' } }, 'validation_error', /^text: Comes from/],
    [
      'a file to be fetched',
      { ...EMAIL, attachments: [{ path: 'https://example.com/a' }] },
      'invalid_attachment',
      /attachments\[0\]\.path: /,
    ],
  ])('of %s', async (_, body, name, message) => {
    const answer = await world.ask({ method: 'POST', path: '/emails', key, body });
    expect([answer.status, answer.json]).toEqual([
      422,
      { statusCode: 422, name, message: expect.stringMatching(message) },
    ]);
  });

  test('of keys, scopes, senders and sources', async () => {
    expect(await refused('/emails', { key: undefined })).toEqual([401, 'missing_api_key']);
    expect(await refused('/emails', { key: 'wb_live_nothing' })).toEqual([403, 'invalid_api_key']);
    const reader = await world.key({ id: 'reader', scopes: ['messages:read'] });
    expect(await refused('/emails', { key: reader })).toEqual([401, 'restricted_api_key']);
    const bound = await world.key({ id: 'bound', senderDomains: ['example.net'] });
    expect(await refused('/emails', { key: bound })).toEqual([403, 'validation_error']);
  });

  test('of what is not there, of methods, types and sizes', async () => {
    const { error } = await resend.emails.get('0199c2f0-5c3e-4a11-8a3d-1f2e3d4c5b6a');
    expect(error).toMatchObject({ statusCode: 404, name: 'not_found' });
    expect(await refused('/emails/none/nothing')).toEqual([404, 'not_found']);
    expect(await refused('/emails', { method: 'DELETE', body: undefined })).toEqual([
      405,
      'method_not_allowed',
    ]);
    expect(await refused('/emails', { headers: { 'Content-Type': 'text/plain' }, body: 'x' })).toEqual([
      415,
      'validation_error',
    ]);
    expect(await refused('/emails', { body: { ...EMAIL, text: 'x'.repeat(200_000) } })).toEqual([
      413,
      'validation_error',
    ]);
    expect(await refused('/emails', { headers: { 'Idempotency-Key': 'ü' } })).toEqual([
      400,
      'invalid_idempotency_key',
    ]);
  });

  test('of a rate, with the time to wait', async () => {
    const slow = await world.key({ id: 'slow', rateLimit: 1 });
    taken(await client(slow).emails.send(EMAIL));
    const { error, headers } = await client(slow).emails.send(EMAIL);
    expect(error).toMatchObject({ statusCode: 429, name: 'rate_limit_exceeded' });
    expect(Number(headers?.['retry-after'])).toBeGreaterThan(0);
  });
});

test('an API of ours refuses as ever', async () => {
  const answer = await world.post(key, { ...MAIL, to: ['nobody'] });
  expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
});
