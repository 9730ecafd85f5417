/** Webhooks of providers over real sockets: who is let in, what each proof is worth, and when the answer comes. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOOK_TYPES, type HookType } from '../../../src/domain/relay.ts';
import type { HookSettings } from '../../../src/domain/relay-hook.ts';
import { cidrs } from '../../support/cidrs.ts';
import {
  CERTIFICATE_URL,
  confirmation,
  type HookWish,
  hookExamples,
  hookRequest,
  NOW,
  notification,
  SETTINGS,
  SUBSCRIBE_URL,
  SVIX_ID,
  signedSns,
  snsCertificate,
  snsRequest,
} from '../../support/hook-requests.ts';
import { World } from './world.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const OLD_TOKEN = 'fedcba9876543210fedcba9876543210';
const DAY = 86_400_000;
const NO_SETTINGS: HookSettings = { topicArn: null, publicKey: null, username: null, secret: null };
/** One event each that means something, of the examples. */
const BODIES = Object.fromEntries(HOOK_TYPES.map((type) => [type, bodyOf(type)]));

let world: World;
/** What was fetched from SNS. */
let fetched: string[];

beforeEach(async () => {
  world = await World.start({ epoch: NOW, maxBytesInFlight: 4_000_000 });
  for (const type of HOOK_TYPES) setHook(type, SETTINGS);
  fetched = [];
  world.snsGet = async (url) => {
    fetched.push(url.href);
    return { kind: 'answer', body: Buffer.from(snsCertificate.cert) };
  };
});
afterEach(() => world.close());

function bodyOf(type: HookType): unknown {
  const example = hookExamples(type).find(
    ({ means }) => means.length > 0 && !('ignored' in (means[0] ?? {})),
  );
  if (example === undefined) throw new Error(`there is no example of ${type}`);
  return example.body;
}

function setHook(type: HookType, settings: HookSettings): void {
  world.relayHooks.set(type, {
    type,
    settings,
    current: TOKEN,
    former: [{ token: OLD_TOKEN, until: world.clock.wall() + DAY }],
  });
}

interface Sent {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

function post({ headers, body }: Sent, path: string) {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return world.ask({ method: 'POST', path, headers: Object.fromEntries(sent), body });
}

function tell(type: HookType, wish: HookWish = {}, token = TOKEN) {
  return post(hookRequest(type, BODIES[type], wish), `/hooks/${type}/${token}`);
}

test.each(HOOK_TYPES)('a proven request of %s is told, and answered', async (type) => {
  const answer = await tell(type);
  expect([answer.status, answer.json]).toEqual([200, { accepted: 1 }]);
  expect(world.desk.reports).toEqual([
    {
      source: `webhook:${type}`,
      items: [
        { feedback: expect.objectContaining({ source: `webhook:${type}` }), onceId: expect.any(String) },
      ],
      evidence: { contentType: 'application/json', bytes: hookRequest(type, BODIES[type]).body },
      mayBeEarly: true,
    },
  ]);
});

/** Every row of the table of proofs, with each way in which a proof can be bad. */
test.each<[HookType, string, number, HookWish]>([
  ['ses', 'another signature', 401, { settings: SETTINGS, at: NOW - 2 * DAY }],
  ['sendgrid', 'no signature', 401, { headers: { 'x-twilio-email-event-webhook-signature': null } }],
  [
    'sendgrid',
    'another signature',
    401,
    { headers: { 'x-twilio-email-event-webhook-signature': 'MEUCIQ==' } },
  ],
  ['sendgrid', 'no timestamp', 401, { headers: { 'x-twilio-email-event-webhook-timestamp': null } }],
  ['sendgrid', 'an old timestamp', 401, { at: NOW - DAY - 1000 }],
  ['sendgrid', 'a timestamp ahead', 401, { at: NOW + 301_000 }],
  ['mailgun', 'another key', 406, { settings: { ...SETTINGS, secret: 'another' } }],
  ['mailgun', 'an old timestamp', 406, { at: NOW - DAY - 1000 }],
  ['mailgun', 'a timestamp ahead', 406, { at: NOW + 301_000 }],
  ['postmark', 'no credentials', 401, { headers: { authorization: null } }],
  ['postmark', 'another password', 401, { settings: { ...SETTINGS, secret: 'another' } }],
  ['postmark', 'another user', 401, { settings: { ...SETTINGS, username: 'another' } }],
  ['resend', 'no signature', 401, { headers: { 'svix-signature': null } }],
  ['resend', 'another secret', 401, { settings: { ...SETTINGS, secret: 'whsec_YW5vdGhlcg==' } }],
  ['resend', 'another id', 401, { headers: { 'svix-id': `${SVIX_ID}0` } }],
  ['resend', 'an old timestamp', 401, { at: NOW - 301_000 }],
  ['resend', 'a timestamp ahead', 401, { at: NOW + 301_000 }],
])('%s with %s gets %d, and nothing is told', async (type, _, status, wish) => {
  const answer = await tell(type, wish);
  expect([answer.status, answer.text]).toEqual([status, '']);
  if (status === 401)
    expect(answer.headers['www-authenticate']).toMatch(type === 'postmark' ? /^Basic / : /./);
  expect(world.desk.reports).toEqual([]);
  expect(world.seen).toContainEqual({ type: 'hook', relay: type, proven: false });
  const refused = { type: 'feedback', source: `webhook:${type}`, result: 'refused', count: 1 };
  expect(world.seen).toContainEqual(refused);
});

test.each([
  ['a changed message', { ...signedSns(notification(BODIES['ses'])), Message: '{}' }, 401],
  [
    'another topic',
    signedSns({ ...notification(BODIES['ses']), TopicArn: 'arn:aws:sns:us-east-1:1:other' }),
    401,
  ],
  [
    'a certificate from elsewhere',
    signedSns({
      ...notification(BODIES['ses']),
      SigningCertURL: 'https://sns.us-east-1.amazonaws.com.evil.example/x.pem',
    }),
    401,
  ],
  ['no signature, which is raw delivery', BODIES['ses'], 400],
])('SNS with %s gets its status', async (_, members, status) => {
  const answer = await post(snsRequest(members), `/hooks/ses/${TOKEN}`);
  expect([answer.status, answer.text, world.desk.reports]).toEqual([status, '', []]);
});

test('SNS is asked to repeat while its certificate cannot be fetched', async () => {
  world.snsGet = async () => ({ kind: 'failed', text: 'it does not answer' });
  const answer = await tell('ses');
  expect([answer.status, answer.headers['retry-after'], world.desk.reports]).toEqual([503, '60', []]);
});

test.each([
  ['another relay', '/hooks/nobody', TOKEN],
  ['another token', '/hooks/resend', TOKEN.replace('0', '1')],
  ['a token of another length', '/hooks/resend', 'abc'],
  ['a relay name with odd characters', '/hooks/%00', TOKEN],
])('%s is 404 without a body, before anything is read', async (_, path, token) => {
  const request = hookRequest('resend', BODIES['resend']);
  const answer = await post({ ...request, body: randomBytes(2_000_000) }, `${path}/${token}`);
  expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([404, '', '0']);
});

test('a hook without the settings of its proof is 404, but SES needs none', async () => {
  for (const type of HOOK_TYPES) {
    setHook(type, NO_SETTINGS);
    const answer = await tell(type);
    expect([type, answer.status, answer.text]).toEqual([
      type,
      type === 'ses' ? 200 : 404,
      type === 'ses' ? '{"accepted":1}' : '',
    ]);
  }
});

test('the former token counts for as long as it may', async () => {
  expect((await tell('postmark', {}, OLD_TOKEN)).status).toBe(200);
  await world.clock.advance(DAY);
  expect((await tell('postmark', {}, OLD_TOKEN)).status).toBe(404);
  expect((await tell('postmark')).status).toBe(200);
});

test('the answer waits until what was told is durable', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.desk.held = promise;
  let answered = false;
  const answer = tell('resend').finally(() => {
    answered = true;
  });
  await expect.poll(() => world.desk.reports).toHaveLength(1);
  // A request that comes later is answered first.
  expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(200);
  expect(answered).toBe(false);
  resolve();
  expect((await answer).status).toBe(200);
});

test('what the store does not take is to be repeated', async () => {
  world.desk.failure = 'store_unavailable';
  const answer = await tell('sendgrid');
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  world.desk.failure = null;
  expect((await tell('sendgrid')).status).toBe(200);
});

test('events that mean nothing here are accepted, counted, and not told', async () => {
  const event = { email: 'a@b.example', event: 'open', sg_event_id: '1', timestamp: 1 };
  const answer = await post(
    hookRequest('sendgrid', [event, { ...event, sg_event_id: '2' }]),
    `/hooks/sendgrid/${TOKEN}`,
  );
  expect([answer.status, answer.json, world.desk.reports]).toEqual([200, { accepted: 2 }, []]);
  const ignored = { type: 'feedback', source: 'webhook:sendgrid', result: 'ignored', count: 2 };
  expect(world.seen).toContainEqual(ignored);
});

test('a repeat has the same id', async () => {
  for (const type of HOOK_TYPES) {
    world.desk.reports.length = 0;
    await tell(type);
    await tell(type);
    const ids = world.desk.reports.map(({ items }) => items.map(({ onceId }) => onceId));
    expect(ids[0]).toEqual(ids[1]);
  }
});

test('a subscription is confirmed by one GET, after the answer', async () => {
  const request = snsRequest(signedSns(confirmation('SubscriptionConfirmation')));
  const answer = await post(request, `/hooks/ses/${TOKEN}`);
  expect([answer.status, answer.json, world.desk.reports]).toEqual([200, { accepted: 0 }, []]);
  await expect.poll(() => fetched).toEqual([CERTIFICATE_URL, SUBSCRIBE_URL]);
  await expect.poll(() => world.noted).toContain('hook.confirmed');
  // The other confirmation is not followed: it would subscribe again.
  await post(snsRequest(signedSns(confirmation('UnsubscribeConfirmation'))), `/hooks/ses/${TOKEN}`);
  expect(fetched).toHaveLength(2);
});

test('an unproven subscription is not confirmed', async () => {
  const members = { ...signedSns(confirmation('SubscriptionConfirmation')), Token: 'another' };
  expect((await post(snsRequest(members), `/hooks/ses/${TOKEN}`)).status).toBe(401);
  expect(fetched).toEqual([CERTIFICATE_URL]);
});

test.each<[string, number, string | Buffer]>([
  ['no JSON', 400, '{'],
  ['JSON without events', 400, '{}'],
  ['bytes that are no text', 400, Buffer.from([0xff, 0xfe])],
  ['nesting without end', 400, '['.repeat(100_000)],
])('%s gets %d', async (_, status, body) => {
  const answer = await post(hookRequest('postmark', body), `/hooks/postmark/${TOKEN}`);
  expect([answer.status, answer.text]).toEqual([status, '']);
});

test('a body over 1 MiB is 413, announced or not, and one below is read', async () => {
  const bytes = Buffer.alloc(1024 * 1024 + 1, 0x20);
  const request = hookRequest('postmark', bytes);
  expect((await post(request, `/hooks/postmark/${TOKEN}`)).status).toBe(413);
  const chunked = { ...request, headers: { ...request.headers, 'transfer-encoding': 'chunked' } };
  expect((await post(chunked, `/hooks/postmark/${TOKEN}`)).status).toBe(413);
  const fits = hookRequest('postmark', `${' '.repeat(1_000_000)}${JSON.stringify(BODIES['postmark'])}`);
  expect((await post(fits, `/hooks/postmark/${TOKEN}`)).status).toBe(200);
  const compressed = { ...request, headers: { ...request.headers, 'content-encoding': 'gzip' } };
  expect((await post(compressed, `/hooks/postmark/${TOKEN}`)).status).toBe(415);
});

test('other methods are refused', async () => {
  const path = `/hooks/postmark/${TOKEN}`;
  expect((await world.ask({ method: 'GET', path })).status).toBe(405);
  expect((await world.ask({ method: 'PUT', path, body: '{}' })).status).toBe(405);
  // By this the doctor knows the server, whatever hooks there are.
  expect((await world.ask({ path: '/hooks/doctor/0' })).status).toBe(405);
});

test('hooks have a list of sources of their own', async () => {
  world.options.allowedCidrs = cidrs('192.0.2.0/24');
  expect((await tell('postmark')).status).toBe(200);
  expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(403);
  world.options.allowedCidrs = cidrs('127.0.0.0/8');
  world.options.strangerCidrs = cidrs('192.0.2.0/24');
  const answer = await tell('postmark');
  expect([answer.status, answer.json['code'], answer.json['detail']]).toEqual([
    403,
    'source_not_allowed',
    '127.0.0.1 may not use this path; allow it in hooks.allowed_cidrs.',
  ]);
  expect(world.seen).toContainEqual(expect.objectContaining({ type: 'denied', port: 'hooks' }));
  expect((await world.ask({ path: '/api/v1/ready' })).status).toBe(200);
});

test('a source may send 600 requests a minute, whatever their tokens', async () => {
  world.options.trustedProxies = cidrs('127.0.0.0/8');
  world.options.strangerCidrs = cidrs('0.0.0.0/0');
  const from = (address: string) =>
    world.ask({ method: 'POST', path: `/hooks/x/${TOKEN}`, headers: { 'X-Forwarded-For': address } });
  for (let sent = 0; sent < 600; sent++) expect((await from('192.0.2.1')).status).toBe(404);
  const refused = await from('192.0.2.1');
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
  expect((await from('192.0.2.2')).status).toBe(404);
  await world.clock.advance(60_000);
  expect((await from('192.0.2.1')).status).toBe(404);
});

test('the log shows the path without its token, and no secret or body', async () => {
  for (const type of HOOK_TYPES) {
    await tell(type);
    await tell(type, {}, OLD_TOKEN.replace('f', 'e'));
    await tell(type, {
      settings: { ...SETTINGS, secret: 'whsec_YW5vdGhlcg==' },
      headers: { 'svix-id': 'x' },
    });
  }
  const told = JSON.stringify(world.lines);
  expect(told).toContain('"path":"/hooks/mailgun/…"');
  expect(told).not.toMatch(new RegExp(`${TOKEN}|${OLD_TOKEN.slice(1)}|whsec_|@`));
});
