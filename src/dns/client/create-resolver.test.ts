import { expect, test } from 'vitest';
import { code, instead, silence } from '../../../test/peers/dns-faults.ts';
import { dnsWorld, forever } from '../../../test/support/dns-world.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { DnsAnswer } from '../resolver.ts';
import { AnswerCache, MAX_QUESTIONS } from './create-resolver.ts';

/** What the resolver makes of a server's answers, and what it asks for at all. */

const ADDRESS = '192.0.2.1';

test('records of every type arrive as they stand in the zone', async () => {
  const { dns, ask } = await dnsWorld();
  const tlsa = { usage: 3, selector: 1, matchingType: 1, data: 'ab'.repeat(32) };
  const mx = [
    { preference: 10, exchange: 'mx1.a.test' },
    { preference: 20, exchange: '' },
  ];
  dns.set('a.test', 'A', [ADDRESS, '192.0.2.2']);
  dns.set('a.test', 'AAAA', ['2001:db8::1', '::1', 'fe80::1:0:0:1']);
  dns.set('a.test', 'MX', mx);
  dns.set('a.test', 'TXT', ['v=STSv1; id=1', 'x'.repeat(600), '']);
  dns.set('1.2.0.192.in-addr.arpa', 'PTR', ['a.test']);
  dns.set('_25._tcp.a.test', 'TLSA', [tlsa]);
  expect(await ask('A.test.', 'A')).toEqual([ADDRESS, '192.0.2.2']);
  expect(await ask('a.test', 'AAAA')).toEqual(['2001:db8::1', '::1', 'fe80::1:0:0:1']);
  expect(await ask('a.test', 'MX')).toEqual(mx);
  expect(await ask('a.test', 'TXT')).toEqual(['v=STSv1; id=1', 'x'.repeat(600), '']);
  expect(await ask('1.2.0.192.in-addr.arpa', 'PTR')).toEqual(['a.test']);
  expect(await ask('_25._tcp.a.test', 'TLSA')).toEqual([tlsa]);
});

test('a name in another script is asked for in A-labels', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('xn--bcher-kva.test', 'A', [ADDRESS]);
  expect(await ask('BÜCHER.test', 'A')).toEqual([ADDRESS]);
  dns.set('_mta-sts.xn--bcher-kva.test', 'TXT', ['x']);
  expect(await ask('_mta-sts.bücher.test', 'TXT')).toEqual(['x']);
});

test.each(['', '.', 'a..test', '[192.0.2.1]', `${'a'.repeat(64)}.test`, 'a b.test', `${'a.'.repeat(127)}a`])(
  'what is no name is not asked for: %s',
  async (name) => {
    const { dns, ask } = await dnsWorld();
    expect(await ask(name, 'A')).toBe('dns_invalid');
    expect(dns.asked).toEqual([]);
  },
);

test('what does not exist and what has no record of the type are told apart', async () => {
  const { dns, resolver } = await dnsWorld();
  dns.set('a.test', 'A', [ADDRESS]);
  expect(await resolver.resolve('b.test', 'A', forever)).toMatchObject({ kind: 'nxdomain', ttlSeconds: 60 });
  expect(await resolver.resolve('a.test', 'MX', forever)).toMatchObject({ kind: 'nodata', ttlSeconds: 60 });
});

test('aliases are followed to the records, and to what is not there', async () => {
  const { dns, resolver } = await dnsWorld();
  dns.set('a.test', 'CNAME', ['b.test'], 30);
  dns.set('b.test', 'CNAME', ['c.test'], 20);
  dns.set('c.test', 'A', [ADDRESS], 50);
  const answer = await resolver.resolve('a.test', 'A', forever);
  expect(answer).toMatchObject({ records: [ADDRESS], canonicalName: 'c.test', ttlSeconds: 20 });
  expect(await resolver.resolve('a.test', 'MX', forever)).toMatchObject({ kind: 'nodata', ttlSeconds: 20 });
  dns.remove('c.test');
  expect(await resolver.resolve('b.test', 'AAAA', forever)).toMatchObject({ kind: 'nxdomain' });
});

test('an answer that ends in an alias is asked on', async () => {
  const { dns, resolver } = await dnsWorld();
  dns.set('a.test', 'CNAME', ['b.test'], 30);
  dns.set('b.test', 'A', [ADDRESS], 50);
  dns.authenticated = true;
  const aliasOnly = instead((truth) => ({ ...truth, answers: truth.answers.slice(0, 1), authorities: [] }));
  dns.fault('a.test', aliasOnly);
  const expected = { records: [ADDRESS], canonicalName: 'b.test', ttlSeconds: 30, authenticated: true };
  expect(await resolver.resolve('a.test', 'A', forever)).toMatchObject(expected);
  // Each part must have been validated.
  dns.fault(
    'b.test',
    instead((truth) => ({ ...truth, authenticated: false })),
  );
  dns.set('b.test', 'AAAA', ['::1']);
  expect(await resolver.resolve('a.test', 'AAAA', forever)).toMatchObject({ authenticated: false });
});

test('aliases in a circle end, within an answer and over several', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'CNAME', ['b.test']);
  dns.set('b.test', 'CNAME', ['a.test']);
  expect(await ask('a.test', 'A')).toBe('dns_malformed');
  const aliasOnly = instead((truth) => ({ ...truth, answers: truth.answers.slice(0, 1), authorities: [] }));
  for (const name of ['a.test', 'b.test']) dns.fault(name, aliasOnly, { type: 'MX' });
  expect(await ask('a.test', 'MX')).toBe('dns_malformed');
  expect(dns.asked.length).toBeLessThan(20);
});

test('each query has a port, an id and a case of letters of its own', async () => {
  const { dns, ask } = await dnsWorld();
  const name = 'abcdefghijklmnopqrstuvwxyz.test';
  dns.set(name, 'A', [ADDRESS], 0);
  for (const type of ['A', 'AAAA', 'MX', 'TXT', 'PTR', 'TLSA'] as const) await ask(name, type);
  const different = (values: readonly unknown[]) => new Set(values).size;
  expect(different(dns.asked.map(({ name: sent }) => sent))).toBe(6);
  expect(different(dns.asked.map(({ id }) => id))).toBe(6);
  expect(different(dns.asked.map(({ port }) => port))).toBeGreaterThan(1);
  expect(dns.asked.every(({ edns }) => edns)).toBe(true);
});

test('the word that an answer was validated counts from this host, or when told so', async () => {
  const { dns, resolver, settings } = await dnsWorld();
  dns.authenticated = true;
  dns.set('a.test', 'A', [ADDRESS]);
  const authenticated = async () => {
    const answer = await resolver.resolve('a.test', 'A', forever);
    return answer.kind !== 'failed' && answer.authenticated;
  };
  expect(await authenticated()).toBe(true);
  settings.trustAd = 'no';
  expect(await authenticated()).toBe(false);
  settings.trustAd = 'auto';
  // One server elsewhere is enough: whoever answers, the way may be another.
  settings.servers = [dns.endpoint, { address: '192.0.2.53', port: 53 }];
  expect(await authenticated()).toBe(false);
  settings.trustAd = 'yes';
  expect(await authenticated()).toBe(true);
  expect(dns.asked.map(({ ad }) => ad)).toEqual([true, false, false, true]);
  // A server that says it unasked is not believed either.
  settings.trustAd = 'no';
  dns.fault(
    'a.test',
    instead((truth) => ({ ...truth, authenticated: true })),
  );
  expect(await authenticated()).toBe(false);
});

test('equal questions under way are asked once, and one who gives up takes nobody along', async () => {
  const { dns, ask, clock } = await dnsWorld();
  dns.set('a.test', 'A', [ADDRESS]);
  dns.fault('a.test', silence, { times: 1 });
  const impatient = new AbortController();
  const given = ask('a.test', 'A', impatient.signal);
  const others = Array.from({ length: 50 }, () => ask('a.test', 'A'));
  await dns.untilAsked(1);
  impatient.abort();
  expect(await given).toBe('dns_timeout');
  await clock.advance(1000);
  expect(await Promise.all(others)).toEqual(others.map(() => [ADDRESS]));
  expect(dns.asked.length).toBe(2);
});

test('a question that nobody waits for any more ends, and is not remembered as a failure', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [ADDRESS]);
  dns.fault('a.test', silence, { times: 1 });
  const impatient = new AbortController();
  const given = ask('a.test', 'A', impatient.signal);
  await dns.untilAsked(1);
  impatient.abort();
  expect(await given).toBe('dns_timeout');
  // By the time another question is answered that one has ended.
  expect(await ask('b.test', 'A')).toBe('nxdomain');
  expect(await ask('a.test', 'A')).toEqual([ADDRESS]);
  expect(await ask('c.test', 'A', AbortSignal.abort())).toBe('dns_timeout');
});

test('so many questions are on the wire at once, so many wait, and more fail at once', async () => {
  const waiting = 3;
  const { dns, ask } = await dnsWorld(() => ({}), waiting);
  const names = Array.from({ length: MAX_QUESTIONS + waiting }, (_, i) => `n${i}.test`);
  for (const name of names) {
    dns.set(name, 'A', [ADDRESS]);
    dns.fault(name, silence);
  }
  const giveUp = new AbortController();
  const all: Promise<unknown>[] = [];
  // In two parts: the system drops what a server has not read yet beyond some hundred.
  for (const end of [MAX_QUESTIONS / 2, names.length]) {
    all.push(...names.slice(all.length, end).map((name) => ask(name, 'A', giveUp.signal)));
    await dns.untilAsked(Math.min(all.length, MAX_QUESTIONS));
  }
  expect(await ask('one-more.test', 'A')).toBe('dns_timeout');
  expect(dns.asked.length).toBe(MAX_QUESTIONS);
  giveUp.abort();
  await Promise.all(all);
  // Their places are free again.
  expect(await ask('one-more.test', 'MX')).toBe('nxdomain');
});

// How long the resolver remembers, and how much.

const DAY_MS = 86_400_000;

test.each([
  ['its time to live', 300, 300_000],
  ['at least a second', 0, 1000],
  ['at most a day', 1_000_000, DAY_MS],
  ['no time when its first bit is set', 0xffff_ffff, 1000],
])('an answer is kept for %s', async (_what, ttl, ms) => {
  const { dns, clock, resolver } = await dnsWorld();
  dns.set('a.test', 'A', ['192.0.2.1', '192.0.2.2'], ttl);
  const first = await resolver.resolve('a.test', 'A', forever);
  expect(first).toMatchObject({ ttlSeconds: ms / 1000 });
  await clock.advance(ms - 1000);
  expect(await resolver.resolve('A.TEST', 'A', forever)).toMatchObject({ ...first, ttlSeconds: 1 });
  expect(dns.asked.length).toBe(1);
  await clock.advance(1000);
  expect(await resolver.resolve('a.test', 'A', forever)).toEqual(first);
  expect(dns.asked.length).toBe(2);
});

test.each([
  ['as long as its zone says', 120, 120_000],
  ['an hour at most', 86_400, 3_600_000],
])('that something is not there is kept for %s', async (_what, minimum, ms) => {
  const { dns, clock, ask } = await dnsWorld();
  dns.negativeTtl = minimum;
  expect(await ask('a.test', 'MX')).toBe('nxdomain');
  dns.set('a.test', 'MX', [{ preference: 1, exchange: 'b.test' }]);
  await clock.advance(ms - 1);
  expect(await ask('a.test', 'MX')).toBe('nxdomain');
  await clock.advance(1);
  expect(await ask('a.test', 'MX')).toEqual([{ preference: 1, exchange: 'b.test' }]);
});

test.each([
  ['SERVFAIL', code(2)],
  ['silence', silence],
])('a failure by %s is remembered for five seconds', async (_what, fault) => {
  const { dns, clock, ask } = await dnsWorld(() => ({ attempts: 1 }));
  dns.set('a.test', 'A', ['192.0.2.1']);
  dns.fault('a.test', fault, { times: 1 });
  const failed = ask('a.test', 'A');
  await dns.untilAsked(1);
  if (fault === silence) await clock.advance(1000);
  const cause = await failed;
  await clock.advance(4999);
  expect(await ask('a.test', 'A')).toBe(cause);
  await clock.advance(1);
  expect(await ask('a.test', 'A')).toEqual(['192.0.2.1']);
});

test('what other servers said is forgotten', async () => {
  const { dns, second, settings, ask } = await dnsWorld();
  dns.set('a.test', 'A', ['192.0.2.1']);
  second.set('a.test', 'A', ['192.0.2.2']);
  expect(await ask('a.test', 'A')).toEqual(['192.0.2.1']);
  settings.servers = [second.endpoint];
  expect(await ask('a.test', 'A')).toEqual(['192.0.2.2']);
});

test('without entries nothing is remembered', async () => {
  const { dns, ask } = await dnsWorld(() => ({ cacheEntries: 0 }));
  dns.set('a.test', 'A', ['192.0.2.1']);
  await ask('a.test', 'A');
  await ask('a.test', 'A');
  expect(dns.asked.length).toBe(2);
});

const answer: DnsAnswer<'A'> = {
  kind: 'found',
  records: ['192.0.2.1'],
  canonicalName: 'a.test',
  authenticated: false,
  ttlSeconds: 60,
};

test('beyond its entries the answer longest unused goes', () => {
  const cache = new AnswerCache(new ManualClock());
  for (const key of ['a', 'b', 'c']) cache.put(key, answer, 3);
  cache.get('a');
  cache.put('d', answer, 3);
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== null)).toEqual(['a', 'c', 'd']);
});

test('answers count by what they hold, not by what came over the wire', () => {
  const cache = new AnswerCache(new ManualClock());
  // All of them point to one name of 250 octets: 8 KiB on the wire, half a megabyte in memory.
  const record = { preference: 10, exchange: '\\001'.repeat(250) };
  const large: DnsAnswer<'MX'> = { ...answer, records: Array.from({ length: 500 }, () => record) };
  for (let i = 0; i < 100; i++) cache.put(`${i}`, large, 10_000);
  expect(cache.size).toBe(9);
  cache.put('small', answer, 10_000);
  expect(cache.get('small')).not.toBeNull();
  // One that is larger than all there is room for is not kept at all.
  cache.put('huge', large, 1000);
  expect(cache.size).toBe(0);
});

test.each([
  ['texts', { ...answer, records: ['x'.repeat(1000)] }],
  ['keys', { ...answer, records: [{ usage: 3, selector: 1, matchingType: 0, data: 'a'.repeat(1000) }] }],
  ['aliases', { ...answer, canonicalName: 'x'.repeat(1000) }],
  ['failures', { kind: 'failed', cause: 'dns_servfail', text: 'x'.repeat(1000) }],
] as const)('long %s count for several', (_what, long) => {
  const cache = new AnswerCache(new ManualClock());
  for (let i = 0; i < 10; i++) cache.put(`${i}`, long, 10);
  expect(cache.size).toBeLessThan(5);
});
