import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { savedView, storyLink } from '../../support/sharing.ts';
import { addPerson } from './accounts.ts';
import { at, DAY, DELIVERED, HOUR, KEEP_ALL, type OpenSubject, type Subject, T0 } from './fixtures.ts';
import { recipientAt, Teller } from './told.ts';

/** Most links of a message, and of all. */
const BOUNDS = { ofMessage: 2, all: 3 };

/** What users of the dashboard keep and show each other. */
export function sharingContract(open: OpenSubject): void {
  describe('sharing', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('keeps the views of a user, each with a name of its own on its page, and no more than allowed', async () => {
      const { sharing } = subject;
      const [failed, late] = [savedView(), savedView({ name: 'A late one', search: {} })];
      expect(await sharing.addView(failed, 3)).toBe('added');
      expect(await sharing.addView(savedView(), 3)).toBe('name_taken');
      expect(await sharing.addView(late, 3)).toBe('added');
      const elsewhere = savedView({ page: '/suppressions' });
      expect(await sharing.addView(elsewhere, 3)).toBe('added');
      expect(await sharing.addView(savedView({ name: 'Fourth' }), 3)).toBe('too_many');
      expect(await sharing.addView(savedView({ user: 'bea' }), 3)).toBe('added');
      subject = await subject.reopen();
      expect(await subject.sharing.savedViews('ann')).toEqual([late, failed, elsewhere]);
    });

    it('changes, shares and removes views for their own user alone', async () => {
      const { sharing } = subject;
      const view = savedView();
      await sharing.addView(view, 9);
      await sharing.addView(savedView({ name: 'Late' }), 9);
      expect(await sharing.changeView('bea', view.id, { name: 'Mine', search: null })).toBeNull();
      expect(await sharing.shareView('bea', view.id, 9)).toBeNull();
      expect(await sharing.unshareView('bea', view.id)).toBeNull();
      expect(await sharing.removeView('bea', view.id)).toBeNull();
      expect(await sharing.changeView('ann', view.id, { name: 'Late', search: null })).toBe('name_taken');
      const changed = { ...view, name: 'Broken', search: { q: 'is:bounced' } };
      expect(await sharing.changeView('ann', view.id, { name: 'Broken', search: changed.search })).toEqual(
        changed,
      );
      expect(await sharing.changeView('ann', view.id, { name: null, search: null })).toEqual(changed);
      expect(await sharing.removeView('ann', view.id)).toEqual(changed);
      expect(await sharing.removeView('ann', view.id)).toBeNull();
    });

    it('shares views with everybody, under names that differ', async () => {
      const { sharing } = subject;
      const [anns, beas] = [savedView(), savedView({ user: 'bea' })];
      const others = savedView({ user: 'bea', name: 'Other' });
      for (const view of [anns, beas, others]) await sharing.addView(view, 9);
      const shared = { ...anns, isShared: true };
      expect(await sharing.shareView('ann', anns.id, 9)).toEqual(shared);
      expect(await sharing.shareView('ann', anns.id, 9)).toEqual(shared);
      expect(await sharing.savedViews('cid')).toEqual([shared]);
      expect(await sharing.shareView('bea', beas.id, 9)).toBe('name_taken');
      await sharing.shareView('bea', others.id, 9);
      expect(await sharing.changeView('ann', anns.id, { name: 'Other', search: null })).toBe('name_taken');
      expect(await sharing.unshareView(null, anns.id)).toEqual(anns);
      expect(await sharing.unshareView(null, 'viw_none')).toBeNull();
      expect((await sharing.savedViews('cid')).map(({ name }) => name)).toEqual(['Other']);
    });

    it('shares no more views than everybody can look through', async () => {
      const { sharing } = subject;
      for (const name of ['one', 'two', 'three']) {
        const view = savedView({ name });
        await sharing.addView(view, 9);
        const shared = name === 'three' ? 'too_many' : { ...view, isShared: true };
        expect(await sharing.shareView('ann', view.id, 2)).toEqual(shared);
      }
    });

    it('removes the views of a user who is removed', async () => {
      const { accounts, sharing } = subject;
      for (const name of ['root', 'ann']) await addPerson(accounts, name);
      const view = savedView();
      await sharing.addView(view, 9);
      await sharing.shareView('ann', view.id, 9);
      await accounts.removeUser('ann');
      expect(await sharing.savedViews('root')).toEqual([]);
    });

    it('finds a link to a story by its token until it ends', async () => {
      const { sharing } = subject;
      const [link, later] = [storyLink(), storyLink({ hasContent: true, expiresAt: T0 + DAY })];
      expect(await sharing.addStoryLink({ link, hash: 'one' }, BOUNDS, T0)).toBe('added');
      expect(await sharing.addStoryLink({ link: later, hash: 'two' }, BOUNDS, T0)).toBe('added');
      subject = await subject.reopen();
      const again = subject.sharing;
      expect(await again.storyLink('one', T0 + HOUR - 1)).toEqual(link);
      expect(await again.storyLink('one', T0 + HOUR)).toBeNull();
      expect(await again.storyLink('three', T0)).toBeNull();
      expect(await again.storyLinks(link.message, T0)).toEqual([later, link]);
      expect(await again.storyLinks(link.message, T0 + HOUR)).toEqual([later]);
      expect(await again.endStoryLink(later.id)).toEqual(later);
      expect(await again.endStoryLink(later.id)).toBeNull();
      expect(await again.storyLink('two', T0)).toBeNull();
    });

    it('makes a bounded number of links to a story, of which those that have ended do not count', async () => {
      const { sharing } = subject;
      const add = (hash: string, message: string, now = T0) =>
        sharing.addStoryLink({ link: storyLink({ message }), hash }, BOUNDS, now);
      for (const hash of ['one', 'two']) expect(await add(hash, 'msg_a')).toBe('added');
      expect(await add('three', 'msg_a')).toBe('too_many');
      expect(await add('three', 'msg_b')).toBe('added');
      expect(await add('four', 'msg_c')).toBe('full');
      expect(await add('four', 'msg_a', T0 + HOUR)).toBe('added');
    });

    it('ends links with the record of their message, and forgets those that have ended', async () => {
      const { sharing, store } = subject;
      const { id } = await teller.sent({ deliveries: [recipientAt('ann@example.net')] }, [DELIVERED]);
      const expiresAt = T0 + 99 * DAY;
      await sharing.addStoryLink({ link: storyLink({ message: id, expiresAt }), hash: 'of it' }, BOUNDS, T0);
      await sharing.addStoryLink({ link: storyLink(), hash: 'ended' }, BOUNDS, T0);
      const purge = async (ms: number) => {
        while (
          (await store.purge({ ...KEEP_ALL, contentAgeMs: 7 * DAY, recordAgeMs: 30 * DAY }, 9, at(ms))).more
        );
      };
      await purge(7 * DAY);
      expect(await sharing.storyLink('ended', T0)).toBeNull();
      expect(await sharing.storyLink('of it', T0)).not.toBeNull();
      // A record may stay for a day longer, until all of its day goes.
      await purge(32 * DAY);
      expect(await sharing.storyLink('of it', T0)).toBeNull();
    });
  });
}
