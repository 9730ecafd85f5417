import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../test/peers/certificate.ts';
import { subjectPublicKeyInfo } from './certificate-key.ts';
import { isUsable, matchTlsa, type Tlsa } from './dane.ts';

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
