import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { MAX_WAITING_CHARACTERS, type WaitingDelivery, type WaitingQuery } from '../../../src/store/views.ts';
import {
  apiKey,
  at,
  attempt,
  claim,
  DEFERRED,
  message,
  type OpenSubject,
  recipient,
  refOf,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What the view `waiting` promises. */
export function waitingContract(open: OpenSubject): void {
  describe('waiting', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const nowhere = { relay: null, lane: null, group: [] };
    const accept = async (...records: AcceptRecord[]) => {
      await subject.store.accept(records, at());
      return records.map(({ id }) => id);
    };
    /** Every page, each of at most so many. */
    async function walk(lane: WaitingQuery['lane'], limit: number): Promise<WaitingDelivery[][]> {
      const pages = [];
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof subject.views.waiting>> = await subject.views.waiting({
          lane,
          after,
          limit,
        });
        pages.push([...page.deliveries]);
        after = page.next;
      } while (after !== null);
      return pages;
    }
    const found = async (lane: WaitingQuery['lane'], limit = 100) =>
      (await walk(lane, limit)).flat().map(({ messageId, index }) => `${messageId}/${index}`);

    it('shows all that routing looks at', async () => {
      await subject.keyring.create(apiKey('key_one', { name: 'the first' }), 'hash');
      const deliveries = [
        recipient({
          recipient: { address: 'to@example.net', kind: 'bcc', notify: null, orcpt: null },
          rule: 'r1',
          group: ['out', 'spare'],
          dueAt: T0 + 3,
        }),
      ];
      const record = message({ deliveries, tags: ['a', 'b'], routeTable: 7, test: true, priority: 'high' });
      await accept(record);
      expect(await walk('all', 9)).toEqual([
        [
          {
            messageId: record.id,
            index: 0,
            lane: 'out',
            relay: 'out',
            rule: 'r1',
            group: ['out', 'spare'],
            priority: 'high',
            dueAt: T0 + 3,
            routeTable: 7,
            recipient: 'to@example.net',
            reversePath: 'sender@example.com',
            tags: ['a', 'b'],
            keyId: 'key_one',
            keyName: 'the first',
            sourceAddress: '127.0.0.1',
            sizeBytes: 1000,
            test: true,
            createdAt: T0,
          },
        ],
      ]);
    });

    it('has no name for a key that is gone, and none without a key', async () => {
      await accept(message({ keyId: 'key_gone' }), message({ keyId: null, sourceAddress: null }));
      const [page = []] = await walk('all', 9);
      expect(page.map(({ keyId, keyName, sourceAddress }) => [keyId, keyName, sourceAddress])).toEqual([
        ['key_gone', null, '127.0.0.1'],
        [null, null, null],
      ]);
    });

    it('shows what waits, and nothing that is leased or has ended', async () => {
      const lease = await takeLane(subject.store);
      const mixed = message({
        deliveries: [recipient(), recipient({ fence: lease.fence }), recipient(nowhere)],
      });
      const ended = message();
      await accept(mixed, ended);
      await subject.store.cancel([ended.id], at());
      expect(await found('all')).toEqual([`${mixed.id}/0`, `${mixed.id}/2`]);
    });

    it('shows one lane, or what has no route', async () => {
      const deliveries = [recipient(), recipient(nowhere), recipient({ lane: 'b', relay: 'b' })];
      const record = message({ deliveries });
      await accept(record);
      expect(await found({ name: 'out' })).toEqual([`${record.id}/0`]);
      expect(await found('none')).toEqual([`${record.id}/1`]);
      expect(await found({ name: 'b' })).toEqual([`${record.id}/2`]);
      expect(await found({ name: 'none' })).toEqual([]);
    });

    it.each(['all', 'none', { name: 'out' }] as const)('pages hold each delivery once: %j', async (lane) => {
      const way = lane === 'none' ? nowhere : {};
      const records = Array.from({ length: 5 }, (_, i) =>
        message({
          priority: (['bulk', 'high', 'normal'] as const)[i % 3] ?? 'normal',
          expiresAt: T0 + 1e9 - (i % 2) * 1000,
          deliveries: Array.from({ length: 3 }, (_, j) => recipient({ dueAt: T0 + (j % 2), ...way })),
        }),
      );
      await accept(...records);
      const whole = await found(lane);
      expect(new Set(whole)).toEqual(
        new Set(records.flatMap(({ id }) => [0, 1, 2].map((j) => `${id}/${j}`))),
      );
      expect(whole).toHaveLength(15);
      for (const limit of [1, 4, 5, 15]) {
        const pages = await walk(lane, limit);
        expect(pages.flat().map(({ messageId, index }) => `${messageId}/${index}`)).toEqual(whole);
        expect(pages).toHaveLength(Math.ceil(15 / limit));
      }
    });

    it('the walk over all goes on where it was, though what it has seen is given another way and tried', async () => {
      const ids = await accept(...Array.from({ length: 6 }, () => message()));
      const first = await subject.views.waiting({ lane: 'all', after: null, limit: 3 });
      const to = { relay: 'b', lane: 'b' };
      const moves = first.deliveries.map(({ messageId, index, lane }) => {
        return { messageId, index, fromLane: lane, to, rule: null, group: ['b'] };
      });
      await subject.store.reassign(moves, at());
      const lease = await takeLane(subject.store, 'b');
      for (const unit of await claim(subject.store, lease))
        await attempt(subject.store, refOf(unit), [DEFERRED]);
      const rest = await subject.views.waiting({ lane: 'all', after: first.next, limit: 9 });
      expect(rest.next).toBeNull();
      const seen = [...first.deliveries, ...rest.deliveries].map(({ messageId }) => messageId);
      expect(seen).toEqual(ids);
    });

    it('a page ends early when its text is large', async () => {
      const tags = [`t${'x'.repeat(MAX_WAITING_CHARACTERS / 2)}`];
      const ids = await accept(...Array.from({ length: 5 }, () => message({ tags })));
      const pages = await walk('all', 100);
      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(pages.flat().map(({ messageId }) => messageId)).toEqual(ids);
    });
  });
}
