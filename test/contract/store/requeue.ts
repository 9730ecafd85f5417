import { describe, expect, it } from 'vitest';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { actsOver, NEW_EXPIRY, STATES } from './acts.ts';
import {
  at,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  expireAll,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  recipient,
  refOf,
  refTo,
  releaseAll,
  settlement,
  T0,
} from './fixtures.ts';

/** What `requeue` promises. */
export function requeueContract(open: OpenSubject): void {
  describe('requeue', () => {
    const acts = actsOver(open);
    it.each(STATES)('$state: $requeue', async ({ state, outcome, requeue: answer }) => {
      const deliveries = [recipient({ fence: state === 'queued' ? null : acts.lease.fence })];
      const { id } = await accepted({ deliveries });
      if (outcome !== null) await acts.attempted(id, [outcome]);
      const before = await acts.show(id);
      const found = await acts.requeue(id, 5);
      expect(found).toEqual(answer === 'requeued' ? { kind: answer, lanes: ['out'] } : { kind: answer });
      if (answer !== 'requeued') expect(await acts.show(id)).toEqual(before);
      else
        expect((await acts.show(id)).recipients[0]).toMatchObject({
          state: state === 'failed' ? 'queued' : 'retrying',
          outcome: null,
          dueAt: T0 + 5,
          attempts: 1,
        });
    });

    const accepted = async (change: Partial<AcceptRecord>) => {
      const record = message(change);
      await acts.subject.store.accept([record], at());
      return record;
    };

    it('says what it does not find, and answers in order', async () => {
      const id = await acts.leased();
      await acts.attempted(id, [REJECTED]);
      const [missing, found, again] = await acts.subject.store.requeue(
        [message().id, id, id].map((one) => ({ id: one, expiresAt: NEW_EXPIRY })),
        at(),
      );
      expect(missing).toEqual({ kind: 'not_found' });
      expect(found).toEqual({ kind: 'requeued', lanes: ['out'] });
      expect(again).toEqual({ kind: 'nothing_to_retry' });
    });

    it('touches the failed and the retrying recipients of a message, and no other', async () => {
      const id = await acts.mixed();
      const before = (await acts.show(id)).recipients;
      expect(await acts.requeue(id, 5)).toEqual({ kind: 'requeued', lanes: ['out'] });
      const after = (await acts.show(id)).recipients;
      expect(after.map(({ state }) => state)).toEqual([
        'queued',
        'processing',
        'retrying',
        'queued',
        'delivered',
      ]);
      for (const index of [0, 1, 4]) expect(after[index]).toEqual(before[index]);
    });

    it('begins backoff and age anew, and goes on counting attempts', async () => {
      const id = await acts.leased(1, { expiresAt: T0 + 50 });
      await acts.attempted(id, [DEFERRED], 10);
      expect(await expireAll(acts.subject.store, id, at(51))).toEqual([true]);
      await acts.requeue(id, 60);
      expect((await acts.show(id)).message).toMatchObject({
        status: 'queued',
        expiresAt: NEW_EXPIRY,
        finalAt: null,
      });
      expect(await acts.subject.store.expiring(9, at(8 * DAY))).toEqual([]);
      const [unit] = await claim(acts.subject.store, acts.lease, 1, at(60));
      expect(unit?.deliveries).toMatchObject([{ attempts: 0, expiresAt: NEW_EXPIRY }]);
      await acts.attempted(id, [DEFERRED], 60);
      expect((await acts.show(id)).recipients[0]).toMatchObject({ state: 'retrying', attempts: 2 });
      const [next] = await claim(acts.subject.store, acts.lease, 1, at(60_000));
      expect(next?.deliveries).toMatchObject([{ attempts: 1, expiresAt: NEW_EXPIRY }]);
    });

    it('what was retried and not tried again goes back to queued', async () => {
      const id = await acts.leased();
      await acts.attempted(id, [REJECTED]);
      await acts.requeue(id);
      const [unit] = await claim(acts.subject.store, acts.lease);
      await releaseAll(acts.subject.store, [refOf(unit)], at(3));
      expect(await acts.statesOf(id)).toEqual(['queued']);
    });

    it('forgets that its sender was told that it is late', async () => {
      const id = await acts.leased();
      await acts.begin(id);
      const failed = { ...settlement(refTo(id, acts.lease), [REJECTED]), delayReported: [0] };
      await acts.subject.store.settle([failed], at());
      await acts.requeue(id);
      const [unit] = await claim(acts.subject.store, acts.lease);
      expect(unit?.deliveries).toMatchObject([{ delayReported: false }]);
    });

    it('forgets that its cancellation was asked for', async () => {
      const id = await acts.leased();
      await acts.begin(id);
      await acts.cancel(id);
      await acts.settle(id, [DEFERRED]);
      expect((await acts.show(id)).message.outcome).toBe('cancelled');
      await acts.requeue(id);
      await claim(acts.subject.store, acts.lease);
      await acts.attempted(id, [DEFERRED]);
      expect((await acts.show(id)).message).toMatchObject({ status: 'retrying', outcome: null });
    });

    it.each([1, 2])('of a cancel and a retry under way the last one counts: %i recipients', async (count) => {
      const id = await acts.leased(count);
      await acts.begin(id, [...Array(count).keys()]);
      await acts.cancel(id);
      expect(await acts.requeue(id)).toEqual({ kind: 'requeued', lanes: [] });
      expect(await acts.requeue(id), 'nothing is left to take back').toEqual({ kind: 'nothing_to_retry' });
      await acts.settle(id, Array(count).fill(DEFERRED));
      expect((await acts.show(id)).message).toMatchObject({ status: 'retrying', outcome: null });
    });

    it('lets what was cancelled in hand begin after all', async () => {
      const id = await acts.leased();
      await acts.cancel(id);
      expect(await acts.begin(id)).toBe('refused');
      await acts.requeue(id);
      expect(await acts.begin(id)).toBe('begun');
    });

    it('keeps the time of what was cancelled before it, and gives it its whole life from then on', async () => {
      const sendAt = T0 + 3 * DAY;
      const { id } = await accepted({ sendAt, deliveries: [recipient({ dueAt: sendAt })] });
      await acts.cancel(id);
      expect(await acts.requeue(id, 5)).toEqual({ kind: 'requeued', lanes: ['out'] });
      expect((await acts.show(id)).recipients[0]).toMatchObject({ state: 'queued', dueAt: sendAt });
      expect((await acts.show(id)).message.expiresAt).toBe(NEW_EXPIRY + sendAt - (T0 + 5));
      expect(await claim(acts.subject.store, acts.lease, 9, at(DAY))).toEqual([]);
    });

    it('leaves only a retry by hand out of what was held', async () => {
      const id = await acts.leased();
      await acts.begin(id);
      const options = { seize: true, policy: { ...POLICY, ambiguous: 'hold' }, dice: 0.5, limit: 9 } as const;
      await acts.subject.store.reclaim(options, at());
      expect((await acts.show(id)).message.outcome).toBe('unknown');
      expect(await acts.requeue(id)).toEqual({ kind: 'requeued', lanes: ['out'] });
      expect((await acts.show(id)).message).toMatchObject({ status: 'queued', possibleDuplicate: true });
    });

    it('refuses what has no contents any more, and changes nothing', async () => {
      const failed = await acts.leased();
      const sent = await acts.leased();
      await acts.attempted(failed, [REJECTED]);
      await acts.attempted(sent, [DELIVERED]);
      await acts.subject.store.purge(DROP_CONTENTS, 9, at());
      const before = await acts.show(failed);
      expect(await acts.requeue(failed)).toEqual({ kind: 'content_expired' });
      expect(await acts.show(failed)).toEqual(before);
      expect(await acts.requeue(sent)).toEqual({ kind: 'nothing_to_retry' });
    });

    it('waits without a route where there was none', async () => {
      const { id } = await accepted({ deliveries: [recipient({ relay: null, lane: null })] });
      await acts.cancel(id);
      expect(await acts.requeue(id, 5)).toEqual({ kind: 'requeued', lanes: [] });
      expect((await acts.show(id)).recipients[0]).toMatchObject({ state: 'queued', relay: null });
      expect(await acts.subject.store.acquireLanes([], 9, T0 + DAY, at(9))).toEqual([]);
      expect(await acts.subject.views.lanes(null, 9)).toEqual([]);
    });

    it('keeps every figure right through an end, a new beginning and another end', async () => {
      const id = await acts.leased(2, { content: { segment: 7, offset: 0, length: 500 } });
      const figures = async () => {
        const { spool, today, queuedBytes } = await acts.subject.views.figures(T0);
        const { sentBytes, capturedBytes, queues } = await acts.subject.books();
        return { spool, today, queuedBytes, sentBytes, capturedBytes, waiting: queues.get('key_one') ?? 0 };
      };
      await acts.attempted(id, [CAPTURED, REJECTED]);
      const today = { received: 1, delivered: 0, failed: 1, retried: 0, denied: 0 };
      const ended = {
        spool: { incoming: 0, processing: 0, failed: 1 },
        today,
        queuedBytes: 0,
        sentBytes: 500,
        capturedBytes: 0,
        waiting: 0,
      };
      expect(await figures()).toEqual(ended);
      await acts.requeue(id);
      expect(await figures()).toEqual({
        ...ended,
        spool: { incoming: 1, processing: 0, failed: 0 },
        queuedBytes: 500,
        sentBytes: 0,
        waiting: 1,
      });
      expect(await acts.subject.views.lanes(null, 9)).toMatchObject([
        { lane: 'out', waiting: 1, processing: 0 },
      ]);
      expect(await acts.subject.store.purge(DROP_CONTENTS, 9, at(DAY)), 'not final').toMatchObject({
        contents: 0,
      });
      await claim(acts.subject.store, acts.lease);
      await acts.attempted(id, [CAPTURED], 0, [1]);
      expect(await figures()).toEqual({
        ...ended,
        spool: { incoming: 0, processing: 0, failed: 0 },
        today: { ...today, delivered: 1 },
        sentBytes: 0,
        capturedBytes: 500,
      });
      expect((await acts.show(id)).message).toMatchObject({
        status: 'delivered',
        outcome: 'captured',
        attempts: 2,
      });
      expect(await acts.subject.store.liveSegments([7])).toEqual(new Map([[7, 1]]));
    });
  });
}

const DROP_CONTENTS = {
  contentAgeMs: 0,
  contentMaxBytes: 0,
  capturedAgeMs: 0,
  capturedMaxBytes: 0,
  recordAgeMs: 90 * DAY,
  eventAgeMs: 90 * DAY,
  feedbackAgeMs: 90 * DAY,
  maxUnsubscribeLinks: 1000,
};
