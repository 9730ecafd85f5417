/** Wrong proofs of every kind, of the providers whose proof is in the request alone. */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HookWish, hookRequest, NOW, SETTINGS, spki } from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { Hooks } from './hooks.ts';
import { type HookRequest, isSame } from './proof.ts';

const hooks = new Hooks({
  get: async () => ({ kind: 'failed', text: 'unused' }),
  clock: new ManualClock(NOW),
});
const EVENTS = { sendgrid: [{ event: 'open', sg_event_id: 'x' }], mailgun: { event: 'opened' } };
const BODIES = { ...EVENTS, postmark: { RecordType: 'Open' }, resend: { type: 'email.opened' } };
type Type = keyof typeof BODIES;
const TYPES = ['sendgrid', 'mailgun', 'postmark', 'resend'] as const;
const REFUSED: Readonly<Record<Type, number>> = { sendgrid: 401, mailgun: 406, postmark: 401, resend: 401 };
const HOUR = 3_600_000;

async function statusOf(type: Type, request: HookRequest, settings = SETTINGS, now = NOW): Promise<number> {
  const proof = await hooks.prove(type, request, settings, now);
  return proof.kind === 'proven' ? 200 : proof.kind === 'bad' ? proof.status : 503;
}

function made(type: Type, wish?: HookWish): HookRequest {
  return hookRequest(type, BODIES[type], wish);
}

test.each(TYPES)('%s: what it sends is proven', async (type) => {
  expect(await statusOf(type, made(type))).toBe(200);
});

test.each(TYPES)('%s: without its setting there is no hook, whatever is sent', async (type) => {
  const none: HookSettings = { topicArn: null, publicKey: null, username: null, secret: null };
  expect(await statusOf(type, made(type), none)).toBe(404);
  expect(await statusOf(type, { headers: {}, body: Buffer.of() }, none)).toBe(404);
  // An empty secret would be known to everybody.
  const empty: HookSettings = { topicArn: null, publicKey: '', username: '', secret: '' };
  expect(await statusOf(type, made(type, { settings: empty }), empty)).toBe(404);
});

test.each<[Type, string[]]>([
  ['sendgrid', ['x-twilio-email-event-webhook-signature', 'x-twilio-email-event-webhook-timestamp']],
  ['postmark', ['authorization']],
  ['resend', ['svix-id', 'svix-timestamp', 'svix-signature']],
])('%s: a missing, empty, repeated or other header is a bad proof', async (type, names) => {
  for (const name of names)
    for (const value of [null, '', ' ', 'x', '0', '-1', '1e9', 'A'.repeat(10_000), 'Basic', 'Basic é', 'v1,'])
      expect(await statusOf(type, made(type, { headers: { [name]: value } })), `${name}: ${value}`).toBe(401);
  const twice = made(type);
  const headers = Object.fromEntries(
    Object.entries(twice.headers).map(([name, value]) => [name, [`${value}`]]),
  );
  expect(await statusOf(type, { ...twice, headers })).toBe(401);
});

test.each<[string, unknown]>([
  ['no signature', undefined],
  ['a signature that is no object', 'x'],
  ['no members', {}],
  ['a number for a token', { timestamp: String(NOW / 1000), token: 1, signature: 'a'.repeat(64) }],
  ['an empty token', { timestamp: String(NOW / 1000), token: '', signature: 'a'.repeat(64) }],
  ['a long token', { timestamp: String(NOW / 1000), token: 'x'.repeat(101), signature: 'a'.repeat(64) }],
  ['an empty signature', { timestamp: String(NOW / 1000), token: 'x', signature: '' }],
  ['no timestamp', { token: 'x', signature: 'a'.repeat(64) }],
  ['a timestamp that is no number', { timestamp: 'now', token: 'x', signature: 'a'.repeat(64) }],
  ['a timestamp with a fraction', { timestamp: NOW / 1000 + 0.5, token: 'x', signature: 'a'.repeat(64) }],
])('mailgun: %s is a bad proof', async (_, signature) => {
  const body = Buffer.from(JSON.stringify({ signature, 'event-data': { event: 'opened' } }));
  expect(await statusOf('mailgun', { headers: {}, body })).toBe(406);
});

test.each(TYPES)('%s: a proof by another secret or key is bad', async (type) => {
  const settings = { ...SETTINGS, secret: `whsec_${Buffer.from('another').toString('base64')}` };
  const publicKey = spki(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
  const expected = type === 'sendgrid' ? { ...SETTINGS, publicKey } : SETTINGS;
  expect(await statusOf(type, made(type, { settings }), expected)).toBe(REFUSED[type]);
});

test('postmark: another user name is bad, and where it ends cannot be moved', async () => {
  const settings = { ...SETTINGS, username: 'Postmark' };
  expect(await statusOf('postmark', made('postmark', { settings }))).toBe(401);
  const colon = { ...SETTINGS, username: 'a', secret: 'b:c' };
  expect(await statusOf('postmark', made('postmark', { settings: colon }), colon)).toBe(200);
});

test.each(['sendgrid', 'resend'] as const)('%s: no changed byte of the body passes', async (type) => {
  const request = made(type);
  for (let at = 0; at < request.body.length; at++) {
    const body = Buffer.from(request.body);
    body[at] = (body[at] ?? 0) ^ 1;
    expect(await statusOf(type, { ...request, body }), `byte ${at}`).toBe(401);
  }
  for (const body of [request.body.subarray(1), request.body.subarray(0, -1), Buffer.of()])
    expect(await statusOf(type, { ...request, body })).toBe(401);
});

test.each(['sendgrid', 'resend'] as const)(
  '%s: the proof of one body does not prove another',
  async (type) => {
    const { headers } = made(type);
    expect(await statusOf(type, { headers, body: hookRequest(type, { other: 1 }).body })).toBe(401);
  },
);

test('mailgun signs the timestamp and a token, so the same proof goes with any event', async () => {
  const { signature } = JSON.parse(made('mailgun').body.toString());
  const other = Buffer.from(JSON.stringify({ signature, 'event-data': { event: 'complained' } }));
  expect(await statusOf('mailgun', { headers: {}, body: other })).toBe(200);
  for (const changed of [{ token: 'd'.repeat(50) }, { timestamp: String(NOW / 1000 - 1) }]) {
    const body = Buffer.from(JSON.stringify({ signature: { ...signature, ...changed }, 'event-data': {} }));
    expect(await statusOf('mailgun', { headers: {}, body })).toBe(406);
  }
});

test('mailgun: a number for a timestamp is taken, as some of its examples have it', async () => {
  const given = JSON.parse(made('mailgun').body.toString());
  given.signature.timestamp = Number(given.signature.timestamp);
  expect(await statusOf('mailgun', { headers: {}, body: Buffer.from(JSON.stringify(given)) })).toBe(200);
});

test.each([
  ['sendgrid', 24 * HOUR],
  ['mailgun', 24 * HOUR],
  ['resend', HOUR / 12],
] as const)('%s: a timestamp may be so old, or five minutes ahead, and no second more', async (type, age) => {
  expect(await statusOf(type, made(type, { at: NOW - age }))).toBe(200);
  expect(await statusOf(type, made(type, { at: NOW - age - 1000 }))).toBe(REFUSED[type]);
  expect(await statusOf(type, made(type, { at: NOW + HOUR / 12 }))).toBe(200);
  expect(await statusOf(type, made(type, { at: NOW + HOUR / 12 + 1000 }))).toBe(REFUSED[type]);
});

test('resend: the names of Standard Webhooks are taken, but no mixture of both', async () => {
  const { headers, body } = made('resend');
  const renamed = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace('svix', 'webhook'), value]),
  );
  expect(await statusOf('resend', { headers: renamed, body })).toBe(200);
  expect(await statusOf('resend', { headers: { ...renamed, ...headers, 'webhook-id': 'x' }, body })).toBe(
    200,
  );
  const mixed = { ...renamed, 'svix-id': headers['svix-id'], 'webhook-id': undefined };
  expect(await statusOf('resend', { headers: mixed, body })).toBe(401);
});

test('resend: of several signatures one must be right, of version 1, among the first eight', async () => {
  const { headers, body } = made('resend');
  const right = `${headers['svix-signature']}`;
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const given = (signatures: string) =>
    statusOf('resend', { headers: { ...headers, 'svix-signature': signatures }, body });
  expect(await given(`${wrong} ${right}`)).toBe(200);
  expect(await given(`v1a,xyz ${right} ${wrong}`)).toBe(200);
  expect(await given(right.replace('v1,', 'v2,'))).toBe(401);
  expect(await given(right.replace('v1,', ''))).toBe(401);
  expect(await given(`${`${wrong} `.repeat(7)}${right}`)).toBe(200);
  expect(await given(`${`${wrong} `.repeat(8)}${right}`)).toBe(401);
});

test('resend: an id may have no dot, which would move what is signed', async () => {
  const key = Buffer.from(`${SETTINGS.secret}`.slice('whsec_'.length), 'base64');
  const seconds = String(NOW / 1000);
  const given = (id: string) => {
    const signed = createHmac('sha256', key).update(`${id}.${seconds}.{}`).digest('base64');
    const headers = { 'svix-id': id, 'svix-timestamp': seconds, 'svix-signature': `v1,${signed}` };
    return statusOf('resend', { headers, body: Buffer.from('{}') });
  };
  expect(await given('a1')).toBe(200);
  expect(await given('a.1')).toBe(401);
  expect(await given('a 1')).toBe(401);
  expect(await given('a'.repeat(255))).toBe(200);
  expect(await given('a'.repeat(256))).toBe(401);
});

test.each<[string, Type, Partial<HookSettings>]>([
  ['no base64', 'sendgrid', { publicKey: 'x' }],
  [
    'a key over another curve',
    'sendgrid',
    { publicKey: spki(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey) },
  ],
  [
    'an RSA key',
    'sendgrid',
    { publicKey: spki(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey) },
  ],
  ['no base64', 'resend', { secret: 'whsec_-_' }],
  ['only its beginning', 'resend', { secret: 'whsec_' }],
])('a setting that is %s makes the hook of %s unavailable, so that it repeats', async (_, type, settings) => {
  expect(await statusOf(type, made(type), { ...SETTINGS, ...settings })).toBe(503);
});

test('secrets are the same when they are equal, of whatever length', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(isSame(a, b)).toBe(a === b);
      expect(isSame(Buffer.from(a), a)).toBe(true);
    }),
  );
});

test('no headers and no body make a proof, or an exception', async () => {
  const value = fc.oneof(fc.string(), fc.constant(undefined), fc.array(fc.string(), { maxLength: 2 }));
  const names = fc.constantFrom(
    ...TYPES.flatMap((type) => Object.keys(made(type).headers)),
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TYPES),
      fc.dictionary(names, value),
      body,
      async (type, headers, body) => {
        expect([400, 401, 406]).toContain(await statusOf(type, { headers, body }));
        const request = { headers: { ...made(type).headers, ...headers }, body };
        if (type !== 'postmark') expect([400, 401, 406]).toContain(await statusOf(type, request));
      },
    ),
  );
});
