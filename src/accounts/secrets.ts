import { createHmac, timingSafeEqual } from 'node:crypto';
import { correction, generate, mode } from 'lean-qr';
import type { Random } from '../lib/random.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const ID_BYTES = 10;
/** Crockford's base32, lower case. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE_LETTERS = 16;
const CODE_GROUP = 4;

/** A new token of 256 random bits, in base64url. Shown or sent once, never stored. */
export function newToken(random: Random): string {
  return Buffer.from(random.fill(new Uint8Array(TOKEN_BYTES))).toString('base64url');
}

/** Whether a text has the form of a token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A new session id, which is not a secret. */
export function newSessionId(random: Random): string {
  return `ses_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`;
}

/** A new recovery code of 80 random bits, such as `7k3w-…`. */
export function newRecoveryCode(random: Random): string {
  // 256 is a multiple of the 32 letters, so all letters are equally likely.
  const letters = [...random.fill(new Uint8Array(CODE_LETTERS))].map((byte) => LETTERS.charAt(byte % 32));
  const groups = Array.from({ length: CODE_LETTERS / CODE_GROUP }, (_, place) =>
    letters.slice(place * CODE_GROUP, (place + 1) * CODE_GROUP).join(''),
  );
  return groups.join('-');
}

/** A recovery code in its normal form, however typed; null if it is invalid. */
export function readRecoveryCode(text: string): string | null {
  const plain = text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  if (!/^[0-9a-hjkmnp-tv-z]{16}$/.test(plain)) return null;
  return plain.replace(/.{4}(?=.)/g, '$&-');
}

// Time-based codes (RFC 6238): HMAC-SHA-1, six digits, 30-second steps, all that common authenticator apps support.

const STEP_MS = 30_000;
const DIGITS = 6;
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Steps by which a clock may be off, either way. */
const SKEW = 1;
/** 57 rows, which a phone reads from any screen. */
const MAX_QR_VERSION = 10;
/** RFC 4648. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret, in base32. */
export function newTotpSecret(random: Random): string {
  return toBase32(random.fill(new Uint8Array(SECRET_BYTES)));
}

/** The step of a time (wall ms). */
export function stepAt(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** The code of a step, with `digits` digits. */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step around `now` that a code belongs to; null if there is none. The caller checks for earlier use. */
export function matchCode(secretBase32: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const secret = fromBase32(secretBase32);
  const given = Buffer.from(code);
  const present = stepAt(now);
  let found: number | null = null;
  // Checks all of them, so that the time taken does not reveal which.
  for (let step = present - SKEW; step <= present + SKEW; step++)
    if (step >= 0 && timingSafeEqual(Buffer.from(totpCode(secret, step)), given)) found = step;
  return found;
}

/** The URL for authenticator apps, to show as a QR code. */
export function totpUrl(secretBase32: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  // Values that every app assumes are left out: a smaller code is easier to scan.
  const parameters = new URLSearchParams({ secret: secretBase32, issuer });
  // Some apps take a plus sign literally.
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
