import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import type { PurgePolicy } from '../../../src/store/upkeep.ts';
import {
  apiKey,
  at,
  attempt,
  attemptsOf,
  CAPTURED,
  DAY,
  DELIVERED,
  MINUTE,
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

const KEEP: PurgePolicy = {
  contentAgeMs: 7 * DAY,
  contentMaxBytes: 1e9,
  capturedAgeMs: 3 * DAY,
  capturedMaxBytes: 1e9,
  recordAgeMs: 90 * DAY,
  eventAgeMs: 90 * DAY,
  feedbackAgeMs: 90 * DAY,
  maxUnsubscribeLinks: 1000,
};

/** What `purge` and the segment verbs promise. */
export function purgeContract(open: OpenSubject): void {
  describe('purge', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    /** Accepts a message the short way and settles it at `T0 + ms`. */
    async function ended(outcome: Outcome, ms = 0, change: Partial<AcceptRecord> = {}): Promise<string> {
      const lease = await takeLane(subject.store);
      const record = message({ ...change, deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      await attempt(subject.store, refTo(record.id, lease), [outcome], at(ms));
      await subject.store.releaseLanes([lease], at());
      return record.id;
    }
    const contentOf = async (id: string) => (await read(subject.views, id)).message.content;

    it('forgets with the contents where in them the copy of each recipient was', async () => {
      const copies = [{ start: 0, length: 1000, checksum: 1 }];
      const ids = [await ended(CAPTURED, 0, { copies }), await ended(DELIVERED, 0, { copies })];
      const known = async () =>
        Promise.all(ids.map(async (id) => (await read(subject.views, id)).message.copies));
      expect(await known()).toEqual([copies, copies]);
      await subject.store.discard(ids, at());
      expect(await known()).toEqual([null, copies]);
      await subject.store.purge(KEEP, 9, at(7 * DAY));
      expect(await known()).toEqual([null, null]);
    });

    it('discards the contents of captured mail, and of no other', async () => {
      const sent = await ended(DELIVERED);
      const captured = await ended(CAPTURED);
      const { id: waiting } = message({});
      const ids = [captured, sent, waiting, 'msg_none', captured];
      expect(await subject.store.discard(ids, at())).toEqual([true, false, false, false, false]);
      expect(await contentOf(captured)).toBeNull();
      expect(await contentOf(sent)).not.toBeNull();
      expect(await subject.store.discard([captured], at())).toEqual([false]);
      expect((await subject.books()).capturedBytes).toBe(0);
    });

    it('removes contents by age, of captured mail by its own', async () => {
      const sent = await ended(DELIVERED);
      const captured = await ended(CAPTURED);
      expect(await subject.store.purge(KEEP, 9, at(3 * DAY - 1))).toMatchObject({ contents: 0 });
      expect(await subject.store.purge(KEEP, 9, at(3 * DAY))).toEqual({
        contents: 1,
        records: 0,
        more: false,
      });
      expect(await contentOf(captured)).toBeNull();
      expect(await contentOf(sent)).not.toBeNull();
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 1]]));
      expect(await subject.store.purge(KEEP, 9, at(7 * DAY))).toMatchObject({ contents: 1 });
      expect(await contentOf(sent)).toBeNull();
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
    });

    it('removes contents by the days of their key, captured or not, as they are now', async () => {
      const days = [null, 0, 1, 30];
      for (const [place, contentDays] of days.entries())
        await subject.keyring.create(apiKey(`key_${place}`, { contentDays }), `hash ${place}`);
      const ids: string[] = [];
      for (const outcome of [DELIVERED, CAPTURED])
        for (const keyId of [null, 'key_0', 'key_1', 'key_2', 'key_3', 'key_gone'])
          ids.push(await ended(outcome, 0, { keyId }));
      const kept = async () => Promise.all(ids.map(async (id) => (await contentOf(id)) !== null));
      const [yes, no] = [true, false];
      await subject.store.purge(KEEP, 99, at(0));
      expect(await kept()).toEqual([yes, yes, no, yes, yes, yes, yes, yes, no, yes, yes, yes]);
      await subject.store.purge(KEEP, 99, at(DAY));
      expect(await kept()).toEqual([yes, yes, no, no, yes, yes, yes, yes, no, no, yes, yes]);
      await subject.store.purge(KEEP, 99, at(3 * DAY));
      expect(await kept()).toEqual([yes, yes, no, no, yes, yes, no, no, no, no, yes, no]);
      await subject.store.purge(KEEP, 99, at(7 * DAY));
      expect(await kept()).toEqual([no, no, no, no, yes, no, no, no, no, no, yes, no]);
      await subject.keyring.update(apiKey('key_3', { contentDays: 2 }));
      expect(await subject.store.purge(KEEP, 99, at(7 * DAY))).toEqual({
        contents: 2,
        records: 0,
        more: false,
      });
      expect(await subject.books()).toMatchObject({ sentBytes: 0, capturedBytes: 0 });
    });

    it('removes contents of many keys in batches, and loses none', async () => {
      for (const place of [1, 2, 3]) {
        await subject.keyring.create(apiKey(`key_${place}`, { contentDays: 0 }), `hash ${place}`);
        for (let i = 0; i < 3; i++) await ended(DELIVERED, 0, { keyId: `key_${place}` });
      }
      const counts = [];
      for (let more = true; more; ) {
        const answer = await subject.store.purge(KEEP, 2, at(0));
        counts.push(answer.contents);
        more = answer.more;
      }
      expect(counts).toEqual([2, 2, 2, 2, 1]);
    });

    it('removes contents beyond the size kept, the longest final first', async () => {
      const ids = [];
      for (const ms of [30, 10, 20]) ids.push(await ended(DELIVERED, ms));
      const policy = { ...KEEP, contentMaxBytes: 1999 };
      expect(await subject.store.purge(policy, 9, at(40))).toMatchObject({ contents: 2 });
      const kept = await Promise.all(ids.map(async (id) => (await contentOf(id)) !== null));
      expect(kept).toEqual([true, false, false]);
    });

    it('removes records with everything that belongs to them', async () => {
      const id = await ended(DELIVERED, 0, { tags: ['t'], idempotency: { key: 'k', hash: 'h' } });
      const answer = await subject.store.purge({ ...KEEP, contentAgeMs: 99 * DAY }, 9, at(90 * DAY));
      expect(answer).toEqual({ contents: 0, records: 1, more: false });
      expect(await subject.views.message(id)).toBeNull();
      expect(await attemptsOf(subject.views, id)).toEqual([]);
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
    });

    it('removes records by the days of their key, with their contents, and of no other', async () => {
      const days = [null, 0, 1, 90];
      for (const [place, recordDays] of days.entries())
        await subject.keyring.create(apiKey(`key_${place}`, { recordDays }), `hash ${place}`);
      const ids: string[] = [];
      for (const outcome of [DELIVERED, CAPTURED, REJECTED])
        for (const keyId of [null, 'key_0', 'key_1', 'key_2', 'key_3'])
          ids.push(await ended(outcome, 50 * MINUTE, { keyId, tags: ['news'] }));
      const waiting = message({ keyId: 'key_1' });
      await subject.store.accept([waiting], at());
      const known = async () => {
        const found = await Promise.all(ids.map((id) => subject.views.message(id)));
        return [0, 5, 10].map((from) => found.slice(from, from + 5).map((record) => record !== null));
      };
      const [yes, no] = [true, false];
      // Later than the times in the ids, which rise with all ids that the tests before this one took.
      const purge = (limit: number, ms: number) => subject.store.purge(KEEP, limit, at(50 * MINUTE + ms));
      expect(await purge(2, 0)).toMatchObject({ records: 2, more: true });
      expect(await purge(2, 0)).toMatchObject({ records: 1, more: false });
      expect(await known()).toEqual(Array(3).fill([yes, yes, no, yes, yes]));
      // Those whose contents are gone as well as those whose are not.
      expect(await purge(99, DAY - 1)).toMatchObject({ records: 0 });
      expect(await purge(99, DAY)).toMatchObject({ records: 3 });
      expect(await known()).toEqual(Array(3).fill([yes, yes, no, no, yes]));
      await purge(99, 8 * DAY);
      await subject.keyring.update(apiKey('key_0', { recordDays: 8 }));
      expect(await purge(99, 8 * DAY)).toMatchObject({ contents: 0, records: 3 });
      expect(await known()).toEqual(Array(3).fill([yes, no, no, no, yes]));
      expect(await subject.views.message(waiting.id)).not.toBeNull();
      // A key cannot keep its records longer than others.
      await purge(99, 90 * DAY);
      expect(await known()).toEqual(Array(3).fill([no, no, no, no, no]));
    });

    it('forgets no more idempotency keys at once than it is told to', async () => {
      const keyed = ['a', 'b', 'c'].map((key) => message({ idempotency: { key, hash: 'h' } }));
      await subject.store.accept(keyed, at());
      const purge = async () => (await subject.store.purge(KEEP, 2, at(DAY))).more;
      expect([await purge(), await purge()]).toEqual([true, false]);
    });

    it('never touches what is not final', async () => {
      const lease = await takeLane(subject.store);
      const waiting = message();
      const busy = message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([waiting, busy], at());
      const nothing = {
        contentAgeMs: 0,
        contentMaxBytes: 0,
        capturedAgeMs: 0,
        capturedMaxBytes: 0,
        recordAgeMs: 0,
        eventAgeMs: 0,
        feedbackAgeMs: 0,
        maxUnsubscribeLinks: 1000,
      };
      const answer = await subject.store.purge(nothing, 9, at(900 * DAY));
      expect(answer).toEqual({ contents: 0, records: 0, more: false });
      expect(await contentOf(waiting.id)).not.toBeNull();
      expect(await contentOf(busy.id)).not.toBeNull();
    });

    it('works through at most so many, and says that there is more', async () => {
      for (let i = 0; i < 3; i++) await ended(DELIVERED);
      const step = () => subject.store.purge(KEEP, 2, at(8 * DAY));
      expect(await step()).toEqual({ contents: 2, records: 0, more: true });
      expect(await step()).toEqual({ contents: 1, records: 0, more: false });
    });

    it('counts failed messages while their contents are kept', async () => {
      await ended(REJECTED);
      expect((await subject.views.figures(T0)).spool.failed).toBe(1);
      await subject.store.purge(KEEP, 9, at(8 * DAY));
      expect((await subject.views.figures(T0)).spool.failed).toBe(0);
    });

    it('forgets segments, but not those that are referred to', async () => {
      await subject.store.accept([message()], at());
      await subject.store.forgetSegments([1, 2]);
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 1]]));
    });
  });
}
