import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { KEY_TYPES } from '../domain/certificate.ts';
import { certificateId, createRequest } from './request.ts';

function openssl(args: readonly string[], input: Buffer): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
}

test.each(KEY_TYPES)('a request with a key of type %s is signed, and names its hosts', async (keyType) => {
  const { key, request } = await createRequest(['mail.example.com', 'smtp.example.com'], keyType);
  const text = openssl(['req', '-inform', 'DER', '-noout', '-text', '-verify'], request);
  expect(text).toContain('DNS:mail.example.com, DNS:smtp.example.com');
  expect(text).toMatch(/Subject: *\n/);
  const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(key);
  const size = asymmetricKeyDetails?.modulusLength ?? asymmetricKeyDetails?.namedCurve;
  expect([asymmetricKeyType, size]).toEqual(
    {
      'ec-256': ['ec', 'prime256v1'],
      'ec-384': ['ec', 'secp384r1'],
      'rsa-2048': ['rsa', 2048],
      'rsa-4096': ['rsa', 4096],
    }[keyType],
  );
});

/** The certificate of RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;

test('a certificate’s name where renewal is asked about is that of RFC 9773', () => {
  expect(certificateId(EXAMPLE)).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});
