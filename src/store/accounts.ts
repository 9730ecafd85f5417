import type { Passkey, ProviderAccount, Role, Session, User } from '../domain/account.ts';
import type { ApiKey } from '../domain/key.ts';

/**
 * The dashboard's users, their sessions, and the links by which they choose passwords. Tokens and recovery codes are
 * passed only as SHA-256 (hex), passwords only as verifiers. Every verb is one transaction; times are wall ms, and
 * `now` is an argument. Errors are `StoreError`.
 */
export interface Accounts {
  /** Every user, by name. */
  users(now: number): Promise<User[]>;
  /** One user; null: no such user. */
  user(name: string, now: number): Promise<User | null>;
  /** The user who has this account at an identity provider; null: nobody. */
  userAt(account: ProviderAccount, now: number): Promise<User | null>;
  /**
   * Lets in a user of an identity provider, whom it adds the first time, and gives them the role; spends the challenge.
   * `spent`: it was spent before, or has expired; `disabled`, `full`, `taken` (all the names are others'): nothing else happens.
   */
  welcome(guest: Guest, now: number): Promise<WelcomeAnswer>;
  /** Adds a user without a password. */
  addUser(user: NewUser): Promise<'added' | 'taken' | 'full'>;
  /** Changes what is not null. Disabling a user ends their sessions and links. */
  changeUser(name: string, change: UserChange): Promise<UserAnswer>;
  /** Removes a user with all that belongs to them. */
  removeUser(name: string): Promise<UserAnswer>;
  /**
   * Sets a user's password; ends their other sessions (all but the one with the given id) and every link of theirs.
   * `not_found` also if `expected` is not null and no longer their password.
   */
  setPassword(name: string, password: NewPassword): Promise<UserAnswer>;
  /**
   * Creates the first administrator, with a password; false if any user has one. Ends the first administrator's link.
   */
  claimFirst(name: string, passwordHash: string, now: number): Promise<boolean>;

  /** Adds a link, replacing one for the same user; removes expired links. */
  putLink(link: SetupLink, now: number): Promise<void>;
  /** A user's link was not sent after all. */
  forgetLinkMail(user: string): Promise<void>;
  /** The links of users that have not expired. */
  links(now: number): Promise<SetupLink[]>;
  /** A link that has not expired. */
  link(hash: string, now: number): Promise<SetupLink | null>;
  /** Redeems a link: its user, or the first administrator under the given name, gets this password. */
  redeemLink(hash: string, chosen: ChosenPassword, now: number): Promise<UserAnswer>;

  /** Stores in a session the second factor to be confirmed. False: no such session. */
  offerSecondFactor(sessionHash: string, sealed: string): Promise<boolean>;
  /** Sets a user's second factor, with new recovery codes; offers in their sessions are dropped. */
  putSecondFactor(name: string, factor: NewSecondFactor): Promise<boolean>;
  /** Removes a user's second factor and its recovery codes. False: no such user, or no second factor. */
  removeSecondFactor(name: string): Promise<boolean>;
  /** Marks a code's time step as used. False: this or a later one was used before. */
  spendStep(name: string, step: number): Promise<boolean>;
  /** Marks a recovery code as used. False: unknown, or used before. */
  spendRecoveryCode(name: string, hash: string): Promise<boolean>;

  /** A user's passkeys, oldest first. */
  passkeys(name: string): Promise<Passkey[]>;
  /** The passkey with this id; null if there is none. */
  passkey(id: string): Promise<Passkey | null>;
  /** Whether anybody has a passkey for this host name. */
  hasPasskey(host: string): Promise<boolean>;
  /**
   * Adds a passkey and spends its challenge. `taken`: it is somebody's already; `full`: the user has {@link
   * MAX_PASSKEYS}; `gone`: no such user; `spent`: the challenge was spent before, or has expired.
   */
  addPasskey(passkey: Passkey, challenge: Challenge): Promise<'added' | 'taken' | 'full' | 'gone' | 'spent'>;
  /** Removes one of a user's passkeys. Returns it as it was; null if the user has no such passkey. */
  removePasskey(name: string, id: string): Promise<Passkey | null>;
  /** Removes a user's passkeys, and ends the user's sessions. Returns the ids of those. */
  removePasskeys(name: string): Promise<string[]>;
  /**
   * Records a use of a passkey and spends its challenge. False: the challenge was spent before or has expired, the
   * passkey is gone, or another use has counted as far meanwhile.
   */
  recordPasskeyUse(id: string, use: PasskeyUse): Promise<boolean>;

  /**
   * Adds a session, replacing another one. Of the user's sessions of the same stage, those beyond `limit` end, the
   * least recently used first: a session that awaits a second factor never ends a complete one. `stale`: the user is
   * gone, disabled, or has another password than `passwordHash`; nothing happens.
   */
  addSession(session: Session, how: SessionRules): Promise<SessionAnswer>;
  /** A session and its user, in any state; null: no such session. */
  session(hash: string, now: number): Promise<{ readonly session: Session; readonly user: User } | null>;
  /**
   * Sessions that have not ended, of one user or (null) of all, the most recently used first; at most {@link
   * MAX_LISTED}.
   */
  sessions(name: string | null, now: number, seenAfter: number): Promise<Session[]>;
  /** Counts an attempt to enter a code in a session; returns how many there were. 0: no such session. */
  countTry(sessionHash: string): Promise<number>;
  /** Ends a session by its id. Returns it as it was. */
  endSession(id: string): Promise<Session | null>;
  /** Ends a user's sessions, except one (by id). Returns the ids of those ended. */
  endSessions(name: string, except: string | null): Promise<string[]>;
  /**
   * Records when sessions (by id) were last used, and removes ended ones. Returns which of `known` (ids) no longer
   * exist.
   */
  keepSessions(
    uses: ReadonlyMap<string, number>,
    known: readonly string[],
    ends: SessionEnds,
  ): Promise<string[]>;
}

/** Most users. */
export const MAX_USERS = 500;
/** Most passkeys of a user. */
export const MAX_PASSKEYS = 20;
/** Most sessions in a list. */
export const MAX_LISTED = 1000;

/** The result of a change to a user; `ended`: ids of the sessions that it ended. */
export type UserAnswer =
  | { readonly kind: 'done'; readonly ended: readonly string[] }
  | { readonly kind: 'not_found' }
  /** Nobody could manage users any more: nothing happened. */
  | { readonly kind: 'last_admin' }
  /** For a first administrator's link: another user has the name. */
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

/** See {@link Accounts.welcome}. */
export interface Guest {
  readonly account: ProviderAccount;
  readonly role: Role;
  /** Names for a new user, of which the first is taken that is nobody's. */
  readonly names: readonly string[];
  readonly challenge: Challenge;
}

/** See {@link Accounts.welcome}. */
type WelcomeAnswer =
  /** `before`: the role that they had; null: they are new. */
  | { readonly kind: 'in'; readonly user: User; readonly before: Role | null }
  | { readonly kind: 'spent' | 'disabled' | 'full' | 'taken' };

/** See {@link Accounts.changeUser}. */
interface UserChange {
  readonly role: Role | null;
  readonly disabled: boolean | null;
}

/** See {@link Accounts.setPassword}. */
interface NewPassword {
  readonly hash: string;
  /** What the password must be until then; null for any. */
  readonly expected: string | null;
  /** The id of the session to keep; null for none. */
  readonly keep: string | null;
}

/** See {@link Accounts.putLink}. */
export interface SetupLink {
  readonly hash: string;
  /** Null: for the first administrator, who also chooses a name. */
  readonly user: string | null;
  readonly expiresAt: number;
  /** How it was sent; null: it was not. */
  readonly mail: LinkMail | null;
}

/** See {@link SetupLink.mail}. */
export interface LinkMail {
  readonly to: string;
  /** The message's id. */
  readonly message: string;
}

/** See {@link Accounts.redeemLink}. */
interface ChosenPassword {
  /** The first administrator's; any other link has the name. */
  readonly name: string;
  readonly passwordHash: string;
}

/** See {@link Accounts.putSecondFactor}. */
interface NewSecondFactor {
  /** The sealed secret. */
  readonly sealed: string;
  /** The time step of the code that confirmed it, which is used now. */
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

/** See {@link Accounts.recordPasskeyUse}. */
interface PasskeyUse {
  /** Its own count now. */
  readonly counter: number;
  readonly now: number;
  readonly challenge: Challenge;
}

/** A challenge, which is answered once. */
export interface Challenge {
  /** SHA-256, hex. */
  readonly hash: string;
  /** From then on no answer counts, so that it need not be remembered. */
  readonly expiresAt: number;
}

/** See {@link Accounts.addSession}. */
interface SessionRules {
  readonly passwordHash: string | null;
  readonly limit: number;
  /** The hash of the session that it replaces; null for none. */
  readonly replaces: string | null;
}

/** See {@link Accounts.keepSessions}: sessions that end at or before `now`, or were last used before `seenAfter`. */
interface SessionEnds {
  readonly now: number;
  readonly seenAfter: number;
}

/** The fields of a key that may change. */
export type ChangeableKey = Pick<
  ApiKey,
  'name' | 'scopes' | 'rateLimit' | 'expiresAt' | 'cidrs' | 'senderDomains' | 'contentDays' | 'recordDays'
>;

/** What a client signs its requests with. */
export interface SigningSecret {
  /** The access key id, which requests name. */
  readonly id: string;
  /** The secret access key, sealed. */
  readonly sealed: string;
}

/** The API keys. Secrets are passed only as hashes, and those that sign only sealed. Errors are `StoreError`. Times are wall ms. */
export interface Keyring {
  /**
   * Adds a key with its first secret's SHA-256 (hex), and with what its client signs with, if it does. False: the name
   * is taken by a key not revoked.
   */
  create(key: ApiKey, secretHash: string, signing?: SigningSecret | null): Promise<boolean>;
  /** Every key, newest first, including revoked ones. */
  list(): Promise<ApiKey[]>;
  /** The key that a secret belongs to, in any state; a replaced secret is found until its overlap ends. */
  findByHash(secretHash: string, now: number): Promise<ApiKey | null>;
  /**
   * What is signed with an access key id, sealed, and the key that it belongs to, in any state; a replaced one is found
   * until its overlap ends.
   */
  findSigning(
    accessKeyId: string,
    now: number,
  ): Promise<{ readonly sealed: string; readonly key: ApiKey } | null>;
  /** The newest access key ids, by the keys whose clients sign. */
  signingIds(): Promise<ReadonlyMap<string, string>>;
  /** Revokes at `now`. False: no such key, or already revoked. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Writes the changeable fields of a key (`ChangeableKey`). `taken`: another live key has the name. */
  update(key: Pick<ApiKey, 'id'> & ChangeableKey): Promise<'updated' | 'taken' | 'gone'>;
  /**
   * Adds a secret, and what its client signs with, if it does; keeps the older ones valid until `overlapUntil`. False:
   * no such live key.
   */
  rotate(
    id: string,
    secretHash: string,
    prefix: string,
    overlapUntil: number,
    signing?: SigningSecret | null,
  ): Promise<boolean>;
  /** Records when keys were last used. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
}
