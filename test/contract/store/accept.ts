import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptRecord, QueueLimits } from '../../../src/store/accepting.ts';
import {
  at,
  DAY,
  message,
  type OpenSubject,
  read,
  recipient,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What `accept` promises. */
export function acceptContract(open: OpenSubject): void {
  describe('accept', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('keeps everything the record says', async () => {
      const to = recipient({
        recipient: { address: 'to@example.net', kind: 'to', notify: 'FAILURE', orcpt: 'rfc822;to' },
      });
      const bcc = recipient({
        recipient: { address: 'b@example.net', kind: 'bcc', notify: null, orcpt: null },
      });
      const record = message({
        deliveries: [to, bcc],
        tags: ['a', 'b'],
        metadata: { order: '7' },
        sendAt: T0 + 5,
        priority: 'bulk',
        flags: { eightBit: true, utf8: false, dotStuffing: true },
        content: { segment: 4, offset: 5_000_000_000, length: 77 },
        stream: 'news.example.com',
        door: 'postmark',
        box: 'worker-1',
        tls: 'optional',
      });
      await subject.store.accept([record], at());
      const { message: kept, recipients, origin } = await read(subject.views, record.id);
      expect(origin).toEqual({ sourceAddress: '127.0.0.1', routeTable: 1, stream: 'news.example.com' });
      expect(kept).toMatchObject({
        id: record.id,
        keyId: 'key_one',
        source: 'api',
        door: 'postmark',
        box: 'worker-1',
        tls: 'optional',
        status: 'queued',
        outcome: null,
        createdAt: T0,
        sendAt: T0 + 5,
        waits: [{ lane: 'out', state: 'queued', dueAt: T0 }],
        envelopeFrom: 'sender@example.com',
        header: record.header,
        to: ['to@example.net'],
        cc: [],
        bcc: ['b@example.net'],
        tags: ['a', 'b'],
        metadata: { order: '7' },
        sizeBytes: 1000,
        flags: record.flags,
        priority: 'bulk',
        attempts: 0,
        content: record.content,
        possibleDuplicate: false,
        finalAt: null,
      });
      expect(recipients.map(({ index, state }) => [index, state])).toEqual([
        [0, 'queued'],
        [1, 'queued'],
      ]);
    });

    it('is still there after closing and opening', async () => {
      const record = message();
      await subject.store.accept([record], at());
      subject = await subject.reopen();
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
    });

    it('leases the short way only under the fence we hold', async () => {
      const lease = await takeLane(subject.store);
      const short = message({ deliveries: [recipient({ fence: lease.fence })] });
      const stale = message({ deliveries: [recipient({ fence: lease.fence + 1 })] });
      const mixed = message({ deliveries: [recipient({ fence: lease.fence }), recipient()] });
      const answers = await subject.store.accept([short, stale, mixed], at());
      expect(answers).toEqual([
        { kind: 'accepted', leased: [true] },
        { kind: 'accepted', leased: [false] },
        { kind: 'accepted', leased: [true, false] },
      ]);
      expect((await read(subject.views, short.id)).message.status).toBe('processing');
      expect((await read(subject.views, stale.id)).message.status).toBe('queued');
    });

    it('refuses the short way to another node, after the lease has ended, and before the due time', async () => {
      const lease = await takeLane(subject.store);
      const record = () => message({ deliveries: [recipient({ fence: lease.fence })] });
      const later = message({ deliveries: [recipient({ fence: lease.fence, dueAt: T0 + 10 })] });
      const none = [{ kind: 'accepted', leased: [false] }];
      expect(await subject.store.accept([record()], at(0, 'b'))).toEqual(none);
      expect(await subject.store.accept([record()], at(DAY))).toEqual(none);
      expect(await subject.store.accept([later], at())).toEqual(none);
    });

    it('gives the first answer to a repeat, and refuses another submission under its key', async () => {
      const idempotency = { key: 'k', hash: 'h' };
      const first = message({ idempotency });
      const repeat = message({ idempotency });
      const other = message({ idempotency: { key: 'k', hash: 'x' } });
      const foreign = message({ idempotency, keyId: 'key_two' });
      const answers = await subject.store.accept([first, repeat, other, foreign], at());
      expect(answers.map(({ kind }) => kind)).toEqual([
        'accepted',
        'replayed',
        'idempotency_mismatch',
        'accepted',
      ]);
      expect(answers[1]).toEqual({ kind: 'replayed', id: first.id });
      expect(await subject.views.message(repeat.id)).toBeNull();
      expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 2]]));
    });

    it('remembers an idempotency key for a day, across a restart', async () => {
      const idempotency = { key: 'k', hash: 'h' };
      await subject.store.accept([message({ idempotency })], at());
      subject = await subject.reopen();
      const late = await subject.store.accept([message({ idempotency })], at(DAY - 1));
      expect(late[0]?.kind).toBe('replayed');
      const later = message({ idempotency });
      expect((await subject.store.accept([later], at(DAY)))[0]?.kind).toBe('accepted');
      const repeat = await subject.store.accept([message({ idempotency })], at(DAY + 1));
      expect(repeat[0]).toEqual({ kind: 'replayed', id: later.id });
    });

    it('tells what is remembered under an idempotency key, for as long', async () => {
      const first = message({ idempotency: { key: 'k', hash: 'h' } });
      await subject.store.accept([first], at());
      const keyId = first.keyId ?? '';
      const { views } = subject;
      expect(await views.remembered(keyId, 'k', T0 + DAY - 1)).toEqual({ id: first.id, hash: 'h' });
      expect(await views.remembered(keyId, 'k', T0 + DAY)).toBeNull();
      expect(await views.remembered(keyId, 'other', T0)).toBeNull();
      expect(await views.remembered('key_two', 'k', T0)).toBeNull();
    });

    describe('under limits of the queue', () => {
      const sized = (length: number, change: Partial<AcceptRecord> = {}) =>
        message({ content: { segment: 1, offset: 0, length }, ...change });
      const offer = async (batch: readonly AcceptRecord[], limits: QueueLimits) =>
        (await subject.store.accept(batch, at(), limits)).map((answer) =>
          answer.kind !== 'queue_full' ? answer.kind : answer.tooLarge ? 'too large' : answer.whose,
        );
      const roomy: QueueLimits = { maxBytes: 1e9, maxMessagesPerKey: 1e9 };

      it('refuses what would make a key’s queue too long, and nobody else', async () => {
        const limits = { ...roomy, maxMessagesPerKey: 2 };
        const other = () => message({ keyId: 'key_two' });
        const batch = [message(), message(), message(), other(), message({ keyId: null })];
        expect(await offer(batch, limits)).toEqual(['accepted', 'accepted', 'key', 'accepted', 'accepted']);
        expect(await offer([message(), other(), other()], limits)).toEqual(['key', 'accepted', 'key']);
        expect(await offer([message({ keyId: null }), message({ keyId: null })], limits)).toEqual([
          'accepted',
          'accepted',
        ]);
      });

      it('refuses what would make everyone’s queue too large, to the byte', async () => {
        const limits = { ...roomy, maxBytes: 1000 };
        const batch = [sized(600), sized(401), sized(400, { keyId: 'key_two' }), sized(1, { keyId: null })];
        expect(await offer(batch, limits)).toEqual(['accepted', 'all', 'accepted', 'all']);
        expect(await offer([sized(1)], { ...limits, maxBytes: 1001 })).toEqual(['accepted']);
      });

      it('tells what would not even fit into an empty queue from what may fit later', async () => {
        const limits = { ...roomy, maxBytes: 1000 };
        const batch = [sized(1001), sized(1000), sized(1), sized(1001)];
        expect(await offer(batch, limits)).toEqual(['too large', 'accepted', 'all', 'too large']);
      });

      it('changes nothing by a refusal', async () => {
        const refused = sized(10, { tags: ['t'], idempotency: { key: 'k', hash: 'h' } });
        expect(await offer([refused], { ...roomy, maxBytes: 9 })).toEqual(['too large']);
        expect(await subject.views.message(refused.id)).toBeNull();
        expect(await subject.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
        expect((await subject.views.figures(T0)).today.received).toBe(0);
        expect(await offer([{ ...refused, id: message().id }], roomy), 'its key is free').toEqual([
          'accepted',
        ]);
      });

      it('answers a repeat as one, however full the queue is', async () => {
        const idempotency = { key: 'k', hash: 'h' };
        await offer([message({ idempotency })], roomy);
        const repeat = message({ idempotency });
        const mismatch = message({ idempotency: { key: 'k', hash: 'x' } });
        expect(await offer([repeat, mismatch], { maxBytes: 0, maxMessagesPerKey: 0 })).toEqual([
          'replayed',
          'idempotency_mismatch',
        ]);
      });

      it('has room again when a message ends, and none when it begins anew', async () => {
        const limits = { maxBytes: 1000, maxMessagesPerKey: 1 };
        const first = sized(1000);
        await offer([first], limits);
        expect(await offer([sized(1)], limits)).toEqual(['all']);
        await subject.store.cancel([first.id], at());
        subject = await subject.reopen();
        const second = sized(1);
        expect(await offer([second], limits)).toEqual(['accepted']);
        await subject.store.cancel([second.id], at());
        await subject.store.requeue([{ id: first.id, expiresAt: T0 + DAY }], at());
        expect(await offer([sized(0)], limits)).toEqual(['key']);
      });
    });

    it('counts live references per segment', async () => {
      const inSegment = (segment: number) => message({ content: { segment, offset: 0, length: 10 } });
      await subject.store.accept([inSegment(1), inSegment(1), inSegment(2)], at());
      expect(await subject.store.liveSegments([1, 2, 3])).toEqual(
        new Map([
          [1, 2],
          [2, 1],
          [3, 0],
        ]),
      );
    });

    it('keeps mail without a route queued, out of every claim', async () => {
      const record = message({ deliveries: [recipient({ relay: null, lane: null })] });
      await subject.store.accept([record], at());
      expect(await subject.store.acquireLanes([], 10, T0 + DAY, at())).toEqual([]);
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
    });
  });
}
