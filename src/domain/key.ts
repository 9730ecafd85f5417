/** What an API key may do (contract §9). */
export const SCOPES = [
  'messages:send',
  'messages:read',
  'messages:content',
  'messages:read_all',
  'events:read',
  'feedback:write',
  'suppressions:read',
  'suppressions:write',
  'templates:read',
  'templates:write',
  'webhooks:manage',
  'admin',
] as const;

/** One permission of an API key. */
export type Scope = (typeof SCOPES)[number];

/** An API key as it is stored and shown; never the secret. Times are wall ms. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly mode: 'live' | 'test';
  /** The first characters of the secret, enough to recognize it. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Requests per minute; null means the configured default, 0 unlimited. */
  readonly rateLimit: number | null;
  /** Source ranges it may be used from; empty means any that the API allows. */
  readonly cidrs: readonly string[];
  /** Domains it may send from; empty means any. */
  readonly senderDomains: readonly string[];
  /**
   * How many days contents of its mail are kept after the final status, captured or not; null: as configured, 0: not at
   * all.
   */
  readonly contentDays: number | null;
  /**
   * How many days records of its mail are kept after the final status, never longer than those of others; null: as
   * configured. Contents go with their records.
   */
  readonly recordDays: number | null;
}

/** Why a known key is refused at `now`; null if it is valid. */
export function keyRefusal(key: ApiKey, now: number): 'revoked' | 'expired' | null {
  if (key.revokedAt !== null && key.revokedAt <= now) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return null;
}

/** Whether a key may send from an address at `domain` (lower case). A domain covers itself, not its subdomains. */
export function maySendFrom(key: Pick<ApiKey, 'senderDomains'>, domain: string): boolean {
  return key.senderDomains.length === 0 || key.senderDomains.includes(domain);
}

/** A device or network that sends without a key but has a name (`listener.sources`). */
export interface NamedSource {
  /** `a-z 0-9 - _`, at most 64 characters. */
  readonly name: string;
  readonly cidr: string;
  /** Domains it may send from, lower case; empty means any. */
  readonly senderDomains: readonly string[];
  /** Messages per minute; 0 means no limit of its own. */
  readonly ratePerMinute: number;
  /** Added to every message of it. */
  readonly tags: readonly string[];
}

/**
 * The owner of a source's messages, in place of a key's id: they are counted and listed by it. No key has such an id.
 */
export function ownerOf({ name }: Pick<NamedSource, 'name'>): string {
  return `source:${name}`;
}
