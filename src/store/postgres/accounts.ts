import type { Role, User } from '../../domain/account.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import {
  type Accounts,
  type ChosenPassword,
  MAX_USERS,
  type NewPassword,
  type NewSecondFactor,
  type NewUser,
  type SetupLink,
  type UserAnswer,
  type UserChange,
} from '../accounts.ts';
import { endSessions, sessionVerbs } from './sessions.ts';
import { readUser, USERS } from './users.ts';

/** What decides about a user, as read under a lock. */
interface Standing {
  readonly role: Role;
  readonly disabled: boolean;
  readonly password: string | null;
}

const NOT_FOUND: UserAnswer = { kind: 'not_found' };

/** The accounts over a database. */
export function accountsOver(database: Database): Accounts {
  const within = <T>(work: (db: Queries) => Promise<T>) => database.transact(work);
  return {
    users: (now) => database.rows<User>(`${USERS} ORDER BY name`, [now]),
    user: (name, now) => readUser(database, name, now),
    addUser: (user) => within((db) => addUser(db, user)),
    changeUser: (name, change) => within((db) => changeUser(db, name, change)),
    removeUser: (name) => within((db) => removeUser(db, name)),
    setPassword: (name, password) => within((db) => setPassword(db, name, password)),
    claimFirst: (name, passwordHash, now) =>
      within(async (db) => {
        await lockUsers(db);
        return await claimFirst(db, name, passwordHash, now);
      }),
    putLink: (link, now) => within((db) => putLink(db, link, now)),
    link: async (hash, now) => (await database.rows<SetupLink>(LINK, [hash, now]))[0] ?? null,
    redeemLink: (hash, chosen, now) => within((db) => redeemLink(db, hash, chosen, now)),
    offerSecondFactor: (hash, sealed) => within(async (db) => (await db.run(OFFER, [hash, sealed])) === 1),
    putSecondFactor: (name, factor) => within((db) => putSecondFactor(db, name, factor)),
    removeSecondFactor: (name) =>
      within(async (db) => {
        await db.run(REMOVE_CODES, [name]);
        return (await db.run(REMOVE_FACTOR, [name])) === 1;
      }),
    spendStep: (name, step) => within(async (db) => (await db.run(SPEND_STEP, [name, step])) === 1),
    spendRecoveryCode: (name, hash) => within(async (db) => (await db.run(SPEND_CODE, [name, hash])) === 1),
    ...sessionVerbs(database),
  };
}

/** Changes to who may sign in, and as what, go one after the other: each must know what the last one left. */
async function lockUsers(db: Queries): Promise<void> {
  await db.script('LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
}

async function standingOf(db: Queries, name: string): Promise<Standing | null> {
  const [row] = await db.rows<Standing>('SELECT role, disabled, password FROM users WHERE name = $1', [name]);
  return row ?? null;
}

async function addUser(db: Queries, { name, role, createdAt }: NewUser): Promise<'added' | 'taken' | 'full'> {
  await lockUsers(db);
  const [row] = await db.rows<{ count: number }>('SELECT count(*) AS count FROM users');
  if ((row?.count ?? 0) >= MAX_USERS) return 'full';
  return (await db.run(ADD_USER, [name, role, createdAt, null])) === 1 ? 'added' : 'taken';
}

async function changeUser(db: Queries, name: string, { role, disabled }: UserChange): Promise<UserAnswer> {
  await lockUsers(db);
  const user = await standingOf(db, name);
  if (user === null) return NOT_FOUND;
  const losesRights = (role !== null && role !== 'admin') || disabled === true;
  if (losesRights && (await isLastAdmin(db, name))) return { kind: 'last_admin' };
  await db.run(CHANGE_USER, [name, role ?? user.role, disabled ?? user.disabled]);
  return { kind: 'done', ended: disabled === true ? await shutOut(db, name) : [] };
}

async function removeUser(db: Queries, name: string): Promise<UserAnswer> {
  await lockUsers(db);
  if ((await standingOf(db, name)) === null) return NOT_FOUND;
  if (await isLastAdmin(db, name)) return { kind: 'last_admin' };
  const ended = await shutOut(db, name);
  await db.run(REMOVE_CODES, [name]);
  await db.run('DELETE FROM users WHERE name = $1', [name]);
  return { kind: 'done', ended };
}

async function setPassword(
  db: Queries,
  name: string,
  { hash, expected, keep }: NewPassword,
): Promise<UserAnswer> {
  await lockUsers(db);
  const user = await standingOf(db, name);
  if (user === null || (expected !== null && user.password !== expected)) return NOT_FOUND;
  return { kind: 'done', ended: await givePassword(db, name, hash, keep) };
}

async function putLink(db: Queries, { hash, user, expiresAt }: SetupLink, now: number): Promise<void> {
  await lockUsers(db);
  await db.run('DELETE FROM setup_links WHERE expires_at <= $1', [now]);
  await removeLinksOf(db, user);
  await db.run('INSERT INTO setup_links (hash, user_name, expires_at) VALUES ($1, $2, $3)', [
    hash,
    user,
    expiresAt,
  ]);
}

async function redeemLink(
  db: Queries,
  hash: string,
  { name, passwordHash }: ChosenPassword,
  now: number,
): Promise<UserAnswer> {
  await lockUsers(db);
  const [link] = await db.rows<SetupLink>(LINK, [hash, now]);
  if (link === undefined) return NOT_FOUND;
  if (link.user === null) {
    // Someone who was added, but has no password yet, is no administrator by that.
    if ((await standingOf(db, name)) !== null) return { kind: 'taken' };
    return (await claimFirst(db, name, passwordHash, now)) ? { kind: 'done', ended: [] } : NOT_FOUND;
  }
  if ((await standingOf(db, link.user)) === null) return NOT_FOUND;
  return { kind: 'done', ended: await givePassword(db, link.user, passwordHash, null) };
}

async function putSecondFactor(
  db: Queries,
  name: string,
  { sealed, step, recoveryHashes }: NewSecondFactor,
): Promise<boolean> {
  if ((await db.run(SET_FACTOR, [name, sealed, step])) === 0) return false;
  await db.run(REMOVE_CODES, [name]);
  await db.run(ADD_CODES, [name, recoveryHashes]);
  await db.run('UPDATE sessions SET offered = NULL WHERE user_name = $1', [name]);
  return true;
}

/** Whether a user is the only one who can sign in and change users. */
async function isLastAdmin(db: Queries, name: string): Promise<boolean> {
  const admins = await db.rows<{ name: string }>(ADMINS);
  return admins.length === 1 && admins[0]?.name === name;
}

async function claimFirst(db: Queries, name: string, passwordHash: string, now: number): Promise<boolean> {
  const claimed = await db.rows('SELECT FROM users WHERE password IS NOT NULL LIMIT 1');
  if (claimed.length > 0) return false;
  if ((await db.run(ADD_USER, [name, 'admin', now, passwordHash])) === 0) {
    await db.run(CHANGE_USER, [name, 'admin', false]);
    await db.run(SET_PASSWORD, [name, passwordHash]);
  }
  await removeLinksOf(db, name);
  await removeLinksOf(db, null);
  return true;
}

async function givePassword(db: Queries, name: string, hash: string, keep: string | null): Promise<string[]> {
  await db.run(SET_PASSWORD, [name, hash]);
  await removeLinksOf(db, name);
  // Somebody has a password now: nobody is the first any more.
  await removeLinksOf(db, null);
  return await endSessions(db, name, keep);
}

/** Ends everything by which a user could go on. */
async function shutOut(db: Queries, name: string): Promise<string[]> {
  await removeLinksOf(db, name);
  return await endSessions(db, name, null);
}

async function removeLinksOf(db: Queries, user: string | null): Promise<void> {
  await db.run('DELETE FROM setup_links WHERE user_name IS NOT DISTINCT FROM $1', [user]);
}

const ADD_USER = `INSERT INTO users (name, role, disabled, created_at, password) VALUES ($1, $2, false, $3, $4)
  ON CONFLICT (name) DO NOTHING`;
const CHANGE_USER = 'UPDATE users SET role = $2, disabled = $3 WHERE name = $1';
const SET_PASSWORD = 'UPDATE users SET password = $2 WHERE name = $1';
const ADMINS = `SELECT name FROM users
  WHERE role = 'admin' AND NOT disabled AND password IS NOT NULL LIMIT 2`;
const LINK = `SELECT hash, user_name AS "user", expires_at AS "expiresAt" FROM setup_links
  WHERE hash = $1 AND expires_at > $2`;
const OFFER = 'UPDATE sessions SET offered = $2 WHERE hash = $1';
const SET_FACTOR = 'UPDATE users SET second_factor = $2, last_step = $3 WHERE name = $1';
const REMOVE_FACTOR = `UPDATE users SET second_factor = NULL, last_step = NULL
  WHERE name = $1 AND second_factor IS NOT NULL`;
const SPEND_STEP = `UPDATE users SET last_step = $2 WHERE name = $1 AND (last_step IS NULL OR last_step < $2)`;
const ADD_CODES = 'INSERT INTO recovery_codes (user_name, hash) SELECT $1, unnest($2::text[])';
const SPEND_CODE = 'DELETE FROM recovery_codes WHERE user_name = $1 AND hash = $2';
const REMOVE_CODES = 'DELETE FROM recovery_codes WHERE user_name = $1';
