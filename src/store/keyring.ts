import type { ApiKey } from '../domain/key.ts';

/** What of a key may change after it was made. */
export type ChangeableKey = Pick<
  ApiKey,
  'name' | 'scopes' | 'rateLimit' | 'expiresAt' | 'cidrs' | 'senderDomains' | 'contentDays'
>;

/** The API keys. Only hashes of secrets cross this seam. Errors are `StoreError`. Times are wall ms. */
export interface Keyring {
  /** Adds a key with its first secret's SHA-256 (hex). False: the name is taken by a key not revoked. */
  create(key: ApiKey, secretHash: string): Promise<boolean>;
  /** Every key, newest first, revoked ones too. */
  list(): Promise<ApiKey[]>;
  /** The key a secret belongs to, whatever its state; a rotated-out secret is found until its overlap ends. */
  findByHash(secretHash: string, now: number): Promise<ApiKey | null>;
  /** Revokes at `now`. False: no such key, or already revoked. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Writes what of a key may change (`ChangeableKey`), as it is in `key`. `taken`: its name is that of another live key. */
  update(key: Pick<ApiKey, 'id'> & ChangeableKey): Promise<'updated' | 'taken' | 'gone'>;
  /** Adds a secret and lets the older ones live until `overlapUntil`. False: no such live key. */
  rotate(id: string, secretHash: string, prefix: string, overlapUntil: number): Promise<boolean>;
  /** Records when keys were last used. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
}
