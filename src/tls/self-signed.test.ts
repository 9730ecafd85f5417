import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../../test/peers/need.ts';
import { systemRandom } from '../lib/random.ts';
import { createSelfSigned } from './self-signed.ts';

const NOT_BEFORE = Date.UTC(2026, 10, 19);
const HOSTS = ['mail.example.com', 'localhost', '127.0.0.1', '::1', '2001:db8::a:0:1', 'fe80::1:2:3:4'];

function make(hosts: readonly string[] = HOSTS, notAfter = Date.UTC(2027, 11, 21)) {
  const { key, cert } = createSelfSigned({ hosts, notBefore: NOT_BEFORE, notAfter, random: systemRandom });
  return { key, cert, parsed: new X509Certificate(cert) };
}

test('it says what it was told to', () => {
  const { parsed, key } = make();
  expect(parsed.subject).toBe('CN=mail.example.com');
  expect(parsed.issuer).toBe(parsed.subject);
  expect(parsed.validFromDate.getTime()).toBe(NOT_BEFORE);
  expect(parsed.validToDate.getTime()).toBe(Date.UTC(2027, 11, 21));
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(parsed.ca).toBe(false);
  expect(key).toContain('BEGIN PRIVATE KEY');
});

test.each(HOSTS)('it is good for %s', (host) => {
  const { parsed } = make();
  expect(host.includes(':') || /^[\d.]+$/.test(host) ? parsed.checkIP(host) : parsed.checkHost(host)).toBe(
    host,
  );
});

test('no two have the same serial number', () => {
  expect(make().parsed.serialNumber).not.toBe(make().parsed.serialNumber);
});

test('times after 2049 and many names are written as they must be', () => {
  const names = Array.from({ length: 64 }, (_, i) => `host-${i}.a-rather-long-domain.example`);
  const { parsed } = make(names, Date.UTC(2051, 0, 2, 3, 4, 5));
  expect(parsed.validToDate.toISOString()).toBe('2051-01-02T03:04:05.000Z');
  expect(parsed.checkHost('host-63.a-rather-long-domain.example')).toBeDefined();
});

describeWith(['openssl'], 'openssl', () => {
  test('finds nothing wrong, even when it is strict', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-x509-'));
    try {
      const file = join(folder, 'tls.crt');
      writeFileSync(file, make().cert);
      const at = String(Date.UTC(2027, 0) / 1000);
      const output = execFileSync('openssl', [
        'verify',
        '-x509_strict',
        '-partial_chain',
        '-purpose',
        'sslserver',
        '-attime',
        at,
        '-trusted',
        file,
        file,
      ]);
      expect(output.toString()).toContain('OK');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
