import type { Role, Session, User } from '../domain/account.ts';
import type { ApiKey } from '../domain/key.ts';

/**
 * Those who use the dashboard, what they are signed in with, and the links by which they choose passwords. Of tokens and
 * recovery codes only SHA-256 (hex) crosses this seam, of passwords only what they are checked by. Every verb is one
 * transaction; times are wall ms, and `now` is an argument. Errors are `StoreError`.
 */
export interface Accounts {
  /** Every user, by name. */
  users(now: number): Promise<User[]>;
  /** One of them; null: no such user. */
  user(name: string, now: number): Promise<User | null>;
  /** Adds a user without a password. */
  addUser(user: NewUser): Promise<'added' | 'taken' | 'full'>;
  /** Changes what is not null. Whoever is disabled has no sessions and no links any more. */
  changeUser(name: string, change: UserChange): Promise<UserAnswer>;
  /** Forgets a user with all that is theirs. */
  removeUser(name: string): Promise<UserAnswer>;
  /**
   * Gives a user another password; ends their sessions but one (by id), and every link of theirs. `not_found` also when
   * `expected` is not null and no longer their password.
   */
  setPassword(name: string, password: NewPassword): Promise<UserAnswer>;
  /** Makes the first administrator, with a password; false when any user has one. Ends the link of the first. */
  claimFirst(name: string, passwordHash: string, now: number): Promise<boolean>;

  /** Adds a link, in place of one for the same user; forgets links that have ended. */
  putLink(link: SetupLink, now: number): Promise<void>;
  /** A link that has not ended. */
  link(hash: string, now: number): Promise<SetupLink | null>;
  /** Uses a link up: its user, or the first administrator under the name given, has this password then. */
  redeemLink(hash: string, chosen: ChosenPassword, now: number): Promise<UserAnswer>;

  /** Adds what is to be confirmed to a session. False: no such session. */
  offerSecondFactor(sessionHash: string, sealed: string): Promise<boolean>;
  /** Gives a user a second factor, with new recovery codes; what is offered to their sessions is forgotten. */
  putSecondFactor(name: string, factor: NewSecondFactor): Promise<boolean>;
  /** Takes a user's second factor away, with its recovery codes. False: no such user, or they have none. */
  removeSecondFactor(name: string): Promise<boolean>;
  /** Uses a code's time step up. False: it, or a later one, was used before. */
  spendStep(name: string, step: number): Promise<boolean>;
  /** Uses a recovery code up. False: it is none, or was used before. */
  spendRecoveryCode(name: string, hash: string): Promise<boolean>;

  /**
   * Adds a session, in place of another one. Beyond `limit` of its user's of the same stage, those used longest ago end: one
   * that wants a second factor never ends one that is whole. `stale`: the user is gone, disabled, or has another password
   * than `passwordHash`: nothing happens.
   */
  addSession(session: Session, how: SessionRules): Promise<SessionAnswer>;
  /** A session and its user, whatever their state; null: no such session. */
  session(hash: string, now: number): Promise<{ readonly session: Session; readonly user: User } | null>;
  /** Sessions that have not ended, of a user or (null) of all, the one used last first; at most {@link MAX_LISTED}. */
  sessions(name: string | null, now: number, seenAfter: number): Promise<Session[]>;
  /** Counts a try at a code in a session: how many there have been. 0: no such session. */
  countTry(sessionHash: string): Promise<number>;
  /** Ends a session by its id. Gives it as it was. */
  endSession(id: string): Promise<Session | null>;
  /** Ends a user's sessions, but one (by id). Gives the ids of those ended. */
  endSessions(name: string, except: string | null): Promise<string[]>;
  /**
   * Writes down when sessions (by id) were used last, and forgets those that have ended. Gives which of `known` (ids) are
   * there no more.
   */
  keepSessions(
    uses: ReadonlyMap<string, number>,
    known: readonly string[],
    ends: SessionEnds,
  ): Promise<string[]>;
}

/** Users at most. */
export const MAX_USERS = 500;
/** Sessions that are listed at most. */
export const MAX_LISTED = 1000;

/** What became of a change to a user; `ended`: ids of the sessions that ended by it. */
export type UserAnswer =
  | { readonly kind: 'done'; readonly ended: readonly string[] }
  | { readonly kind: 'not_found' }
  /** Nobody could change users any more: nothing happened. */
  | { readonly kind: 'last_admin' }
  /** Of a link for the first administrator: the name is another user's. */
  | { readonly kind: 'taken' };

/** See {@link Accounts.addSession}. */
type SessionAnswer =
  | { readonly kind: 'added'; readonly ended: readonly string[] }
  | { readonly kind: 'stale' };

/** See {@link Accounts.addUser}. */
interface NewUser {
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
}

/** See {@link Accounts.changeUser}. */
interface UserChange {
  readonly role: Role | null;
  readonly disabled: boolean | null;
}

/** See {@link Accounts.setPassword}. */
interface NewPassword {
  readonly hash: string;
  /** What it must be until then; null: whatever it is. */
  readonly expected: string | null;
  /** The id of a session that goes on; null for none. */
  readonly keep: string | null;
}

/** See {@link Accounts.putLink}. */
export interface SetupLink {
  readonly hash: string;
  /** Null: for the first administrator, who chooses a name too. */
  readonly user: string | null;
  readonly expiresAt: number;
}

/** See {@link Accounts.redeemLink}. */
interface ChosenPassword {
  /** Of the first administrator; else the link has the name. */
  readonly name: string;
  readonly passwordHash: string;
}

/** See {@link Accounts.putSecondFactor}. */
interface NewSecondFactor {
  /** The sealed secret. */
  readonly sealed: string;
  /** The time step of the code that confirmed it, which is used up. */
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

/** See {@link Accounts.addSession}. */
interface SessionRules {
  readonly passwordHash: string;
  readonly limit: number;
  /** The hash of a session that ends by it; null for none. */
  readonly replaces: string | null;
}

/** See {@link Accounts.keepSessions}: what ends at or before `now`, or was used last before `seenAfter`. */
interface SessionEnds {
  readonly now: number;
  readonly seenAfter: number;
}

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
