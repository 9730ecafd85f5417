import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptRecord, QueueLimits } from '../../../src/store/accepting.ts';
import { at, message, type OpenSubject, recipient, type Subject, T0, takeLane } from './fixtures.ts';

/** What `accept` promises of records that are accepted together or not at all. */
export function togetherContract(open: OpenSubject): void {
  describe('accept, all or none', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const roomy: QueueLimits = { maxBytes: 1e9, maxMessagesPerKey: 1e9 };
    const sized = (length: number, change: Partial<AcceptRecord> = {}) =>
      message({ content: { segment: 1, offset: 0, length }, ...change });
    const offer = (batch: readonly AcceptRecord[], limits?: QueueLimits) =>
      subject.store.accept(batch, at(), limits, true);
    const full = (whose: 'all' | 'key', tooLarge = false) => ({ kind: 'queue_full', whose, tooLarge });

    /** Nothing of these is there, nor counted anywhere. */
    async function expectNothing(batch: readonly AcceptRecord[]): Promise<void> {
      for (const { id } of batch) expect(await subject.views.message(id)).toBeNull();
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
      const { today, queuedBytes, spool } = await subject.views.figures(T0);
      expect([today.received, queuedBytes, spool.incoming]).toEqual([0, 0, 0]);
      // No room was taken.
      const limits = { maxBytes: 2000, maxMessagesPerKey: 2 };
      const [wish] = await subject.store.foresee(
        [{ keyId: 'key_one', sizeBytes: 0, idempotency: null }],
        at(),
        limits,
      );
      expect([wish?.bytesLeft, wish?.messagesLeft]).toEqual([2000, 1]);
    }

    it('accepts all for which there is room, to the last', async () => {
      const batch = [sized(400), sized(600), sized(0, { keyId: 'key_two' })];
      const answers = await offer(batch, { maxBytes: 1000, maxMessagesPerKey: 2 });
      expect(answers).toEqual(batch.map(() => ({ kind: 'accepted', leased: [false] })));
      expect(await offer([sized(1), sized(1)]), 'without limits').toHaveLength(2);
      expect((await subject.views.figures(T0)).today.received).toBe(5);
    });

    it('accepts none if a key’s queue is full after some', async () => {
      const batch = [message(), message({ keyId: 'key_two' }), message(), message()];
      expect(await offer(batch, { ...roomy, maxMessagesPerKey: 2 })).toEqual(batch.map(() => full('key')));
      await expectNothing(batch);
      expect((await offer(batch, roomy)).map(({ kind }) => kind)).toEqual(batch.map(() => 'accepted'));
    });

    it('accepts none if everyone’s queue is full after some, or they would fit no queue', async () => {
      const batch = [sized(600), sized(401), sized(1, { keyId: null })];
      for (const maxBytes of [1000, 500])
        expect(await offer(batch, { ...roomy, maxBytes })).toEqual(batch.map(() => full('all', true)));
      await expectNothing(batch);
      await subject.store.accept([sized(999)], at());
      expect(await offer(batch, { ...roomy, maxBytes: 2000 }), 'for now').toEqual(
        batch.map(() => full('all')),
      );
    });

    it('accepts none if a key is used for another submission, before or among them', async () => {
      const idempotency = { key: 'k', hash: 'h' };
      const batch = [sized(1), sized(1, { idempotency }), sized(1, { idempotency: { key: 'k', hash: 'x' } })];
      const mismatch = batch.map(() => ({ kind: 'idempotency_mismatch' }));
      expect(await offer(batch)).toEqual(mismatch);
      await expectNothing(batch);
      const [, first, other] = batch;
      if (first === undefined || other === undefined) throw new Error('three are four');
      await subject.store.accept([first], at());
      expect(await offer([message(), other], roomy)).toEqual(mismatch.slice(1));
      expect((await subject.views.figures(T0)).today.received).toBe(1);
    });

    it('answers repeats among them as such, and needs no room for these', async () => {
      const idempotency = { key: 'k', hash: 'h' };
      const first = message({ idempotency });
      await subject.store.accept([first], at());
      const answers = await offer([message(), message({ idempotency })], { ...roomy, maxMessagesPerKey: 2 });
      expect(answers).toEqual([
        { kind: 'accepted', leased: [false] },
        { kind: 'replayed', id: first.id },
      ]);
    });

    it('gives no lane work that was not accepted', async () => {
      const lease = await takeLane(subject.store);
      const short = () => message({ deliveries: [recipient({ fence: lease.fence })] });
      await offer([short(), short()], { ...roomy, maxMessagesPerKey: 1 });
      const [claimed] = await subject.store.claim(
        [{ ...lease, order: 'high_first', limit: 10, maxRecipients: 10 }],
        at(),
      );
      expect(claimed).toEqual({ units: [], nextDueAt: null });
    });

    it('gives what others offer at once the room that it does not take', async () => {
      const limits = { ...roomy, maxMessagesPerKey: 2 };
      const [together, apart] = await Promise.all([
        offer([message(), message(), message()], limits),
        subject.store.accept([message(), message()], at(), limits),
      ]);
      expect(together.map(({ kind }) => kind)).toEqual(['queue_full', 'queue_full', 'queue_full']);
      expect(apart.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    });
  });
}
