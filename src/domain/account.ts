/** What a user of the dashboard may do; each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;

/**
 * - `viewer`: sees everything but secrets and message contents' owners' keys, changes nothing.
 * - `operator`: acts on mail and the queue: retries, cancels, holds, releases.
 * - `admin`: changes relays, routes, domains, keys, settings and users.
 */
export type Role = (typeof ROLES)[number];

/** Whether a role may do what is open from another one on. */
export function mayAct(role: Role, from: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(from);
}

/** Someone who uses the dashboard. Times are wall ms. */
export interface User {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly createdAt: number;
  /** What the password is checked by; null until one was chosen. */
  readonly passwordHash: string | null;
  readonly lastSignInAt: number | null;
  /** The sealed secret of the second factor; null without one. */
  readonly secondFactor: string | null;
  readonly recoveryCodesLeft: number;
  /** How many sessions have not come to their last moment. */
  readonly sessions: number;
}

/**
 * How far a session has come: `second_factor` after the password of someone with a second factor, `full` when nothing is
 * missing.
 */
export type SessionStage = 'second_factor' | 'full';

/** What someone is signed in by. Times are wall ms. */
export interface Session {
  /** SHA-256 of its token, hex. */
  readonly hash: string;
  /** What it is called, which is no secret. */
  readonly id: string;
  readonly user: string;
  readonly stage: SessionStage;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** However much it is used. */
  readonly expiresAt: number;
  readonly sourceAddress: string;
  /** What the browser called itself. */
  readonly agent: string;
  /** A sealed second factor that waits to be confirmed. */
  readonly offered: string | null;
}

/** Characters that a password has at least. */
export const MIN_PASSWORD = 12;
/** And at most: more would only cost time. */
export const MAX_PASSWORD = 1024;
