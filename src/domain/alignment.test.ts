import { describe, expect, test } from 'vitest';
import { areAligned } from '../lib/organizational-domain.ts';
import { type AlignmentFacts, alignmentOf } from './alignment.ts';
import type { DomainKey, SendingDomain } from './domain-keys.ts';

const KEY: DomainKey = {
  selector: 's1',
  algorithm: 'ed25519-sha256',
  publicKey: 'p',
  privateKey: 'secret',
  createdAt: 1,
  activeSince: 2,
  retiredAt: null,
};

function domain(name: string, ...keys: readonly Partial<DomainKey>[]): SendingDomain {
  return { name, since: 1, keys: keys.map((key) => ({ ...KEY, ...key })), returnPath: null };
}

const FACTS: AlignmentFacts = {
  authors: ['example.com'],
  reverseDomain: 'bounces.example.net',
  rights: 'any',
  domains: [],
  areAligned,
};

describe('a signature of ours', () => {
  test('aligns when the author’s domain signs', () => {
    const facts = { ...FACTS, domains: [domain('example.com', {})] };
    expect(alignmentOf(facts, 'mx')).toEqual({
      verdict: 'aligned',
      dkim: 'aligned',
      dkimDomain: 'example.com',
      spf: 'not_aligned',
      spfDomain: 'bounces.example.net',
      detail: 'Signed for example.com, which aligns with From.',
    });
  });

  test('is that of the nearest domain with a key that signs', () => {
    const facts = { ...FACTS, authors: ['a.b.example.com'] };
    const far = domain('example.com', {});
    const near = domain('b.example.com', {});
    expect(alignmentOf({ ...facts, domains: [far, near] }, 'mx').dkimDomain).toBe('b.example.com');
    const waits = domain('b.example.com', { activeSince: null });
    expect(alignmentOf({ ...facts, domains: [far, waits] }, 'mx').dkimDomain).toBe('example.com');
  });

  test.each([
    ['waits', { activeSince: null }],
    ['is retired', { retiredAt: 3 }],
    ['cannot be read', { privateKey: null }],
  ])('is none by a key that %s', (_, key) => {
    const facts = { ...FACTS, domains: [domain('example.com', key)] };
    expect(alignmentOf(facts, 'mx')).toMatchObject({
      verdict: 'not_aligned',
      dkim: 'none',
      dkimDomain: null,
      detail: expect.stringContaining('waybill domains check example.com'),
    });
  });

  test.each([
    ['a domain below', 'sub.example.com'],
    ['a domain that only ends alike', 'notexample.com'],
    ['another', 'example.net'],
  ])('is none for %s', (_, name) => {
    const facts = { ...FACTS, authors: ['example.com'], domains: [domain(name, {})] };
    expect(alignmentOf(facts, 'mx')).toMatchObject({
      dkim: 'none',
      detail: expect.stringContaining('waybill domains add example.com'),
    });
  });

  test.each([
    ['any', 'any' as const, 'aligned'],
    ['that domain', ['example.com'], 'aligned'],
    ['another', ['example.net'], 'none'],
    ['the one above', ['com'], 'none'],
    ['no domain at all', [], 'none'],
  ])('may be made by whoever may send from %s', (_, rights, dkim) => {
    const facts = { ...FACTS, rights, domains: [domain('example.com', {})] };
    expect(alignmentOf(facts, 'mx').dkim).toBe(dkim);
  });

  test('says whose fault it is that the sender may not', () => {
    const facts = { ...FACTS, rights: [], domains: [domain('example.com', {})] };
    expect(alignmentOf(facts, 'mx').detail).toContain("let the sender's key send from example.com");
  });

  test('is none for several authors of whom one is not the sender’s', () => {
    const facts = { ...FACTS, authors: ['example.com', 'example.net'], domains: [domain('example.com', {})] };
    expect(alignmentOf({ ...facts, rights: ['example.com'] }, 'mx').dkim).toBe('none');
    expect(alignmentOf({ ...facts, rights: 'any' }, 'mx').dkim).toBe('aligned');
  });

  test('is none for an author who cannot be read', () => {
    const facts = { ...FACTS, authors: [], domains: [domain('example.com', {})] };
    expect(alignmentOf(facts, 'mx')).toMatchObject({
      verdict: 'not_aligned',
      detail: expect.stringContaining('write From as one plain address'),
    });
  });
});

describe('the reverse-path', () => {
  test.each([
    ['the same domain', 'example.com', 'aligned'],
    ['one below', 'bounces.example.com', 'aligned'],
    ['the public suffix above', 'com', 'not_aligned'],
    ['another', 'example.net', 'not_aligned'],
    ['one that only ends alike', 'notexample.com', 'not_aligned'],
  ])('on %s', (_, reverseDomain, spf) => {
    expect(alignmentOf({ ...FACTS, reverseDomain }, 'smtp')).toMatchObject({ spf, spfDomain: reverseDomain });
  });

  test('that is null aligns with nothing', () => {
    expect(alignmentOf({ ...FACTS, reverseDomain: null }, 'mx')).toMatchObject({
      spf: 'not_aligned',
      spfDomain: null,
    });
  });

  test('must align with every author', () => {
    const facts = { ...FACTS, authors: ['example.com', 'example.net'], reverseDomain: 'example.com' };
    expect(alignmentOf(facts, 'mx').spf).toBe('not_aligned');
  });

  test('alone will do, but is told of', () => {
    expect(alignmentOf({ ...FACTS, reverseDomain: 'example.com' }, 'mx')).toMatchObject({
      verdict: 'aligned',
      detail: 'Only SPF can align, and forwarding breaks that: waybill domains add example.com.',
    });
  });
});

describe('siblings', () => {
  const facts = { ...FACTS, authors: ['a.example.com'] };
  test('align without anything registered', () => {
    expect(alignmentOf({ ...facts, reverseDomain: 'b.example.com' }, 'mx').spf).toBe('aligned');
  });

  test('do not align where it is a public suffix that they are below', () => {
    const customers = { ...facts, authors: ['a.co.uk'], reverseDomain: 'b.co.uk' };
    expect(alignmentOf(customers, 'mx').spf).toBe('not_aligned');
    expect(alignmentOf({ ...customers, domains: [domain('co.uk')] }, 'mx').spf).toBe('not_aligned');
  });
});

describe('by type of relay', () => {
  const signed = { ...FACTS, reverseDomain: 'example.com', domains: [domain('example.com', {})] };
  test.each([
    ['smtp', 'aligned', 'aligned'],
    ['mx', 'aligned', 'aligned'],
    ['webhook', 'aligned', 'aligned'],
    ['mailgun', 'aligned', 'by_provider'],
    ['ses', 'by_provider', 'by_provider'],
    ['graph', 'by_provider', 'by_provider'],
    ['postmark', 'by_provider', 'by_provider'],
    ['sendgrid', 'by_provider', 'by_provider'],
    ['resend', 'by_provider', 'by_provider'],
  ] as const)('%s: dkim %s, spf %s', (type, dkim, spf) => {
    const verdict = dkim === 'aligned' ? 'aligned' : 'depends_on_provider';
    const own = (value: string) => (value === 'by_provider' ? null : 'example.com');
    expect(alignmentOf(signed, type)).toMatchObject({
      verdict,
      dkim,
      spf,
      dkimDomain: own(dkim),
      spfDomain: own(spf),
    });
  });

  test('a provider that signs besides us does so where we cannot', () => {
    expect(alignmentOf(FACTS, 'mailgun')).toMatchObject({
      verdict: 'depends_on_provider',
      dkim: 'by_provider',
      detail: expect.stringContaining('have it verify example.com'),
    });
  });
});
