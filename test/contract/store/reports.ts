import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import {
  at,
  beginAll,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  releaseAll,
  report,
  SETTLED,
  STALE,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

/** What becomes of the reports that go with what attempts did. */
export function reportContract(open: OpenSubject): void {
  describe('reports', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    /** A message that has begun. */
    async function begun(recipients = 1, change: Partial<AcceptRecord> = {}) {
      const lease = await takeLane(subject.store);
      const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
      const record = message({ deliveries, ...change });
      await subject.store.accept([record], at());
      const unit = refTo(record.id, lease, [...deliveries.keys()]);
      await beginAll(subject.store, [unit], at());
      return { unit, lease };
    }

    it('are accepted when what they report is settled, with everything that acceptance counts', async () => {
      const { unit } = await begun();
      const record = report();
      const settled = { ...settlement(unit, [REJECTED]), report: record };
      expect(await subject.store.settle([settled], at(7))).toEqual([SETTLED]);
      const { message: kept, recipients } = await read(subject.views, record.id);
      expect(kept).toMatchObject({
        status: 'queued',
        keyId: null,
        source: 'report',
        envelopeFrom: '',
        relay: 'back',
        content: record.content,
      });
      expect(recipients).toMatchObject([{ state: 'queued', relay: 'back', dueAt: T0 }]);
      const { today, spool, queuedBytes } = await subject.views.figures(T0);
      expect(today).toMatchObject({ received: 2, failed: 1 });
      expect(spool).toMatchObject({ incoming: 1, processing: 0 });
      expect(queuedBytes).toBe(500);
      expect(await subject.store.liveSegments([1, 9])).toEqual(
        new Map([
          [1, 1],
          [9, 1],
        ]),
      );
      const lease = await takeLane(subject.store, 'back');
      expect(await claim(subject.store, lease)).toMatchObject([{ messageId: record.id, reversePath: '' }]);
    });

    it('wait even where the short way would be open: nobody would hear that they took it', async () => {
      const { unit, lease } = await begun();
      const record = report({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.settle([{ ...settlement(unit, [REJECTED]), report: record }], at());
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
    });

    it('several of one batch are told apart', async () => {
      const { unit } = await begun();
      const records = [report(), report()];
      const others = message({ deliveries: [recipient({ fence: unit.fence })] });
      await subject.store.accept([others], at());
      const second = { ...unit, messageId: others.id };
      await beginAll(subject.store, [second], at());
      const batch = [unit, second].map((one, place) => {
        return { ...settlement(one, [REJECTED]), report: records[place] ?? null };
      });
      expect(await subject.store.settle(batch, at())).toEqual([SETTLED, SETTLED]);
      for (const { id } of records) expect((await read(subject.views, id)).message.status).toBe('queued');
    });

    it('are not accepted with what is stale', async () => {
      const { unit } = await begun();
      const record = report();
      const strange = { ...settlement({ ...unit, fence: unit.fence + 1 }, [REJECTED]), report: record };
      const early = { ...settlement(unit, [REJECTED], at(-1)), report: record };
      expect(await subject.store.settle([strange, early], at())).toEqual([STALE, STALE]);
      expect(await subject.views.message(record.id)).toBeNull();
      const settled = { ...settlement(unit, [REJECTED]), report: record };
      const repeated = { ...settled, report: report() };
      expect(await subject.store.settle([settled, repeated], at())).toEqual([SETTLED, STALE]);
      expect(await subject.views.message(repeated.report.id)).toBeNull();
      expect(await subject.store.liveSegments([9])).toEqual(new Map([[9, 1]]));
    });

    it('no limit of the queue refuses them', async () => {
      const { unit } = await begun();
      const record = report({ content: { segment: 9, offset: 0, length: 1e12 } });
      await subject.store.settle([{ ...settlement(unit, [REJECTED]), report: record }], at());
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
    });

    it('of delay are remembered with the recipients they name, and with no other', async () => {
      const { unit, lease } = await begun(3);
      const outcomes = [DEFERRED, DEFERRED, CAPTURED];
      const settled = { ...settlement(unit, outcomes), report: report(), delayReported: [1, 2] };
      expect(await subject.store.settle([settled], at())).toEqual([SETTLED]);
      const [again] = await claim(subject.store, lease, 1, at(60_000));
      expect(again?.deliveries.map(({ index, delayReported }) => [index, delayReported])).toEqual([
        [0, false],
        [1, true],
      ]);
    });

    it('of delay are not remembered with what is stale', async () => {
      const { unit, lease } = await begun();
      const stale = { ...settlement(unit, [DEFERRED], at(-1)), delayReported: [0] };
      expect(await subject.store.settle([stale], at())).toEqual([STALE]);
      await releaseAll(subject.store, [unit], at());
      const [again] = await claim(subject.store, lease);
      expect(again?.deliveries).toMatchObject([{ delayReported: false }]);
    });

    it('of what expired are kept across a restart', async () => {
      const dying = message({ expiresAt: T0 });
      await subject.store.accept([dying], at());
      const record = report();
      const expiry = { messageId: dying.id, indexes: [0], report: record };
      expect(await subject.store.expire([expiry], at(DAY))).toEqual([true]);
      subject = await subject.reopen();
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
      expect((await read(subject.views, dying.id)).message.outcome).toBe('expired');
    });
  });
}
