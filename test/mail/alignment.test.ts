/** A dry run says who would sign. It says the same as the one who signs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignmentOf } from '../../src/domain/alignment.ts';
import type { SigningRights } from '../../src/domain/message.ts';
import { areAligned } from '../../src/lib/organizational-domain.ts';
import { authorsOf } from '../../src/mail/field-values.ts';
import { readLooseHeader } from '../../src/mail/header-block.ts';
import { createSigningKeys, keysForAuthor } from '../../src/signing/keys.ts';
import { signedDomain } from '../support/signed-domain.ts';

const NAMES = ['example.com', 'a.example.com', 'b.a.example.com', 'example.net', 'xexample.com', 'com'];
const name = fc.constantFrom(...NAMES);
const state = fc.constantFrom(
  {},
  { activeSince: null },
  { retiredAt: 5, privateKey: null },
  { privateKey: null },
);
const domains = fc
  .uniqueArray(fc.tuple(name, state), { selector: ([one]) => one, maxLength: NAMES.length })
  .map((pairs) =>
    pairs.map(([one, key]) => {
      const domain = signedDomain(one);
      return { ...domain, keys: domain.keys.map((whole) => ({ ...whole, ...key })) };
    }),
  );
const rights: fc.Arbitrary<SigningRights> = fc.oneof(
  fc.constant('any' as const),
  fc.uniqueArray(name, { maxLength: 3 }),
);
const from = fc.array(name, { minLength: 1, maxLength: 3 });

test('whatever domains there are, and whoever may have them sign', () => {
  fc.assert(
    fc.property(domains, rights, from, (all, may, authors) => {
      const text = `From: ${authors.map((one) => `j@${one}`).join(', ')}\r\n`;
      const fields = readLooseHeader(text, 10_000)?.fields ?? [];
      const [key] = keysForAuthor(fields, may, createSigningKeys()(all).active);
      const found = (authorsOf(fields) ?? []).map(({ domain }) => domain);
      const { dkimDomain } = alignmentOf(
        { authors: found, reverseDomain: null, rights: may, domains: all, areAligned },
        'mx',
      );
      expect(dkimDomain).toBe(key?.domain ?? null);
    }),
    { numRuns: 500 },
  );
});
