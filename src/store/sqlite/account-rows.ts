import type { Role, Session, SessionStage, User } from '../../domain/account.ts';
import type { Driver } from './driver.ts';

/** The statements on accounts, and what their rows mean. */
export type AccountSql = ReturnType<typeof prepareAccounts>;

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
export function prepareAccounts(db: Driver) {
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
export function userOf(row: UserRow): User {
  const [name, role, disabled, createdAt, passwordHash, lastSignInAt, secondFactor] = row;
  const [, , , , , , , recoveryCodesLeft, sessions] = row;
  return {
    ...{ name, role, createdAt, passwordHash, lastSignInAt, secondFactor, recoveryCodesLeft, sessions },
    disabled: disabled === 1,
  };
}

/** A session from a row. */
export function sessionOf(row: SessionRow): Session {
  const [hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered] = row;
  return { hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered };
}

/** The row of a session. */
export function rowOfSession(session: Session): SessionRow {
  const { hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered } = session;
  return [hash, id, user, stage, createdAt, lastSeenAt, expiresAt, sourceAddress, agent, offered];
}
