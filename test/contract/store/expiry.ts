import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Expiry } from '../../../src/store/upkeep.ts';
import {
  at,
  attempt,
  claim,
  DEFERRED,
  message,
  type OpenSubject,
  read,
  recipient,
  refOf,
  report,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What `expiring` and `expire` promise. */
export function expiryContract(open: OpenSubject): void {
  describe('expiring and expire', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const dying = (recipients = 1, expiresAt = T0 + 5) =>
      message({ expiresAt, deliveries: Array.from({ length: recipients }, () => recipient()) });
    const statusOf = async (id: string) => (await read(subject.views, id)).message.status;
    const without = (messageId: string, indexes: readonly number[]): Expiry => {
      return { messageId, indexes, report: null };
    };

    it('tells what waits past its expiry, and nothing else', async () => {
      const lease = await takeLane(subject.store);
      const [record, later] = [dying(), message()];
      const busy = message({ expiresAt: T0 + 5, deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record, later, busy], at());
      expect(await subject.store.expiring(10, at(5))).toEqual([]);
      const found = await subject.store.expiring(10, at(6));
      expect(found.map(({ messageId }) => messageId)).toEqual([record.id]);
      expect(await statusOf(record.id), 'changes nothing').toBe('queued');
    });

    it('gives everything that a report is written from', async () => {
      const to = recipient({
        recipient: { address: 'to@example.net', kind: 'to', notify: 'FAILURE', orcpt: 'rfc822;to' },
        group: ['out', 'spare'],
      });
      const nowhere = recipient({ relay: null, lane: null, group: [] });
      const record = message({
        expiresAt: T0 + 1,
        ret: 'FULL',
        envid: 'e1',
        reportable: true,
        sendAt: T0,
        tags: ['news'],
        deliveries: [to, nowhere],
      });
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const [unit] = await claim(subject.store, lease);
      await attempt(subject.store, refOf(unit), [DEFERRED]);
      const [found, ...others] = await subject.store.expiring(10, at(2));
      expect(others).toEqual([]);
      expect(found).toEqual({
        messageId: record.id,
        reversePath: 'sender@example.com',
        headerFrom: 'Sender <sender@example.com>',
        keyId: record.keyId,
        tags: record.tags,
        ret: 'FULL',
        envid: 'e1',
        content: record.content,
        part: null,
        sizeBytes: 1000,
        flags: record.flags,
        priority: 'normal',
        test: false,
        reportable: true,
        createdAt: T0,
        deliveries: [
          {
            index: 0,
            attempts: 1,
            expiresAt: T0 + 1,
            dueAt: T0 + 30_000,
            group: ['out', 'spare'],
            delayReported: false,
            recipient: to.recipient,
            lastCode: 451,
            lastEnhanced: '4.7.1',
            lastReply: 'Try again later',
            relay: 'out',
          },
          {
            index: 1,
            attempts: 0,
            expiresAt: T0 + 1,
            dueAt: T0,
            group: [],
            delayReported: false,
            recipient: nowhere.recipient,
            lastCode: null,
            lastEnhanced: null,
            lastReply: null,
            relay: null,
          },
        ],
      });
    });

    it('tells the longest past first, at most so many, but all of a message', async () => {
      const [last, first, second] = [dying(1, T0 + 9), dying(3, T0 + 3), dying(2, T0 + 5)];
      await subject.store.accept([last, first, second], at());
      const told = async (limit: number) =>
        (await subject.store.expiring(limit, at(20))).map(({ messageId, deliveries }) => [
          messageId,
          deliveries.length,
        ]);
      expect(await told(1)).toEqual([[first.id, 3]]);
      expect(await told(3)).toEqual([[first.id, 3]]);
      expect(await told(4)).toEqual([
        [first.id, 3],
        [second.id, 2],
      ]);
      expect(await told(9)).toHaveLength(3);
    });

    it('fails what is past its expiry as expired, and counts it', async () => {
      const record = dying();
      await subject.store.accept([record, message()], at());
      expect(await subject.store.expire([without(record.id, [0])], at(6))).toEqual([true]);
      expect((await read(subject.views, record.id)).message).toMatchObject({
        status: 'failed',
        outcome: 'expired',
        attempts: 0,
        finalAt: T0 + 6,
        lastError: { code: 'expired', class: 'permanent' },
      });
      expect((await subject.views.figures(T0)).relays['out']).toEqual({ delivered: 0, failed: 1 });
      expect(await subject.store.expire([without(record.id, [0])], at(6)), 'again').toEqual([false]);
    });

    it('keeps what was last said of what expired', async () => {
      const record = message({ expiresAt: T0 + 5 });
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const [unit] = await claim(subject.store, lease);
      await attempt(subject.store, refOf(unit), [DEFERRED]);
      expect(await subject.store.expire([without(record.id, [0])], at(6))).toEqual([true]);
      const { message: view, recipients } = await read(subject.views, record.id);
      expect(view.lastError).toMatchObject({ code: 'expired', message: 'Try again later' });
      expect(recipients).toMatchObject([
        { outcome: 'expired', lastCode: 451, lastEnhanced: '4.7.1', lastReply: 'Try again later' },
      ]);
    });

    it('fails all that an expiry names, or nothing: not what is leased, gone, or not past its expiry', async () => {
      const lease = await takeLane(subject.store);
      const half = message({
        expiresAt: T0 + 5,
        deliveries: [recipient(), recipient({ fence: lease.fence })],
      });
      const [young, good] = [message(), dying(2)];
      await subject.store.accept([half, young, good], at());
      const withReport = (one: Expiry) => ({ ...one, report: report() });
      const batch = [
        without(half.id, [0, 1]),
        without(young.id, [0]),
        without(message().id, [0]),
        without(good.id, [0, 2]),
        without(good.id, []),
      ].map(withReport);
      const last = withReport(without(good.id, [0, 1]));
      expect(await subject.store.expire([...batch, last], at(6))).toEqual([...batch.map(() => false), true]);
      expect(await statusOf(half.id)).toBe('processing');
      expect(await statusOf(young.id)).toBe('queued');
      expect(await statusOf(good.id)).toBe('failed');
      for (const { report: refused } of batch) expect(await subject.views.message(refused.id)).toBeNull();
      expect(await statusOf(last.report.id)).toBe('queued');
    });

    it('fails one recipient and leaves the others waiting', async () => {
      const record = dying(2);
      await subject.store.accept([record], at());
      expect(await subject.store.expire([without(record.id, [1])], at(6))).toEqual([true]);
      const { message: kept, recipients } = await read(subject.views, record.id);
      expect(recipients.map(({ state }) => state)).toEqual(['queued', 'failed']);
      expect(kept.status).toBe('queued');
    });
  });
}
