import { expect, test } from 'vitest';
import {
  type DnsScript,
  found,
  nothing,
  ScriptedResolver,
  unknown,
} from '../../test/support/scripted-resolver.ts';
import { type DaneHost, lookUpDane } from './dane-lookup.ts';

const signal = new AbortController().signal;
const usable = { usage: 3, selector: 1, matchingType: 1, data: 'ab'.repeat(32) };
const unusable = { ...usable, usage: 1 };
const secure = { authenticated: true };
const addresses = {
  kind: 'addresses',
  addresses: ['::1'],
  canonicalName: 'mx.test',
  authenticated: true,
} as const;
const host: DaneHost = { mxAuthenticated: true, name: 'mx.test', port: 25, addresses };

async function look(script: DnsScript, more: Partial<DaneHost> = {}) {
  const resolver = new ScriptedResolver(script);
  const decision = await lookUpDane(resolver, { ...host, ...more }, signal);
  return { decision, asked: resolver.asked };
}

test('usable records that were validated make TLS mandatory, by them', async () => {
  const { decision } = await look({ 'TLSA _25._tcp.mx.test': found<'TLSA'>([unusable, usable], secure) });
  expect(decision).toEqual({ kind: 'mandatory', records: [usable], baseDomain: 'mx.test' });
});

test('records of which none is usable make TLS mandatory, whoever it is with', async () => {
  const { decision } = await look({ 'TLSA _25._tcp.mx.test': found<'TLSA'>([unusable], secure) });
  expect(decision).toEqual({ kind: 'mandatory_unauthenticated', baseDomain: 'mx.test' });
});

test('no records, and records that were not validated, ask for nothing', async () => {
  const none = { kind: 'opportunistic', why: 'no_records' };
  expect((await look({})).decision).toEqual(none);
  expect((await look({ 'TLSA _25._tcp.mx.test': nothing('nodata', true) })).decision).toEqual(none);
  expect((await look({ 'TLSA _25._tcp.mx.test': found<'TLSA'>([usable]) })).decision).toEqual(none);
});

test('where MX or addresses were not validated nothing is asked for', async () => {
  const script = { 'TLSA _25._tcp.mx.test': found<'TLSA'>([usable], secure) };
  const insecure = { decision: { kind: 'opportunistic', why: 'insecure' }, asked: [] };
  expect(await look(script, { mxAuthenticated: false })).toEqual(insecure);
  expect(await look(script, { addresses: { ...addresses, authenticated: false } })).toEqual(insecure);
});

test.each(['dns_servfail', 'dns_timeout', 'dns_refused', 'dns_malformed'] as const)(
  'records that are kept back keep mail from this host: %s',
  async (cause) => {
    const { decision } = await look({ 'TLSA _25._tcp.mx.test': unknown(cause) });
    expect(decision).toMatchObject({
      kind: 'deferred',
      reply: { enhanced: '4.7.5', cause: 'dane_lookup_failed' },
    });
  },
);

test('behind an alias the true name is asked for first, then the alias', async () => {
  const alias = { addresses: { ...addresses, canonicalName: 'true.test' } };
  const own = { 'TLSA _25._tcp.mx.test': found<'TLSA'>([usable], secure) };
  const both = { ...own, 'TLSA _25._tcp.true.test': found<'TLSA'>([unusable], secure) };
  expect((await look(both, alias)).decision).toMatchObject({ baseDomain: 'true.test' });
  const second = await look(own, alias);
  expect(second.decision).toMatchObject({ kind: 'mandatory', baseDomain: 'mx.test' });
  expect(second.asked).toEqual(['TLSA _25._tcp.true.test', 'TLSA _25._tcp.mx.test']);
  const held = { ...own, 'TLSA _25._tcp.true.test': unknown() };
  expect((await look(held, alias)).decision.kind).toBe('deferred');
});

test('the port is part of the question, and of many records sixteen count', async () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ ...usable, data: String(i).padStart(64, '0') }));
  const script = { 'TLSA _2525._tcp.mx.test': found<'TLSA'>(many, secure) };
  const { decision } = await look(script, { port: 2525 });
  expect(decision).toMatchObject({ kind: 'mandatory', records: many.slice(0, 16) });
});
