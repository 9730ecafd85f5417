import { createCipheriv, createDecipheriv, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import { decodeJson } from '../lib/decode.ts';
import type { Random } from '../lib/random.ts';
import { ArchiveError } from './tar.ts';

/** Files that are only included under a passphrase, by name. */
export type SecretFiles = ReadonlyMap<string, Buffer>;

/** The possible names of such files. */
const SECRET_NAMES = ['secret.key', 'tls.key', 'tls.crt', 'tls-uploaded.pem', 'waybill.yaml'] as const;

/** About a quarter of a second, and 128 MiB, for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
const SCRYPT_MEMORY = 192 * 1024 * 1024;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
/** Bound into the tag, so that another kind of sealed text never passes for this one. */
const PURPOSE = Buffer.from('waybill backup secrets 1');

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
const sealedSchema = z.strictObject({
  cipher: z.literal(CIPHER),
  // Other costs are refused: a file must not choose how much work we do.
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    N: z.literal(COST.N),
    r: z.literal(COST.r),
    p: z.literal(COST.p),
  }),
  salt: base64.refine(({ length }) => length === SALT_BYTES),
  nonce: base64.refine(({ length }) => length === NONCE_BYTES),
  tag: base64.refine(({ length }) => length === TAG_BYTES),
  data: base64,
});
const filesSchema = z.partialRecord(z.enum(SECRET_NAMES), base64);

/** Encrypts files under a passphrase: scrypt, then AES-256-GCM. */
export async function sealSecrets(files: SecretFiles, passphrase: string, random: Random): Promise<string> {
  const salt = Buffer.from(random.fill(new Uint8Array(SALT_BYTES)));
  const nonce = Buffer.from(random.fill(new Uint8Array(NONCE_BYTES)));
  const cipher = createCipheriv(CIPHER, await keyFrom(passphrase, salt), nonce);
  cipher.setAAD(PURPOSE);
  const plain = JSON.stringify(Object.fromEntries([...files].map(([name, bytes]) => [name, text(bytes)])));
  const data = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  const sealed = { salt: text(salt), nonce: text(nonce), tag: text(cipher.getAuthTag()), data: text(data) };
  return `${JSON.stringify({ cipher: CIPHER, kdf: { name: 'scrypt', ...COST }, ...sealed }, null, 2)}\n`;
}

/** Decrypts the result of {@link sealSecrets}. Throws `ArchiveError`, also for a wrong passphrase. */
export async function openSecrets(sealed: string, passphrase: string): Promise<SecretFiles> {
  const parsed = sealedSchema.safeParse(decodeJson(sealed));
  if (!parsed.success) throw new ArchiveError('The secrets in the archive are not valid.');
  const { salt, nonce, tag, data } = parsed.data;
  const decipher = createDecipheriv(CIPHER, await keyFrom(passphrase, salt), nonce, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(PURPOSE).setAuthTag(tag);
  let plain: string;
  try {
    plain = Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new ArchiveError('The passphrase does not open the secrets in the archive.', { cause: error });
  }
  const files = filesSchema.safeParse(decodeJson(plain));
  if (!files.success) throw new ArchiveError('The secrets in the archive are not valid.');
  return new Map(Object.entries(files.data).filter(([, bytes]) => bytes !== undefined));
}

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

function keyFrom(passphrase: string, salt: Buffer): Promise<Buffer> {
  return derive(passphrase.normalize('NFC'), salt, KEY_BYTES, { ...COST, maxmem: SCRYPT_MEMORY });
}

function text(bytes: Buffer): string {
  return bytes.toString('base64');
}
