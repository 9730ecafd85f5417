import fc from 'fast-check';
import { Errors, type ServerClient } from 'postmark';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Ask } from '../world.ts';
import { World } from '../world.ts';
import { askWith, clientOf, EMAIL, thrown } from './postmark-sdk.ts';

/** Every refusal has Postmark's shape, and the code from which its SDK makes its classes of errors (contract-2 §C3). */

let world: World;
let key: string;
let postmark: ServerClient;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'shop' });
  postmark = clientOf(world, key);
});
afterAll(() => world.close());

const client = (secret: string) => clientOf(world, secret);
const ask = (path: string, asked?: Partial<Ask>) => askWith(world, key, path, asked);

describe('each error', () => {
  test.each([
    ['that misses its sender', { ...EMAIL, From: undefined }, 300, /^From: /],
    ['to no address', { ...EMAIL, To: 'nobody' }, 300, /^To: /],
    ['to nobody', { ...EMAIL, To: undefined }, 300, /^To: /],
    ['without a text', { ...EMAIL, TextBody: undefined }, 300, /^TextBody: /],
    ['with a field that does not exist', { ...EMAIL, Subjekt: 'x' }, 300, /^Subjekt: /],
    [
      'with a header of ours',
      { ...EMAIL, Headers: [{ Name: 'Bcc', Value: 'x@y.z' }] },
      300,
      /^Headers\[0\]: /,
    ],
    ['with a wrong reply address', { ...EMAIL, ReplyTo: 'nobody' }, 300, /^ReplyTo: /],
    ['with a wrong type', { ...EMAIL, Headers: 'X-Order: 1' }, 403, /^Headers: /],
    ['that is none', [], 403, /^body: /],
    [
      'with an attachment of no type',
      { ...EMAIL, Attachments: [{ Name: 'a', Content: '', ContentType: 'x' }] },
      411,
      /^Attachments\[0\]\.ContentType: /,
    ],
    ['that is not JSON', '{', 402, /JSON/],
    ['that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 402, /UTF-8/],
    ['that is nested too deeply', '['.repeat(100), 402, /nested/],
    ['with a name twice', '{"To": "a@example.org", "To": "b@example.org"}', 402, /twice/],
    ['with a name that no object has', '{"__proto__": 1}', 402, /__proto__/],
    ['with half a character', '{"Subject": "\\ud800"}', 402, /surrogate/],
    [
      'with two reply addresses',
      { ...EMAIL, ReplyTo: 'a@b.cd', Headers: [{ Name: 'Reply-To', Value: 'e@f.gh' }] },
      300,
      /^Headers: /,
    ],
    ['without a body', '', 300, /empty/],
  ])('of an email %s', async (_, body, code, message) => {
    const answer = await ask('/email', { body, headers: { 'Content-Type': 'application/json' } });
    expect([answer.status, answer.json]).toEqual([
      422,
      { ErrorCode: code, Message: expect.stringMatching(message) },
    ]);
  });

  test('is of the SDK’s class: a fault', async () => {
    const error = await thrown(postmark.sendEmail({ ...EMAIL, To: 'nobody' }));
    expect(error).toBeInstanceOf(Errors.InvalidEmailRequestError);
    expect(error).toMatchObject({ statusCode: 422, code: 300 });
  });

  test('a key that is none, or missing', async () => {
    const error = await thrown(client('nothing').sendEmail(EMAIL));
    expect(error).toBeInstanceOf(Errors.InvalidAPIKeyError);
    expect(error).toMatchObject({ statusCode: 401, code: 10 });
    const bare = await world.ask({ method: 'POST', path: '/email', key, body: EMAIL });
    expect([bare.status, bare.json['ErrorCode']]).toEqual([401, 10]);
  });

  test('a scope, a source, a sender that the key has not', async () => {
    const reader = await world.key({ id: 'reader', scopes: ['messages:read'] });
    expect(await thrown(client(reader).sendEmail(EMAIL))).toMatchObject({ statusCode: 403, code: 10 });
    const elsewhere = await world.key({ id: 'elsewhere', cidrs: ['192.0.2.0/24'] });
    expect(await thrown(client(elsewhere).sendEmail(EMAIL))).toMatchObject({ statusCode: 403, code: 10 });
    const bound = await world.key({ id: 'bound', senderDomains: ['example.net'] });
    const error = await thrown(client(bound).sendEmail(EMAIL));
    expect(error).toBeInstanceOf(Errors.ApiInputError);
    expect(error).toMatchObject({ statusCode: 422, code: 400 });
  });

  test('a template that is not here, or that none is named', async () => {
    const template = { From: EMAIL.From, To: 'bob@example.org', TemplateAlias: 'welcome', TemplateModel: {} };
    expect(await thrown(postmark.sendEmailWithTemplate(template))).toMatchObject({
      statusCode: 422,
      code: 1101,
    });
    const [one] = await postmark.sendEmailBatchWithTemplates([template]);
    expect(one).toMatchObject({ ErrorCode: 1101, Message: 'TemplateAlias: There is no template "welcome".' });
    const { TemplateAlias: _, ...without } = template;
    expect((await ask('/email/withTemplate', { body: without })).json).toMatchObject({ ErrorCode: 1101 });
  });

  test('a path, a method, a type, a size', async () => {
    expect(await thrown(postmark.getServer())).toMatchObject({ statusCode: 404, code: 0 });
    const code = async (asked: Partial<Ask>) => {
      const { status, json } = await ask('/email', asked);
      expect(json).toEqual({ ErrorCode: json['ErrorCode'], Message: expect.any(String) });
      return [status, json['ErrorCode']];
    };
    expect(await code({ method: 'DELETE', body: '' })).toEqual([405, 0]);
    expect(await code({ headers: { 'Content-Type': 'text/plain' }, body: 'x' })).toEqual([415, 409]);
    expect(await thrown(postmark.sendEmail({ ...EMAIL, TextBody: 'x'.repeat(200_000) }))).toMatchObject({
      statusCode: 413,
      code: 413,
    });
  });

  test('a rate, with the time to wait', async () => {
    const slow = await world.key({ id: 'slow', rateLimit: 1 });
    await client(slow).sendEmail(EMAIL);
    expect(await thrown(client(slow).sendEmail(EMAIL))).toBeInstanceOf(Errors.RateLimitExceededError);
    const { headers, json } = await askWith(world, slow, '/email');
    expect([json['ErrorCode'], Number(headers['retry-after']) > 0]).toEqual([429, true]);
  });

  test('a server that takes nothing, and one that breaks', async () => {
    world.intake.suspension = { code: 'disk_full', detail: 'No room.', retryAfterSeconds: 30 };
    const error = await thrown(postmark.sendEmail(EMAIL));
    world.intake.suspension = null;
    expect(error).toBeInstanceOf(Errors.ServiceUnavailablerError);
    expect(error).toMatchObject({ statusCode: 503, code: 100 });
    vi.spyOn(world.intake, 'accept').mockRejectedValueOnce(new Error('a bug'));
    const broken = await thrown(postmark.sendEmail(EMAIL));
    expect(broken).toBeInstanceOf(Errors.InternalServerError);
    expect(broken).toMatchObject({ statusCode: 500, code: 0 });
  });
});

test('any JSON is answered in Postmark’s shape', async () => {
  const names = ['From', 'to', 'Headers', 'Attachments', 'Metadata', 'Subject', 'TrackOpens', 'Suppressions'];
  const object = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
  const paths = fc.constantFrom(
    '/email',
    '/email/batch',
    '/email/batchWithTemplates',
    '/message-streams/x/suppressions',
    '/message-streams/x/suppressions/delete',
  );
  const own = await world.key({ id: 'any', scopes: ['messages:send', 'suppressions:write'] });
  const told = { ErrorCode: expect.any(Number), Message: expect.any(String) };
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.jsonValue(), object, fc.array(object)), paths, async (value, path) => {
      const asked = { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } };
      const { status, json } = await askWith(world, own, path, asked);
      expect(status).toBeLessThan(500);
      if (status !== 200) expect(json).toEqual(told);
      else for (const one of [json].flat()) expect(one).toMatchObject(told);
    }),
    { numRuns: 300 },
  );
});

test('an API of ours refuses as ever', async () => {
  const answer = await world.post(key, { from: 'jane@example.com', to: ['nobody'] });
  expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
});
