import {
  BadRequestException,
  ConflictException,
  GetSuppressedDestinationCommand,
  MessageRejected,
  NotFoundException,
  SESv2Client,
  SESv2ServiceException,
  SendEmailCommand,
  type SendEmailCommandInput,
  TooManyRequestsException,
} from '@aws-sdk/client-sesv2';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ApiKey } from '../../../../src/domain/key.ts';
import { Authenticator } from '../../../../src/ingest/authenticator.ts';
import { bodyDigestOf, signed } from '../../../support/aws-signing.ts';
import { cidrs } from '../../../support/cidrs.ts';
import { type Answer, type Ask, World } from '../world.ts';

/** What SES's API refuses, as AWS's own SDK gives it to applications (contract-2 §C6). */

const EMAIL: SendEmailCommandInput = {
  FromEmailAddress: 'jane@example.com',
  Destination: { ToAddresses: ['bob@example.org'] },
  Content: { Simple: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'Hi.' } } } },
};
const SEND = '/v2/email/outbound-emails';

interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

let world: World;
let shop: Signer;
let keys = 0;

beforeAll(async () => {
  world = await World.start({ epoch: Date.now() });
  shop = await signer();
});
afterAll(() => world.close());

async function signer(facts: Partial<ApiKey> = {}): Promise<Signer> {
  const accessKeyId = `WBBBBBBBBBBBBBBBBB${String(++keys).padStart(2, '0')}`;
  await world.key({ id: `ses${keys}`, ...facts }, undefined, { id: accessKeyId, sealed: 'secret' });
  return { accessKeyId, secretAccessKey: 'secret' };
}

const client = (credentials: Signer) =>
  new SESv2Client({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${world.port}`,
    credentials,
    maxAttempts: 1,
  });

/** What an application catches. */
async function refusedAs(input: object, credentials = shop): Promise<SESv2ServiceException> {
  const command = new SendEmailCommand({ ...EMAIL, ...input });
  const error: unknown = await client(credentials)
    .send(command)
    .catch((caught) => caught);
  if (error instanceof SESv2ServiceException) return error;
  throw new Error(`not refused: ${String(error)}`);
}

/** How a request of a client that signs by itself differs. */
interface Differing {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What is signed in place of the body, and of the host. */
  readonly signedBody?: string;
  readonly host?: string;
  readonly at?: number;
  readonly signer?: Signer;
  /** Whether the digest is sent. */
  readonly tells?: boolean;
}

/** A request that is signed without AWS's SDK. */
function askSigned(how: Differing = {}): Promise<Answer> {
  const { method = 'POST', path = SEND, body = JSON.stringify(EMAIL), signedBody = body, tells = true } = how;
  const { accessKeyId, secretAccessKey: secret } = how.signer ?? shop;
  const [plain = '', search = ''] = path.split('?');
  const date = new Date(how.at ?? world.clock.wall()).toISOString().replace(/[-:]|\.\d+/g, '');
  const host = `127.0.0.1:${world.port}`;
  const headers = {
    Host: how.host ?? host,
    'X-Amz-Date': date,
    ...(tells && { 'X-Amz-Content-Sha256': bodyDigestOf(Buffer.from(signedBody)) }),
    ...(body !== '' && { 'Content-Type': 'application/json' }),
    ...how.headers,
  };
  const request = { method, path: plain, search, headers: Object.entries(headers) };
  const { headers: all } = signed(request, signedBody, { accessKeyId, secret });
  return world.ask({ method, path, headers: { ...Object.fromEntries(all), Host: host }, body } satisfies Ask);
}

/** The status and the name of a refusal, which is of SES's shape. */
function refusal({ status, headers, json }: Answer): [number, unknown] {
  expect(json).toEqual({ message: expect.any(String), __type: headers['x-amzn-errortype'] });
  expect(headers['x-amzn-requestid']).toBe(headers['x-request-id']);
  return [status, json['__type']];
}

describe('a signature', () => {
  test('is verified with and without the digest of the body', async () => {
    const Body = { Text: { Data: 'x'.repeat(100_000) } };
    const large = JSON.stringify({ ...EMAIL, Content: { Simple: { Subject: { Data: 'x' }, Body } } });
    for (const tells of [true, false])
      for (const how of [{ tells }, { tells, body: large }]) expect((await askSigned(how)).status).toBe(200);
  });

  test.each<[string, Differing, number, string]>([
    [
      'with another secret',
      { signer: { accessKeyId: 'WBBBBBBBBBBBBBBBBB01', secretAccessKey: 'x' } },
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'of nobody',
      { signer: { accessKeyId: 'WBNOBODY', secretAccessKey: 'x' } },
      403,
      'UnrecognizedClientException',
    ],
    ['of another host', { host: 'mail.example.com' }, 403, 'SignatureDoesNotMatch'],
    ['of another body', { signedBody: '{}' }, 400, 'InvalidSignatureException'],
    ['of another body, untold', { signedBody: '{}', tells: false }, 403, 'SignatureDoesNotMatch'],
    ['of 16 minutes ago', { at: Date.now() - 16 * 60_000 }, 403, 'RequestExpired'],
    ['of 16 minutes ahead', { at: Date.now() + 16 * 60_000 }, 403, 'RequestExpired'],
    ['in the query, too', { path: `${SEND}?X-Amz-Signature=00` }, 403, 'IncompleteSignatureException'],
  ])('%s is refused', async (_, how, status, name) => {
    const before = world.intake.submissions.length;
    expect(refusal(await askSigned(how))).toEqual([status, name]);
    expect(world.intake.submissions.length).toBe(before);
  });

  test('may be of a host that is public', async () => {
    world.options.publicHosts = ['mail.example.com'];
    expect((await askSigned({ host: 'mail.example.com' })).status).toBe(200);
    world.options.publicHosts = [];
  });

  test('is needed: an API key does not do', async () => {
    for (const key of [{}, { key: await world.key() }]) {
      const answer = await world.ask({ method: 'POST', path: SEND, body: EMAIL, ...key });
      expect(refusal(answer)).toEqual([403, 'MissingAuthenticationTokenException']);
    }
  });

  test('is not taken elsewhere', async () => {
    expect((await askSigned({ path: '/emails' })).status).toBe(403);
    expect((await askSigned({ path: '/emails' })).json).toMatchObject({ name: 'invalid_api_key' });
  });
});

describe('each error is of its class in the SDK', () => {
  test.each<[string, object, new (...args: never[]) => Error, RegExp]>([
    ['a field that is missing', { FromEmailAddress: undefined }, BadRequestException, /^FromEmailAddress: /],
    [
      'an address that is none',
      { Destination: { ToAddresses: ['nobody'] } },
      BadRequestException,
      /^Destination\.ToAddresses\[0\]: /,
    ],
    ['no content', { Content: {} }, BadRequestException, /^Content: /],
    [
      'a reverse-path that is none',
      { FeedbackForwardingEmailAddress: 'x' },
      BadRequestException,
      /^FeedbackForwardingEmailAddress: /,
    ],
    [
      'a header that is ours',
      { Content: { Simple: { ...EMAIL.Content?.Simple, Headers: [{ Name: 'Received', Value: 'x' }] } } },
      BadRequestException,
      /^Content\.Simple\.Headers\.Received: /,
    ],
    [
      'a tag that is too long',
      { EmailTags: [{ Name: 'a', Value: 'b'.repeat(200) }] },
      BadRequestException,
      /^EmailTags\[0\]: /,
    ],
    [
      'Reply-To beside a finished message',
      {
        ReplyToAddresses: ['a@example.com'],
        Content: { Raw: { Data: Buffer.from('From: a@example.com\r\n\r\nHi') } },
      },
      BadRequestException,
      /^ReplyToAddresses: /,
    ],
    [
      'a value that is missing',
      { Content: { Template: { TemplateContent: { Subject: 'x', Text: '{{name}}' } } } },
      BadRequestException,
      /Attribute 'name' is not present/,
    ],
    [
      'a condition in a template',
      { Content: { Template: { TemplateContent: { Subject: 'x', Text: '{{#if a}}' } } } },
      BadRequestException,
      /There are no helpers such as "if"/,
    ],
    [
      'a value that is no JSON',
      { Content: { Template: { TemplateContent: { Text: 'x' }, TemplateData: '{' } } },
      BadRequestException,
      /^Content\.Template\.TemplateData: /,
    ],
    [
      'a template by name',
      { Content: { Template: { TemplateName: 'welcome' } } },
      NotFoundException,
      /welcome/,
    ],
    [
      'a message that is none',
      { Content: { Raw: { Data: Buffer.from('no header') } } },
      MessageRejected,
      /./,
    ],
    ['a sender in "invalid"', { FromEmailAddress: 'invalid@invalid' }, MessageRejected, /invalid/],
    [
      'a recipient in "invalid"',
      { Destination: { BccAddresses: ['a@b.invalid'] } },
      MessageRejected,
      /invalid/,
    ],
    [
      'what is too large',
      { Content: { Raw: { Data: Buffer.alloc(200_000, 'x') } } },
      BadRequestException,
      /at most 150000 bytes/,
    ],
  ])('%s', async (_, input, type, message) => {
    const error = await refusedAs(input);
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
    expect(error.$metadata.requestId).toBeTruthy();
  });

  test('a template whose values outgrow a message', async () => {
    const TemplateContent = { Text: '{{a}}'.repeat(10_000) };
    const Template = { TemplateContent, TemplateData: JSON.stringify({ a: 'x'.repeat(50_000) }) };
    expect((await refusedAs({ Content: { Template } })).$metadata.httpStatusCode).toBe(413);
  });

  test('of scopes, senders and sources', async () => {
    const reader = await signer({ scopes: ['messages:read'] });
    expect(await refusedAs({}, reader)).toMatchObject({
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 403 },
    });
    const bound = await signer({ senderDomains: ['example.net'] });
    expect(await refusedAs({}, bound)).toBeInstanceOf(MessageRejected);
    const back = { FromEmailAddress: 'a@example.net', FeedbackForwardingEmailAddress: 'a@example.com' };
    expect(await refusedAs(back, bound)).toBeInstanceOf(MessageRejected);
    const elsewhere = await signer({ cidrs: ['192.0.2.1/32'] });
    expect(await refusedAs({}, elsewhere)).toMatchObject({ name: 'AccessDeniedException' });
    world.options.allowedCidrs = cidrs('192.0.2.0/24');
    expect(await refusedAs({})).toMatchObject({ name: 'AccessDeniedException' });
    world.options.allowedCidrs = cidrs('127.0.0.0/8', '::1/128');
  });

  test('of keys that have ended', async () => {
    const ended = await signer({ revokedAt: world.clock.wall() });
    expect(await refusedAs({}, ended)).toMatchObject({ name: 'UnrecognizedClientException' });
  });

  test('of a key that ends while its request is read', async () => {
    const { authenticator } = world.shared;
    const before = world.intake.submissions.length;
    const looks = vi.spyOn(authenticator, 'findSigner');
    looks.mockImplementationOnce((id) => Authenticator.prototype.findSigner.call(authenticator, id));
    looks.mockResolvedValueOnce(null);
    expect(await refusedAs({})).toMatchObject({ name: 'UnrecognizedClientException' });
    looks.mockRestore();
    expect(world.intake.submissions.length).toBe(before);
  });

  test('of a rate, with the time to wait', async () => {
    const slow = await signer({ rateLimit: 1 });
    await client(slow).send(new SendEmailCommand(EMAIL));
    const error = await refusedAs({}, slow);
    expect(error).toBeInstanceOf(TooManyRequestsException);
    expect(error.$metadata.httpStatusCode).toBe(429);
    expect(Number((await askSigned({ signer: slow })).headers['retry-after'])).toBeGreaterThan(0);
  });

  test('of a key that was used for another message', async () => {
    const headers = { 'amz-sdk-invocation-id': '6ae3b5d0-0000-4000-8000-000000000001' };
    expect((await askSigned({ headers })).status).toBe(200);
    const body = JSON.stringify({ ...EMAIL, EmailTags: [{ Name: 'a', Value: 'b' }] });
    const answer = await askSigned({ headers, body });
    expect(refusal(answer)).toEqual([409, ConflictException.name]);
  });

  test('of a full queue', async () => {
    world.intake.suspension = { code: 'queue_limit', detail: 'The queue is full.', retryAfterSeconds: 60 };
    const error = await refusedAs({});
    world.intake.suspension = null;
    expect([error.name, error.$metadata.httpStatusCode]).toEqual(['ServiceUnavailable', 503]);
  });

  test('of what is not there, of methods and types', async () => {
    const command = new GetSuppressedDestinationCommand({ EmailAddress: 'ann@example.org' });
    const reader = await signer({ scopes: ['suppressions:read'] });
    await expect(client(reader).send(command)).rejects.toBeInstanceOf(NotFoundException);
    expect(refusal(await askSigned({ path: '/v2/email/identities' }))).toEqual([404, 'NotFoundException']);
    expect(refusal(await askSigned({ method: 'PUT' }))).toEqual([405, 'UnknownOperationException']);
    const headers = { 'Content-Type': 'text/plain' };
    expect(refusal(await askSigned({ headers }))).toEqual([415, 'BadRequestException']);
    expect(refusal(await askSigned({ body: '{"Subjekt": 1}' }))).toEqual([400, 'BadRequestException']);
    expect(refusal(await askSigned({ headers: { 'Idempotency-Key': 'x'.repeat(300) } }))).toEqual([
      400,
      'BadRequestException',
    ]);
  });
});

test('any JSON is answered in SES’s shape', async () => {
  const wild = await signer({ rateLimit: 0 });
  const names = [
    'Content',
    'Simple',
    'Raw',
    'Template',
    'Destination',
    'ToAddresses',
    'FromEmailAddress',
    'Data',
  ];
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), tie('tree'))),
    })).tree,
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(SEND, '/v2/email/outbound-bulk-emails'), async (body, path) => {
      const answer = await askSigned({ signer: wild, path, body: JSON.stringify(body) });
      expect(answer.status).toBeLessThan(500);
      if (answer.status !== 200) refusal(answer);
    }),
    { numRuns: 200 },
  );
});
