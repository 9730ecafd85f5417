import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { newRecoveryCode, readRecoveryCode } from './tokens.ts';
import { matchCode, newTotpSecret, stepAt, totpCode, totpUrl } from './totp.ts';

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
