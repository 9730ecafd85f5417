import type { Role, Session, User } from '../../domain/account.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import {
  type Accounts,
  type ChosenPassword,
  MAX_LISTED,
  MAX_USERS,
  type NewPassword,
  type NewSecondFactor,
  type NewUser,
  type SessionAnswer,
  type SessionEnds,
  type SessionRules,
  type SetupLink,
  type UserAnswer,
  type UserChange,
} from '../accounts.ts';

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

type SessionVerb =
  | 'addSession'
  | 'session'
  | 'sessions'
  | 'countTry'
  | 'endSession'
  | 'endSessions'
  | 'keepSessions';

/** The verbs on sessions over a database. */
function sessionVerbs(database: Database): Pick<Accounts, SessionVerb> {
  const within = <T>(work: (db: Queries) => Promise<T>) => database.transact(work);
  return {
    addSession: (session, rules) => within((db) => addSession(db, session, rules)),
    session: (hash, now) => database.inSnapshot((db) => readSession(db, hash, now)),
    sessions: (name, now, seenAfter) => database.rows<Session>(LIST, [name, now, seenAfter, MAX_LISTED]),
    countTry: (hash) =>
      within(async (db) => (await db.rows<{ tries: number }>(COUNT_TRY, [hash]))[0]?.tries ?? 0),
    endSession: (id) => within(async (db) => (await db.rows<Session>(END_BY_ID, [id]))[0] ?? null),
    endSessions: (name, except) =>
      within(async (db) => {
        await lockUser(db, name);
        return await endSessions(db, name, except);
      }),
    keepSessions: (uses, known, ends) => within((db) => keepSessions(db, uses, known, ends)),
  };
}

/** Ends a user's sessions, but one (by id). Gives the ids of those ended. */
async function endSessions(db: Queries, name: string, except: string | null): Promise<string[]> {
  return idsOf(await db.rows<{ id: string }>(END_OF, [name, except ?? '']));
}

async function addSession(
  db: Queries,
  session: Session,
  { passwordHash, limit, replaces }: SessionRules,
): Promise<SessionAnswer> {
  // So that a password that is set meanwhile ends this session too.
  const user = await lockUser(db, session.user);
  if (user === undefined || user.disabled || user.password !== passwordHash) return { kind: 'stale' };
  const replaced =
    replaces === null
      ? []
      : await db.rows<{ id: string }>('DELETE FROM sessions WHERE hash = $1 RETURNING id', [replaces]);
  const { hash, id, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered } = session;
  await db.run(ADD, [
    ...[hash, id, session.user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered],
  ]);
  if (stage === 'full') await db.run(SIGNED_IN, [session.user, createdAt]);
  const surplus = await db.rows<{ id: string }>(END_SURPLUS, [session.user, stage, hash, limit - 1]);
  return { kind: 'added', ended: [...idsOf(replaced), ...idsOf(surplus)] };
}

/** Whoever ends sessions of a user is alone with it: several are locked in no order. */
async function lockUser(db: Queries, name: string): Promise<LockedUser | undefined> {
  // Before the row: whoever changes users has locked the table, and may want this row next.
  await db.script('LOCK TABLE users IN ROW EXCLUSIVE MODE');
  return (await db.rows<LockedUser>(LOCK_USER, [name]))[0];
}

interface LockedUser {
  readonly disabled: boolean;
  readonly password: string | null;
}

async function readSession(
  db: Queries,
  hash: string,
  now: number,
): Promise<{ session: Session; user: User } | null> {
  const [session] = await db.rows<Session>(`SELECT ${COLUMNS} FROM sessions WHERE hash = $1`, [hash]);
  if (session === undefined) return null;
  const user = await readUser(db, session.user, now);
  return user === null ? null : { session, user };
}

/**
 * Waits for nobody: a session that others are at is used on another node too, or is being ended, and its next use is written as
 * well.
 */
async function keepSessions(
  db: Queries,
  uses: ReadonlyMap<string, number>,
  known: readonly string[],
  { now, seenAfter }: SessionEnds,
): Promise<string[]> {
  if (uses.size > 0) {
    const free = new Set(idsOf(await db.rows<{ id: string }>(LOCK_FREE, [[...uses.keys()]])));
    const written = [...uses].filter(([id]) => free.has(id));
    await db.run(TOUCH, [written.map(([id]) => id), written.map(([, at]) => at)]);
  }
  await db.run(FORGET, [now, seenAfter]);
  if (known.length === 0) return [];
  const there = await db.rows<{ id: string }>('SELECT id FROM sessions WHERE id = ANY($1::text[])', [known]);
  const left = new Set(idsOf(there));
  return known.filter((id) => !left.has(id));
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

const COLUMNS = `hash, id, user_name AS "user", stage, created_at AS "createdAt", last_seen_at AS "lastSeenAt",
  expires_at AS "expiresAt", source_address AS "sourceAddress", agent, offered`;
const LOCK_USER = 'SELECT disabled, password FROM users WHERE name = $1 FOR UPDATE';
const ADD = `INSERT INTO sessions (hash, id, user_name, stage, created_at, last_seen_at, expires_at,
  source_address, agent, offered, tries) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)`;
const SIGNED_IN = 'UPDATE users SET last_sign_in_at = $2 WHERE name = $1';
const END_SURPLUS = `DELETE FROM sessions WHERE hash IN
  (SELECT hash FROM sessions WHERE user_name = $1 AND stage = $2 AND hash <> $3
   ORDER BY last_seen_at DESC, created_at DESC, id OFFSET $4) RETURNING id`;
const LIST = `SELECT ${COLUMNS} FROM sessions
  WHERE ($1::text IS NULL OR user_name = $1) AND stage = 'full' AND expires_at > $2 AND last_seen_at > $3
  ORDER BY last_seen_at DESC, id LIMIT $4`;
const COUNT_TRY = 'UPDATE sessions SET tries = tries + 1 WHERE hash = $1 RETURNING tries';
const END_BY_ID = `DELETE FROM sessions WHERE id = $1 RETURNING ${COLUMNS}`;
const END_OF = 'DELETE FROM sessions WHERE user_name = $1 AND id <> $2 RETURNING id';
const LOCK_FREE = 'SELECT id FROM sessions WHERE id = ANY($1::text[]) FOR UPDATE SKIP LOCKED';
const TOUCH = `UPDATE sessions SET last_seen_at = used.at FROM unnest($1::text[], $2::bigint[]) AS used (id, at)
  WHERE sessions.id = used.id AND sessions.last_seen_at < used.at`;
const FORGET = `DELETE FROM sessions WHERE hash IN
  (SELECT hash FROM sessions WHERE expires_at <= $1 OR last_seen_at <= $2 FOR UPDATE SKIP LOCKED)`;

/** Selects users as they are at the time `$1`. */
const USERS = `SELECT name, role, disabled, created_at AS "createdAt", password AS "passwordHash",
  last_sign_in_at AS "lastSignInAt", second_factor AS "secondFactor",
  (SELECT count(*) FROM recovery_codes WHERE user_name = name) AS "recoveryCodesLeft",
  (SELECT count(*) FROM sessions WHERE user_name = name AND stage = 'full' AND expires_at > $1) AS sessions
  FROM users`;

/** A user; null: there is no such one. */
async function readUser(db: Pick<Queries, 'rows'>, name: string, now: number): Promise<User | null> {
  const [user] = await db.rows<User>(`${USERS} WHERE name = $2`, [now, name]);
  return user ?? null;
}
