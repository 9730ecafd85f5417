import type { Session, User } from '../../domain/account.ts';
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
import { type AccountSql, prepareAccounts, rowOfSession, sessionOf, userOf } from './account-rows.ts';
import type { Driver } from './driver.ts';
import { asFlag } from './rows.ts';

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
