import { expect, test } from 'vitest';
import { found, nothing, ScriptedResolver, unknown } from '../../test/support/scripted-resolver.ts';
import { lookUpAddresses } from './addresses.ts';
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
