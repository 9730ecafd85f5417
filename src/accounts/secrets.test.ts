import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import {
  matchCode,
  newRecoveryCode,
  newTotpSecret,
  qrRows,
  readRecoveryCode,
  stepAt,
  totpCode,
  totpUrl,
} from './secrets.ts';

/** RFC 6238, appendix B: the secret of its vectors for SHA-1. */
const SECRET = Buffer.from('12345678901234567890');
const BASE32 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('RFC 6238: the code at %i seconds is %s', (seconds, code) => {
  expect(totpCode(SECRET, stepAt(seconds * 1000), 8)).toBe(code);
  expect(matchCode(BASE32, code.slice(2), seconds * 1000)).toBe(stepAt(seconds * 1000));
});

test('a clock may be one step off, either way, and no more', () => {
  const now = 1_111_111_111_000;
  const step = stepAt(now);
  for (const [off, found] of [
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ] as const)
    expect(matchCode(BASE32, totpCode(SECRET, step + off), now), `${off}`).toBe(found);
});

test('what is no code matches nothing', () => {
  for (const code of ['', '12345', '1234567', '12345a', '-12345', '１２３４５６'])
    expect(matchCode(BASE32, code, 59_000), code).toBeNull();
});

test('a new secret has 160 bits, and the URL that phones read names issuer and account', () => {
  const secret = newTotpSecret(seededRandom(7));
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(totpUrl(secret, 'Way Bill', 'ann@example.org')).toBe(
    `otpauth://totp/Way%20Bill:ann%40example.org?secret=${secret}&issuer=Way%20Bill`,
  );
});

test('a recovery code is read however it is typed', () => {
  const code = newRecoveryCode(seededRandom(3));
  expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  expect(readRecoveryCode(` ${code.toUpperCase().replaceAll('-', ' ')} `)).toBe(code);
  expect(readRecoveryCode('O1IL-0000-0000-0000')).toBe('0111-0000-0000-0000');
  for (const text of ['', '123456', `${code}x`, code.slice(1)])
    expect(readRecoveryCode(text), text).toBeNull();
});

// Each was drawn by another encoder (qrcode 1.5.4), and read back by a decoder (jsQR 1.4.0): one of every version.
test.each([
  [14, 21, 'ca4e5f8669011ed0'],
  [26, 25, '6b3c728f6da5c737'],
  [42, 29, '29e68797907db7dd'],
  [62, 33, '9040f52bb1e8a298'],
  [84, 37, '11f4048c14db893b'],
  [106, 41, '536f804ac066bd50'],
  [122, 45, '91c925bdfb77e72b'],
  [152, 49, '05776ce767bdb1a4'],
  [180, 53, '21e02ceea8d235cf'],
  [213, 57, 'f8a692e420006d88'],
])('a text of %i bytes has %i rows, as another encoder draws them', (length, size, hash) => {
  const rows = qrRows('x'.repeat(length));
  expect(rows).toHaveLength(size);
  expect(createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)).toBe(hash);
});

test('what no code of these versions can hold is refused', () => {
  expect(() => qrRows('x'.repeat(214))).toThrow('lean-qr error 4');
});
