/** What would find a secret finds it, in whatever form it is planted. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { SecretBook } from './secret-book.ts';
import { Traces } from './traces.ts';

const SECRET = 'pass/word+"7Kq&<%41>~é-end';

function planted(form: (secret: string) => string | Buffer): readonly string[] {
  const book = new SecretBook();
  book.add('password', SECRET);
  const traces = new Traces();
  traces.add(
    'the log',
    Buffer.concat([Buffer.from('before '), Buffer.from(form(SECRET)), Buffer.from(' after')]),
  );
  return traces.leaks(book);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each<[string, (secret: string) => string | Buffer]>([
  ['as it is', (secret) => secret],
  ['JSON', (secret) => JSON.stringify({ secret })],
  ['JSON in JSON', (secret) => JSON.stringify({ line: JSON.stringify({ secret }) })],
  ['a URL', (secret) => `/path?key=${encodeURIComponent(secret)}`],
  ['a form', (secret) => new URLSearchParams({ secret }).toString()],
  ['HTML', (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
  ['base64 by itself', base64],
  ['base64 of AUTH PLAIN', (secret) => base64(`\0ann\0${secret}`)],
  ['base64 behind one byte', (secret) => base64(`.${secret}.`)],
  ['base64 in lines', (secret) => base64(secret).replace(/.{10}/g, '$&\r\n')],
  ['base64url', (secret) => Buffer.from(`:${secret}`).toString('base64url')],
  ['hex', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['gzip', (secret) => gzipSync(gzipSync(`x ${secret}`))],
])('a planted secret is found in the form of %s', (_form, write) => {
  expect(planted(write)).toEqual([expect.stringMatching(/^the log: password \(/)]);
});

test('a long secret that was cut is found by its middle or its end', () => {
  const book = new SecretBook();
  const secret = book.add('token', 'f2J9dkQmZ1xv8RtYw3LbN5cHs7PgT0aE');
  expect(book.findIn(Buffer.from(secret.slice(4)))).toEqual(['token (its middle)']);
  expect(book.findIn(Buffer.from(secret.slice(16)))).toEqual(['token (its end)']);
});

test('a private key is found as PEM, as DER and by its private number, and its public key is not it', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const book = new SecretBook();
  const pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  book.addPrivateKey('key', pem);
  const der = keys.privateKey.export({ type: 'pkcs8', format: 'der' });
  const { d } = keys.privateKey.export({ format: 'jwk' });
  for (const written of [pem, JSON.stringify(pem), der, d ?? ''])
    expect(book.findIn(Buffer.from(written))).toHaveLength(1);
  expect(book.findIn(keys.publicKey.export({ type: 'spki', format: 'der' }))).toEqual([]);
});

test('a hash of a secret is not the secret', () => {
  expect(planted((secret) => createHash('sha256').update(secret).digest('hex'))).toEqual([]);
});
