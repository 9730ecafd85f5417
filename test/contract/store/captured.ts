import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { dayOf } from '../../../src/store/counting.ts';
import type { ListFilter, ListQuery } from '../../../src/store/views.ts';
import {
  acceptAll,
  at,
  attempt,
  CAPTURED,
  DELIVERED,
  listed,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';
import { bounceOf, recipientAt, Teller } from './told.ts';

/** What lists of captured mail, and marks on it, promise. */
export function capturedContract(open: OpenSubject): void {
  describe('captured mail', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const list = (filter: Partial<ListFilter>, query: Partial<ListQuery> = {}) =>
      listed(subject.views, filter, query);
    const accept = (...changes: readonly Partial<AcceptRecord>[]) => acceptAll(subject.store, changes);
    const ended = async (outcome: Outcome, change: Partial<AcceptRecord> = {}) => {
      const lease = await takeLane(subject.store);
      const record = message({ ...change, deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      await attempt(subject.store, refTo(record.id, lease), [outcome], at());
      await subject.store.releaseLanes([lease], at());
      return record.id;
    };

    it('finds those of a box, of one key or of all', async () => {
      const one = await ended(CAPTURED, { box: 'a', tags: ['x'] });
      await ended(CAPTURED, { box: 'b', tags: ['x'] });
      await ended(CAPTURED);
      await ended(DELIVERED, { box: 'a', tags: ['x'] });
      const two = await ended(CAPTURED, { box: 'a' });
      const other = await ended(CAPTURED, { box: 'a', keyId: 'key_two' });
      const box = { captured: true, box: 'a' } as const;
      const owner = { keyId: 'key_one' };
      expect((await list(box)).ids).toEqual([other, two, one]);
      expect((await list(box, { owner })).ids).toEqual([two, one]);
      expect((await list(box, { owner, limit: 1 })).next).toBe(two);
      expect((await list(box, { owner, before: two })).ids).toEqual([one]);
      expect((await list({ ...box, tag: 'x' }, { owner })).ids).toEqual([one]);
      expect((await list({ captured: true, box: 'c' }, { owner })).ids).toEqual([]);
    });

    it('finds what is kept, of one key or of all', async () => {
      const one = await ended(CAPTURED, { tags: ['news'] });
      await ended(DELIVERED, { tags: ['news'] });
      const two = await ended(CAPTURED, { keyId: 'key_two' });
      await accept({});
      const captured = true;
      expect((await list({ captured })).ids).toEqual([two, one]);
      expect((await list({ captured }, { limit: 1 })).next).toBe(two);
      expect((await list({ captured }, { before: two })).ids).toEqual([one]);
      expect((await list({ captured }, { owner: { keyId: 'key_two' } })).ids).toEqual([two]);
      const ofTwo = { owner: { keyId: 'key_two' } } as const;
      expect((await list({ captured }, { ...ofTwo, statuses: ['failed'] })).ids).toEqual([]);
      expect((await list({ captured }, { ...ofTwo, statuses: ['delivered'] })).ids).toEqual([two]);
      expect((await list({ captured, tag: 'news' })).ids).toEqual([one]);
      expect((await list({ captured }, { statuses: ['failed'] })).ids).toEqual([]);
      const keepNone = { contentAgeMs: 1e12, contentMaxBytes: 1e12, capturedAgeMs: 0, capturedMaxBytes: 0 };
      await subject.store.purge(
        { ...keepNone, recordAgeMs: 1e12, eventAgeMs: 1e12, feedbackAgeMs: 1e12, maxUnsubscribeLinks: 9 },
        9,
        at(1),
      );
      expect((await list({ captured })).ids).toEqual([]);
    });

    it('finds a test key’s mail once anybody got it, whatever was played for it', async () => {
      const teller = new Teller(() => subject);
      const played = async (...outcomes: readonly Outcome[]) => {
        const deliveries = outcomes.map((_, place) => recipientAt(`r${place}@shop.test`));
        return (await teller.sent({ test: true, deliveries }, outcomes)).id;
      };
      const one = await played(DELIVERED);
      await played(REJECTED);
      const mixed = await played(REJECTED, DELIVERED);
      expect((await list({ captured: true })).ids).toEqual([mixed, one]);
      await teller.tellOne(bounceOf(one));
      expect((await read(subject.views, one)).message.outcome).toBe('bounced');
      expect((await list({ captured: true })).ids).toEqual([mixed, one]);
    });

    it('is counted apart from what a next hop took, and is delivered all the same', async () => {
      const teller = new Teller(() => subject);
      for (const outcome of [CAPTURED, CAPTURED, DELIVERED, REJECTED]) await ended(outcome);
      const deliveries = [recipientAt('a@shop.test'), recipientAt('b@shop.test')];
      await teller.sent({ deliveries }, [CAPTURED, CAPTURED]);
      await teller.sent({ deliveries }, [CAPTURED, DELIVERED]);
      await teller.sent({ deliveries }, [CAPTURED, REJECTED]);
      await teller.sent({ test: true, deliveries }, [CAPTURED, REJECTED]);
      const day = { period: 'day', from: dayOf(T0), count: 1, relay: null } as const;
      expect(Object.fromEntries(await subject.views.counts(day))).toEqual({
        received: [8],
        delivered: [5],
        captured: [3],
        failed: [3],
      });
    });

    it('marks what is kept as read, and gives it other tags', async () => {
      const captured = await ended(CAPTURED, { tags: ['news'] });
      const other = await ended(CAPTURED);
      const sent = await ended(DELIVERED);
      const [waiting = ''] = await accept({});
      const marks = async (id: string) => {
        const { inboxRead, inboxTags, tags } = (await read(subject.views, id)).message;
        return [inboxRead, inboxTags, tags];
      };
      expect(await marks(captured)).toEqual([false, null, ['news']]);
      const wanted = [captured, sent, waiting, 'msg_none'].map((id) => ({ id, read: true }));
      expect(await subject.store.mark(wanted, at())).toEqual([true, false, false, false]);
      expect(await marks(captured)).toEqual([true, null, ['news']]);
      expect(await marks(sent)).toEqual([false, null, []]);
      const both = [
        { id: other, tags: ['a', 'b "c"'] },
        { id: captured, tags: [] },
        { id: other, read: true },
      ];
      expect(await subject.store.mark(both, at())).toEqual([true, true, true]);
      expect(await marks(captured)).toEqual([true, [], ['news']]);
      expect(await marks(other)).toEqual([true, ['a', 'b "c"'], []]);
      await subject.store.mark([{ id: captured, read: false }], at());
      expect(await marks(captured)).toEqual([false, [], ['news']]);
      const owner = { keyId: 'key_one' };
      const page = await subject.views.list({ owner, statuses: [], before: null, limit: 10 });
      expect(page.messages.find(({ id }) => id === other)).toMatchObject({ inboxRead: true });
      expect(await subject.store.mark([], at())).toEqual([]);
    });

    it('does not mark what is no longer kept', async () => {
      const captured = await ended(CAPTURED);
      await subject.store.discard([captured], at());
      expect(await subject.store.mark([{ id: captured, read: true }], at())).toEqual([false]);
    });
  });
}
