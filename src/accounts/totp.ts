import { createHmac, timingSafeEqual } from 'node:crypto';
import { correction, generate, mode } from 'lean-qr';
import type { Random } from '../lib/random.ts';

/**
 * Codes that change with time (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds, which is all that common
 * authenticator apps know.
 */

const STEP_MS = 30_000;
const DIGITS = 6;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Steps that a clock may be off, either way. */
const SKEW = 1;
/** 57 rows, which a phone reads from any screen. */
const MAX_QR_VERSION = 10;
/** RFC 4648. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret, in base32. */
export function newTotpSecret(random: Random): string {
  return toBase32(random.fill(new Uint8Array(SECRET_BYTES)));
}

/** The step that a time (wall ms) lies in. */
export function stepAt(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** The code of a step, with as many digits as asked for. */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step, of those around `now`, that a code belongs to; null: none. Whether it was used before, the caller sees to. */
export function matchCode(secretBase32: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const secret = fromBase32(secretBase32);
  const given = Buffer.from(code);
  const present = stepAt(now);
  let found: number | null = null;
  // All of them, so that the time taken does not tell which.
  for (let step = present - SKEW; step <= present + SKEW; step++)
    if (step >= 0 && timingSafeEqual(Buffer.from(totpCode(secret, step)), given)) found = step;
  return found;
}

/** What authenticator apps read from a QR code. */
export function totpUrl(secretBase32: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  // What is left out is what every app takes for granted: a smaller code is read more easily.
  const parameters = new URLSearchParams({ secret: secretBase32, issuer });
  // Some apps take a plus sign for one.
  return `otpauth://totp/${label}?${parameters.toString().replaceAll('+', '%20')}`;
}

/** The rows of a text's QR code without its quiet zone, `1` for black. Throws beyond 213 bytes: a larger one is hard to read. */
export function qrRows(text: string): string[] {
  const code = generate(text, {
    modes: [mode.ascii],
    minCorrectionLevel: correction.M,
    maxCorrectionLevel: correction.M,
    maxVersion: MAX_QR_VERSION,
  });
  return code.toString({ on: '1', off: '0', pad: 0 }).trimEnd().split('\n');
}

function toBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((value >> (bits - 5)) & 31);
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
