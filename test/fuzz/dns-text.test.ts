/** What domains publish in TXT records and policy files, and what stands in certificates: anybody's text. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchTlsa, subjectPublicKeyInfo, type Tlsa } from '../../src/dns/dane.ts';
import {
  parseDkimRecord,
  parseDmarcRecord,
  parseTags,
  parseTlsReportRecord,
} from '../../src/dns/mail-records.ts';
import { matchesPolicy, parseStsPolicy, parseStsRecord } from '../../src/dns/mta-sts.ts';
import { isHostName, parseQueryName } from '../../src/dns/resolver.ts';
import { parseSpf, spfRecords } from '../../src/dns/spf.ts';
import { parseDomain } from '../../src/domain/domain-name.ts';
import { readSignature } from '../../src/mail/dkim.ts';
import { corpus, examplesIn } from './corpus.ts';
import { Dice } from './dice.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';
import { mutate } from './mutate.ts';

const TEXTS = corpus('dns-text', (bytes) => bytes.toString('latin1'));

const spf = textOf(
  ...([
    'v=spf1',
    ' ',
    ' ',
    ' ',
    'a',
    'mx',
    '-all',
    '~all',
    '+',
    'include:x.test',
    'ip4:192.0.2.0/24',
  ] as const),
  ...[
    'ip6:2001:db8::/32',
    '/24',
    '//64',
    'exists:%{i}.x.test',
    '%{d2r.}',
    '%',
    'redirect=x.test',
    'exp=',
    ':',
    '=',
  ],
).map((text) => `v=spf1 ${text}`);

test('an SPF record is read, or the term that is none is told', () =>
  fuzz('SPF record', { made: spf, corpus: TEXTS }, (text) => {
    spfRecords([text]);
    const read = parseSpf(text);
    if (!read.ok) {
      expect(read.term).not.toBe('');
      return false;
    }
    const { mechanisms } = read.record;
    expect(mechanisms.length).toBeLessThanOrEqual(200);
    for (const { bits, value } of mechanisms) {
      expect(bits.ipv4 <= 32 && bits.ipv6 <= 128).toBe(true);
      expect(value).toMatch(/^[!-~]*$/);
    }
    return mechanisms.length > 0;
  }));

const tags = textOf(
  ...([
    'v=DKIM1',
    'v=DMARC1',
    ';',
    '; ',
    '=',
    'p=none',
    'p=reject',
    'p=AAAA',
    'k=rsa',
    'h=sha256:sha1',
  ] as const),
  ...['rua=mailto:a@x.test', '!10m', ',', 'pct=50', 'sp=quarantine', 't=y:s', ' ', 'a=1', 'psd=y', 's=email'],
);

test('records of tags are read, or are none', () =>
  fuzz('records of tags', { made: tags.map((text) => `v=DMARC1; ${text}`), corpus: TEXTS }, (text) => {
    const read = parseTags(text);
    if (read !== null) expect(read.size).toBeLessThanOrEqual(64);
    const dkim = parseDkimRecord(text);
    if (dkim !== null) expect(dkim.publicKey).not.toMatch(/\s/);
    const dmarc = parseDmarcRecord(text);
    if (dmarc !== null) expect(dmarc.percent >= 0 && dmarc.percent <= 100).toBe(true);
    parseTlsReportRecord(text);
    const id = parseStsRecord([text]);
    if (id !== null) expect(id).toMatch(/^[A-Za-z0-9]{1,32}$/);
    return dkim !== null || dmarc !== null || id !== null;
  }));

const signature = textOf(
  ...([
    'v=1',
    ';',
    '; ',
    'a=rsa-sha256',
    'c=relaxed/relaxed',
    'd=x.test',
    's=s',
    't=1',
    'h=from:to',
  ] as const),
  ...['bh=aa', 'b=bb', '\r\n ', 'l=5', '=', ':', 'b =', ' '],
).map((text) => `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; t=1; ${text}`);

test('a signature is one of ours without its value, or is not read', () =>
  fuzz('DKIM signature', { made: signature, corpus: TEXTS }, (text) => {
    const read = readSignature(text);
    if (read === null) return false;
    expect(read.unsigned.length).toBeLessThanOrEqual(text.length);
    expect(Number.isSafeInteger(read.time)).toBe(true);
    return true;
  }));

const policy = textOf(
  ...([
    'version: STSv1\n',
    'mode: enforce\n',
    'mode: none\n',
    'mx: mail.x.test\n',
    'mx: *.x.test\n',
  ] as const),
  ...['max_age: 60\n', 'max_age: -1\n', ' ', ':', '\r', '\n', 'a: b\n', 'mx: \n'],
).map((text) => `version: STSv1\nmax_age: 5\n${text}`);

test('a policy file is a policy of host names, or no policy at all', () =>
  fuzz(
    'MTA-STS policy',
    { made: policy, corpus: corpus('mta-sts-policy', (bytes) => bytes.toString()) },
    (text) => {
      const read = parseStsPolicy(text);
      if (!read.ok) {
        expect(read.reason).toMatch(/^[ -~]+$/);
        return false;
      }
      const { mode, mx, maxAgeSeconds } = read.policy;
      expect(maxAgeSeconds).toBeLessThanOrEqual(31_557_600);
      for (const pattern of mx) {
        expect(isHostName(pattern.replace(/^\*\./, ''))).toBe(true);
        expect(matchesPolicy(read.policy, pattern.replace('*', 'a'))).toBe(true);
      }
      return mode === 'none' || mx.length > 0;
    },
  ));

const domain = textOf(
  ...([
    'x',
    '.test',
    '.',
    '-',
    'xn--',
    'bücher',
    '_dmarc.',
    '[192.0.2.1]',
    '[IPv6:',
    '::1',
    ']',
    'ｘ',
  ] as const),
  ...['\u3002', '\u00ad', 'ß', '1', 'a'.repeat(63), '%', '@', '/', '\\', ':'],
);

test('a domain has one form, and is fit to be asked for and written', () =>
  fuzz('domain name', { made: domain, corpus: corpus('addresses', (bytes) => bytes.toString()) }, (text) => {
    const asked = parseQueryName(text);
    if (asked !== null) {
      expect(asked).toMatch(/^[a-z0-9_.-]{1,253}$/);
      expect(parseQueryName(asked)).toBe(asked);
    }
    const read = parseDomain(text);
    if (read === null) return false;
    expect(read).toMatch(/^[a-z0-9.-]{1,255}$|^\[[0-9.]+\]$|^\[IPv6:[0-9a-f:.]+\]$/);
    expect(parseDomain(read)).toBe(read);
    return true;
  }));

const certificates = examplesIn('certificate').map(({ bytes }) => bytes);
const damaged = fc.nat().map((seed) => mutate(new Dice(seed), certificates, 4096));
const NAMES = { names: ['x.test'], nowMs: Date.UTC(2026, 10, 22) };

test('the key of any certificate lies within it, and no certificate makes the comparing throw', () =>
  fuzz('certificate', { made: damaged, corpus: corpus('certificate', (bytes) => bytes) }, (bytes) => {
    const key = subjectPublicKeyInfo(bytes);
    if (key !== null) expect(bytes.includes(Buffer.from(key))).toBe(true);
    const data = createHash('sha256').update(bytes).digest('hex');
    const named: Tlsa = { usage: 3, selector: 0, matchingType: 1, data };
    expect(matchTlsa([named], [bytes], NAMES)).toBe(true);
    const anchor: Tlsa = { usage: 2, selector: 1, matchingType: 0, data: bytes.toString('hex') };
    expect(matchTlsa([anchor, { ...anchor, selector: 0 }], [bytes, bytes], NAMES)).toBe(false);
    return key !== null;
  }));
