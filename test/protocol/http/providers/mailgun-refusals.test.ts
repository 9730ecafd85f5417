import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Suspension } from '../../../../src/engine/contract.ts';
import { type Ask, encodeForm, World } from '../world.ts';
import { basicAuth, caught, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';

/** What is refused to applications that speak Mailgun's API, in its shape (contract-2 §C5). */

const MAIL = { from: 'Jane <jane@example.com>', to: 'bob@example.org', subject: 'Hello', text: 'Hi.' };
const PATH = '/v3/example.com/messages';

let world: World;
let key: string;
let mailgun: MailgunClient;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop', rateLimit: 0 });
  mailgun = mailgunClient(world, key);
});
afterAll(() => world.close());
afterEach(() => {
  world.intake.suspension = null;
  world.intake.limits = undefined;
});

const send = (fields: object, client = mailgun) =>
  client.messages.create('example.com', { ...MAIL, ...fields } as never);

describe('what an application catches, as MailgunAPIError', () => {
  test.each<[string, object, RegExp]>([
    ['an address that is none', { to: 'nobody' }, /^to: nobody is not an address/],
    ['a sender that is none', { from: 'jane' }, /^from: jane is not an address/],
    ['no recipient', { to: '' }, /^to: At least one recipient/],
    ['no text', { text: '' }, /^text: At least one of text, html/],
    ['a header that is ours', { 'h:X-Waybill-Tag': 'x' }, /^h:X-Waybill-Tag: /],
    ['a reply address that is none', { 'h:Reply-To': 'nobody@' }, /^h:Reply-To: /],
    ['a variable without a name', { 'v:': 'x' }, /^v:: Write a name after "v:"/],
    ['a tag that is too long', { 'o:tag': 'x'.repeat(200) }, /^o:tag/],
    [
      'a time that is too far ahead',
      { 'o:deliverytime': 'Fri, 20 Nov 2099 11:15:00 GMT' },
      /^o:deliverytime: /,
    ],
    ['a time that is none', { 'o:deliverytime': 'soon' }, /^o:deliverytime: /],
    ['a template that is not here', { template: 'welcome', text: '' }, /^template: There is no template/],
    ['a template beside a text', { template: 'welcome' }, /^text: Comes from the template/],
    ['variables that are no JSON', { 't:variables': '{' }, /^t:variables: Must be a JSON/],
    ['variables without a template', { 't:variables': '{}' }, /^t:variables: Is for a template/],
    ['a version of a template', { template: 'x', 't:version': '2' }, /^t:version: /],
    ['another option of templates', { 't:made-up': 'x' }, /^t:made-up: /],
    ['AMP', { 'amp-html': '<html amp4email>' }, /^amp-html: /],
    ['TLS of its own', { 'o:require-tls': true }, /^o:require-tls: The only value accepted/],
    ['unverified TLS', { 'o:skip-verification': true }, /^o:skip-verification: /],
    ['a copy to an archive', { 'o:archive-to': 'a@example.com' }, /^o:archive-to: /],
    ['a field that does not exist', { subjekt: 'x' }, /^subjekt: .*Did you mean "subject"/],
    ['several faults at once', { to: 'x', from: 'y' }, /^from: .* to: /],
  ])('400 of %s', async (_, fields, details) => {
    const error = await caught(send(fields));
    expect(error).toMatchObject({ status: 400, details: expect.stringMatching(details) });
  });

  test('401 of a key that is unknown, and of none', async () => {
    for (const client of [mailgunClient(world, 'key-0123'), mailgunClient(world, 'wb_live_nothing')])
      expect(await caught(send({}, client))).toMatchObject({ status: 401, details: expect.any(String) });
  });

  test('403 of a scope, a sender domain and a source', async () => {
    const reader = mailgunClient(world, await world.key({ id: 'reader', scopes: ['messages:read'] }));
    expect(await caught(send({}, reader))).toMatchObject({
      status: 403,
      details: expect.stringContaining('messages:send'),
    });
    const bound = mailgunClient(world, await world.key({ id: 'bound', senderDomains: ['example.net'] }));
    expect(await caught(send({}, bound))).toMatchObject({
      status: 403,
      details: expect.stringContaining('example.com'),
    });
  });

  test('404 of what Mailgun has and we do not', async () => {
    for (const asked of [
      mailgun.domains.domainTemplates.list('example.com'),
      mailgun.webhooks.list('example.com', {}),
      mailgun.suppressions.list('example.com', 'whitelists'),
    ])
      expect(await caught(asked)).toMatchObject({ status: 404, details: expect.any(String) });
  });

  test('405 of another method', async () => {
    const asked = mailgun.request.put('/v3/example.com/messages', {} as never);
    expect(await caught(asked)).toMatchObject({ status: 405, details: expect.stringContaining('POST') });
  });

  test('413 of a message that is too large', async () => {
    const details = expect.stringContaining('api.max_message_bytes');
    expect(await caught(send({ text: 'x'.repeat(200_000) }))).toMatchObject({ status: 413, details });
    const attachment = { data: Buffer.alloc(120_000), filename: 'x.bin' };
    expect(await caught(send({ attachment }))).toMatchObject({ status: 413, details });
  });

  test('415 of a message as JSON', async () => {
    const asked = mailgun.request.post(
      '/v3/example.com/messages',
      JSON.stringify(MAIL) as never,
      {
        isApplicationJSON: true,
      } as never,
    );
    expect(await caught(asked)).toMatchObject({
      status: 415,
      details: expect.stringContaining('multipart/form-data'),
    });
  });

  test('429 of a rate', async () => {
    const slow = mailgunClient(world, await world.key({ id: 'slow', rateLimit: 1 }));
    await send({}, slow);
    expect(await caught(send({}, slow))).toMatchObject({ status: 429, details: expect.any(String) });
  });

  test('503 of an intake that takes nothing', async () => {
    world.intake.suspension = FULL;
    expect(await caught(send({}))).toMatchObject({ status: 503, details: 'There is no room.' });
  });
});

const FULL: Suspension = { code: 'disk_full', detail: 'There is no room.', retryAfterSeconds: 30 };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const BODY = new URLSearchParams(MAIL).toString();

test.each(['messages', 'messages.mime', 'events', 'bounces'])(
  'a path to %s below what has no dot is not Mailgun’s',
  async (name) => {
    const scopes = ['messages:send', 'events:read', 'suppressions:read'] as const;
    const Authorization = basicAuth(await world.key({ id: `dotless ${name}`, scopes }));
    const isRead = name === 'events' || name === 'bounces';
    const given: Ask = isRead ? { method: 'GET' } : { method: 'POST', headers: FORM, body: BODY };
    const asked = (path: string) =>
      world.ask({ ...given, path, headers: { ...given.headers, Authorization } });
    const ours = await asked(`/v3/localhost/${name}`);
    expect([ours.status, ours.json['code']]).toEqual([404, 'not_found']);
    const theirs = await asked(`/mailgun/v3/localhost/${name}`);
    expect([theirs.status, theirs.json]).toEqual([404, { message: expect.any(String) }]);
  },
);

test.each<[number, string, () => Ask | Promise<Ask>]>([
  [400, 'a form that is none', () => ({ body: 'from=%zz' })],
  [
    400,
    'a multipart form that is none',
    () => ({ headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }),
  ],
  [400, 'an Idempotency-Key that is none', () => ({ headers: { ...FORM, 'Idempotency-Key': 'ü' } })],
  [400, 'a parameter', () => ({ path: `${PATH}?x=1` })],
  [401, 'no key', () => ({ headers: { ...FORM, Authorization: '' } })],
  [401, 'a key that is not Basic', () => ({ headers: { ...FORM, Authorization: `Bearer ${key}` } })],
  [404, 'another path below a domain', () => ({ path: '/v3/example.com/tags' })],
  [404, 'a path about domains', () => ({ path: '/v3/domains/example.com/messages/x' })],
  [404, 'another path below the name', () => ({ path: '/mailgun/v4/domains' })],
  [405, 'another method', () => ({ method: 'PUT' })],
  [413, 'a body that is too large', () => ({ body: `${BODY}&html=${'x'.repeat(200_000)}` })],
  [415, 'another type', () => ({ headers: { 'Content-Type': 'text/plain' } })],
  [
    429,
    'a rate',
    async () => {
      const Authorization = basicAuth(await world.key({ id: 'once', rateLimit: 1 }));
      await ask({ headers: { ...FORM, Authorization } });
      return { headers: { ...FORM, Authorization } };
    },
  ],
  [
    503,
    'an intake that takes nothing',
    () => {
      world.intake.suspension = FULL;
      return {};
    },
  ],
  [
    503,
    'a queue that is full',
    () => {
      world.intake.limits = { maxBytes: 0, maxMessagesPerKey: 0 };
      return {};
    },
  ],
  [
    500,
    'a bug of ours',
    () => {
      vi.spyOn(world.intake, 'accept').mockRejectedValueOnce(new Error('a bug'));
      return {};
    },
  ],
])('%i of %s has {message} alone, and says when to come back', async (status, _, prepare) => {
  const answer = await ask(await prepare());
  expect([answer.status, answer.json]).toEqual([status, { message: expect.any(String) }]);
  expect(Number(answer.headers['retry-after'] ?? 0) > 0).toBe(status === 429 || status === 503);
  expect(answer.headers['x-request-id']).toEqual(expect.any(String));
});

/** Posts the mail as a form. */
function ask(given: Ask) {
  const { headers = FORM, ...others } = given;
  return world.ask({
    method: 'POST',
    path: PATH,
    body: BODY,
    ...others,
    headers: { Authorization: basicAuth(key), ...headers },
  });
}

describe('any form is taken or refused, in Mailgun’s shape', () => {
  const names = fc.constantFrom(
    ...['from', 'to', 'cc', 'bcc', 'subject', 'text', 'html', 'message', 'recipient-variables', 'template'],
    ...[
      'o:tag',
      'o:tracking',
      'o:deliverytime',
      'o:testmode',
      'o:dkim',
      'h:X-A',
      'h:',
      'v:a',
      't:b',
      'to[0]',
      'x',
    ],
  );
  const values = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.json({ maxDepth: 3 }),
    fc.emailAddress(),
    fc.constantFrom('yes', 'no', '%recipient.a%', '%recipient.', 'Bob <bob@example.org>, ann@example.org'),
    fc.constant('From: jane@example.com\r\nTo: x@example.org\r\n\r\nHi.\r\n'),
    fc.constant('{"bob@example.org": {"a": "b"}}'),
  );
  const fields = fc.array(fc.tuple(names, values), { maxLength: 8 });
  const whole = fc.oneof(
    fields,
    fields.map((given) => [...Object.entries(MAIL), ...given]),
  );
  const holds = (answer: Awaited<ReturnType<typeof ask>>) => {
    expect([200, 400, 403, 413]).toContain(answer.status);
    expect(Object.keys(answer.json)).toEqual(answer.status === 200 ? ['id', 'message'] : ['message']);
  };

  test.each(['messages', 'messages.mime'])('at %s, urlencoded', async (name) => {
    await fc.assert(
      fc.asyncProperty(whole, async (given) => {
        const body = new URLSearchParams(
          given.map(([field, value]): [string, string] => [field, value]),
        ).toString();
        holds(await ask({ path: `/v3/example.com/${name}`, body }));
      }),
      { numRuns: 100 },
    );
  });

  test.each(['messages', 'messages.mime'])('at %s, multipart', async (name) => {
    const files = fc.array(
      fc.tuple(
        fc.constantFrom('attachment', 'inline', 'message', 'to', 'recipient-variables', 'x'),
        fc.uint8Array(),
        fc.string(),
      ),
    );
    await fc.assert(
      fc.asyncProperty(whole, files, async (given, parts) => {
        const form = new FormData();
        for (const [field, value] of given) form.append(field, value);
        for (const [field, bytes, filename] of parts) form.append(field, new Blob([bytes]), filename);
        holds(await ask({ path: `/v3/example.com/${name}`, ...(await encodeForm(form)) }));
      }),
      { numRuns: 100 },
    );
  });

  test('at messages.mime, whatever the message', async () => {
    const lines = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          'From: a@example.com',
          'From: b@example.net, c@example.org',
          'To: x',
          'Bcc: y@z',
          ' folded',
          '',
        ),
      ),
    );
    const messages = fc
      .tuple(lines, fc.constantFrom('\r\n', '\n', '\r'))
      .map(([text, end]) => text.join(end));
    await fc.assert(
      fc.asyncProperty(messages, async (message) => {
        const form = new FormData();
        form.append('to', 'bob@example.org');
        form.append('message', new Blob([message]), 'MimeMessage');
        holds(await ask({ path: '/v3/example.com/messages.mime', ...(await encodeForm(form)) }));
      }),
      { numRuns: 100 },
    );
  });
});
