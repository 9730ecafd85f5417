import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemRandom } from '../lib/random.ts';
import { faultOf, namesIn } from './pair.ts';
import { createSelfSigned } from './self-signed.ts';

const make = (host: string) =>
  createSelfSigned({ hosts: [host], notBefore: 0, notAfter: Date.UTC(2040, 0), random: systemRandom });
const own = make('a.example.com');
const other = make('b.example.com');
const broken = own.cert.replace(/\n[\w+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
const encrypted = createPrivateKey(own.key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();

test.each([
  ['a pair that fits', own.cert, own.key, null],
  ['a chain, the own certificate first', own.cert + other.cert, own.key, null],
  [
    'the two exchanged',
    own.key,
    own.cert,
    /^tls\.cert_file contains the key and tls\.key_file the certificate/,
  ],
  ['no certificate', 'nonsense', own.key, /^tls\.cert_file: there is no certificate/],
  ['a broken chain', own.cert + broken, own.key, /^tls\.cert_file: certificate 2 of 2 cannot be read/],
  ['a chain in the wrong order', other.cert + own.cert, own.key, /^tls\.cert_file: .* must come first/],
  ['no key', own.cert, 'nonsense', /^tls\.key_file: there is no private key/],
  [
    'a broken key',
    own.cert,
    own.key.replace(/\n[\w+/]{20}/, '\n'),
    /^tls\.key_file: the private key cannot be read/,
  ],
  ['an encrypted key', own.cert, encrypted, /^tls\.key_file: the key is encrypted.*without a passphrase/],
  ['another key', own.cert, other.key, /^tls\.key_file: the key is not the one of the certificate/],
])('%s', (_, cert, key, expected) => {
  const fault = faultOf({ cert, key });
  if (expected === null) expect(fault).toBeNull();
  else expect(fault).toMatch(expected);
});

test.each([
  ['a.example.com', 'a.example.com'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
])('a certificate for %s names %s', (host, name) => {
  expect(namesIn(new X509Certificate(make(host).cert))).toEqual([name]);
});
