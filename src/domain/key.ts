/** What an API key may do (contract §9). */
export const SCOPES = [
  'messages:send',
  'messages:read',
  'messages:content',
  'messages:read_all',
  'admin',
] as const;

/** One permission of an API key. */
export type Scope = (typeof SCOPES)[number];

/** An API key as it is stored and shown; never the secret. Times are wall ms. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly mode: 'live' | 'test';
  /** The first characters of the secret, enough to recognise it by. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Requests a minute; null means the configured default, 0 unlimited. */
  readonly rateLimit: number | null;
  /** Source ranges it may be used from; empty means from anywhere the API allows. */
  readonly cidrs: readonly string[];
  /** Domains it may send from; empty means any. */
  readonly senderDomains: readonly string[];
  /** Days that contents of its mail are kept after the final status, captured or not; null: as configured, 0: not at all. */
  readonly contentDays: number | null;
}

/** Why a key that was found is refused at `now`; null when it is good. */
export function keyRefusal(key: ApiKey, now: number): 'revoked' | 'expired' | null {
  if (key.revokedAt !== null && key.revokedAt <= now) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return null;
}

/** Whether a key may send as an address on `domain` (lower case). A domain covers itself, not what is below it. */
export function maySendFrom(key: Pick<ApiKey, 'senderDomains'>, domain: string): boolean {
  return key.senderDomains.length === 0 || key.senderDomains.includes(domain);
}

/** A device or network that sends without a key and has a name all the same (`listener.sources`). */
export interface NamedSource {
  /** `a-z 0-9 - _`, at most 64 characters. */
  readonly name: string;
  readonly cidr: string;
  /** Domains it may send from, lower case; empty means any. */
  readonly senderDomains: readonly string[];
  /** Messages a minute; 0 means no limit of its own. */
  readonly ratePerMinute: number;
  /** Put on every message of it. */
  readonly tags: readonly string[];
}

/**
 * Who owns the messages of a source, in the place of a key's id: they are counted, listed and told apart by it. No
 * key has such an id.
 */
export function ownerOf({ name }: Pick<NamedSource, 'name'>): string {
  return `source:${name}`;
}
