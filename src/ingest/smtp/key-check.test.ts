import { afterEach, beforeEach, expect, test } from 'vitest';
import { PolicyWorld } from '../../../test/support/policy-world.ts';
import type { ApiKey } from '../../domain/key.ts';
import { generateSecret } from '../../lib/id.ts';

const NO_KEY = '535 5.7.8 The password must be a valid API key; create one with: waybill keys create';

let world: PolicyWorld;
beforeEach(() => {
  world = new PolicyWorld();
});
afterEach(() => world.close());

/** What is answered in the end, however long it takes. */
async function inTheEnd<T>(answer: Promise<T>): Promise<T> {
  let over = false;
  const done = answer.finally(() => {
    over = true;
  });
  while (!over) await world.clock.advance(50);
  return done;
}

test.each([
  ['', ''],
  ['anything', ''],
  ['anything', 'anything'],
  ['', 'printer'],
  ['printer', 'printer'],
  ['printer', ''],
])('user name "%s" acting as "%s": the password alone decides', async (username, authorizationId) => {
  const secret = await world.key({ id: 'key_1', name: 'printer' });
  expect(await world.auth(secret, '192.0.2.7', { username, authorizationId })).toMatchObject({ id: 'key_1' });
});

test('who wants to act as another is refused', async () => {
  const secret = await world.key({ name: 'printer' });
  const names = { username: 'printer', authorizationId: 'boss' };
  expect(await inTheEnd(world.auth(secret, '192.0.2.7', names))).toBe(
    'auth_identity 535 5.7.8 A key acts only for itself; leave the authorization identity empty',
  );
});

test('a test key authenticates too, and keeps its mode', async () => {
  expect(await world.auth(await world.key({ mode: 'test' }))).toMatchObject({ mode: 'test' });
});

test.each<[string, (secret: string) => string, Partial<ApiKey>]>([
  ['auth_malformed', () => 'hunter2', {}],
  ['auth_malformed', () => '', {}],
  ['auth_checksum_wrong', (secret) => secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0'), {}],
  ['auth_unknown', () => generateSecret(world.random, 'live'), {}],
  ['auth_revoked', (secret) => secret, { revokedAt: 1 }],
  ['auth_expired', (secret) => secret, { expiresAt: 1 }],
])('%s: the log is told what was wrong, the client only what would do', async (reason, made, facts) => {
  const secret = await world.key(facts);
  expect(await inTheEnd(world.auth(made(secret)))).toBe(`${reason} ${NO_KEY}`);
});

test('a key that may not send, or not from there, is told so', async () => {
  const reader = await world.key({ scopes: ['messages:read'] });
  expect(await inTheEnd(world.auth(reader))).toBe(
    'scope_missing 535 5.7.8 This key may not send; create one with the scope messages:send',
  );
  const bound = await world.key({ cidrs: ['198.51.100.0/24', '2001:db8::/32'] });
  expect(await world.auth(bound, '198.51.100.9')).toMatchObject({ mode: 'live' });
  expect(await world.auth(bound, '2001:db8::1')).toMatchObject({ mode: 'live' });
  expect(await inTheEnd(world.auth(bound, '192.0.2.7'))).toBe(
    'key_source_not_allowed 535 5.7.8 This key may not be used from 192.0.2.7; create one that may: waybill keys create --cidr',
  );
});

test('while keys cannot be looked up the answer is to try again, and nobody was denied', async () => {
  const origin = await world.keyed();
  const secret = await world.key();
  await world.stores.store.close();
  expect(await world.auth(secret)).toBe('- 454 4.7.0 Keys cannot be looked up now; try again soon');
  await world.clock.advance(1000);
  expect(await world.renew(origin)).toBe('- 421 4.3.0 Keys cannot be looked up now; try again soon');
});

test('a right key is answered at once, however many wrong ones of its source wait', async () => {
  const secret = await world.key({ id: 'key_1' });
  const wrong = Array.from({ length: 20 }, () => world.auth('wrong'));
  const before = world.clock.mono();
  expect(await world.auth(secret)).toMatchObject({ id: 'key_1' });
  expect(world.clock.mono()).toBe(before);
  for (const answer of await inTheEnd(Promise.all(wrong))) expect(answer).toBe(`auth_malformed ${NO_KEY}`);
  expect(world.clock.mono() - before).toBeGreaterThanOrEqual(10_000);
});

test('wrong keys past those that may wait end their sessions, and a right one does not', async () => {
  const wrong = Array.from({ length: 101 }, () => world.auth('wrong'));
  expect(await wrong.at(-1)).toBe(
    'auth_too_many_failures 421 4.7.0 Too many failed authentications from 192.0.2.7; the password must be an API key',
  );
  expect(await world.auth(await world.key({ id: 'key_1' }))).toMatchObject({ id: 'key_1' });
});

test('a revoked key ends its session at the next message, within one second', async () => {
  const origin = await world.keyed({ id: 'key_1' });
  expect(await world.renew(origin)).toMatchObject({ key: { id: 'key_1' } });
  await world.stores.keyring.revoke('key_1', world.clock.wall());
  await world.clock.advance(999);
  expect(await world.renew(origin)).toBe(
    'auth_revoked 421 4.7.0 This API key is no longer valid; connect again with one that is',
  );
});

test('an expired key ends its session too', async () => {
  const origin = await world.keyed({ expiresAt: world.clock.wall() + 60_000 });
  await world.clock.advance(59_000);
  expect(await world.renew(origin)).toMatchObject({ key: { mode: 'live' } });
  await world.clock.advance(1000);
  expect(await world.renew(origin)).toMatch(/^auth_expired 421 4\.7\.0 /);
});

test('within a quarter of a second a key is believed without a look-up', async () => {
  const origin = await world.keyed();
  expect(world.policy.renew(origin)).not.toBeInstanceOf(Promise);
  await world.clock.advance(249);
  expect(world.policy.renew(origin)).not.toBeInstanceOf(Promise);
  await world.clock.advance(1);
  expect(world.policy.renew(origin)).toBeInstanceOf(Promise);
});

test('a session that goes on with a good key keeps it, look-up after look-up', async () => {
  let origin = await world.keyed({ id: 'key_1' });
  for (let i = 0; i < 20; i++) {
    await world.clock.advance(300);
    const renewed = await world.renew(origin);
    if (typeof renewed === 'string') throw new Error(renewed);
    origin = renewed;
  }
  expect(origin.key?.id).toBe('key_1');
});

test('a key that nobody proved here is none', async () => {
  const origin = await world.keyed();
  const forged = { ...origin, key: origin.key === null ? null : { ...origin.key } };
  expect(await world.renew(forged)).toMatch(/^auth_malformed 421 4\.7\.0 /);
});
