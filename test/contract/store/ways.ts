import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hop } from '../../../src/domain/lane.ts';
import type { NextHop } from '../../../src/domain/settle.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import type { Reassignment } from '../../../src/store/acting.ts';
import type { Settlement } from '../../../src/store/store.ts';
import {
  at,
  beginAll,
  claim,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  SETTLED,
  type Subject,
  settlement,
  T0,
  takeLane,
  UNKNOWN,
} from './fixtures.ts';
import { bounceOf, Teller } from './told.ts';

const SPARE: Hop = { relay: 'spare', lane: 'spare/example.net' };

/** What `settle` and `reassign` promise of deliveries that take another way. */
export function wayContract(open: OpenSubject): void {
  describe('another way', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const accepted = async (change: Partial<AcceptRecord> = {}) => {
      const record = message(change);
      await subject.store.accept([record], at());
      return record;
    };
    const depths = async () =>
      (await subject.views.lanes(null, 9)).map(({ lane, waiting, processing }) => [
        lane,
        waiting,
        processing,
      ]);
    const discovered = async (ms = 0) =>
      (await subject.store.acquireLanes([], 9, T0 + HOUR, at(ms))).map(({ lane }) => lane);
    const move = (record: AcceptRecord, change: Partial<Reassignment> = {}): Reassignment => ({
      messageId: record.id,
      index: 0,
      fromLane: 'out',
      to: SPARE,
      rule: 'r2',
      group: ['spare', 'out'],
      ...change,
    });

    describe('by settle', () => {
      /** Settles a message's recipients as deferred, to wait elsewhere. */
      async function failedOver(next: readonly (NextHop | null)[]) {
        const lease = await takeLane(subject.store);
        const deliveries = next.map(() => recipient({ fence: lease.fence, group: ['out', 'spare'] }));
        const record = await accepted({ deliveries });
        const unit = refTo(record.id, lease, [...deliveries.keys()]);
        await beginAll(subject.store, [unit], at());
        const settled = settlement(unit, Array(next.length).fill(DEFERRED));
        const transitions = settled.transitions.map((transition, place) => {
          return { ...transition, next: next[place] ?? null, nextAttemptAt: T0 };
        });
        return { record, lease, settled: { ...settled, transitions } satisfies Settlement };
      }

      it('a deferral waits at the next relay, and only there', async () => {
        const { record, lease, settled } = await failedOver([SPARE]);
        expect(await subject.store.settle([settled], at(5))).toEqual([SETTLED]);
        expect(await depths()).toEqual([['spare/example.net', 1, 0]]);
        expect((await read(subject.views, record.id)).recipients).toMatchObject([
          { state: 'retrying', relay: 'spare', attempts: 1, dueAt: T0 },
        ]);
        expect(await claim(subject.store, lease)).toEqual([]);
        expect(await discovered(), 'its new lane is found').toEqual(['spare/example.net']);
      });

      it('recipients of one attempt part', async () => {
        const { record, settled } = await failedOver([SPARE, null, SPARE]);
        expect(await subject.store.settle([settled], at(5))).toEqual([SETTLED]);
        expect(await depths()).toEqual([
          ['spare/example.net', 2, 0],
          ['out', 1, 0],
        ]);
        const taken = await takeLane(subject.store, SPARE.lane);
        const units = await claim(subject.store, taken);
        expect(units).toMatchObject([{ messageId: record.id, relay: 'spare' }]);
        expect(units[0]?.deliveries.map(({ index, attempts }) => [index, attempts])).toEqual([
          [0, 1],
          [2, 1],
        ]);
      });

      it('what a relay is of no use to waits with the rest of its group, and only that', async () => {
        const { record, settled } = await failedOver([{ ...SPARE, group: ['spare'] }, SPARE, null]);
        expect(await subject.store.settle([settled], at(5))).toEqual([SETTLED]);
        const { deliveries } = await subject.views.waiting({ lane: 'all', after: null, limit: 9 });
        expect(deliveries.map(({ index, relay, group }) => [index, relay, group])).toEqual([
          [0, 'spare', ['spare']],
          [1, 'spare', ['out', 'spare']],
          [2, 'out', ['out', 'spare']],
        ]);
        const [unit] = await claim(subject.store, await takeLane(subject.store, SPARE.lane));
        expect(unit).toMatchObject({ messageId: record.id, relay: 'spare' });
        expect(unit?.deliveries.map(({ group }) => group)).toEqual([['spare'], ['out', 'spare']]);
      });

      it('what ends cancelled instead keeps its group', async () => {
        const { record, settled } = await failedOver([{ ...SPARE, group: ['spare'] }]);
        await subject.store.cancel([record.id], at());
        expect(await subject.store.settle([settled], at())).toEqual([{ kind: 'settled', cancelled: [0] }]);
        const [answer] = await subject.store.requeue([{ id: record.id, expiresAt: T0 + HOUR }], at());
        expect(answer).toEqual({ kind: 'requeued', lanes: ['out'] });
        const { deliveries } = await subject.views.waiting({ lane: 'all', after: null, limit: 9 });
        expect(deliveries).toMatchObject([{ relay: 'out', group: ['out', 'spare'] }]);
      });

      it('what may have been sent keeps its relay', async () => {
        const lease = await takeLane(subject.store);
        const record = await accepted({
          deliveries: [recipient({ fence: lease.fence, rule: 'r1', group: ['out', 'spare'] })],
        });
        const unit = refTo(record.id, lease);
        await beginAll(subject.store, [unit], at());
        expect(await subject.store.settle([settlement(unit, [UNKNOWN])], at())).toEqual([SETTLED]);
        const { deliveries } = await subject.views.waiting({ lane: 'all', after: null, limit: 9 });
        expect(deliveries).toMatchObject([{ relay: 'out', rule: 'ambiguous', group: ['out'] }]);
      });

      it('what ends cancelled instead goes nowhere', async () => {
        const { record, settled } = await failedOver([SPARE]);
        await subject.store.cancel([record.id], at());
        expect(await subject.store.settle([settled], at())).toEqual([{ kind: 'settled', cancelled: [0] }]);
        expect(await depths()).toEqual([]);
        expect((await read(subject.views, record.id)).recipients).toMatchObject([
          { state: 'failed', outcome: 'cancelled', relay: 'out' },
        ]);
      });
    });

    it('a waiting delivery takes it with rule and group, due when it was', async () => {
      const record = await accepted({ deliveries: [recipient(), recipient({ dueAt: T0 + 9 })] });
      expect(await subject.store.reassign([move(record, { index: 1 })], at(5))).toEqual([true]);
      expect(await depths()).toEqual([
        ['out', 1, 0],
        ['spare/example.net', 1, 0],
      ]);
      const lease = await takeLane(subject.store, SPARE.lane);
      expect(await claim(subject.store, lease, 1, at(8))).toEqual([]);
      const [unit] = await claim(subject.store, lease, 1, at(9));
      expect(unit).toMatchObject({ messageId: record.id, relay: 'spare', lane: SPARE.lane });
      expect(unit?.deliveries).toMatchObject([{ index: 1, dueAt: T0 + 9, group: ['spare', 'out'] }]);
      expect((await read(subject.views, record.id)).recipients[0]).toMatchObject({ relay: 'out' });
    });

    it('is refused to what does not wait in that lane any more', async () => {
      const lease = await takeLane(subject.store);
      const [leased, waiting] = [
        await accepted({ deliveries: [recipient({ fence: lease.fence })] }),
        await accepted(),
      ];
      const ended = await accepted();
      await subject.store.cancel([ended.id], at());
      const moves = [
        move(leased),
        move(ended),
        move(waiting, { fromLane: 'away' }),
        move(waiting, { fromLane: null }),
        move(waiting, { index: 1 }),
        move(message()),
        move(waiting),
        move(waiting),
      ];
      const answers = [false, false, false, false, false, false, true, false];
      expect(await subject.store.reassign(moves, at())).toEqual(answers);
      expect(await depths()).toEqual([
        ['out', 0, 1],
        ['spare/example.net', 1, 0],
      ]);
      expect((await read(subject.views, leased.id)).recipients).toMatchObject([{ relay: 'out' }]);
    });

    it('leads nowhere where there is no route, and comes back to life where there is one again', async () => {
      const record = await accepted();
      const away = move(record, { to: null, rule: null, group: [] });
      expect(await subject.store.reassign([away], at())).toEqual([true]);
      expect(await depths()).toEqual([]);
      expect(await discovered()).toEqual([]);
      expect((await read(subject.views, record.id)).message).toMatchObject({ status: 'queued', relay: null });
      expect(await subject.store.reassign([move(record, { fromLane: null })], at())).toEqual([true]);
      expect(await discovered()).toEqual(['spare/example.net']);
      expect((await subject.views.figures(T0)).oldestDueAt).toBe(T0);
    });

    it('leaves the id behind that a relay gave to what it took: it is not the next one’s', async () => {
      const lease = await takeLane(subject.store);
      const record = await accepted({ deliveries: [recipient({ fence: lease.fence })] });
      const unit = refTo(record.id, lease);
      await beginAll(subject.store, [unit], at());
      const taken = { ...DELIVERED, providerMessageId: '4BQ' };
      await subject.store.settle([settlement(unit, [taken])], at());
      await new Teller(() => subject).tellOne(bounceOf(record.id));
      const ids = async () =>
        (await read(subject.views, record.id)).recipients.map((one) => one.providerMessageId);
      await subject.store.requeue([{ id: record.id, expiresAt: T0 + HOUR }], at());
      await subject.store.reassign([move(record, { to: { relay: 'out', lane: 'out' } })], at());
      expect(await ids()).toEqual(['4BQ']);
      await subject.store.reassign([move(record)], at());
      expect(await ids()).toEqual([null]);
    });

    it('may be the same lane, by another rule', async () => {
      const record = await accepted();
      const hop = { relay: 'out', lane: 'out' };
      expect(await subject.store.reassign([move(record, { to: hop, group: ['out', 'b'] })], at())).toEqual([
        true,
      ]);
      expect(await depths()).toEqual([['out', 1, 0]]);
      const [unit] = await claim(subject.store, await takeLane(subject.store));
      expect(unit?.deliveries).toMatchObject([{ group: ['out', 'b'] }]);
    });

    it('changes neither status, times nor attempts of the message', async () => {
      const record = await accepted();
      const before = await read(subject.views, record.id);
      await subject.store.reassign([move(record)], at(MINUTE));
      const after = await read(subject.views, record.id);
      const waits = before.message.waits.map((wait) => ({ ...wait, lane: 'spare/example.net' }));
      expect(after.message).toEqual({ ...before.message, relay: 'spare', waits });
    });

    it('a retry by hand stays on the way that was taken last', async () => {
      const record = await accepted();
      await subject.store.reassign([move(record)], at());
      const lease = await takeLane(subject.store, SPARE.lane);
      await claim(subject.store, lease);
      await beginAll(subject.store, [refTo(record.id, lease)], at());
      await subject.store.settle([settlement(refTo(record.id, lease), [REJECTED])], at());
      const [answer] = await subject.store.requeue([{ id: record.id, expiresAt: T0 + HOUR }], at());
      expect(answer).toEqual({ kind: 'requeued', lanes: [SPARE.lane] });
    });
  });
}
