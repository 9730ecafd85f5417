/** The resolver against servers that lie, break off, refuse, or say nothing. */
import { expect, test } from 'vitest';
import {
  brokenOff,
  code,
  dribble,
  garbage,
  instead,
  later,
  noEdns,
  silence,
  truncated,
  wrongCase,
  wrongId,
  wrongPort,
  wrongQuestion,
} from '../../../test/peers/dns-faults.ts';
import { writeResponse } from '../../../test/peers/dns-message.ts';
import type { DnsFault } from '../../../test/peers/dns-server.ts';
import { dnsWorld, forever } from '../../../test/support/dns-world.ts';

const TRUTH = '192.0.2.1';
const both = (servers: readonly { readonly endpoint: { address: string; port: number } }[]) => ({
  servers: servers.map(({ endpoint }) => endpoint),
});

test.each([
  ['another id', wrongId],
  ['another question', wrongQuestion],
  ['another port', wrongPort],
])('a lie with %s is dropped, and the truth awaited', async (_what, fault) => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', fault);
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
  expect(dns.asked.map(({ transport }) => transport)).toEqual(['udp']);
});

test.each<[string, DnsFault]>([
  ['is cut off', truncated],
  ['has the question in another case', wrongCase],
  ['cannot be read', garbage],
])('an answer by UDP that %s is had over TCP', async (_what, fault) => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', fault, { transport: 'udp' });
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
  expect(dns.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
});

test('fifty MX records arrive, over TCP', async () => {
  const { dns, ask } = await dnsWorld();
  const mx = Array.from({ length: 50 }, (_, i) => ({
    preference: i,
    exchange: `mx.${'x'.repeat(20)}${i}.test`,
  }));
  dns.set('a.test', 'MX', mx);
  expect(await ask('a.test', 'MX')).toEqual(mx);
  expect(dns.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
});

test('a server that does not keep the case is asked by TCP in any case', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', wrongCase);
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
});

test('many guesses at the id end in a question over TCP', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  const guessing: DnsFault = ({ query, truth, send }) => {
    for (let i = 1; i <= 9; i++) send(writeResponse({ ...query, id: query.id ^ i }, truth));
  };
  dns.fault('a.test', guessing, { transport: 'udp' });
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
  expect(dns.asked.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
});

test('over TCP an answer may come byte by byte', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', truncated, { transport: 'udp' });
  dns.fault('a.test', dribble, { transport: 'tcp' });
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
});

test.each<[string, DnsFault, string]>([
  ['is broken off', brokenOff, 'dns_malformed'],
  ['answers another question', wrongQuestion, 'dns_malformed'],
  ['is cut off there too', truncated, 'dns_malformed'],
  ['cannot be read', garbage, 'dns_malformed'],
])('an answer over TCP that %s is none', async (_what, fault, cause) => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', truncated, { transport: 'udp' });
  dns.fault('a.test', fault, { transport: 'tcp' });
  expect(await ask('a.test', 'A')).toBe(cause);
});

test('a server that knows no EDNS is asked without', async () => {
  const { dns, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', noEdns);
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
  expect(dns.asked.map(({ edns }) => edns)).toEqual([true, false]);
});

const referral = instead(() => ({
  code: 0,
  recursionAvailable: false,
  answers: [],
  authorities: [{ name: 'test', ttl: 60, type: 'NS', data: 'ns.test' }],
}));

test.each<[string, DnsFault, string]>([
  ['SERVFAIL', code(2), 'dns_servfail'],
  ['REFUSED', code(5), 'dns_refused'],
  ['FORMERR whatever is asked', code(1), 'dns_refused'],
  ['a code of later times', code(23), 'dns_refused'],
  ['a pointer to other servers', referral, 'dns_refused'],
])('%s is no answer: the next server is asked, and each once', async (_what, fault, cause) => {
  const { dns, second, ask } = await dnsWorld(both);
  second.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', fault);
  dns.fault('b.test', fault);
  second.fault('b.test', fault);
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
  expect(await ask('b.test', 'A')).toBe(cause);
  expect(second.asked.filter(({ name, edns }) => edns && name.toLowerCase() === 'b.test').length).toBe(1);
});

test('of several failures the one that says most is told', async () => {
  const { dns, second, clock, resolver } = await dnsWorld(both);
  dns.fault('a.test', silence);
  second.fault('a.test', code(2));
  const answer = resolver.resolve('a.test', 'A', forever);
  await dns.untilAsked(1);
  await clock.advance(1000);
  await dns.untilAsked(2);
  await clock.advance(1000);
  expect(await answer).toMatchObject({
    cause: 'dns_servfail',
    text: '127.0.0.1 could not find out (SERVFAIL)',
  });
});

test('a server that says nothing is asked again in the next round', async () => {
  const { dns, clock, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  dns.fault('a.test', silence, { times: 1 });
  const answer = ask('a.test', 'A');
  await dns.untilAsked(1);
  await clock.advance(999);
  expect(dns.asked.length).toBe(1);
  await clock.advance(1);
  expect(await answer).toEqual([TRUTH]);
});

test('silence in every round is a time-out, and silence over TCP too', async () => {
  const { dns, clock, resolver } = await dnsWorld();
  dns.fault('a.test', silence);
  dns.fault('a.test', truncated, { transport: 'udp', times: 1 });
  const answer = resolver.resolve('a.test', 'A', forever);
  await dns.untilAsked(2);
  await clock.advance(1000);
  await dns.untilAsked(3);
  await clock.advance(1000);
  expect(await answer).toMatchObject({ cause: 'dns_timeout', text: '127.0.0.1 does not answer' });
});

test('a server that did not answer is asked last, for half a minute', async () => {
  const { dns, second, clock, ask } = await dnsWorld(both);
  for (const name of ['a.test', 'b.test', 'c.test']) second.set(name, 'A', [TRUTH]);
  dns.fault('a.test', silence);
  const first = ask('a.test', 'A');
  await dns.untilAsked(1);
  await clock.advance(1000);
  expect(await first).toEqual([TRUTH]);
  expect(await ask('b.test', 'A')).toEqual([TRUTH]);
  expect(dns.asked.length).toBe(1);
  await clock.advance(30_000);
  expect(await ask('c.test', 'A')).toBe('nxdomain');
  expect(dns.asked.length).toBe(2);
});

test('a server that is not there costs no time', async () => {
  const { dns, second, ask } = await dnsWorld(both);
  second.set('a.test', 'A', [TRUTH]);
  await dns.close();
  expect(await ask('a.test', 'A')).toEqual([TRUTH]);
});

test('an answer that comes too late is not heard', async () => {
  const { dns, clock, ask } = await dnsWorld();
  dns.set('a.test', 'A', [TRUTH]);
  const { promise, resolve: answerNow } = Promise.withResolvers<void>();
  dns.fault('a.test', later(promise));
  const answer = ask('a.test', 'A');
  await dns.untilAsked(1);
  await clock.advance(1000);
  await dns.untilAsked(2);
  await clock.advance(1000);
  expect(await answer).toBe('dns_timeout');
  answerNow();
});
