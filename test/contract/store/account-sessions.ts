import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Accounts } from '../../../src/store/accounts.ts';
import { addPerson, sessionOf, signIn } from './accounts.ts';
import { HOUR, MINUTE, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What the store promises of sessions. */
export function accountSessionContract(open: OpenSubject): void {
  describe('sessions', () => {
    let subject: Subject;
    let accounts: Accounts;
    beforeEach(async () => {
      subject = await open();
      accounts = subject.accounts;
      await addPerson(accounts, 'ann');
      await addPerson(accounts, 'bea');
    });
    afterEach(() => subject.close());

    const listed = async (name: string | null, now = T0, seenAfter = 0) =>
      (await accounts.sessions(name, now, seenAfter)).map(({ id }) => id);

    it('keeps a session as it is, with its user, across a restart', async () => {
      const session = sessionOf('ann', 1, { createdAt: T0 + 5 });
      expect(await signIn(accounts, session)).toEqual({ kind: 'added', ended: [] });
      subject = await subject.reopen();
      const found = await subject.accounts.session(session.hash, T0);
      expect(found?.session).toEqual(session);
      expect(found?.user).toMatchObject({ name: 'ann', sessions: 1, lastSignInAt: T0 + 5 });
      expect(await subject.accounts.session('unknown', T0)).toBeNull();
    });

    it('opens none under a password that is another by now', async () => {
      const rules = { passwordHash: 'of before', limit: 9, replaces: null };
      expect(await accounts.addSession(sessionOf('ann', 1), rules)).toEqual({ kind: 'stale' });
      expect(await accounts.addSession(sessionOf('nobody', 1), rules)).toEqual({ kind: 'stale' });
      expect(await listed(null)).toEqual([]);
    });

    it('puts a session in the place of another', async () => {
      await signIn(accounts, sessionOf('ann', 1));
      const answer = await signIn(accounts, sessionOf('ann', 2), 9, 'hash-ann-1');
      expect(answer).toEqual({ kind: 'added', ended: ['ses_ann-1'] });
      expect(await listed('ann')).toEqual(['ses_ann-2']);
    });

    it('ends those used longest ago beyond the most a user may have, and nobody else’s', async () => {
      await signIn(accounts, sessionOf('bea', 1));
      for (const place of [1, 2, 3]) {
        const at = T0 + place * MINUTE;
        await signIn(accounts, sessionOf('ann', place, { createdAt: at, lastSeenAt: at }));
      }
      await accounts.keepSessions(new Map([['ses_ann-1', T0 + 9 * MINUTE]]), [], { now: T0, seenAfter: 0 });
      const answer = await signIn(accounts, sessionOf('ann', 4, { lastSeenAt: T0 + 10 * MINUTE }), 2);
      expect(answer.kind === 'added' && [...answer.ended].sort()).toEqual(['ses_ann-2', 'ses_ann-3']);
      expect(await listed('ann')).toEqual(['ses_ann-4', 'ses_ann-1']);
      expect(await listed('bea')).toEqual(['ses_bea-1']);
      // Not even the new one goes for a limit of one.
      await signIn(accounts, sessionOf('ann', 5), 1);
      expect(await listed('ann')).toEqual(['ses_ann-5']);
    });

    it('lets those that are half-way push out one another, and never one that is whole, or the other way round', async () => {
      const half = (place: number) =>
        sessionOf('ann', place, { stage: 'second_factor', lastSeenAt: T0 + place * MINUTE });
      await signIn(accounts, sessionOf('ann', 1), 2);
      await signIn(accounts, sessionOf('ann', 2, { lastSeenAt: T0 + 1 }), 2);
      for (const place of [3, 4]) expect(await signIn(accounts, half(place), 2)).toMatchObject({ ended: [] });
      expect(await signIn(accounts, half(5), 2)).toEqual({ kind: 'added', ended: ['ses_ann-3'] });
      expect(await listed('ann')).toEqual(['ses_ann-2', 'ses_ann-1']);
      const whole = sessionOf('ann', 6, { lastSeenAt: T0 + 2 });
      expect(await signIn(accounts, whole, 2)).toEqual({ kind: 'added', ended: ['ses_ann-1'] });
      expect(await accounts.session('hash-ann-4', T0)).not.toBeNull();
    });

    it('lists those that are whole and have not ended, the one used last first', async () => {
      await signIn(accounts, sessionOf('ann', 1, { lastSeenAt: T0 + 1 }));
      await signIn(accounts, sessionOf('bea', 1, { lastSeenAt: T0 + 2 }));
      await signIn(accounts, sessionOf('bea', 2, { expiresAt: T0 + MINUTE }));
      await signIn(accounts, sessionOf('bea', 3, { stage: 'second_factor' }));
      expect(await listed(null)).toEqual(['ses_bea-1', 'ses_ann-1', 'ses_bea-2']);
      expect(await listed('bea', T0 + MINUTE)).toEqual(['ses_bea-1']);
      expect(await listed(null, T0, T0 + 1)).toEqual(['ses_bea-1']);
      expect((await accounts.user('bea', T0))?.sessions).toBe(2);
      expect((await accounts.user('bea', T0 + MINUTE))?.sessions).toBe(1);
    });

    it('does not count a sign-in before it is whole', async () => {
      await signIn(accounts, sessionOf('ann', 1, { stage: 'second_factor' }));
      expect((await accounts.user('ann', T0))?.lastSignInAt).toBeNull();
    });

    it('counts tries at codes', async () => {
      await signIn(accounts, sessionOf('ann', 1, { stage: 'second_factor' }));
      expect(await accounts.countTry('hash-ann-1')).toBe(1);
      expect(await accounts.countTry('hash-ann-1')).toBe(2);
      expect(await accounts.countTry('unknown')).toBe(0);
    });

    it('ends one by its id, once, and those of a user but one', async () => {
      for (const place of [1, 2, 3]) await signIn(accounts, sessionOf('ann', place));
      await signIn(accounts, sessionOf('bea', 1));
      expect(await accounts.endSession('ses_ann-1')).toEqual(sessionOf('ann', 1));
      expect(await accounts.endSession('ses_ann-1')).toBeNull();
      expect(await accounts.endSessions('ann', 'ses_ann-3')).toEqual(['ses_ann-2']);
      expect(await accounts.endSessions('ann', null)).toEqual(['ses_ann-3']);
      expect(await listed(null)).toEqual(['ses_bea-1']);
    });

    it('writes down uses, forgets what has ended, and tells what is there no more', async () => {
      for (const place of [1, 2, 3]) await signIn(accounts, sessionOf('ann', place));
      await signIn(accounts, sessionOf('ann', 4, { expiresAt: T0 + MINUTE }));
      const known = ['ses_ann-1', 'ses_ann-2', 'ses_ann-4', 'ses_gone'];
      const uses = new Map([
        ['ses_ann-1', T0 + 5 * MINUTE],
        ['ses_gone', T0 + 5 * MINUTE],
        // A use of before changes nothing: another node has written a later one.
        ['ses_ann-3', T0 - MINUTE],
      ]);
      const ends = { now: T0 + 6 * MINUTE, seenAfter: T0 };
      expect((await accounts.keepSessions(uses, known, ends)).sort()).toEqual([
        'ses_ann-2',
        'ses_ann-4',
        'ses_gone',
      ]);
      expect(await accounts.sessions(null, T0, 0)).toMatchObject([
        { id: 'ses_ann-1', lastSeenAt: T0 + 5 * MINUTE },
      ]);
      expect(await accounts.keepSessions(new Map(), ['ses_ann-1'], { now: T0, seenAfter: 0 })).toEqual([]);
    });

    it('offers a second factor to one session, until one is taken up', async () => {
      for (const place of [1, 2]) await signIn(accounts, sessionOf('ann', place, { expiresAt: T0 + HOUR }));
      expect(await accounts.offerSecondFactor('unknown', 'sealed')).toBe(false);
      expect(await accounts.offerSecondFactor('hash-ann-1', 'sealed')).toBe(true);
      expect((await accounts.session('hash-ann-1', T0))?.session.offered).toBe('sealed');
      expect((await accounts.session('hash-ann-2', T0))?.session.offered).toBeNull();
      await accounts.putSecondFactor('ann', { sealed: 'sealed', step: 1, recoveryHashes: [] });
      expect((await accounts.session('hash-ann-1', T0))?.session.offered).toBeNull();
    });
  });
}
