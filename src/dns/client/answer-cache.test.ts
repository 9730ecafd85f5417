/** How long the resolver remembers, and how much. */
import { expect, test } from 'vitest';
import { code, silence } from '../../../test/peers/dns-faults.ts';
import { dnsWorld, forever } from '../../../test/support/dns-world.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { DnsAnswer } from '../resolver.ts';
import { AnswerCache } from './create-resolver.ts';

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
