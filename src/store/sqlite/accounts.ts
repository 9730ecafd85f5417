import type { Role, Session, SessionStage, User } from '../../domain/account.ts';
import {
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
import { asFlag, type Driver } from './driver.ts';

/** Builds the verbs on accounts. */
export function accountVerbs(db: Driver) {
  const sql = prepareAccounts(db);
  return { ...userVerbs(sql), ...linkVerbs(sql), ...factorVerbs(sql), ...sessionVerbs(sql) };
}

const NOT_FOUND: UserAnswer = { kind: 'not_found' };

function userVerbs(sql: AccountSql) {
  return {
    users: (now: number): User[] => sql.users.all(now).map(userOf),
    user: (name: string, now: number): User | null => {
      const row = sql.user.get(now, name);
      return row === undefined ? null : userOf(row);
    },
    addUser: ({ name, role, createdAt }: NewUser): 'added' | 'taken' | 'full' => {
      if ((sql.countUsers.get()?.[0] ?? 0) >= MAX_USERS) return 'full';
      return sql.addUser.run(name, role, createdAt, null) === 1 ? 'added' : 'taken';
    },
    changeUser: (name: string, { role, disabled }: UserChange): UserAnswer => {
      const user = sql.standing.get(name);
      if (user === undefined) return NOT_FOUND;
      const losesRights = (role !== null && role !== 'admin') || disabled === true;
      if (losesRights && isLastAdmin(sql, name)) return { kind: 'last_admin' };
      const [oldRole, oldDisabled] = user;
      sql.changeUser.run(role ?? oldRole, disabled === null ? oldDisabled : asFlag(disabled), name);
      return { kind: 'done', ended: disabled === true ? shutOut(sql, name) : [] };
    },
    removeUser: (name: string): UserAnswer => {
      if (sql.standing.get(name) === undefined) return NOT_FOUND;
      if (isLastAdmin(sql, name)) return { kind: 'last_admin' };
      const ended = shutOut(sql, name);
      sql.removeCodes.run(name);
      sql.removeUser.run(name);
      return { kind: 'done', ended };
    },
    setPassword: (name: string, { hash, expected, keep }: NewPassword): UserAnswer => {
      const user = sql.standing.get(name);
      if (user === undefined || (expected !== null && user[2] !== expected)) return NOT_FOUND;
      return { kind: 'done', ended: givePassword(sql, name, hash, keep) };
    },
    claimFirst: (name: string, passwordHash: string, now: number): boolean =>
      claimFirst(sql, name, passwordHash, now),
  };
}

function linkVerbs(sql: AccountSql) {
  return {
    putLink: ({ hash, user, expiresAt }: SetupLink, now: number): void => {
      sql.forgetLinks.run(now);
      sql.removeLinksOf.run(user);
      sql.putLink.run(hash, user, expiresAt);
    },
    link: (hash: string, now: number): SetupLink | null => linkOf(sql, hash, now),
    redeemLink: (hash: string, { name, passwordHash }: ChosenPassword, now: number): UserAnswer => {
      const link = linkOf(sql, hash, now);
      if (link === null) return NOT_FOUND;
      if (link.user === null) {
        // Someone who was added, but has no password yet, is no administrator by that.
        if (sql.standing.get(name) !== undefined) return { kind: 'taken' };
        return claimFirst(sql, name, passwordHash, now) ? { kind: 'done', ended: [] } : NOT_FOUND;
      }
      if (sql.standing.get(link.user) === undefined) return NOT_FOUND;
      return { kind: 'done', ended: givePassword(sql, link.user, passwordHash, null) };
    },
  };
}

function factorVerbs(sql: AccountSql) {
  return {
    offerSecondFactor: (sessionHash: string, sealed: string): boolean =>
      sql.offer.run(sealed, sessionHash) === 1,
    putSecondFactor: (name: string, { sealed, step, recoveryHashes }: NewSecondFactor): boolean => {
      if (sql.setFactor.run(sealed, step, name) === 0) return false;
      sql.removeCodes.run(name);
      for (const hash of recoveryHashes) sql.addCode.run(name, hash);
      sql.withdrawOffers.run(name);
      return true;
    },
    removeSecondFactor: (name: string): boolean => {
      sql.removeCodes.run(name);
      return sql.removeFactor.run(name) === 1;
    },
    spendStep: (name: string, step: number): boolean => sql.spendStep.run(step, name, step) === 1,
    spendRecoveryCode: (name: string, hash: string): boolean => sql.useCode.run(name, hash) === 1,
  };
}

function sessionVerbs(sql: AccountSql) {
  return {
    addSession: (session: Session, { passwordHash, limit, replaces }: SessionRules): SessionAnswer => {
      const user = sql.standing.get(session.user);
      if (user === undefined || user[1] === 1 || user[2] !== passwordHash) return { kind: 'stale' };
      const replaced = replaces === null ? [] : sql.endByHash.all(replaces);
      sql.addSession.run(...rowOfSession(session));
      if (session.stage === 'full') sql.signedIn.run(session.createdAt, session.user);
      const surplus = sql.endSurplus.all(session.user, session.stage, session.hash, limit - 1);
      return { kind: 'added', ended: [...replaced, ...surplus].map(([id]) => id) };
    },
    session: (hash: string, now: number): { session: Session; user: User } | null => {
      const row = sql.session.get(hash);
      if (row === undefined) return null;
      const session = sessionOf(row);
      const user = sql.user.get(now, session.user);
      return user === undefined ? null : { session, user: userOf(user) };
    },
    sessions: (name: string | null, now: number, seenAfter: number): Session[] => {
      const rows =
        name === null
          ? sql.sessions.all(now, seenAfter, MAX_LISTED)
          : sql.sessionsOf.all(name, now, seenAfter, MAX_LISTED);
      return rows.map(sessionOf);
    },
    countTry: (sessionHash: string): number => sql.countTry.all(sessionHash)[0]?.[0] ?? 0,
    endSession: (id: string): Session | null => {
      const [row] = sql.endById.all(id);
      return row === undefined ? null : sessionOf(row);
    },
    endSessions: (name: string, except: string | null): string[] => endSessions(sql, name, except),
    keepSessions: (
      uses: ReadonlyMap<string, number>,
      known: readonly string[],
      { now, seenAfter }: SessionEnds,
    ): string[] => {
      for (const [id, usedAt] of uses) sql.touch.run(usedAt, id, usedAt);
      sql.forgetSessions.run(now, seenAfter);
      return known.filter((id) => sql.isThere.get(id) === undefined);
    },
  };
}

function linkOf(sql: AccountSql, hash: string, now: number): SetupLink | null {
  const row = sql.link.get(hash, now);
  return row === undefined ? null : { hash: row[0], user: row[1], expiresAt: row[2] };
}

/** Whether a user is the only one who can sign in and change users. */
function isLastAdmin(sql: AccountSql, name: string): boolean {
  const admins = sql.admins.all().map(([admin]) => admin);
  return admins.length === 1 && admins[0] === name;
}

function claimFirst(sql: AccountSql, name: string, passwordHash: string, now: number): boolean {
  if (sql.anyPassword.get() !== undefined) return false;
  if (sql.addUser.run(name, 'admin', now, passwordHash) === 0) {
    sql.changeUser.run('admin', 0, name);
    sql.setPassword.run(passwordHash, name);
  }
  sql.removeLinksOf.run(name);
  sql.removeLinksOf.run(null);
  return true;
}

function givePassword(sql: AccountSql, name: string, hash: string, keep: string | null): string[] {
  sql.setPassword.run(hash, name);
  sql.removeLinksOf.run(name);
  // Somebody has a password now: nobody is the first any more.
  sql.removeLinksOf.run(null);
  return endSessions(sql, name, keep);
}

/** Ends everything by which a user could go on. */
function shutOut(sql: AccountSql, name: string): string[] {
  sql.removeLinksOf.run(name);
  return endSessions(sql, name, null);
}

function endSessions(sql: AccountSql, name: string, except: string | null): string[] {
  return sql.endOf.all(name, except ?? '').map(([id]) => id);
}

/** The statements on accounts, and what their rows mean. */
type AccountSql = ReturnType<typeof prepareAccounts>;

type UserRow = [
  name: string,
  role: Role,
  disabled: number,
  createdAt: number,
  password: string | null,
  lastSignInAt: number | null,
  secondFactor: string | null,
  recoveryCodesLeft: number,
  sessions: number,
];

type SessionRow = [
  hash: string,
  id: string,
  user: string,
  stage: SessionStage,
  createdAt: number,
  lastSeenAt: number,
  expiresAt: number,
  sourceAddress: string,
  agent: string,
  offered: string | null,
];

type LinkRow = [hash: string, user: string | null, expiresAt: number];

const USER = `SELECT name, role, disabled, created_at, password, last_sign_in_at, second_factor,
  (SELECT count(*) FROM recovery_codes WHERE user = name),
  (SELECT count(*) FROM sessions WHERE user = name AND stage = 'full' AND expires_at > ?)
  FROM users`;
const SESSION = `hash, id, user, stage, created_at, last_seen_at, expires_at, source_address, agent, offered`;
const IS_LISTED = `stage = 'full' AND expires_at > ? AND last_seen_at > ?
  ORDER BY last_seen_at DESC, id LIMIT ?`;

/** Compiles the statements. */
function prepareAccounts(db: Driver) {
  return { ...prepareUsers(db), ...prepareLinks(db), ...prepareFactors(db), ...prepareSessions(db) };
}

function prepareUsers(db: Driver) {
  return {
    users: db.prepare<[now: number], UserRow>(`${USER} ORDER BY name`),
    user: db.prepare<[now: number, name: string], UserRow>(`${USER} WHERE name = ?`),
    standing: db.prepare<[name: string], [role: Role, disabled: number, password: string | null]>(
      'SELECT role, disabled, password FROM users WHERE name = ?',
    ),
    countUsers: db.prepare<[], [number]>('SELECT count(*) FROM users'),
    admins: db.prepare<[], [name: string]>(
      `SELECT name FROM users WHERE role = 'admin' AND disabled = 0 AND password IS NOT NULL LIMIT 2`,
    ),
    anyPassword: db.prepare<[], [number]>('SELECT 1 FROM users WHERE password IS NOT NULL LIMIT 1'),
    addUser: db.prepare<[name: string, role: Role, createdAt: number, password: string | null]>(
      `INSERT INTO users (name, role, disabled, created_at, password) VALUES (?, ?, 0, ?, ?)
       ON CONFLICT (name) DO NOTHING`,
    ),
    changeUser: db.prepare<[role: Role, disabled: number, name: string]>(
      'UPDATE users SET role = ?, disabled = ? WHERE name = ?',
    ),
    setPassword: db.prepare<[password: string, name: string]>('UPDATE users SET password = ? WHERE name = ?'),
    removeUser: db.prepare<[name: string]>('DELETE FROM users WHERE name = ?'),
    signedIn: db.prepare<[at: number, name: string]>('UPDATE users SET last_sign_in_at = ? WHERE name = ?'),
  };
}

function prepareLinks(db: Driver) {
  return {
    putLink: db.prepare<LinkRow>('INSERT INTO setup_links (hash, user, expires_at) VALUES (?, ?, ?)'),
    link: db.prepare<[hash: string, now: number], LinkRow>(
      'SELECT hash, user, expires_at FROM setup_links WHERE hash = ? AND expires_at > ?',
    ),
    forgetLinks: db.prepare<[now: number]>('DELETE FROM setup_links WHERE expires_at <= ?'),
    removeLinksOf: db.prepare<[user: string | null]>('DELETE FROM setup_links WHERE user IS ?'),
  };
}

function prepareFactors(db: Driver) {
  return {
    offer: db.prepare<[sealed: string, hash: string]>('UPDATE sessions SET offered = ? WHERE hash = ?'),
    withdrawOffers: db.prepare<[user: string]>('UPDATE sessions SET offered = NULL WHERE user = ?'),
    setFactor: db.prepare<[sealed: string, step: number, name: string]>(
      'UPDATE users SET second_factor = ?, last_step = ? WHERE name = ?',
    ),
    removeFactor: db.prepare<[name: string]>(
      'UPDATE users SET second_factor = NULL, last_step = NULL WHERE name = ? AND second_factor IS NOT NULL',
    ),
    spendStep: db.prepare<[step: number, name: string, step: number]>(
      'UPDATE users SET last_step = ? WHERE name = ? AND (last_step IS NULL OR last_step < ?)',
    ),
    addCode: db.prepare<[user: string, hash: string]>(
      'INSERT INTO recovery_codes (user, hash) VALUES (?, ?)',
    ),
    useCode: db.prepare<[user: string, hash: string]>(
      'DELETE FROM recovery_codes WHERE user = ? AND hash = ?',
    ),
    removeCodes: db.prepare<[user: string]>('DELETE FROM recovery_codes WHERE user = ?'),
  };
}

function prepareSessions(db: Driver) {
  return {
    addSession: db.prepare<SessionRow>(
      `INSERT INTO sessions (${SESSION}, tries) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
    ),
    session: db.prepare<[hash: string], SessionRow>(`SELECT ${SESSION} FROM sessions WHERE hash = ?`),
    sessions: db.prepare<[now: number, seenAfter: number, limit: number], SessionRow>(
      `SELECT ${SESSION} FROM sessions WHERE ${IS_LISTED}`,
    ),
    sessionsOf: db.prepare<[user: string, now: number, seenAfter: number, limit: number], SessionRow>(
      `SELECT ${SESSION} FROM sessions WHERE user = ? AND ${IS_LISTED}`,
    ),
    isThere: db.prepare<[id: string], [number]>('SELECT 1 FROM sessions WHERE id = ?'),
    countTry: db.prepare<[hash: string], [number]>(
      'UPDATE sessions SET tries = tries + 1 WHERE hash = ? RETURNING tries',
    ),
    endByHash: db.prepare<[hash: string], [id: string]>('DELETE FROM sessions WHERE hash = ? RETURNING id'),
    endById: db.prepare<[id: string], SessionRow>(`DELETE FROM sessions WHERE id = ? RETURNING ${SESSION}`),
    endOf: db.prepare<[user: string, except: string], [id: string]>(
      'DELETE FROM sessions WHERE user = ? AND id <> ? RETURNING id',
    ),
    /** Those of a stage used longest ago, but for so many and a new one. */
    endSurplus: db.prepare<[user: string, stage: SessionStage, hash: string, kept: number], [id: string]>(
      `DELETE FROM sessions WHERE hash IN
         (SELECT hash FROM sessions WHERE user = ? AND stage = ? AND hash <> ?
          ORDER BY last_seen_at DESC, created_at DESC, id LIMIT -1 OFFSET ?) RETURNING id`,
    ),
    touch: db.prepare<[usedAt: number, id: string, usedAt: number]>(
      'UPDATE sessions SET last_seen_at = ? WHERE id = ? AND last_seen_at < ?',
    ),
    forgetSessions: db.prepare<[now: number, seenAfter: number]>(
      'DELETE FROM sessions WHERE expires_at <= ? OR last_seen_at <= ?',
    ),
  };
}

/** A user from a row. */
function userOf(row: UserRow): User {
  const [name, role, disabled, createdAt, passwordHash, lastSignInAt, secondFactor] = row;
  const [, , , , , , , recoveryCodesLeft, sessions] = row;
  return {
    ...{ name, role, createdAt, passwordHash, lastSignInAt, secondFactor, recoveryCodesLeft, sessions },
    disabled: disabled === 1,
  };
}

/** A session from a row. */
function sessionOf(row: SessionRow): Session {
  const [hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered] = row;
  return { hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered };
}

/** The row of a session. */
function rowOfSession(session: Session): SessionRow {
  const { hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered } = session;
  return [hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered];
}
