import { afterEach, beforeEach, expect, test } from 'vitest';
import { attempt, DELIVERED } from './deliver.ts';
import { faultsOf, MAIL, World } from './world.ts';

/** `PATCH /api/v1/messages/{id}`: another send time. */

const TOMORROW = '2026-11-21T00:00:00.000Z';
const LATER = '2026-11-22T08:30:00.000Z';

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key();
});
afterEach(() => world.close());

async function submit(fields: object = { sendAt: TOMORROW }, secret = key): Promise<string> {
  return String((await world.post(secret, { ...MAIL, ...fields })).headers.location);
}

const move = (path: string, sendAt: unknown, secret = key) =>
  world.ask({ method: 'PATCH', key: secret, path, body: { sendAt } });
const seen = async (path: string) => (await world.ask({ key, path })).json;

test('moves what waits for its time, later and to now, and answers with the record as it is then', async () => {
  const path = await submit();
  const answer = await move(path, '2026-11-22T09:30:00+01:00');
  expect([answer.status, answer.json]).toEqual([200, await seen(path)]);
  expect(answer.json).toMatchObject({
    status: 'queued',
    sendAt: LATER,
    nextAttemptAt: LATER,
    waitingFor: 'scheduled',
    recipients: [{ nextAttemptAt: LATER }],
  });
  await world.clock.advance(5000);
  const now = '2026-11-20T00:00:05.000Z';
  expect((await move(path, '2020-01-01T00:00:00Z')).json).toMatchObject({ sendAt: now, nextAttemptAt: now });
  await attempt(world, DELIVERED);
  expect((await seen(path))['status']).toBe('delivered');
});

test('works for a test key, and with a Message-ID', async () => {
  const tester = await world.key({ mode: 'test' });
  const path = await submit({ sendAt: TOMORROW }, tester);
  const { messageId } = (await world.ask({ key: tester, path })).json;
  const named = `/api/v1/messages/${encodeURIComponent(String(messageId))}`;
  expect((await move(named, LATER, tester)).json['sendAt']).toBe(LATER);
});

test('is refused with 409 for what is due, has no time, or has ended, which then stays as it is', async () => {
  const [due, plain, cancelled] = [await submit(), await submit({}), await submit()];
  await world.ask({ method: 'POST', key, path: `${cancelled}/cancel` });
  await world.clock.advance(24 * 3_600_000);
  for (const path of [due, plain, cancelled]) {
    const before = await seen(path);
    const { status, json } = await move(path, LATER);
    expect([status, json['code']]).toEqual([409, 'not_reschedulable']);
    expect(await seen(path)).toEqual(before);
  }
});

test.each([
  ['no time', undefined, '/sendAt required'],
  ['null', null, '/sendAt type'],
  ['a word', 'tomorrow', '/sendAt timestamp'],
  ['a time without a zone', '2026-11-21T00:00:00', '/sendAt timestamp'],
  ['31 days ahead', '2026-12-21T00:00:00Z', '/sendAt too_far_ahead'],
])('refuses %s by name, and does nothing', async (_, sendAt, fault) => {
  const path = await submit();
  const answer = await move(path, sendAt);
  expect([answer.status, answer.json['code'], faultsOf(answer)]).toEqual([400, 'invalid_request', [fault]]);
  expect((await seen(path))['sendAt']).toBe(TOMORROW);
});

test('refuses fields that cannot be changed, large bodies, and other media types', async () => {
  const path = await submit();
  const ask = (body: object | string, headers = {}) =>
    world.ask({ method: 'PATCH', key, path, body, headers });
  expect(faultsOf(await ask({ sendAt: LATER, subject: 'Other' }))).toEqual(['/subject unknown_field']);
  expect((await ask({ sendAt: LATER, subject: 'x'.repeat(2000) })).status).toBe(413);
  expect((await ask('sendAt=now', { 'Content-Type': 'text/plain' })).status).toBe(415);
});

test('is not for others, but for an administrator, whose act is written down', async () => {
  const path = await submit();
  const other = await world.key({ scopes: ['messages:send', 'messages:read_all'] });
  expect((await move(path, LATER, other)).status).toBe(403);
  const reader = await world.key({ scopes: ['messages:read'] });
  expect((await move(path, LATER, reader)).json['code']).toBe('scope_missing');
  const admin = await world.key({
    scopes: ['messages:send', 'messages:read_all', 'admin'],
    name: 'operator',
  });
  expect((await move(path, LATER, admin)).json['sendAt']).toBe(LATER);
  await world.clock.advance(3 * 24 * 3_600_000);
  const refusal = await move(path, '2026-11-25T00:00:00Z', admin);
  expect([refusal.status, refusal.json['code']]).toEqual([409, 'not_reschedulable']);
  const all = { actor: null, action: null, subject: null, limit: 10, before: null };
  const who = { actor: 'operator', action: 'rescheduleMessage', subject: path.split('/').at(-1) };
  expect((await world.stores.journal.entries(all)).entries).toMatchObject([
    { ...who, after: '{"error":"refused"}' },
    who,
  ]);
});
