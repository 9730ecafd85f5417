import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptWish, QueueLimits } from '../../../src/store/accepting.ts';
import { at, message, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What `foresee` promises. */
export function foreseeContract(open: OpenSubject): void {
  describe('foresee', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const limits: QueueLimits = { maxBytes: 1000, maxMessagesPerKey: 2 };
    const wish = (change: Partial<AcceptWish> = {}): AcceptWish => {
      return { keyId: 'key_one', sizeBytes: 10, idempotency: null, ...change };
    };
    const answers = async (...wishes: readonly AcceptWish[]) =>
      (await subject.store.foresee(wishes, at(), limits)).map(({ answer }) =>
        answer.kind !== 'queue_full' ? answer.kind : answer.tooLarge ? 'too large' : answer.whose,
      );

    it('tells what would be accepted after what it foresees before it, and the room that is left', async () => {
      const wishes = [wish(), wish({ sizeBytes: 991 }), wish(), wish(), wish({ keyId: null })];
      expect(await answers(...wishes)).toEqual(['fits', 'all', 'fits', 'key', 'fits']);
      const foresights = await subject.store.foresee(wishes, at(), limits);
      expect(foresights.map(({ bytesLeft }) => bytesLeft)).toEqual([990, 990, 980, 980, 970]);
      const left = foresights.map(({ messagesLeft }) => messagesLeft);
      expect(left).toEqual([1, 1, 0, 0, Number.MAX_SAFE_INTEGER]);
    });

    it('knows what lies in the queue, repeats, and what no queue would hold', async () => {
      const idempotency = { key: 'k', hash: 'h' };
      const record = message({ idempotency, content: { segment: 1, offset: 0, length: 600 } });
      await subject.store.accept([record, message({ content: record.content, keyId: null })], at());
      const other = wish({ keyId: 'key_two' });
      expect(await subject.store.foresee([other], at(), { ...limits, maxBytes: 1210 })).toEqual([
        { answer: { kind: 'fits' }, bytesLeft: 0, messagesLeft: 1 },
      ]);
      const mismatch = wish({ idempotency: { key: 'k', hash: 'x' } });
      const huge = wish({ sizeBytes: 1001 });
      expect(await answers(wish({ idempotency }), mismatch, huge, wish())).toEqual([
        'replayed',
        'idempotency_mismatch',
        'too large',
        'all',
      ]);
    });

    it('changes nothing', async () => {
      for (let i = 0; i < 3; i++)
        expect(await answers(wish(), wish(), wish())).toEqual(['fits', 'fits', 'key']);
      expect((await subject.views.figures(T0)).queuedBytes).toBe(0);
      const foreseen = subject.store.foresee([wish(), wish()], at(), limits);
      const accepted = subject.store.accept([message(), message(), message()], at(), {
        ...limits,
        maxBytes: 1e6,
      });
      await foreseen;
      expect((await accepted).map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'queue_full']);
    });
  });
}
