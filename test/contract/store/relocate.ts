import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContentRef } from '../../../src/domain/message.ts';
import type { Relocation } from '../../../src/store/upkeep.ts';
import {
  at,
  attempt,
  DELIVERED,
  message,
  type OpenSubject,
  read,
  recipient,
  refTo,
  type Subject,
  takeLane,
} from './fixtures.ts';

/** What moving contents from one place in the spool to another promises. */
export function relocateContract(open: OpenSubject): void {
  describe('relocate', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const content: ContentRef = { segment: 1, offset: 0, length: 1000 };
    const to: ContentRef = { segment: 5, offset: 700, length: 1000 };
    const contentOf = async (id: string) => (await read(subject.views, id)).message.content;

    async function waiting(): Promise<Relocation> {
      const record = message({ content });
      await subject.store.accept([record], at());
      return { messageId: record.id, content, to };
    }

    it('lets a message refer to the copy, and the segments count it', async () => {
      const move = await waiting();
      expect(await subject.store.relocatable([move])).toEqual([true]);
      expect(await subject.store.relocate([move], at())).toEqual([true]);
      expect(await contentOf(move.messageId)).toEqual(to);
      expect(await subject.store.segmentUse([1, 5, 9])).toEqual(
        new Map([
          [1, { live: 0, bytes: 0 }],
          [5, { live: 1, bytes: 1000 }],
          [9, { live: 0, bytes: 0 }],
        ]),
      );
      const lease = await takeLane(subject.store);
      const [answer] = await subject.store.claim(
        [{ ...lease, order: 'high_first', limit: 1, maxRecipients: 9 }],
        at(),
      );
      expect(answer?.units[0]?.content).toEqual(to);
    });

    it('moves only a reference that still points at the old place', async () => {
      const move = await waiting();
      const elsewhere = { ...move, content: { ...content, offset: 7 } };
      const unknown = { ...move, messageId: 'msg_00000000000000000000000000' };
      const longer = { ...move, content: { ...content, length: 1001 } };
      expect(await subject.store.relocatable([elsewhere, unknown, longer])).toEqual([false, false, false]);
      const again = { ...move, to: { ...to, offset: 9 } };
      const answers = await subject.store.relocate([elsewhere, unknown, longer, move, again], at());
      expect(answers).toEqual([false, false, false, true, false]);
      expect(await contentOf(move.messageId)).toEqual(to);
      expect(await subject.store.liveSegments([1, 5])).toEqual(
        new Map([
          [1, 0],
          [5, 1],
        ]),
      );
    });

    it('leaves alone what an attempt may be reading, until that has ended', async () => {
      const lease = await takeLane(subject.store);
      const record = message({ content, deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      const move = { messageId: record.id, content, to };
      expect(await subject.store.relocatable([move])).toEqual([false]);
      expect(await subject.store.relocate([move], at())).toEqual([false]);
      expect(await contentOf(record.id)).toEqual(content);
      await attempt(subject.store, refTo(record.id, lease), [DELIVERED], at());
      expect(await subject.store.relocate([move], at())).toEqual([true]);
    });

    it('moves nothing whose contents retention has removed', async () => {
      const lease = await takeLane(subject.store);
      const record = message({ content, deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      await attempt(subject.store, refTo(record.id, lease), [DELIVERED], at());
      const all = { contentAgeMs: 0, contentMaxBytes: 0, capturedAgeMs: 0, capturedMaxBytes: 0 };
      await subject.store.purge(
        { ...all, recordAgeMs: 1e12, eventAgeMs: 1e12, feedbackAgeMs: 1e12, maxUnsubscribeLinks: 9 },
        9,
        at(),
      );
      expect(await subject.store.relocate([{ messageId: record.id, content, to }], at())).toEqual([false]);
      expect(await contentOf(record.id)).toBeNull();
      expect(await subject.store.liveSegments([1, 5])).toEqual(
        new Map([
          [1, 0],
          [5, 0],
        ]),
      );
    });
  });
}
