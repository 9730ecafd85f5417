import fc from 'fast-check';
import { expect, test } from 'vitest';
import { found, nothing, ScriptedResolver, unknown } from '../../test/support/scripted-resolver.ts';
import { seededRandom } from '../lib/random.ts';
import { lookUpAddresses, selectHosts } from './hosts.ts';
import type { DnsAnswer } from './resolver.ts';

const signal = new AbortController().signal;
const secure = { authenticated: true };

async function look(v6: DnsAnswer<'AAAA'>, v4: DnsAnswer<'A'>, family: 'any' | 'ipv4' | 'ipv6' = 'any') {
  const resolver = new ScriptedResolver({ 'AAAA mx.test': v6, 'A mx.test': v4 });
  const answer = await lookUpAddresses(resolver, 'mx.test', family, signal);
  const inShort =
    answer.kind === 'addresses' ? answer : `${answer.kind} ${answer.reply.enhanced} ${answer.reply.cause}`;
  return { answer: inShort, asked: resolver.asked };
}

test('IPv6 and IPv4 addresses come in turn, each once', async () => {
  const { answer } = await look(found<'AAAA'>(['::1', '::2', '::3', '::1']), found<'A'>(['192.0.2.1']));
  expect(answer).toMatchObject({ addresses: ['::1', '192.0.2.1', '::2', '::3'] });
});

test('only the wanted family is asked for', async () => {
  const four = await look(found<'AAAA'>(['::1']), found<'A'>(['192.0.2.1']), 'ipv4');
  expect(four).toMatchObject({ answer: { addresses: ['192.0.2.1'] }, asked: ['A mx.test'] });
  const six = await look(found<'AAAA'>(['::1']), found<'A'>(['192.0.2.1']), 'ipv6');
  expect(six).toMatchObject({ answer: { addresses: ['::1'] }, asked: ['AAAA mx.test'] });
});

test('of many addresses eight are kept', async () => {
  const many = Array.from({ length: 50 }, (_, i) => `192.0.2.${i}`);
  const { answer } = await look(nothing('nodata'), found<'A'>(many));
  expect(answer).toMatchObject({ addresses: many.slice(0, 8) });
});

test('one family is enough, and both must be validated where both are used', async () => {
  const half = await look(unknown(), found<'A'>(['192.0.2.1'], secure));
  expect(half.answer).toMatchObject({ addresses: ['192.0.2.1'], authenticated: true });
  const mixed = await look(found<'AAAA'>(['::1']), found<'A'>(['192.0.2.1'], secure));
  expect(mixed.answer).toMatchObject({ authenticated: false });
});

test('a host without addresses is refused, one that nobody knows waits', async () => {
  expect((await look(nothing('nxdomain'), nothing('nxdomain'))).answer).toBe('rejected 5.4.4 dns_nxdomain');
  expect((await look(nothing('nodata'), nothing('nodata'))).answer).toBe('rejected 5.4.4 dns_no_address');
  expect((await look(nothing('nodata'), unknown())).answer).toBe('deferred 4.4.3 dns_servfail');
  expect((await look(unknown('dns_timeout'), nothing('nodata'))).answer).toBe('deferred 4.4.3 dns_timeout');
});

const options = { domain: 'a.test', ownNames: ['relay.test'], dice: seededRandom(1).next };

function mx(...records: readonly (readonly [number, string])[]): DnsAnswer<'MX'> {
  return found<'MX'>(records.map(([preference, exchange]) => ({ preference, exchange })));
}

function names(answer: DnsAnswer<'MX'>, more: Partial<typeof options> = {}): readonly string[] | string {
  const chosen = selectHosts(answer, { ...options, ...more });
  return chosen.kind === 'hosts'
    ? chosen.hosts.map(({ name }) => name)
    : `${chosen.kind} ${chosen.reply.enhanced} ${chosen.reply.cause}`;
}

test('hosts are tried by preference, the lowest number first', () => {
  expect(names(mx([30, 'c.test'], [10, 'a.test'], [20, 'b.test']))).toEqual(['a.test', 'b.test', 'c.test']);
});

test('hosts of equal preference are mixed, each of them coming first as often', () => {
  const answer = mx([10, 'a.test'], [10, 'b.test'], [10, 'c.test'], [5, 'best.test']);
  const seconds = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const [first, second = ''] = names(answer);
    expect(first).toBe('best.test');
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  expect([...seconds.keys()].sort()).toEqual(['a.test', 'b.test', 'c.test']);
  for (const count of seconds.values()) expect(count).toBeGreaterThan(850);
});

test('of fifty hosts all are given, the nearest first', () => {
  const all = Array.from({ length: 50 }, (_, i) => [50 - i, `mx${50 - i}.test`] as const);
  expect(names(mx(...all))).toEqual(Array.from({ length: 50 }, (_, i) => `mx${i + 1}.test`));
});

test('a host named twice is tried once, where it is nearest', () => {
  expect(names(mx([20, 'b.test'], [10, 'a.test'], [5, 'b.test']))).toEqual(['b.test', 'a.test']);
});

test('null MX means that the domain takes no mail, at once and for good', () => {
  expect(names(mx([0, '']))).toBe('rejected 5.1.10 null_mx');
});

test('a null MX beside others says nothing', () => {
  const chosen = selectHosts(mx([0, ''], [10, 'b.test']), options);
  expect(chosen).toMatchObject({ hosts: [{ name: 'b.test', preference: 10 }], refused: ['.'] });
});

test('without MX records the domain itself is the host', () => {
  expect(selectHosts(nothing('nodata', true), options)).toEqual({
    kind: 'hosts',
    hosts: [{ name: 'a.test', preference: 0 }],
    implicit: true,
    authenticated: true,
    refused: [],
  });
});

test('what does not exist, or cannot be asked for, is refused; what is not known waits', () => {
  expect(names(nothing('nxdomain'))).toBe('rejected 5.1.2 dns_nxdomain');
  expect(names(unknown('dns_invalid'))).toBe('rejected 5.1.2 dns_invalid');
  for (const cause of ['dns_servfail', 'dns_timeout', 'dns_refused', 'dns_malformed'] as const)
    expect(names(unknown(cause))).toBe(`deferred 4.4.3 ${cause}`);
});

test('this server, and whatever is as far or further than it, is left out', () => {
  const answer = mx([10, 'near.test'], [20, 'relay.test'], [20, 'equal.test'], [30, 'far.test']);
  expect(names(answer)).toEqual(['near.test']);
  expect(names(answer, { ownNames: [] })).toHaveLength(4);
});

test('where this server is the best host, mail would come back', () => {
  expect(names(mx([10, 'relay.test'], [10, 'equal.test'], [20, 'far.test']))).toBe('rejected 5.4.6 mx_loop');
  expect(names(nothing('nodata'), { domain: 'relay.test' })).toBe('rejected 5.4.6 mx_loop');
});

test('this server counts wherever it stands among many', () => {
  const answer = mx(...Array.from({ length: 9 }, (_, i) => [i, `mx${i}.test`] as const), [0, 'relay.test']);
  expect(names(answer)).toBe('rejected 5.4.6 mx_loop');
});

test('an address, or what is no name, is no host', () => {
  const bad = ['192.0.2.1', 'a b.test', 'x\\046y.test', '-\\000.test'];
  const records = bad.map((name) => [5, name] as const);
  expect(names(mx(...records, [10, 'good_1.test']))).toEqual(['good_1.test']);
  expect(names(mx(...records))).toBe('rejected 5.4.4 mx_invalid');
});

test('whatever the records and the dice, the choice keeps its rules', () => {
  const record = fc.record({
    preference: fc.nat(5),
    exchange: fc.constantFrom(
      'a.test',
      'b.test',
      'c.test',
      'd.test',
      'e.test',
      'f.test',
      'relay.test',
      '',
      '1',
    ),
  });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), fc.nat(), (records, seed) => {
      const chosen = selectHosts(found<'MX'>(records), { ...options, dice: seededRandom(seed).next });
      if (chosen.kind !== 'hosts') return;
      const { hosts } = chosen;
      expect(hosts.length).toBeGreaterThan(0);
      expect(new Set(hosts.map(({ name }) => name)).size).toBe(hosts.length);
      const preferences = hosts.map(({ preference }) => preference);
      expect(preferences).toEqual([...preferences].sort((a, b) => a - b));
      const own = records.filter(({ exchange }) => exchange === 'relay.test');
      for (const { preference } of own) expect(Math.max(...preferences)).toBeLessThan(preference);
      for (const { name, preference } of hosts) {
        const given = records.filter(({ exchange }) => exchange === name).map((one) => one.preference);
        expect(preference).toBe(Math.min(...given));
      }
    }),
  );
});
