import type { Vault } from '../config/secrets.ts';
import type { SigningKeys } from '../ingest/authenticator.ts';
import type { Random } from '../lib/random.ts';
import type { SigningAccess } from '../operations/keys.ts';
import type { Keyring, SigningSecret } from '../store/accounts.ts';

/** What clients sign their requests with, as SES's do (contract-2 §C6): an access key id, and a secret that is sealed. */

const ID_PREFIX = 'WB';
/** Each of these letters stands for five bits. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ID_LETTERS = 18;
/** 40 characters in base64. */
const SECRET_BYTES = 30;

/** Makes an access for a key: what its client needs, and what is stored of it. */
export function newSigning(
  keyId: string,
  vault: Vault,
  random: Random,
): { readonly access: SigningAccess; readonly stored: SigningSecret } {
  const letters = random.fill(new Uint8Array(ID_LETTERS));
  const id = ID_PREFIX + [...letters].map((byte) => LETTERS[byte % LETTERS.length]).join('');
  const secret = Buffer.from(random.fill(new Uint8Array(SECRET_BYTES))).toString('base64url');
  return {
    access: { accessKeyId: id, secretAccessKey: secret },
    stored: { id, sealed: vault.seal(secret, ownerOf(keyId, id)) },
  };
}

/** Finds what is signed with, and opens it; what the vault cannot open is not found. */
export function signingKeys(keyring: Pick<Keyring, 'findSigning'>, vault: () => Vault | null): SigningKeys {
  return {
    find: async (accessKeyId, now) => {
      const found = await keyring.findSigning(accessKeyId, now);
      if (found === null) return null;
      const secret = vault()?.open(found.sealed, ownerOf(found.key.id, accessKeyId)) ?? null;
      return secret === null ? null : { secret, key: found.key };
    },
  };
}

/** Bound into the seal: a row that is moved to another key opens nothing. */
function ownerOf(keyId: string, accessKeyId: string): string {
  return `signing ${keyId} ${accessKeyId}`;
}
