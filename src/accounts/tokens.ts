import { createHash } from 'node:crypto';
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

/** SHA-256 of a token or recovery code, hex: the only form in which it is kept. Fast is enough for so many bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A new name for a session, which is no secret. */
export function newSessionId(random: Random): string {
  return `ses_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`;
}

/** A new recovery code of 80 random bits, such as `7k3w-…`. */
export function newRecoveryCode(random: Random): string {
  // A byte has 256 values and the alphabet 32 letters: no letter is likelier than another.
  const letters = [...random.fill(new Uint8Array(CODE_LETTERS))].map((byte) => LETTERS.charAt(byte % 32));
  const groups = Array.from({ length: CODE_LETTERS / CODE_GROUP }, (_, place) =>
    letters.slice(place * CODE_GROUP, (place + 1) * CODE_GROUP).join(''),
  );
  return groups.join('-');
}

/** A recovery code as it was meant, however it was typed; null when it cannot be one. */
export function readRecoveryCode(text: string): string | null {
  const plain = text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  if (!/^[0-9a-hjkmnp-tv-z]{16}$/.test(plain)) return null;
  return plain.replace(/.{4}(?=.)/g, '$&-');
}
