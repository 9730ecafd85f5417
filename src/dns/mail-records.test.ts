import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dmarcRecords,
  parseDkimRecord,
  parseDmarcRecord,
  parseTags,
  parseTlsReportRecord,
  tlsReportRecords,
} from './mail-records.ts';

describe('a list of tags', () => {
  test.each<[string, Record<string, string> | null]>([
    ['v=DKIM1; k=rsa; p=abc', { v: 'DKIM1', k: 'rsa', p: 'abc' }],
    [' a = b ; c=d=e;', { a: 'b', c: 'd=e' }],
    ['a=', { a: '' }],
    ['', null],
    ['a', null],
    ['=b', null],
    ['a=1; a=2', null],
    ['a=1;; b=2', null],
    [Array.from({ length: 65 }, (_, index) => `a${index}=1`).join(';'), null],
  ])('%j', (text, expected) => {
    const tags = parseTags(text);
    expect(tags === null ? null : Object.fromEntries(tags)).toEqual(expected);
  });
});

describe("a key's record", () => {
  test.each<[string, unknown]>([
    ['v=DKIM1; k=rsa; p=ab cd', { keyType: 'rsa', publicKey: 'abcd', testing: false }],
    ['p=abcd', { keyType: 'rsa', publicKey: 'abcd', hashes: null, otherService: false }],
    ['v=DKIM1; k=ed25519; t=y:s; p=x', { keyType: 'ed25519', testing: true }],
    ['v=DKIM1; h=sha1; s=tlsrpt; p=x', { hashes: ['sha1'], otherService: true }],
    ['v=DKIM1; s=email; p=', { publicKey: '', otherService: false }],
    ['p=x; v=DKIM1', null],
    ['v=DKIM2; p=x', null],
    ['v=DKIM1; k=rsa', null],
    ['v=spf1 -all', null],
  ])('%s', (text, expected) => {
    const record = parseDkimRecord(text);
    if (expected === null) expect(record).toBeNull();
    else expect(record).toMatchObject(expected as object);
  });
});

describe('a DMARC policy', () => {
  const PLAIN = {
    policy: 'none',
    below: null,
    percent: 100,
    reportTo: [],
    isAssumed: false,
    isSuffix: false,
  };
  test.each<[string, unknown]>([
    ['v=DMARC1; p=none', PLAIN],
    [
      'v=DMARC1; p=Reject; rua=mailto:a@x.test!10m, mailto:b@y.test',
      { ...PLAIN, policy: 'reject', reportTo: ['mailto:a@x.test', 'mailto:b@y.test'] },
    ],
    [
      'v=DMARC1; p=reject; sp=None; pct=0; psd=y',
      { ...PLAIN, policy: 'reject', below: 'none', percent: 0, isSuffix: true },
    ],
    ['v=DMARC1; p=reject; pct=101', { ...PLAIN, policy: 'reject' }],
    ['v=DMARC1; p=reject; pct=x', { ...PLAIN, policy: 'reject' }],
    ['v=DMARC1; rua=mailto:a@x.test', { ...PLAIN, isAssumed: true, reportTo: ['mailto:a@x.test'] }],
    [
      'v=DMARC1; p=reject; sp=all; rua=mailto:a@x.test',
      { ...PLAIN, isAssumed: true, reportTo: ['mailto:a@x.test'] },
    ],
    ['v=DMARC1; p=reject; sp=all', null],
    ['v=DMARC1; rua=nobody', null],
    ['v=DMARC1', null],
    ['v=DMARC1; p=all', null],
    ['v=DMARC2; p=none', null],
  ])('%s', (text, expected) => {
    expect(parseDmarcRecord(text)).toEqual(expected);
  });

  test('is told from other records', () => {
    const records = ['v=DMARC1; p=none', 'v=DMARC10; p=none', 'v=spf1 -all', 'v = DMARC1;p=none'];
    expect(dmarcRecords(records)).toEqual([records[0], records[3]]);
  });
});

test('where TLS reports go', () => {
  expect(parseTlsReportRecord('v=TLSRPTv1; rua=mailto:a@x.test')).toEqual(['mailto:a@x.test']);
  for (const text of ['v=TLSRPTv1;', 'v=TLSRPTv1; rua=ftp://x.test/'])
    expect(parseTlsReportRecord(text)).toBeNull();
  expect(tlsReportRecords(['v=TLSRPTv1; rua=x', 'v=TLSRPTv10; rua=x'])).toHaveLength(1);
});

test('no text makes a reader throw, and what one reads has what it says', () => {
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^v=(DKIM1|DMARC1|TLSRPTv1);( ?[a-z]{1,3}=[!-~]{0,9};){0,5}$/),
  );
  fc.assert(
    fc.property(text, (record) => {
      for (const value of parseTags(record)?.values() ?? []) expect(record).toContain(value);
      expect(parseDkimRecord(record)?.publicKey ?? '').not.toMatch(/\s/);
      parseDmarcRecord(record);
      parseTlsReportRecord(record);
    }),
    { numRuns: 2000 },
  );
});
