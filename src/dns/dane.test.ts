import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../test/peers/certificate.ts';
import {
  type DnsScript,
  found,
  nothing,
  ScriptedResolver,
  unknown,
} from '../../test/support/scripted-resolver.ts';
import { type DaneHost, isUsable, lookUpDane, matchTlsa, subjectPublicKeyInfo, type Tlsa } from './dane.ts';

const NAMES = ['a.test', 'mx.a.test'];
const context = { names: NAMES, nowMs: Date.now() };
const root = createAuthority();
const stranger = createAuthority('Stranger');
const leaf = derOf(createCertificate({ hosts: ['mx.a.test'], issuer: root }));
const chain = [leaf, derOf(root)];

function derOf({ cert }: { readonly cert: string }): Buffer {
  return new X509Certificate(cert).raw;
}

/** The record for a certificate, made by other means than it is read. */
function tlsa(usage: number, selector: number, matchingType: number, certificate: Buffer): Tlsa {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  const selected = selector === 0 ? certificate : key;
  const hashed = ['', 'sha256', 'sha512'][matchingType];
  const data = hashed ? createHash(hashed).update(selected).digest('hex') : selected.toString('hex');
  return { usage, selector, matchingType, data };
}

const forms = [0, 1].flatMap((selector) =>
  [0, 1, 2].map((matchingType) => [selector, matchingType] as const),
);

test.each(forms)(
  "usage 3 matches the server's own certificate and no other: %i %i",
  (selector, matchingType) => {
    const record = tlsa(3, selector, matchingType, leaf);
    expect(matchTlsa([record], chain, context)).toBe(true);
    expect(matchTlsa([tlsa(3, selector, matchingType, derOf(root))], chain, context)).toBe(false);
    expect(matchTlsa([record], [derOf(root), leaf], context)).toBe(false);
  },
);

test('usage 3 asks neither for a name nor for the time', () => {
  const old = derOf(createCertificate({ hosts: ['elsewhere.test'], expired: true }));
  expect(matchTlsa([tlsa(3, 1, 1, old)], [old], context)).toBe(true);
});

test.each(forms)('usage 2 matches what signed the certificate: %i %i', (selector, matchingType) => {
  expect(matchTlsa([tlsa(2, selector, matchingType, derOf(root))], chain, context)).toBe(true);
  expect(matchTlsa([tlsa(2, selector, matchingType, derOf(stranger))], chain, context)).toBe(false);
});

test('usage 2 asks for a signature: a certificate that only lies beside the chain vouches for nothing', () => {
  const beside = [leaf, derOf(root), derOf(stranger)];
  expect(matchTlsa([tlsa(2, 0, 1, derOf(stranger))], beside, context)).toBe(false);
  const named = createAuthority('Test Root');
  expect(matchTlsa([tlsa(2, 0, 1, derOf(named))], [leaf, derOf(named)], context)).toBe(false);
});

test('usage 2 asks for an issuer that may issue', () => {
  const pretender = createCertificate({ hosts: ['mx.a.test'] });
  const issuer = { ...pretender, name: 'mx.a.test', privateKey: createPrivateKey(pretender.key) };
  const signed = derOf(createCertificate({ hosts: ['mx.a.test'], issuer }));
  expect(matchTlsa([tlsa(2, 0, 1, derOf(pretender))], [signed, derOf(pretender)], context)).toBe(false);
});

test('the anchor of usage 2 may stand in the record and not in the chain', () => {
  expect(matchTlsa([tlsa(2, 0, 0, derOf(root))], [leaf], context)).toBe(true);
  expect(matchTlsa([tlsa(2, 1, 0, derOf(root))], [leaf], context)).toBe(true);
  expect(matchTlsa([tlsa(2, 1, 0, derOf(stranger))], [leaf], context)).toBe(false);
  expect(matchTlsa([tlsa(2, 0, 1, derOf(root))], [leaf], context)).toBe(false);
});

test('usage 2 asks for one of the names, and for the time', () => {
  const record = tlsa(2, 0, 1, derOf(root));
  expect(matchTlsa([record], chain, { ...context, names: ['b.test'] })).toBe(false);
  expect(matchTlsa([record], chain, { ...context, nowMs: context.nowMs + 20 * 86_400_000 })).toBe(false);
  const old = derOf(createCertificate({ hosts: NAMES, issuer: root, expired: true }));
  expect(matchTlsa([record], [old, derOf(root)], context)).toBe(false);
});

test('one record that matches is enough', () => {
  const others = [tlsa(3, 1, 1, derOf(root)), tlsa(2, 0, 1, derOf(stranger))];
  expect(matchTlsa([...others, tlsa(3, 1, 1, leaf)], chain, context)).toBe(true);
});

test.each([
  ['usage 0', { ...tlsa(0, 1, 1, leaf) }],
  ['usage 1', { ...tlsa(1, 1, 1, leaf) }],
  ['usage 4', { ...tlsa(4, 1, 1, leaf) }],
  ['selector 2', { ...tlsa(3, 1, 1, leaf), selector: 2 }],
  ['matching type 3', { ...tlsa(3, 1, 1, leaf), matchingType: 3 }],
  ['a short digest', { ...tlsa(3, 1, 1, leaf), data: 'ab' }],
  ['no data', { ...tlsa(3, 1, 0, leaf), data: '' }],
])('%s is not usable and matches nothing', (_what, record) => {
  expect(isUsable(record)).toBe(false);
  expect(matchTlsa([record], chain, context)).toBe(false);
});

test('the key is the bytes that stand in the certificate', () => {
  for (const certificate of [leaf, derOf(root)]) {
    const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
    expect(Buffer.from(subjectPublicKeyInfo(certificate) ?? [])).toEqual(key);
  }
});

test('whatever bytes stand for certificates and records, nothing is thrown and nothing matches', () => {
  const change = fc.tuple(fc.nat(leaf.length - 1), fc.nat(255), fc.nat(leaf.length));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), fc.uint8Array(), (changes, noise) => {
      const broken = Buffer.from(leaf);
      let length = leaf.length;
      for (const [at, value, cut] of changes) {
        broken[at] = (broken[at] ?? 0) ^ (value || 1);
        length = Math.max(cut, length - 10);
      }
      const bytes = broken.subarray(0, length);
      subjectPublicKeyInfo(bytes);
      subjectPublicKeyInfo(noise);
      const full = [0, 1].map((selector) => ({
        usage: 2,
        selector,
        matchingType: 0,
        data: Buffer.from(noise).toString('hex'),
      }));
      expect(matchTlsa(full, [bytes, noise, derOf(root)], context)).toBe(false);
    }),
  );
});

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
