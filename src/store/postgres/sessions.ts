import type { Session, User } from '../../domain/account.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import {
  type Accounts,
  MAX_LISTED,
  type SessionAnswer,
  type SessionEnds,
  type SessionRules,
} from '../accounts.ts';
import { readUser } from './users.ts';

type SessionVerb =
  | 'addSession'
  | 'session'
  | 'sessions'
  | 'countTry'
  | 'endSession'
  | 'endSessions'
  | 'keepSessions';

/** The verbs on sessions over a database. */
export function sessionVerbs(database: Database): Pick<Accounts, SessionVerb> {
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
export async function endSessions(db: Queries, name: string, except: string | null): Promise<string[]> {
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
