import type { Passkey, Session } from '../../domain/account.ts';
import {
  type Accounts,
  type Challenge,
  MAX_LISTED,
  MAX_PASSKEYS,
  type SetupLink,
  type UserAnswer,
} from '../accounts.ts';
import { removeViewsOf } from './sharing.ts';
import { among, Columns, OF_USER, onPostgres, type Sql, sql } from './sql.ts';
import {
  addUser,
  aloneWithUsers,
  firstFree,
  isFull,
  isLastAdmin,
  lockUser,
  setPassword,
  setRights,
  standingOf,
  userAt,
  userOf,
  usersAt,
} from './users.ts';
import { rows, run, type Subject, send, type Work } from './work.ts';

const SESSION = new Columns<Session>({
  hash: sql`hash`,
  id: sql`id`,
  user: OF_USER,
  stage: sql`stage`,
  createdAt: sql`created_at`,
  lastSeenAt: sql`last_seen_at`,
  expiresAt: sql`expires_at`,
  sourceAddress: sql`source_address`,
  agent: sql`agent`,
  offered: sql`offered`,
});

const PASSKEY = new Columns<Passkey>({
  id: sql`id`,
  user: OF_USER,
  handle: sql`handle`,
  host: sql`host`,
  publicKey: sql`public_key`,
  counter: sql`counter`,
  label: sql`label`,
  createdAt: sql`created_at`,
  lastUsedAt: sql`last_used_at`,
});

const NOT_FOUND: UserAnswer = { kind: 'not_found' };

/** Skips rows that others have locked, and waits for nobody. */
const UNLESS_LOCKED = onPostgres(sql`FOR UPDATE SKIP LOCKED`);

/** The accounts. */
export const ACCOUNTS: Subject<Accounts> = {
  reads: {
    users: 'statement',
    user: 'statement',
    userAt: 'statement',
    links: 'statement',
    link: 'statement',
    session: 'snapshot',
    sessions: 'statement',
    passkeys: 'statement',
    passkey: 'statement',
    hasPasskey: 'statement',
  },
  verbs: {
    users: (now) => usersAt(now, sql`ORDER BY name`),
    user: userOf,
    userAt,
    *welcome({ account, role, names, challenge }, now) {
      yield* aloneWithUsers();
      const known = yield* userAt(account, now);
      if (known?.disabled) return { kind: 'disabled' };
      if (known === null && (yield* isFull())) return { kind: 'full' };
      const name = known?.name ?? (yield* firstFree(names));
      if (name === null) return { kind: 'taken' };
      if (!(yield* spend(challenge, now))) return { kind: 'spent' };
      if (known === null) {
        yield* addUser(name, role, now, null);
        yield* send`UPDATE users SET issuer = ${account.issuer}, subject = ${account.subject} WHERE name = ${name}`;
      } else if (known.role !== role) yield* setRights(name, role, false);
      const user = yield* userOf(name, now);
      return user === null ? { kind: 'taken' } : { kind: 'in', user, before: known?.role ?? null };
    },
    *addUser({ name, role, createdAt }) {
      yield* aloneWithUsers();
      if (yield* isFull()) return 'full';
      return (yield* addUser(name, role, createdAt, null)) ? 'added' : 'taken';
    },
    *changeUser(name, { role, disabled }) {
      yield* aloneWithUsers();
      const user = yield* standingOf(name);
      if (user === undefined) return NOT_FOUND;
      const losesRights = (role !== null && role !== 'admin') || disabled === true;
      if (losesRights && (yield* isLastAdmin(name))) return { kind: 'last_admin' };
      yield* setRights(name, role ?? user.role, disabled ?? Boolean(user.disabled));
      return { kind: 'done', ended: disabled === true ? yield* shutOut(name) : [] };
    },
    *removeUser(name) {
      yield* aloneWithUsers();
      if ((yield* standingOf(name)) === undefined) return NOT_FOUND;
      if (yield* isLastAdmin(name)) return { kind: 'last_admin' };
      const ended = yield* shutOut(name);
      yield* removeCodesOf(name);
      yield* removePasskeysOf(name);
      yield* removeViewsOf(name);
      yield* send`DELETE FROM users WHERE name = ${name}`;
      return { kind: 'done', ended };
    },
    *setPassword(name, { hash, expected, keep }) {
      yield* aloneWithUsers();
      const user = yield* standingOf(name);
      if (user === undefined || (expected !== null && user.password !== expected)) return NOT_FOUND;
      return { kind: 'done', ended: yield* givePassword(name, hash, keep) };
    },
    *claimFirst(name, passwordHash, now) {
      yield* aloneWithUsers();
      return yield* claimFirst(name, passwordHash, now);
    },

    *putLink({ hash, user, expiresAt, mail }, now) {
      yield* aloneWithUsers();
      yield* send`DELETE FROM setup_links WHERE expires_at <= ${now}`;
      yield* removeLinksOf(user);
      yield* send`INSERT INTO setup_links (hash, ${OF_USER}, expires_at, mailed_to, message)
        VALUES (${hash}, ${user}, ${expiresAt}, ${mail?.to ?? null}, ${mail?.message ?? null})`;
    },
    forgetLinkMail: (user) =>
      send`UPDATE setup_links SET mailed_to = NULL, message = NULL WHERE ${OF_USER} = ${user}`,
    links: (now) => linksAt(sql`${OF_USER} IS NOT NULL AND expires_at > ${now}`),
    link: linkOf,
    *redeemLink(hash, { name, passwordHash }, now) {
      yield* aloneWithUsers();
      const link = yield* linkOf(hash, now);
      if (link === null) return NOT_FOUND;
      if (link.user === null) {
        // A user without a password does not become administrator this way.
        if ((yield* standingOf(name)) !== undefined) return { kind: 'taken' };
        return (yield* claimFirst(name, passwordHash, now)) ? { kind: 'done', ended: [] } : NOT_FOUND;
      }
      if ((yield* standingOf(link.user)) === undefined) return NOT_FOUND;
      return { kind: 'done', ended: yield* givePassword(link.user, passwordHash, null) };
    },

    *offerSecondFactor(sessionHash, sealed) {
      return (yield* run`UPDATE sessions SET offered = ${sealed} WHERE hash = ${sessionHash}`) === 1;
    },
    *putSecondFactor(name, { sealed, step, recoveryHashes }) {
      const found =
        yield* run`UPDATE users SET second_factor = ${sealed}, last_step = ${step} WHERE name = ${name}`;
      if (found === 0) return false;
      yield* removeCodesOf(name);
      for (const hash of recoveryHashes)
        yield* send`INSERT INTO recovery_codes (${OF_USER}, hash) VALUES (${name}, ${hash})`;
      yield* send`UPDATE sessions SET offered = NULL WHERE ${OF_USER} = ${name}`;
      return true;
    },
    *removeSecondFactor(name) {
      yield* removeCodesOf(name);
      const removed = yield* run`UPDATE users SET second_factor = NULL, last_step = NULL
        WHERE name = ${name} AND second_factor IS NOT NULL`;
      return removed === 1;
    },
    *spendStep(name, step) {
      const spent = yield* run`UPDATE users SET last_step = ${step}
        WHERE name = ${name} AND (last_step IS NULL OR last_step < ${step})`;
      return spent === 1;
    },
    *spendRecoveryCode(name, hash) {
      return (yield* run`DELETE FROM recovery_codes WHERE ${OF_USER} = ${name} AND hash = ${hash}`) === 1;
    },

    passkeys: (name) => rows<Passkey>`SELECT ${PASSKEY.selected} FROM passkeys
      WHERE ${OF_USER} = ${name} ORDER BY created_at, id`,
    *passkey(id) {
      const [passkey] = yield* rows<Passkey>`SELECT ${PASSKEY.selected} FROM passkeys WHERE id = ${id}`;
      return passkey ?? null;
    },
    *hasPasskey(host) {
      return (yield* rows`SELECT id FROM passkeys WHERE host = ${host} LIMIT 1`).length > 0;
    },
    *addPasskey(passkey, challenge) {
      // So that nobody has more than the limit, and nobody who is gone has any.
      if ((yield* lockUser(passkey.user)) === undefined) return 'gone';
      const [row] = yield* rows<{ count: number }>`
        SELECT count(*) AS count FROM passkeys WHERE ${OF_USER} = ${passkey.user}`;
      if ((row?.count ?? 0) >= MAX_PASSKEYS) return 'full';
      if (!(yield* spend(challenge, passkey.createdAt))) return 'spent';
      const added = yield* run`INSERT INTO passkeys (${PASSKEY.names}) VALUES (${PASSKEY.values(passkey)})
        ON CONFLICT (id) DO NOTHING`;
      return added === 1 ? 'added' : 'taken';
    },
    *removePasskey(name, id) {
      const [removed] = yield* rows<Passkey>`DELETE FROM passkeys
        WHERE ${OF_USER} = ${name} AND id = ${id} RETURNING ${PASSKEY.selected}`;
      return removed ?? null;
    },
    *removePasskeys(name) {
      // As for `endSessions`.
      yield* lockUser(name);
      yield* removePasskeysOf(name);
      return yield* endSessionsOf(name, null);
    },
    *recordPasskeyUse(id, { counter, now, challenge }) {
      if (!(yield* spend(challenge, now))) return false;
      const used = yield* run`UPDATE passkeys SET counter = ${counter}, last_used_at = ${now}
        WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`;
      return used === 1;
    },

    *addSession(session, { passwordHash, limit, replaces }) {
      const { hash, user: name, stage, createdAt } = session;
      // So that a password change meanwhile ends this session too.
      const user = yield* lockUser(name);
      if (user === undefined || user.disabled || user.password !== passwordHash) return { kind: 'stale' };
      const replaced = replaces === null ? [] : yield* endSessions(sql`hash = ${replaces}`);
      yield* send`INSERT INTO sessions (${SESSION.names}, tries) VALUES (${SESSION.values(session)}, 0)`;
      if (stage === 'full') yield* send`UPDATE users SET last_sign_in_at = ${createdAt} WHERE name = ${name}`;
      // The least recently used sessions of the stage, beyond the limit and besides the new one.
      const others = sql`${OF_USER} = ${name} AND stage = ${stage} AND hash <> ${hash}`;
      const surplus = yield* endSessions(sql`${others} AND hash NOT IN
        (SELECT hash FROM sessions WHERE ${others}
         ORDER BY last_seen_at DESC, created_at DESC, id LIMIT ${limit - 1})`);
      return { kind: 'added', ended: [...replaced, ...surplus] };
    },
    *session(hash, now) {
      const [session] = yield* rows<Session>`SELECT ${SESSION.selected} FROM sessions WHERE hash = ${hash}`;
      if (session === undefined) return null;
      const user = yield* userOf(session.user, now);
      return user === null ? null : { session, user };
    },
    sessions: (name, now, seenAfter) => rows<Session>`SELECT ${SESSION.selected} FROM sessions
      WHERE ${name === null ? sql`` : sql`${OF_USER} = ${name} AND `}
        stage = 'full' AND expires_at > ${now} AND last_seen_at > ${seenAfter}
      ORDER BY last_seen_at DESC, id LIMIT ${MAX_LISTED}`,
    *countTry(sessionHash) {
      const [row] = yield* rows<{ tries: number }>`
        UPDATE sessions SET tries = tries + 1 WHERE hash = ${sessionHash} RETURNING tries`;
      return row?.tries ?? 0;
    },
    *endSession(id) {
      const [ended] =
        yield* rows<Session>`DELETE FROM sessions WHERE id = ${id} RETURNING ${SESSION.selected}`;
      return ended ?? null;
    },
    *endSessions(name, except) {
      // Locks the user first, because sessions themselves are locked in no order.
      yield* lockUser(name);
      return yield* endSessionsOf(name, except);
    },
    *keepSessions(uses, known, { now, seenAfter }) {
      // A session that another node has locked is in use there, or is being ended; its next use is recorded as well.
      for (const [id, usedAt] of uses)
        yield* send`UPDATE sessions SET last_seen_at = ${usedAt} WHERE last_seen_at < ${usedAt}
          AND id = (SELECT id FROM sessions WHERE id = ${id} ${UNLESS_LOCKED})`;
      yield* send`DELETE FROM sessions WHERE hash IN
        (SELECT hash FROM sessions WHERE expires_at <= ${now} OR last_seen_at <= ${seenAfter} ${UNLESS_LOCKED})`;
      if (known.length === 0) return [];
      const there = yield* rows<{ id: string }>`SELECT id FROM sessions WHERE id ${among(known)}`;
      const left = new Set(there.map(({ id }) => id));
      return known.filter((id) => !left.has(id));
    },
  },
};

function* claimFirst(name: string, passwordHash: string, now: number): Work<boolean> {
  const claimed = yield* rows`SELECT name FROM users WHERE password IS NOT NULL LIMIT 1`;
  if (claimed.length > 0) return false;
  if (!(yield* addUser(name, 'admin', now, passwordHash))) {
    yield* setRights(name, 'admin', false);
    yield* setPassword(name, passwordHash);
  }
  yield* removeLinksOf(name);
  yield* removeLinksOf(null);
  return true;
}

function* givePassword(name: string, hash: string, keep: string | null): Work<string[]> {
  yield* setPassword(name, hash);
  yield* removeLinksOf(name);
  // A user has a password now, so the link for the first administrator ends.
  yield* removeLinksOf(null);
  return yield* endSessionsOf(name, keep);
}

/** Ends a user's sessions and links. */
function* shutOut(name: string): Work<string[]> {
  yield* removeLinksOf(name);
  return yield* endSessionsOf(name, null);
}

function* linkOf(hash: string, now: number): Work<SetupLink | null> {
  return (yield* linksAt(sql`hash = ${hash} AND expires_at > ${now}`))[0] ?? null;
}

function* linksAt(which: Sql): Work<SetupLink[]> {
  type Row = Omit<SetupLink, 'mail'> & { readonly to: string | null; readonly message: string | null };
  const found = yield* rows<Row>`SELECT hash, ${OF_USER} AS "user", expires_at AS "expiresAt",
    mailed_to AS "to", message FROM setup_links WHERE ${which}`;
  return found.map(({ to, message, ...link }) => ({
    ...link,
    mail: to === null || message === null ? null : { to, message },
  }));
}

function removeLinksOf(user: string | null): Work<void> {
  return send`DELETE FROM setup_links WHERE ${OF_USER} IS NOT DISTINCT FROM ${user}`;
}

function removeCodesOf(name: string): Work<void> {
  return send`DELETE FROM recovery_codes WHERE ${OF_USER} = ${name}`;
}

function removePasskeysOf(user: string): Work<number> {
  return run`DELETE FROM passkeys WHERE ${OF_USER} = ${user}`;
}

/** Marks a challenge as answered; false if it was, or has expired. Forgets those that have. */
function* spend({ hash, expiresAt }: Challenge, now: number): Work<boolean> {
  // Nobody could tell any more whether it was answered before.
  if (expiresAt <= now) return false;
  yield* send`DELETE FROM spent_challenges WHERE expires_at <= ${now}`;
  const spent = yield* run`INSERT INTO spent_challenges (hash, expires_at) VALUES (${hash}, ${expiresAt})
    ON CONFLICT (hash) DO NOTHING`;
  return spent === 1;
}

/** Ends a user's sessions, except one (by id). Returns the ids of those ended. */
function endSessionsOf(name: string, except: string | null): Work<string[]> {
  return endSessions(sql`${OF_USER} = ${name} AND id <> ${except ?? ''}`);
}

function* endSessions(which: Sql): Work<string[]> {
  const ended = yield* rows<{ id: string }>`DELETE FROM sessions WHERE ${which} RETURNING id`;
  return ended.map(({ id }) => id);
}
