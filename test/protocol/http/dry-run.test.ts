import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Suspension } from '../../../src/engine/intake.ts';
import { encodeForm, formOf, MAIL, World } from './world.ts';

/** Dry runs (contract §2): everything is checked, nothing is stored. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key();
});
afterAll(() => world.close());

const DRY = { ...MAIL, dryRun: true };

/** What the store knows, to be compared before and after. */
async function stored(): Promise<number> {
  const page = await world.stores.views.list({ owner: 'all', statuses: [], before: null, limit: 200 });
  return page.messages.length;
}

test('the verdict tells what would be sent and the way each copy would take, but not how relays do', async () => {
  const answer = await world.post(key, { ...DRY, cc: ['c@example.org'], bcc: ['d@example.org'] });
  expect([answer.status, answer.headers.location]).toEqual([200, undefined]);
  expect(answer.json).toEqual({
    dryRun: true,
    message: 'Valid. Nothing was stored, nothing will be sent.',
    captured: false,
    sizeBytes: expect.any(Number),
    from: 'jane@example.com',
    recipients: [
      { address: 'bob@example.org', type: 'to', relay: 'out', rule: null },
      { address: 'c@example.org', type: 'cc', relay: 'out', rule: null },
      { address: 'd@example.org', type: 'bcc', relay: 'out', rule: null },
    ],
  });
});

test('nothing is stored, nothing handed over', async () => {
  const before = [await stored(), world.intake.submissions.length];
  await world.post(key, DRY);
  expect([await stored(), world.intake.submissions.length]).toEqual(before);
});

test('the size is that of the message when it is sent', async () => {
  const verdict = await world.post(key, DRY);
  const { content } = await world.accept(key, {});
  expect(verdict.json['sizeBytes']).toBe(content.sizeBytes);
});

test.each([
  ['a test key', { mode: 'test' } as const],
  ['a route to the inbox', {}],
])('%s: captured', async (_, facts) => {
  world.intake.relay = 'inbox';
  const answer = await world.post(await world.key(facts), DRY);
  world.intake.relay = 'out';
  expect(answer.json).toMatchObject({ captured: true, recipients: [{ relay: 'inbox' }] });
});

test('every fault is told as for a submission', async () => {
  const [dry, wet] = await Promise.all([
    world.post(key, { ...DRY, from: 'jane', priority: 'x' }),
    world.post(key, { ...MAIL, from: 'jane', priority: 'x' }),
  ]);
  expect(dry.status).toBe(400);
  expect(dry.json.errors).toEqual(wet.json.errors);
});

test('sender domains bind, and limits of size', async () => {
  const bound = await world.key({ senderDomains: ['example.net'] });
  expect((await world.post(bound, DRY)).json['code']).toBe('sender_not_allowed');
  const large = [{ filename: 'a', content: Buffer.alloc(112_000).toString('base64') }];
  expect((await world.post(key, { ...DRY, attachments: large })).json['code']).toBe('message_too_large');
});

test('while intake is suspended it is refused as any submission', async () => {
  const suspension: Suspension = { code: 'disk_full', detail: 'The disk is full.', retryAfterSeconds: 9 };
  world.intake.suspension = suspension;
  const answer = await world.post(key, DRY);
  world.intake.suspension = null;
  expect([answer.status, answer.json['code'], answer.headers['retry-after']]).toEqual([
    503,
    'disk_full',
    '9',
  ]);
});

test('an idempotency key is neither used up nor looked at, but its form is', async () => {
  const headers = { 'Idempotency-Key': 'dry' };
  expect((await world.post(key, DRY, headers)).status).toBe(200);
  expect((await world.post(key, MAIL, headers)).headers['idempotency-replayed']).toBeUndefined();
  expect((await world.post(key, { ...DRY, subject: 'Other' }, headers)).status).toBe(200);
  expect((await world.post(key, DRY, { 'Idempotency-Key': '' })).status).toBe(400);
});

test('it counts as a request', async () => {
  const limited = await world.key({ rateLimit: 1 });
  expect((await world.post(limited, DRY)).status).toBe(200);
  expect((await world.post(limited, DRY)).status).toBe(429);
});

test('a form asks with o:dry-run, on the Mailgun path too', async () => {
  const { headers, body } = await encodeForm(
    formOf([
      ['from', MAIL.from],
      ['to', 'bob@example.org'],
      ['text', 'x'],
      ['o:dry-run', 'yes'],
    ]),
  );
  const answer = await world.ask({ method: 'POST', key, headers, body });
  expect([answer.status, answer.json['dryRun']]).toEqual([200, true]);
  const before = world.intake.submissions.length;
  const mailgun = await world.ask({
    method: 'POST',
    path: '/v3/example.com/messages',
    headers: { ...headers, Authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` },
    body,
  });
  expect([mailgun.status, mailgun.json['message']]).toEqual([200, answer.json['message']]);
  expect(world.intake.submissions).toHaveLength(before);
});
