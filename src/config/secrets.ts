import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { makeFile } from '../lib/files.ts';
import type { Random } from '../lib/random.ts';

/**
 * Passwords at rest. A sealed secret is `v1.<key id>.<nonce>.<ciphertext and tag>`, AES-256-GCM, bound to its owner's
 * name, so that one relay's password cannot be passed off as another's. The key id shows whether a secret that does not
 * open was sealed under another key.
 */
export interface Vault {
  /** Identifies the key without revealing anything of it. */
  readonly keyId: string;
  seal(secret: string, owner: string): string;
  /** The secret; null if it was sealed under another key or for another owner, or was tampered with. */
  open(sealed: string, owner: string): string | null;
  /** A key of 32 bytes for a purpose (HKDF-SHA256 with this `info`); it reveals neither this key nor another. */
  derive(info: string): Uint8Array;
}

const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_TEXT = /^[0-9a-f]{64}$/;

/** The id of the key that sealed a secret; null if `sealed` is not a sealed secret. */
export function sealedUnder(sealed: string): string | null {
  const [version, keyId] = sealed.split('.');
  return version === VERSION && keyId !== undefined ? keyId : null;
}

/** A vault over a key of 32 bytes. */
export function createVault(key: Uint8Array, random: Random): Vault {
  const keyId = createHash('sha256').update('waybill key id').update(key).digest('hex').slice(0, 16);
  return {
    keyId,
    seal: (secret, owner) => {
      const nonce = random.fill(new Uint8Array(NONCE_BYTES));
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return [VERSION, keyId, Buffer.from(nonce).toString('base64url'), sealed.toString('base64url')].join(
        '.',
      );
    },
    open: (sealed, owner) => {
      const [, sealingKey, nonce = '', body = ''] = sealed.split('.');
      if (sealedUnder(sealed) === null || sealingKey !== keyId) return null;
      return decrypt(key, Buffer.from(nonce, 'base64url'), Buffer.from(body, 'base64url'), owner);
    },
    derive: (info) => new Uint8Array(hkdfSync('sha256', key, '', info, KEY_BYTES)),
  };
}

/**
 * Reads the key's file, or makes it (mode 0600, on stable storage) if it is missing and `create` is set. There is never
 * a file without a complete key, even after a power failure: no later start could succeed.
 */
export function loadKey(path: string, random: Random, create: boolean): Uint8Array {
  if (create && lstatSync(path, { throwIfNoEntry: false }) === undefined)
    makeFile(path, `${Buffer.from(random.fill(new Uint8Array(KEY_BYTES))).toString('hex')}\n`);
  const text = readFileSync(path, 'utf8').trim();
  if (!KEY_TEXT.test(text)) throw new Error(`${path} contains no key: it must be 64 hex digits`);
  return Buffer.from(text, 'hex');
}

function decrypt(key: Uint8Array, nonce: Buffer, body: Buffer, owner: string): string | null {
  if (nonce.length !== NONCE_BYTES || body.length < TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return decipher.update(body.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
