import { afterEach, beforeEach, expect, test } from 'vitest';
import { cidrs } from '../../../test/support/cidrs.ts';
import { mailboxOf, reversePathOf } from '../../../test/support/handing-in.ts';
import { PolicyWorld } from '../../../test/support/policy-world.ts';

const STRANGER = '192.0.2.7';
const RELAY_REFUSED =
  'relay_not_allowed 550 5.7.1 192.0.2.7 may not relay here; allow it in listener.allowed_cidrs, or authenticate with an API key';

let world: PolicyWorld;
beforeEach(() => {
  world = new PolicyWorld();
});
afterEach(() => world.close());

test('the first row of listener.sources that has the address counts', () => {
  world.name({ name: 'scanner', cidr: '10.1.2.3' }, { name: 'office', cidr: '10.0.0.0/8' });
  const named = ['10.1.2.3', '10.1.2.4', '11.0.0.1'].map((address) => world.at(address).source?.name);
  expect(named).toEqual(['scanner', 'office', undefined]);
});

test('who is hidden behind a proxy gets nothing that the proxy may have, and a key only without ranges', async () => {
  world.name({ name: 'lab', cidr: '127.0.0.1' });
  const hidden = world.policy.origin({ address: '127.0.0.1', isHidden: true });
  expect(hidden).toMatchObject({ address: '127.0.0.1', allowed: false, source: null });
  expect(world.rcpt(hidden)).toBe(
    'relay_not_allowed 550 5.7.1 The client of 127.0.0.1 may not relay here; let the proxy pass on its address, or authenticate with an API key',
  );
  expect(world.rcpt(hidden, '')).toBeNull();
  expect(await world.renew(hidden)).toEqual(hidden);
  const credentials = { mechanism: 'PLAIN', authorizationId: '', username: 'u' } as const;
  const bound = await world.key({ cidrs: ['127.0.0.1'] });
  const refused = world.policy.authenticate(hidden, { ...credentials, password: bound });
  await world.clock.advance(1000);
  expect(await refused).toMatchObject({ denied: 'key_source_not_allowed' });
  const free = await world.key({ id: 'key_1' });
  const key = await world.policy.authenticate(hidden, { ...credentials, password: free });
  expect(key).toMatchObject({ id: 'key_1' });
});

test('allowed sources and keys relay; a stranger is told how he may, also one that has a row in listener.sources', async () => {
  world.name({ name: 'anybody', cidr: '0.0.0.0/0' });
  expect(world.rcpt('127.0.0.1')).toBeNull();
  expect(world.rcpt('::1')).toBeNull();
  expect(world.at(STRANGER).source).toBeNull();
  expect(world.rcpt(await world.keyed({}, STRANGER))).toBeNull();
  expect(world.rcpt(STRANGER)).toBe(RELAY_REFUSED);
  expect(world.rcpt('2001:db8::7')).toMatch(/^relay_not_allowed 550 5\.7\.1 2001:db8::7 may not relay here/);
});

test('a stranger may say MAIL and send to <postmaster>, but not to postmaster at our name', () => {
  expect(world.mail(STRANGER)).toBeNull();
  expect(world.rcpt(STRANGER, '')).toBeNull();
  expect(world.rcpt(STRANGER, 'postmaster@mx.waybill.test')).toBe(RELAY_REFUSED);
});

test('strangers reach <postmaster> five times a minute each and thirty times together, others always', async () => {
  const refused =
    /^rate_limited 450 4\.7\.1 192\.0\.2\.7 may send only to <postmaster>, and 5 messages a minute; try again in 60 sec/;
  const reach = (address: string) => [1, 2, 3, 4, 5, 6].map(() => world.rcpt(address, ''));
  const [last, ...taken] = reach(STRANGER).reverse();
  expect(taken).toEqual([null, null, null, null, null]);
  expect(last).toMatch(refused);
  for (const i of [1, 2, 3, 4, 5])
    expect(reach(`2001:db8:0:${i}::1`).filter((said) => said === null)).toHaveLength(5);
  expect(world.rcpt('198.51.100.1', '')).toMatch(
    /^rate_limited 450 4\.7\.1 Strangers together may send only to <postmaster>, and 30 messages a/,
  );
  expect(world.rcpt('127.0.0.1', '')).toBeNull();
  expect(world.rcpt(STRANGER)).toBe(RELAY_REFUSED);
  await world.clock.advance(60_000);
  expect(world.rcpt('198.51.100.1', '')).toBeNull();
});

test.each([
  ['disk_full', /^- 452 4\.3\.1 No room now; try again later$/],
  ['queue_limit', /^- 452 4\.3\.1 No room now$/],
  ['store_unavailable', /^- 421 4\.3\.0 No room now; try again later$/],
  ['shutting_down', /^- 421 4\.3\.2 No room now; try again later$/],
] as const)('while intake is suspended for %s MAIL says %s, and nobody was denied', (code, said) => {
  world.intake.suspension = { code, detail: 'No room now.', retryAfterSeconds: 1 };
  expect(world.mail('127.0.0.1')).toMatch(said);
});

test('intake is asked for the owner of the message', async () => {
  const asked: (string | null)[] = [];
  world.intake.suspended = (owner?: string | null) => {
    asked.push(owner ?? null);
    return null;
  };
  world.name({ name: 'scanner', cidr: '10.1.2.3' });
  for (const origin of [await world.keyed({ id: 'key_1' }, '10.1.2.3'), '10.1.2.3', '127.0.0.1', STRANGER])
    world.mail(origin);
  expect(asked).toEqual(['key_1', 'source:scanner', null, null]);
});

test('a bound key sends from its domains only, wherever it is, and <> passes', async () => {
  world.name({ name: 'office', cidr: '10.0.0.0/8', senderDomains: ['office.example'] });
  const origin = await world.keyed({ senderDomains: ['shop.example', 'b.example'] }, '10.1.2.3');
  expect(world.mail(origin, 'a@SHOP.example')).toBeNull();
  expect(world.mail(origin, '')).toBeNull();
  expect(world.mail(origin, 'a@office.example')).toBe(
    'sender_not_allowed 550 5.7.1 This key may not send as office.example, only as shop.example, b.example; create a key with waybill keys create --sender-domain',
  );
  expect(world.mail(origin, 'a@sub.shop.example')).toMatch(/^sender_not_allowed 550 5\.7\.1 /);
});

test('a named source with sender domains sends from these only, and <> passes', () => {
  const senderDomains = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.example`);
  world.name({ name: 'office', cidr: '10.0.0.0/8', senderDomains });
  expect(world.mail('10.1.2.3', 'x@f.example')).toBeNull();
  expect(world.mail('10.1.2.3', '')).toBeNull();
  expect(world.mail('10.1.2.3', 'x@g.example')).toBe(
    'sender_not_allowed 550 5.7.1 The source office may not send as g.example, only as a.example, b.example, c.example, d.example, e.example and others; add it to sender_domains in listener.sources',
  );
});

test('an unbound key, source or address sends as anybody', async () => {
  world.name({ name: 'office', cidr: '10.0.0.0/8' });
  for (const origin of [await world.keyed(), '10.1.2.3', '127.0.0.1', STRANGER])
    expect(world.mail(origin, 'a@any.example')).toBeNull();
});

test("a key's messages count with its other sends, over all its addresses, by its own limit first", async () => {
  world.options.limits.rateLimitPerKey = 3;
  const secret = await world.key({ id: 'key_1' });
  const origins = await Promise.all(
    ['192.0.2.7', '192.0.2.8'].map(async (address) => {
      const key = await world.auth(secret, address);
      if (typeof key === 'string') throw new Error(key);
      return { ...world.at(address), key };
    }),
  );
  world.shared.limiter.take('key_1', 'send', 3, world.clock.mono());
  const [first, second] = origins;
  if (first === undefined || second === undefined) throw new Error('no origins');
  expect([world.mail(first), world.mail(second)]).toEqual([null, null]);
  const refused = 'rate_limited 450 4.7.1 This key may send 3 messages a minute; try again in 60 seconds';
  expect(world.mail(first)).toBe(refused);
  expect(world.mails(await world.keyed({ id: 'key_2', rateLimit: 5 }), 10)).toMatchObject({ taken: 5 });
  expect(world.mails(await world.keyed({ id: 'key_3', rateLimit: 0 }), 10)).toEqual({
    taken: 10,
    said: null,
  });
  await world.clock.advance(60_000);
  expect(world.mail(first)).toBeNull();
});

test('a named source with a rate has it for all its addresses together, and no other', () => {
  world.options.settings.rateLimitPerSource = 2;
  world.name({ name: 'office', cidr: '10.0.0.0/8', ratePerMinute: 4 });
  expect(world.mails('10.0.0.1', 3).taken).toBe(3);
  expect(world.mails('10.0.0.2', 9)).toEqual({
    taken: 1,
    said: 'rate_limited 450 4.7.1 The source office may send 4 messages a minute; try again in 60 seconds',
  });
  expect(world.mails('127.0.0.1', 9).taken).toBe(2);
});

test('a source without a rate of its own is limited by address, IPv6 by /64, and not at all with 0', async () => {
  world.options.allowedCidrs = cidrs('0.0.0.0/0', '::/0');
  world.name({ name: 'office', cidr: '10.0.0.0/8' });
  expect(world.mails('192.0.2.1', 500).taken).toBe(500);
  world.options.settings.rateLimitPerSource = 3;
  expect(world.mails('10.0.0.1', 9).taken).toBe(3);
  expect(world.mails('10.0.0.2', 9).taken).toBe(3);
  expect(world.mails('2001:db8::1', 2).taken).toBe(2);
  expect(world.mails('2001:db8::2', 9)).toEqual({
    taken: 1,
    said: 'rate_limited 450 4.7.1 2001:db8:0:0::/64 may send 3 messages a minute; try again in 60 seconds',
  });
  expect(world.mails('2001:db8:0:1::1', 9).taken).toBe(3);
  await world.clock.advance(60_000);
  expect(world.mails('2001:db8::1', 9).taken).toBe(3);
});

test('addresses without end do not push out the windows of keys', async () => {
  world.options.limits.rateLimitPerKey = 1;
  world.options.settings.rateLimitPerSource = 5;
  const origin = await world.keyed();
  expect(world.mail(origin)).toBeNull();
  for (let i = 0; i < 500; i++) world.mail(`10.0.${i >> 8}.${i & 255}`);
  expect(world.mail(origin)).toMatch(/^rate_limited /);
});

test('ten thousand sources without a key are counted, and one more makes room of the longest unused', () => {
  world.options.settings.rateLimitPerSource = 1;
  const first = '127.0.0.1';
  const others = (count: number) => {
    for (let i = 0; i < count; i++) world.mail(`10.0.${i >> 8}.${i & 255}`);
  };
  expect(world.mail(first)).toBeNull();
  others(9_999);
  expect(world.mail(first)).toMatch(/^rate_limited /);
  others(10_000);
  expect(world.mail(first)).toBeNull();
});

test('settings that change hold for the next message of a session', async () => {
  const before = world.at(STRANGER);
  world.options.allowedCidrs = cidrs('192.0.2.0/24');
  world.name({ name: 'lab', cidr: STRANGER });
  const after = await world.renew(before);
  expect(after).toMatchObject({ address: STRANGER, allowed: true, source: { name: 'lab' }, key: null });
});

test('a source that speaks HTTP as well is greeted late for ten minutes', async () => {
  world.policy.completed(STRANGER);
  world.policy.spokeHttp(STRANGER);
  expect(world.policy.greetDelayMs(STRANGER)).toBe(250);
  await world.clock.advance(599_999);
  world.policy.completed(STRANGER);
  expect(world.policy.greetDelayMs(STRANGER)).toBe(250);
  await world.clock.advance(1);
  expect(world.policy.greetDelayMs(STRANGER)).toBe(5);
});

test('a source is greeted soon for ten minutes after a message of it was taken', async () => {
  expect(world.policy.greetDelayMs(STRANGER)).toBe(50);
  world.policy.completed(STRANGER);
  expect(world.policy.greetDelayMs(STRANGER)).toBe(5);
  world.options.settings.greetDelayMs = 7;
  expect(world.policy.greetDelayMs(STRANGER)).toBe(7);
  expect(world.policy.greetDelayMs('192.0.2.8')).toBe(50);
  await world.clock.advance(600_000);
  expect(world.policy.greetDelayMs(STRANGER)).toBe(50);
});

test('who may send without a key has the one that is set for that, and nobody else has', async () => {
  const { key } = await world.keyed({ name: 'dev', mode: 'test' });
  world.options.keyless = key;
  const own = world.at('127.0.0.1');
  expect(own.key).toBe(key);
  expect(await world.renew(own)).toEqual(own);
  expect(world.at(STRANGER).key).toBeNull();
  expect(world.policy.origin({ address: '127.0.0.1', isHidden: true }).key).toBeNull();
  const other = await world.keyed({ id: 'key_2', name: 'other' }, '127.0.0.1');
  expect(await world.renew(other)).toMatchObject({ key: { name: 'other' } });
});

test('a recipient that asks to be suppressed is refused where the list is told of, to test keys alone', async () => {
  world.options.settings.suppressed = 'refuse';
  const refused = async (mode: 'test' | 'live', address: string) => {
    const origin = await world.keyed({ id: `key_${mode}`, name: mode, mode });
    const path = { mailbox: mailboxOf(address), notify: null, orcpt: null };
    return (await world.policy.suppressed(origin, path, reversePathOf('')))?.denied ?? null;
  };
  expect(await refused('test', 'suppressed@shop.test')).toBe('suppressed');
  expect(await refused('live', 'suppressed@shop.test')).toBeNull();
});
