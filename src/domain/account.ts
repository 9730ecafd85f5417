/** What a dashboard user may do; each role includes those before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;

/**
 * - `viewer`: sees everything but secrets and message contents' owners' keys, changes nothing.
 * - `operator`: acts on mail and the queue: retries, cancels, holds, releases.
 * - `admin`: changes relays, routes, domains, keys, settings and users.
 */
export type Role = (typeof ROLES)[number];

/** Whether a role may do what requires at least the role `from`. */
export function mayAct(role: Role, from: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(from);
}

/** An account at an identity provider (OpenID Connect): no two people share one, and it never becomes another's. */
export interface ProviderAccount {
  /** The provider: its issuer identifier. */
  readonly issuer: string;
  readonly subject: string;
}

/** A dashboard user. Times are wall ms. */
export interface User {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly createdAt: number;
  /** The account at an identity provider, by which alone this user signs in; null: known here only. */
  readonly provider: ProviderAccount | null;
  /** The verifier of the password; null until one was chosen. */
  readonly passwordHash: string | null;
  readonly lastSignInAt: number | null;
  /** The sealed secret of the second factor; null without one. */
  readonly secondFactor: string | null;
  readonly recoveryCodesLeft: number;
  readonly passkeys: number;
  /** Number of sessions that have not expired. */
  readonly sessions: number;
}

/**
 * The progress of a session: `second_factor` after the password of a user with a second factor, `full` if nothing is
 * missing.
 */
export type SessionStage = 'second_factor' | 'full';

/** A user's sign-in. Times are wall ms. */
export interface Session {
  /** SHA-256 of its token, hex. */
  readonly hash: string;
  /** Its public name. */
  readonly id: string;
  readonly user: string;
  readonly stage: SessionStage;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** However much it is used. */
  readonly expiresAt: number;
  readonly sourceAddress: string;
  /** The browser's user agent. */
  readonly agent: string;
  /** A sealed second factor to be confirmed. */
  readonly offered: string | null;
}

/** A user's key pair (WebAuthn), of which only the public half is known here. Times are wall ms. */
export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string;
  readonly user: string;
  /** What the authenticator knows the user by: random, base64url. Null for passkeys of earlier versions. */
  readonly handle: string | null;
  /** The host name that it signs in to: browsers offer it nowhere else. */
  readonly host: string;
  /** The public key (COSE), base64url. */
  readonly publicKey: string;
  /** How often it has signed, by its own count; 0 if it does not count. */
  readonly counter: number;
  /** What its owner calls it. */
  readonly label: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** Fewest characters of a password. */
export const MIN_PASSWORD = 12;
/** Most characters: more would only cost time. */
export const MAX_PASSWORD = 1024;
