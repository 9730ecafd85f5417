import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { MAX_EVIDENCE_BYTES } from '../../../src/store/views.ts';
import {
  at,
  attemptsOf,
  beginAll,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  MINUTE,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refOf,
  refTo,
  SETTLED,
  STALE,
  type Subject,
  settlement,
  T0,
  takeLane,
  UNKNOWN,
} from './fixtures.ts';

/** What `settle` promises. */
export function settleContract(open: OpenSubject): void {
  describe('settle', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    /** Accepts a message the short way and begins it. */
    async function begun(recipients = 1) {
      const lease = await takeLane(subject.store);
      const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
      const record = message({ deliveries });
      await subject.store.accept([record], at());
      const unit = refTo(record.id, lease, [...deliveries.keys()]);
      expect(await beginAll(subject.store, [unit], at())).toEqual(['begun']);
      return { id: record.id, unit, lease, addresses: deliveries.map((one) => one.recipient.address) };
    }

    /** A message that was deferred so many times, ten minutes apart, with this step in the evidence. */
    async function deferredTimes(count: number, reply = ''): Promise<string> {
      const { id, lease, unit } = await begun();
      for (let number = 1; number <= count; number++) {
        const now = at((number - 1) * 10 * MINUTE);
        const [claimed] = number === 1 ? [unit] : (await claim(subject.store, lease, 1, now)).map(refOf);
        if (claimed === undefined) throw new Error('nothing was due');
        if (number > 1) await beginAll(subject.store, [claimed], now);
        const { attempt, ...rest } = settlement(claimed, [DEFERRED], now);
        const evidence = { ...attempt.evidence, steps: [{ verb: 'DATA', reply, atMs: 1 }] };
        await subject.store.settle([{ ...rest, attempt: { ...attempt, evidence } }], now);
      }
      return id;
    }

    it('writes a delivery and its attempt', async () => {
      const { id, unit } = await begun();
      const settled = settlement(unit, [DELIVERED]);
      expect(await subject.store.settle([settled], at(9))).toEqual([SETTLED]);
      const { message: record, recipients } = await read(subject.views, id);
      expect(record).toMatchObject({
        status: 'delivered',
        outcome: 'accepted',
        relay: 'out',
        providerMessageId: '4BQ',
        attempts: 1,
        statusAt: T0 + 9,
        deliveredAt: T0 + 9,
        finalAt: T0 + 9,
        waits: [],
        lastError: null,
      });
      expect(recipients[0]).toMatchObject({ lastCode: 250, lastEnhanced: '2.0.0', attempts: 1 });
      expect(await attemptsOf(subject.views, id)).toEqual([settled.attempt]);
    });

    it.each<[string, Outcome, object]>([
      ['captured', CAPTURED, { status: 'delivered', outcome: 'captured', lastError: null }],
      [
        'deferred',
        DEFERRED,
        {
          status: 'retrying',
          outcome: null,
          waits: [{ lane: 'out', state: 'retrying', dueAt: T0 + 30_000 }],
          finalAt: null,
        },
      ],
      ['rejected', REJECTED, { status: 'failed', outcome: 'rejected', finalAt: T0, deliveredAt: null }],
      ['unknown', UNKNOWN, { status: 'retrying', possibleDuplicate: true }],
    ])('writes %s', async (_name, outcome, expected) => {
      const { id, unit } = await begun();
      await subject.store.settle([settlement(unit, [outcome])], at());
      expect((await read(subject.views, id)).message).toMatchObject(expected);
    });

    it('keeps the newest error with its class, recipient, reply code and enhanced code', async () => {
      const { id, unit, addresses } = await begun();
      await subject.store.settle([settlement(unit, [DEFERRED])], at());
      expect((await read(subject.views, id)).message.lastError).toEqual({
        code: 'smtp_reply',
        class: 'transient',
        message: 'Try again later',
        recipient: addresses[0],
        replyCode: 451,
        enhancedCode: '4.7.1',
      });
    });

    it('keeps recipients apart: mixed ends are partial', async () => {
      const { id, unit } = await begun(2);
      await subject.store.settle([settlement(unit, [DELIVERED, REJECTED])], at());
      const { message: record, recipients } = await read(subject.views, id);
      expect(record).toMatchObject({ status: 'failed', outcome: 'partial', relay: 'out', attempts: 1 });
      expect(recipients.map(({ state }) => state)).toEqual(['delivered', 'failed']);
    });

    it('shows attempts by their numbers, a page at a time', async () => {
      const id = await deferredTimes(5);
      const page = async (after: number, limit: number) => {
        const { attempts, next } = await subject.views.attempts(id, { after, limit });
        return { started: attempts.map(({ startedAt }) => (startedAt - T0) / (10 * MINUTE)), next };
      };
      expect(await page(0, 2)).toEqual({ started: [0, 1], next: 2 });
      expect(await page(2, 2)).toEqual({ started: [2, 3], next: 4 });
      expect(await page(4, 2)).toEqual({ started: [4], next: null });
      expect(await page(5, 2)).toEqual({ started: [], next: null });
      expect(await page(0, 5)).toEqual({ started: [0, 1, 2, 3, 4], next: null });
    });

    it('ends a page of attempts early when their evidence is large', async () => {
      const id = await deferredTimes(4, 'x'.repeat(MAX_EVIDENCE_BYTES / 2));
      const { attempts, next } = await subject.views.attempts(id, { after: 0, limit: 200 });
      expect([attempts.length, next]).toEqual([2, 2]);
      expect((await subject.views.attempts(id, { after: 3, limit: 200 })).next).toBeNull();
    });

    it('refuses another fence and another lane, and writes nothing', async () => {
      const { id, unit } = await begun();
      const stale = settlement({ ...unit, fence: unit.fence - 1 }, [DELIVERED]);
      const strange = settlement({ ...unit, lane: 'away' }, [DELIVERED]);
      const nobody = settlement({ ...unit, messageId: message().id }, [DELIVERED]);
      expect(await subject.store.settle([stale, strange, nobody], at())).toEqual([STALE, STALE, STALE]);
      expect((await read(subject.views, id)).message).toMatchObject({ status: 'processing', attempts: 0 });
      expect(await attemptsOf(subject.views, id)).toEqual([]);
      expect((await subject.views.figures(T0)).today.delivered).toBe(0);
    });

    it('refuses a second settling', async () => {
      const { id, unit } = await begun();
      const settled = settlement(unit, [DELIVERED]);
      expect(await subject.store.settle([settled, settled], at())).toEqual([SETTLED, STALE]);
      expect((await read(subject.views, id)).message.attempts).toBe(1);
    });

    it('a refused settling leaves what is kept under its rule', async () => {
      const { id, unit } = await begun();
      const settled = settlement(unit, [CAPTURED]);
      await subject.store.settle([settled], at());
      const before = await read(subject.views, id);
      expect(await subject.store.settle([settled], at(9))).toEqual([STALE]);
      expect(await read(subject.views, id)).toEqual(before);
      expect(await subject.books()).toMatchObject({ sentBytes: 0, capturedBytes: 1000 });
    });

    it('refuses the old attempt after the delivery was taken back and claimed anew', async () => {
      const { id, unit } = await begun();
      await subject.store.reclaim({ seize: true, policy: RECLAIM, dice: 0.5, limit: 10 }, at());
      const anew = await takeLane(subject.store, 'out', at(DAY, 'b'));
      expect(anew.fence).toBeGreaterThan(unit.fence);
      expect(await claim(subject.store, anew, 1, at(DAY, 'b'))).toHaveLength(1);
      expect(await beginAll(subject.store, [unit], at(DAY))).toEqual(['refused']);
      expect(await subject.store.settle([settlement(unit, [DELIVERED])], at(DAY))).toEqual([STALE]);
      expect((await read(subject.views, id)).message.status).toBe('processing');
    });

    it('refuses an attempt that was settled before, once another has begun under the same fence', async () => {
      const { id, unit } = await begun();
      const settled = settlement(unit, [DEFERRED]);
      expect(await subject.store.settle([settled], at())).toEqual([SETTLED]);
      const later = at(10 * 60_000);
      const [again] = await subject.store.claim(
        [{ ...unit, limit: 1, maxRecipients: 9, order: 'high_first' as const }],
        later,
      );
      expect(again?.units).toHaveLength(1);
      expect(await beginAll(subject.store, [unit], later)).toEqual(['begun']);
      expect(
        await subject.store.settle([settled], later),
        'its answer was lost, and it is asked again',
      ).toEqual([STALE]);
      expect((await read(subject.views, id)).message).toMatchObject({ status: 'processing', attempts: 1 });
    });

    it.each<[string, Outcome]>([
      ['rejected', REJECTED],
      ['deferred', DEFERRED],
    ])(
      'refuses it again after a retry by hand was claimed under the same fence: %s',
      async (_name, outcome) => {
        const { id, unit } = await begun();
        const settled = settlement(unit, [outcome]);
        expect(await subject.store.settle([settled], at(1))).toEqual([SETTLED]);
        await subject.store.requeue([{ id, expiresAt: T0 + DAY }], at(2));
        const [again] = await subject.store.claim(
          [{ ...unit, limit: 1, maxRecipients: 9, order: 'high_first' as const }],
          at(3),
        );
        expect(again?.units).toHaveLength(1);
        expect(await subject.store.settle([settled], at(4)), 'its answer was lost').toEqual([STALE]);
        expect((await read(subject.views, id)).message).toMatchObject({ status: 'processing', attempts: 1 });
        expect(await beginAll(subject.store, [unit], at(5))).toEqual(['begun']);
      },
    );

    it('refuses what has not begun', async () => {
      const lease = await takeLane(subject.store);
      const record = message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      const unit = refTo(record.id, lease);
      expect(await subject.store.settle([settlement(unit, [DELIVERED])], at())).toEqual([STALE]);
      expect((await read(subject.views, record.id)).message.status).toBe('processing');
    });

    it('records the truth even when the lease has ended, while nobody has taken the delivery', async () => {
      const { id, unit } = await begun();
      expect(await subject.store.settle([settlement(unit, [DELIVERED])], at(DAY))).toEqual([SETTLED]);
      expect((await read(subject.views, id)).message.status).toBe('delivered');
    });

    it('cancels instead of waiting again, but never undoes a delivery', async () => {
      const waits = await begun();
      await subject.store.cancel([waits.id], at());
      const late = await subject.store.settle([settlement(waits.unit, [DEFERRED])], at());
      expect(late).toEqual([{ kind: 'settled', cancelled: [0] }]);
      expect((await read(subject.views, waits.id)).message).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        waits: [],
      });
      const record = message({ deliveries: [recipient({ fence: waits.lease.fence })] });
      await subject.store.accept([record], at());
      const unit = refTo(record.id, waits.lease);
      await beginAll(subject.store, [unit], at());
      await subject.store.cancel([record.id], at());
      expect(await subject.store.settle([settlement(unit, [DELIVERED])], at())).toEqual([SETTLED]);
      expect((await read(subject.views, record.id)).message.status).toBe('delivered');
    });
  });
}

const RECLAIM = { firstMs: 1, maxMs: 1, maxAgeMs: DAY, ambiguous: 'retry' } as const;
