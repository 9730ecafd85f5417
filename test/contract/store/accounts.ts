import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Passkey, Role, Session } from '../../../src/domain/account.ts';
import { type Accounts, type Guest, MAX_PASSKEYS, MAX_USERS } from '../../../src/store/accounts.ts';
import { HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** Adds a passkey, by a challenge of its own unless one is given. */
function addPasskey(accounts: Accounts, passkey: Passkey, hash = `challenge-${passkey.user}-${passkey.id}`) {
  return accounts.addPasskey(passkey, { hash, expiresAt: T0 + HOUR });
}

/** A session of a user, as it is when it begins at `T0`. */
export function sessionOf(user: string, place: number, change: Partial<Session> = {}): Session {
  return {
    hash: `hash-${user}-${place}`,
    id: `ses_${user}-${place}`,
    user,
    stage: 'full',
    createdAt: T0,
    lastSeenAt: T0,
    expiresAt: T0 + HOUR,
    sourceAddress: '192.0.2.7',
    agent: 'Browser/1',
    offered: null,
    ...change,
  };
}

function passkeyOf(user: string, id: string, change: Partial<Passkey> = {}): Passkey {
  return {
    id,
    user,
    handle: `handle-${user}`,
    host: 'a.example',
    publicKey: 'AAAA',
    counter: 0,
    label: 'Laptop',
    createdAt: T0,
    lastUsedAt: null,
    ...change,
  };
}

/** Somebody whom a provider knows by this subject, and calls so. */
function guestOf(subject: string, role: Role = 'viewer', challenge = `c-${subject}-${role}`): Guest {
  return {
    account: { issuer: 'https://sso.example', subject },
    role,
    names: [subject, `${subject}-2`],
    challenge: { hash: challenge, expiresAt: T0 + HOUR },
  };
}

/** Adds a user with a password, `<name>-password`, who may sign in. */
export async function addPerson(accounts: Accounts, name: string, role: 'admin' | 'viewer' = 'viewer') {
  if (await accounts.claimFirst(name, `${name}-password`, T0)) return;
  await accounts.addUser({ name, role, createdAt: T0 });
  await accounts.setPassword(name, { hash: `${name}-password`, expected: null, keep: null });
}

/** Signs such a user in. */
export function signIn(accounts: Accounts, session: Session, limit = 9, replaces: string | null = null) {
  return accounts.addSession(session, { passwordHash: `${session.user}-password`, limit, replaces });
}

/** What the store promises of users, links and second factors. */
export function accountContract(open: OpenSubject): void {
  describe('accounts', () => {
    let subject: Subject;
    let accounts: Accounts;
    beforeEach(async () => {
      subject = await open();
      accounts = subject.accounts;
    });
    afterEach(() => subject.close());

    it('keeps users, by name, across a restart', async () => {
      expect(await accounts.users(T0)).toEqual([]);
      expect(await accounts.addUser({ name: 'bea', role: 'operator', createdAt: T0 })).toBe('added');
      expect(await accounts.addUser({ name: 'ann', role: 'viewer', createdAt: T0 + 1 })).toBe('added');
      expect(await accounts.addUser({ name: 'ann', role: 'admin', createdAt: T0 + 2 })).toBe('taken');
      subject = await subject.reopen();
      const bea = { name: 'bea', role: 'operator', disabled: false, createdAt: T0, passwordHash: null };
      const rest = {
        provider: null,
        lastSignInAt: null,
        secondFactor: null,
        recoveryCodesLeft: 0,
        passkeys: 0,
        sessions: 0,
      };
      expect(await subject.accounts.users(T0)).toEqual([
        { ...bea, name: 'ann', role: 'viewer', createdAt: T0 + 1, ...rest },
        { ...bea, ...rest },
      ]);
      expect(await subject.accounts.user('bea', T0)).toEqual({ ...bea, ...rest });
      expect(await subject.accounts.user('cid', T0)).toBeNull();
    });

    it('takes no more users than it lists', async () => {
      for (let place = 0; place < MAX_USERS; place++)
        await accounts.addUser({ name: `user${place}`, role: 'viewer', createdAt: T0 });
      expect(await accounts.addUser({ name: 'one-more', role: 'viewer', createdAt: T0 })).toBe('full');
    });

    it('makes one first administrator, and no second', async () => {
      await accounts.addUser({ name: 'waiting', role: 'viewer', createdAt: T0 });
      expect(await accounts.claimFirst('ann', 'secret', T0)).toBe(true);
      expect(await accounts.claimFirst('bea', 'secret', T0)).toBe(false);
      expect(await accounts.claimFirst('ann', 'other', T0)).toBe(false);
      expect(await accounts.user('ann', T0)).toMatchObject({ role: 'admin', passwordHash: 'secret' });
      expect(await accounts.user('bea', T0)).toBeNull();
    });

    it('never loses its last administrator who can sign in', async () => {
      await addPerson(accounts, 'ann');
      await accounts.addUser({ name: 'bea', role: 'admin', createdAt: T0 });
      const last = { kind: 'last_admin' };
      expect(await accounts.changeUser('ann', { role: 'viewer', disabled: null })).toEqual(last);
      expect(await accounts.changeUser('ann', { role: null, disabled: true })).toEqual(last);
      expect(await accounts.removeUser('ann')).toEqual(last);
      expect(await accounts.user('ann', T0)).toMatchObject({ role: 'admin', disabled: false });
      await accounts.setPassword('bea', { hash: 'secret', expected: null, keep: null });
      expect(await accounts.removeUser('ann')).toEqual({ kind: 'done', ended: [] });
      expect(await accounts.changeUser('bea', { role: 'operator', disabled: null })).toEqual(last);
      expect(await accounts.removeUser('ann')).toEqual({ kind: 'not_found' });
    });

    it('ends sessions and links of whoever is disabled or removed', async () => {
      await addPerson(accounts, 'ann');
      for (const name of ['bea', 'cid']) {
        await addPerson(accounts, name);
        await signIn(accounts, sessionOf(name, 1));
        await accounts.putLink({ hash: `link-${name}`, user: name, expiresAt: T0 + HOUR, mail: null }, T0);
      }
      expect(await accounts.changeUser('bea', { role: 'operator', disabled: true })).toEqual({
        kind: 'done',
        ended: ['ses_bea-1'],
      });
      expect(await accounts.user('bea', T0)).toMatchObject({ role: 'operator', disabled: true });
      expect(await accounts.removeUser('cid')).toEqual({ kind: 'done', ended: ['ses_cid-1'] });
      expect(await accounts.sessions(null, T0, 0)).toEqual([]);
      expect(await accounts.link('link-bea', T0)).toBeNull();
      expect(await accounts.link('link-cid', T0)).toBeNull();
      expect(await signIn(accounts, sessionOf('bea', 2))).toEqual({ kind: 'stale' });
    });

    it('sets a password only where it was not set meanwhile, and ends all sessions but the one kept', async () => {
      await addPerson(accounts, 'ann');
      for (const place of [1, 2]) await signIn(accounts, sessionOf('ann', place));
      const change = (expected: string | null, hash: string, keep: string | null) =>
        accounts.setPassword('ann', { hash, expected, keep });
      expect(await change('not-it', 'new', null)).toEqual({ kind: 'not_found' });
      expect(await change('ann-password', 'new', 'ses_ann-2')).toEqual({
        kind: 'done',
        ended: ['ses_ann-1'],
      });
      expect(await change(null, 'newer', null)).toEqual({ kind: 'done', ended: ['ses_ann-2'] });
      expect(await accounts.user('ann', T0)).toMatchObject({ passwordHash: 'newer', sessions: 0 });
    });

    it('has one link for each user, and one for the first, until it is used or ends', async () => {
      const link = (hash: string, user: string | null, expiresAt = T0 + HOUR) =>
        accounts.putLink({ hash, user, expiresAt, mail: null }, T0);
      await link('one', null);
      await link('two', null);
      expect(await accounts.link('one', T0)).toBeNull();
      expect(await accounts.link('two', T0)).toEqual({
        hash: 'two',
        user: null,
        expiresAt: T0 + HOUR,
        mail: null,
      });
      expect(await accounts.link('two', T0 + HOUR)).toBeNull();
      const first = { name: 'ann', passwordHash: 'secret' };
      expect(await accounts.redeemLink('one', first, T0)).toEqual({ kind: 'not_found' });
      expect(await accounts.redeemLink('two', first, T0 + HOUR)).toEqual({ kind: 'not_found' });
      expect(await accounts.redeemLink('two', first, T0)).toEqual({ kind: 'done', ended: [] });
      expect(await accounts.redeemLink('two', first, T0)).toEqual({ kind: 'not_found' });
      expect(await accounts.user('ann', T0)).toMatchObject({ role: 'admin', passwordHash: 'secret' });
      await link('late', null);
      expect(await accounts.redeemLink('late', { ...first, name: 'eve' }, T0)).toEqual({ kind: 'not_found' });
      expect(await accounts.user('eve', T0)).toBeNull();
    });

    it('knows by which message a link was sent, until the link is used, ends, or was not sent after all', async () => {
      await addPerson(accounts, 'ann');
      const link = (user: string | null, expiresAt = T0 + HOUR) => {
        const mail = user === null ? null : { to: `${user}@example.org`, message: `msg_${user}` };
        return { hash: `link-${user}`, user, expiresAt, mail };
      };
      const all = [link('ann'), link('bea', T0 + 2 * HOUR), link('cid')];
      for (const one of [...all, link(null)]) await accounts.putLink(one, T0);
      const links = async (now: number) =>
        (await accounts.links(now)).sort((one, other) => one.hash.localeCompare(other.hash));
      expect(await links(T0)).toEqual(all);
      await accounts.forgetLinkMail('cid');
      await accounts.redeemLink('link-ann', { name: 'ann', passwordHash: 'chosen' }, T0);
      expect(await links(T0)).toEqual([link('bea', T0 + 2 * HOUR), { ...link('cid'), mail: null }]);
      expect(await links(T0 + HOUR)).toEqual([link('bea', T0 + 2 * HOUR)]);
    });

    it('lets a link choose the password of its user alone, whatever name comes with it', async () => {
      await addPerson(accounts, 'ann');
      await addPerson(accounts, 'bea');
      await signIn(accounts, sessionOf('bea', 1));
      await accounts.putLink({ hash: 'link', user: 'bea', expiresAt: T0 + HOUR, mail: null }, T0);
      const chosen = { name: 'ann', passwordHash: 'chosen' };
      expect(await accounts.redeemLink('link', chosen, T0)).toEqual({ kind: 'done', ended: ['ses_bea-1'] });
      expect(await accounts.user('bea', T0)).toMatchObject({ passwordHash: 'chosen', role: 'viewer' });
      expect(await accounts.user('ann', T0)).toMatchObject({ passwordHash: 'ann-password' });
      expect(await accounts.redeemLink('link', chosen, T0)).toEqual({ kind: 'not_found' });
    });

    it('does not make a user who is there the first administrator by the link for the first', async () => {
      await accounts.addUser({ name: 'bea', role: 'viewer', createdAt: T0 });
      await accounts.putLink({ hash: 'link', user: null, expiresAt: T0 + HOUR, mail: null }, T0);
      const chosen = { name: 'bea', passwordHash: 'chosen' };
      expect(await accounts.redeemLink('link', chosen, T0)).toEqual({ kind: 'taken' });
      expect(await accounts.link('link', T0)).not.toBeNull();
    });

    it('takes each code of a second factor once, and none of before', async () => {
      await addPerson(accounts, 'ann');
      const factor = { sealed: 'sealed', step: 100, recoveryHashes: ['r1', 'r2'] };
      expect(await accounts.putSecondFactor('nobody', factor)).toBe(false);
      expect(await accounts.putSecondFactor('ann', factor)).toBe(true);
      expect(await accounts.user('ann', T0)).toMatchObject({ secondFactor: 'sealed', recoveryCodesLeft: 2 });
      expect(await accounts.spendStep('ann', 100)).toBe(false);
      expect(await accounts.spendStep('ann', 102)).toBe(true);
      expect(await accounts.spendStep('ann', 102)).toBe(false);
      expect(await accounts.spendStep('ann', 101)).toBe(false);
      const both = await Promise.all([1, 2].map(() => accounts.spendStep('ann', 103)));
      expect(both.sort()).toEqual([false, true]);
    });

    it('takes each recovery code once, and those of before no more', async () => {
      await addPerson(accounts, 'ann');
      await addPerson(accounts, 'bea');
      const factor = { sealed: 'sealed', step: 100, recoveryHashes: ['r1', 'r2'] };
      await accounts.putSecondFactor('ann', factor);
      expect(await accounts.spendRecoveryCode('bea', 'r1')).toBe(false);
      expect(await accounts.spendRecoveryCode('ann', 'r1')).toBe(true);
      expect(await accounts.spendRecoveryCode('ann', 'r1')).toBe(false);
      await accounts.putSecondFactor('ann', { ...factor, recoveryHashes: ['r3'] });
      expect(await accounts.spendRecoveryCode('ann', 'r2')).toBe(false);
      expect(await accounts.removeSecondFactor('ann')).toBe(true);
      expect(await accounts.removeSecondFactor('ann')).toBe(false);
      expect(await accounts.spendRecoveryCode('ann', 'r3')).toBe(false);
      expect(await accounts.user('ann', T0)).toMatchObject({ secondFactor: null, recoveryCodesLeft: 0 });
    });

    it('keeps passkeys by user, and removes them with their user', async () => {
      await addPerson(accounts, 'ann');
      await addPerson(accounts, 'bea');
      expect(await addPasskey(accounts, passkeyOf('nobody', 'k0'))).toBe('gone');
      expect(await addPasskey(accounts, passkeyOf('ann', 'k2', { createdAt: T0 + 1 }))).toBe('added');
      expect(await addPasskey(accounts, passkeyOf('ann', 'k1'))).toBe('added');
      expect(await addPasskey(accounts, passkeyOf('bea', 'k1'))).toBe('taken');
      expect(await addPasskey(accounts, passkeyOf('bea', 'k3', { host: 'b.example' }))).toBe('added');
      expect(await addPasskey(accounts, passkeyOf('bea', 'k4', { handle: null }), 'challenge-bea-k3')).toBe(
        'spent',
      );
      subject = await subject.reopen();
      accounts = subject.accounts;
      expect(await accounts.passkeys('ann')).toEqual([
        passkeyOf('ann', 'k1'),
        passkeyOf('ann', 'k2', { createdAt: T0 + 1 }),
      ]);
      expect(await accounts.passkey('k3')).toEqual(passkeyOf('bea', 'k3', { host: 'b.example' }));
      expect(await accounts.passkey('k0')).toBeNull();
      expect(await accounts.user('ann', T0)).toMatchObject({ passkeys: 2 });
      expect(await accounts.removePasskey('bea', 'k1')).toBeNull();
      expect(await accounts.removePasskey('ann', 'k1')).toEqual(passkeyOf('ann', 'k1'));
      expect(await accounts.hasPasskey('b.example')).toBe(true);
      const gone = sessionOf('ann', 1);
      await signIn(accounts, gone);
      expect(await accounts.removePasskeys('ann')).toEqual([gone.id]);
      expect(await accounts.hasPasskey('a.example')).toBe(false);
      await accounts.removeUser('bea');
      expect(await accounts.passkey('k3')).toBeNull();
    });

    it('takes no more passkeys of a user than their limit, even at once', async () => {
      await addPerson(accounts, 'ann');
      const places = Array.from({ length: MAX_PASSKEYS + 3 }, (_, place) => place);
      const answers = await Promise.all(
        places.map((place) => addPasskey(accounts, passkeyOf('ann', `k${place}`))),
      );
      expect(answers.filter((answer) => answer === 'added')).toHaveLength(MAX_PASSKEYS);
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(3);
    });

    it('takes one answer to a challenge, of several at once too, and forgets it when none counts any more', async () => {
      await addPerson(accounts, 'ann');
      await addPasskey(accounts, passkeyOf('ann', 'k1'));
      const use = (hash: string, now = T0, counter = 1, expiresAt = T0 + HOUR) =>
        accounts.recordPasskeyUse('k1', { counter, now, challenge: { hash, expiresAt } });
      // Most authenticators count nothing.
      expect((await Promise.all([use('c0', T0, 0), use('c0', T0, 0)])).sort()).toEqual([false, true]);
      expect((await Promise.all([use('c1'), use('c1')])).sort()).toEqual([false, true]);
      expect(await use('c1', T0 + 1)).toBe(false);
      expect(await use('c2', T0 + 2, 7)).toBe(true);
      expect(await accounts.passkey('k1')).toMatchObject({ counter: 7, lastUsedAt: T0 + 2 });
      // Of two answers at once, the later count stays.
      expect(await use('c3', T0 + 3, 7)).toBe(false);
      expect(await use('c4', T0 + 3, 0)).toBe(false);
      // An answer that took until then does not count, whether or not another one did before.
      expect(await use('c1', T0 + HOUR, 8)).toBe(false);
      expect(await use('c6', T0 + HOUR, 8)).toBe(false);
      expect(await use('c1', T0 + HOUR, 8, T0 + 2 * HOUR)).toBe(true);
      await accounts.removePasskeys('ann');
      expect(await use('c5')).toBe(false);
    });

    it('adds a user of a provider the first time, and later finds them by their account alone', async () => {
      await addPerson(accounts, 'ann');
      const answer = await accounts.welcome(guestOf('ann', 'operator'), T0 + 1);
      const ann2 = {
        name: 'ann-2',
        role: 'operator',
        provider: { issuer: 'https://sso.example', subject: 'ann' },
        passwordHash: null,
        createdAt: T0 + 1,
      };
      // Whoever is called as a user of ours gets another name, and nothing of theirs.
      expect(answer).toMatchObject({ kind: 'in', user: ann2, before: null });
      subject = await subject.reopen();
      accounts = subject.accounts;
      expect(await accounts.welcome(guestOf('ann', 'viewer'), T0 + 2)).toMatchObject({
        kind: 'in',
        user: { ...ann2, role: 'viewer' },
        before: 'operator',
      });
      expect(await accounts.userAt(guestOf('ann').account, T0)).toMatchObject({ name: 'ann-2' });
      const other = { issuer: 'https://other.example', subject: 'ann' };
      expect(await accounts.userAt(other, T0)).toBeNull();
      expect(await accounts.welcome({ ...guestOf('ann', 'admin'), account: other }, T0)).toEqual({
        kind: 'taken',
      });
      expect(await accounts.user('ann', T0)).toMatchObject({ passwordHash: 'ann-password', provider: null });
      expect((await accounts.users(T0)).map(({ name }) => name)).toEqual(['ann', 'ann-2']);
      // Who has no password here does not keep the last administrator from being one.
      await accounts.welcome(guestOf('ann', 'admin', 'again'), T0);
      expect(await accounts.changeUser('ann', { role: 'viewer', disabled: null })).toEqual({
        kind: 'last_admin',
      });
    });

    it('welcomes once with an answer, of several at once too, and nobody who is disabled or too many', async () => {
      await addPerson(accounts, 'ann');
      const kinds = async (...guests: Guest[]) =>
        (await Promise.all(guests.map((guest) => accounts.welcome(guest, T0))))
          .map(({ kind }) => kind)
          .sort();
      expect(await kinds(guestOf('bea'), guestOf('bea'))).toEqual(['in', 'spent']);
      expect(await kinds(guestOf('bea', 'viewer', 'b1'), guestOf('bea', 'viewer', 'b2'))).toEqual([
        'in',
        'in',
      ]);
      await accounts.changeUser('bea', { role: null, disabled: true });
      expect(await kinds(guestOf('bea', 'admin'))).toEqual(['disabled']);
      expect(await accounts.user('bea', T0)).toMatchObject({ role: 'viewer', disabled: true });
      for (let place = 2; place < MAX_USERS; place++)
        await accounts.addUser({ name: `u${place}`, role: 'viewer', createdAt: T0 });
      expect(await kinds(guestOf('cid'))).toEqual(['full']);
      await accounts.removeUser('u2');
      expect(await kinds(guestOf('cid'))).toEqual(['in']);
    });

    it('opens a session of somebody without a password, unless they were given one meanwhile', async () => {
      await accounts.welcome(guestOf('bea'), T0);
      const rules = { passwordHash: null, limit: 9, replaces: null };
      expect(await accounts.addSession(sessionOf('bea', 1), rules)).toEqual({ kind: 'added', ended: [] });
      await accounts.setPassword('bea', { hash: 'x', expected: null, keep: null });
      expect(await accounts.addSession(sessionOf('bea', 2), rules)).toEqual({ kind: 'stale' });
    });
  });
}
