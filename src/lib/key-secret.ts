import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from './random.ts';

/**
 * The text of an API key (contract §9): `wb_live_` or `wb_test_`, 43 characters base62 (256 random bits), and
 * 6 characters base62 of CRC-32 over all that stands before them. The checksum tells a typo from an unknown
 * key without asking the store, and lets scanners find leaked keys without false alarms.
 */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
const RANDOM_BYTES = 32;
const RANDOM_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const SHOWN_CHARACTERS = 'wb_live_'.length + 6;
const SECRET = /^wb_(live|test)_[0-9A-Za-z]{49}$/;
/** Wherever they stand, and whatever stands behind them. */
const SECRETS = /wb_(live|test)_[0-9A-Za-z]{43,}/g;

/** What can be told of a text offered as a key without asking the store. */
export type SecretForm = 'well_formed' | 'checksum_wrong' | 'malformed';

/** Makes a new secret. It is shown once and never stored. */
export function generateSecret(random: Random, mode: 'live' | 'test'): string {
  const bits = random.fill(new Uint8Array(RANDOM_BYTES));
  const number = BigInt(`0x${Buffer.from(bits).toString('hex')}`);
  const body = `wb_${mode}_${toBase62(number, RANDOM_CHARACTERS)}`;
  return body + checksum(body);
}

/** Whether `text` is a key, a key with a typo, or no key at all. */
export function inspectSecret(text: string): SecretForm {
  if (!SECRET.test(text)) return 'malformed';
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return checksum(body) === text.slice(-CHECKSUM_CHARACTERS) ? 'well_formed' : 'checksum_wrong';
}

/** SHA-256 of a secret, hex: the only form of it that is kept. Fast is enough, the secret has 256 bits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The first characters of a secret: enough to recognise it by, useless to guess the rest. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, SHOWN_CHARACTERS);
}

/** A text without the keys in it: only what each is recognised by stays. For what people paste where a name belongs. */
export function withoutKeys(text: string): string {
  return text.replaceAll(SECRETS, (secret) => `${secretPrefix(secret)}…`);
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function toBase62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= BASE)
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
  return text;
}
