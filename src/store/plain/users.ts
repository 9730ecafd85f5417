import type { ProviderAccount, Role, User } from '../../domain/account.ts';
import { MAX_USERS } from '../accounts.ts';
import { among, type Flag, OF_USER, onPostgres, type Sql, sql } from './sql.ts';
import { alone, rows, run, send, type Work } from './work.ts';

/** The rows of users, which the verbs of the accounts read and write. */

/** The fields that decide about a user. */
interface Standing {
  readonly role: Role;
  readonly disabled: Flag;
  readonly password: string | null;
}

interface UserRow extends Omit<User, 'disabled' | 'provider'> {
  readonly disabled: Flag;
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** Serializes changes to who may sign in, and as what: each must see the result of the last. */
export function aloneWithUsers(): Work<void> {
  return alone(sql`users`);
}

/** Locks and reads the fields that decide about a user. */
export function* lockUser(name: string): Work<Standing | undefined> {
  // Before the row: a change of users has locked the table, and may want this row next.
  yield* send`${onPostgres(sql`LOCK TABLE users IN ROW EXCLUSIVE MODE`)}`;
  return yield* standingOf(name, onPostgres(sql`FOR UPDATE`));
}

/** The fields that decide about a user; undefined: there is none. */
export function* standingOf(name: string, lock: Sql = sql``): Work<Standing | undefined> {
  const [user] =
    yield* rows<Standing>`SELECT role, disabled, password FROM users WHERE name = ${name} ${lock}`;
  return user;
}

/** A user by name; null: no such user. */
export function* userOf(name: string, now: number): Work<User | null> {
  const [user] = yield* usersAt(now, sql`WHERE name = ${name}`);
  return user ?? null;
}

/** The user with this account at an identity provider; null: nobody. */
export function* userAt({ issuer, subject }: ProviderAccount, now: number): Work<User | null> {
  const [user] = yield* usersAt(now, sql`WHERE issuer = ${issuer} AND subject = ${subject}`);
  return user ?? null;
}

/** Whether there are as many users as there can be. */
export function* isFull(): Work<boolean> {
  const [row] = yield* rows<{ count: number }>`SELECT count(*) AS count FROM users`;
  return (row?.count ?? 0) >= MAX_USERS;
}

/** The first of these names that is nobody's; null if there is none. */
export function* firstFree(names: readonly string[]): Work<string | null> {
  const found = yield* rows<{ name: string }>`SELECT name FROM users WHERE name ${among(names)}`;
  const taken = new Set(found.map(({ name }) => name));
  return names.find((name) => !taken.has(name)) ?? null;
}

/** Users as they are shown. */
export function* usersAt(now: number, which: Sql): Work<User[]> {
  const found = yield* rows<UserRow>`
    SELECT name, role, disabled, created_at AS "createdAt", password AS "passwordHash",
      last_sign_in_at AS "lastSignInAt", second_factor AS "secondFactor", issuer, subject,
      (SELECT count(*) FROM recovery_codes WHERE ${OF_USER} = name) AS "recoveryCodesLeft",
      (SELECT count(*) FROM sessions
       WHERE ${OF_USER} = name AND stage = 'full' AND expires_at > ${now}) AS sessions,
      (SELECT count(*) FROM passkeys WHERE ${OF_USER} = name) AS passkeys
    FROM users ${which}`;
  return found.map(({ issuer, subject, disabled, ...row }) => ({
    ...row,
    disabled: Boolean(disabled),
    provider: issuer === null || subject === null ? null : { issuer, subject },
  }));
}

/** Adds a user; false: the name is taken. */
export function* addUser(
  name: string,
  role: Role,
  createdAt: number,
  password: string | null,
): Work<boolean> {
  const added = yield* run`INSERT INTO users (name, role, disabled, created_at, password)
    VALUES (${name}, ${role}, ${false}, ${createdAt}, ${password}) ON CONFLICT (name) DO NOTHING`;
  return added === 1;
}

/** What a user may do, and whether they may sign in. */
export function setRights(name: string, role: Role, disabled: boolean): Work<void> {
  return send`UPDATE users SET role = ${role}, disabled = ${disabled} WHERE name = ${name}`;
}

/** Sets the verifier of a password. */
export function setPassword(name: string, hash: string): Work<void> {
  return send`UPDATE users SET password = ${hash} WHERE name = ${name}`;
}

/** Whether a user is the only one who can sign in and manage users. */
export function* isLastAdmin(name: string): Work<boolean> {
  const [first, ...others] = yield* administrators();
  return others.length === 0 && first === name;
}

/** Names of the users who can sign in and administer, in order. */
export function* administrators(): Work<string[]> {
  const found = yield* rows<{ name: string }>`SELECT name FROM users
    WHERE role = 'admin' AND NOT disabled AND password IS NOT NULL ORDER BY name`;
  return found.map(({ name }) => name);
}
