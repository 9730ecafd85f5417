import { expect, test } from 'vitest';
import { noTlsText } from './tls-words.ts';

const raw = (code: string, reason: string) =>
  Object.assign(new Error(`40FD:error:0A00:SSL routines:f:${reason}:../deps/openssl/ssl/a.c:77:\n`), {
    code,
    reason,
  });

test.each([
  [
    raw('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'),
    'h does not use TLS on this port: correct the port',
  ],
  [raw('ERR_SSL_NO_PROTOCOLS_AVAILABLE', 'no protocols available'), 'No TLS with h: no protocols available'],
  [raw('EPROTO', 'bad record mac'), 'No TLS with h: bad record mac'],
  [new Error('certificate has expired'), 'No TLS with h: certificate has expired'],
  [
    new Error(
      'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    ),
    'No TLS with h: self-signed certificate',
  ],
  ['odd', 'No TLS with h: odd'],
])('%s', (error, text) => {
  expect(noTlsText('h', error)).toBe(text);
});
