import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LaneLease } from '../../../src/domain/lane.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { AcceptRecord } from '../../../src/store/store.ts';
import {
  at,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  read,
  recipient,
  refOf,
  refTo,
  type Subject,
  settlement,
  T0,
  takeLane,
  UNKNOWN,
} from './fixtures.ts';

/** The states a delivery can be in, the way it got there, and what each act makes of it. */
const STATES = [
  { state: 'queued', outcome: null, cancel: 'cancelled', cancelled: 'failed', requeue: 'nothing_to_retry' },
  {
    state: 'processing',
    outcome: null,
    cancel: 'cancelled',
    cancelled: 'processing',
    requeue: 'nothing_to_retry',
  },
  { state: 'retrying', outcome: DEFERRED, cancel: 'cancelled', cancelled: 'failed', requeue: 'requeued' },
  { state: 'failed', outcome: REJECTED, cancel: 'final', cancelled: 'failed', requeue: 'requeued' },
  {
    state: 'delivered',
    outcome: DELIVERED,
    cancel: 'final',
    cancelled: 'delivered',
    requeue: 'nothing_to_retry',
  },
] as const;

/** The expiry that retrying asks for in these tests. */
const NEW_EXPIRY = T0 + 9 * DAY;

/** What `cancel` and `requeue` promise. */
export function actsContract(open: OpenSubject): void {
  let subject: Subject;
  let lease: LaneLease;
  beforeEach(async () => {
    subject = await open();
    lease = await takeLane(subject.store);
  });
  afterEach(() => subject.close());

  const show = (id: string) => read(subject.views, id);
  const statesOf = async (id: string) => (await show(id)).recipients.map(({ state }) => state);
  const cancel = async (id: string, ms = 0) => (await subject.store.cancel([id], at(ms)))[0];
  const requeue = async (id: string, ms = 0) =>
    (await subject.store.requeue([{ id, expiresAt: NEW_EXPIRY }], at(ms)))[0];
  const settle = async (id: string, outcomes: readonly Outcome[], ms = 0, indexes?: readonly number[]) => {
    const unit = refTo(id, lease, indexes ?? [...outcomes.keys()]);
    expect(await subject.store.settle([settlement(unit, outcomes, at(ms))], at(ms))).toEqual([true]);
  };
  /** Accepts a message whose recipients are leased the short way. */
  const leased = async (recipients = 1, change: Partial<AcceptRecord> = {}) => {
    const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
    const record = message({ deliveries, ...change });
    await subject.store.accept([record], at());
    return record.id;
  };
  /** A message with one recipient in each state, in the order of {@link STATES}. */
  const mixed = async () => {
    const deliveries = STATES.map(({ state }) =>
      recipient({ fence: state === 'queued' ? null : lease.fence }),
    );
    const record = message({ deliveries });
    await subject.store.accept([record], at());
    await settle(record.id, [DEFERRED, REJECTED, DELIVERED], 0, [2, 3, 4]);
    return record.id;
  };

  describe('cancel', () => {
    it.each(STATES)('$state: $cancel', async ({ state, outcome, cancel: answer, cancelled }) => {
      const id = state === 'queued' ? await queued() : await leased();
      if (outcome !== null) await settle(id, [outcome]);
      const before = await show(id);
      expect(await cancel(id, 5)).toBe(answer);
      expect(await statesOf(id)).toEqual([cancelled]);
      if (answer === 'final') expect(await show(id)).toEqual(before);
    });

    const queued = async () => {
      const record = message();
      await subject.store.accept([record], at());
      return record.id;
    };

    it('says what it does not find, answers in order, and may be asked twice', async () => {
      const id = await queued();
      const answers = await subject.store.cancel([message().id, id, id], at());
      expect(answers).toEqual(['not_found', 'cancelled', 'final']);
    });

    it('writes how and when it ended, without an attempt and without blame for the relay', async () => {
      const id = await queued();
      await cancel(id, 7);
      const { message: record, recipients } = await show(id);
      expect(record).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        finalAt: T0 + 7,
        statusAt: T0 + 7,
        nextAttemptAt: null,
        attempts: 0,
        possibleDuplicate: false,
        lastError: { code: 'cancelled', class: 'permanent' },
      });
      expect(recipients[0]).toMatchObject({ lastEnhanced: '5.7.0', nextAttemptAt: null, attempts: 0 });
      const figures = await subject.views.figures(T0);
      expect(figures.today).toMatchObject({ received: 1, failed: 1, delivered: 0 });
      expect(figures.spool).toEqual({ incoming: 0, processing: 0, failed: 1 });
      expect(figures.relays).toEqual({});
      expect(await claim(subject.store, lease, 9, at(DAY / 2))).toEqual([]);
    });

    it('takes each recipient by its own state; the message ends when the last one does', async () => {
      const id = await mixed();
      expect(await cancel(id)).toBe('cancelled');
      expect(await statesOf(id)).toEqual(['failed', 'processing', 'failed', 'failed', 'delivered']);
      expect((await show(id)).message).toMatchObject({ status: 'processing', outcome: null, finalAt: null });
      await settle(id, [DELIVERED], 3, [1]);
      const ended = await show(id);
      expect(ended.message).toMatchObject({ status: 'failed', outcome: 'partial', finalAt: T0 + 3 });
      expect(ended.recipients.map(({ outcome }) => outcome)).toEqual([
        'cancelled',
        'accepted',
        'cancelled',
        'rejected',
        'accepted',
      ]);
      expect(await cancel(id)).toBe('final');
    });

    it.each<[string, Outcome, object]>([
      ['delivered', DELIVERED, { status: 'delivered', outcome: 'accepted', possibleDuplicate: false }],
      ['rejected', REJECTED, { status: 'failed', outcome: 'rejected', possibleDuplicate: false }],
      ['deferred', DEFERRED, { status: 'failed', outcome: 'cancelled', possibleDuplicate: false }],
      ['unknown', UNKNOWN, { status: 'failed', outcome: 'cancelled', possibleDuplicate: true }],
    ])('lets an attempt under way end: %s', async (_name, outcome, expected) => {
      const id = await leased();
      await subject.store.begin([refTo(id, lease)], at());
      await cancel(id);
      await settle(id, [outcome]);
      expect((await show(id)).message).toMatchObject({ ...expected, attempts: 1, nextAttemptAt: null });
      const { retried } = (await subject.views.figures(T0)).today;
      expect(retried, 'nothing waits again').toBe(0);
    });

    it.each([1, 2])('what was not begun never begins, and ends when it is given back: %i', async (count) => {
      const id = await leased(count);
      const unit = refTo(id, lease, [0, 1].slice(0, count));
      await cancel(id);
      expect(await subject.store.begin([unit], at())).toEqual([false]);
      await subject.store.release([unit], at());
      expect((await show(id)).message).toMatchObject({ status: 'failed', outcome: 'cancelled', attempts: 0 });
    });

    it.each([
      ['not begun', false, 'retry', { outcome: 'cancelled', possibleDuplicate: false, attempts: 0 }],
      ['begun', true, 'retry', { outcome: 'cancelled', possibleDuplicate: true, attempts: 1 }],
      ['begun, and held', true, 'hold', { outcome: 'unknown', possibleDuplicate: true, attempts: 1 }],
    ] as const)('after a lost lease: %s', async (_name, begun, ambiguous, expected) => {
      const id = await leased();
      if (begun) await subject.store.begin([refTo(id, lease)], at());
      await cancel(id);
      const options = { seize: true, policy: { ...POLICY, ambiguous }, dice: 0.5, limit: 9 };
      await subject.store.reclaim(options, at());
      expect((await show(id)).message).toMatchObject({ status: 'failed', ...expected });
    });
  });

  describe('requeue', () => {
    it.each(STATES)('$state: $requeue', async ({ state, outcome, requeue: answer }) => {
      const deliveries = [recipient({ fence: state === 'queued' ? null : lease.fence })];
      const { id } = await accepted({ deliveries });
      if (outcome !== null) await settle(id, [outcome]);
      const before = await show(id);
      const found = await requeue(id, 5);
      expect(found).toEqual(answer === 'requeued' ? { kind: answer, lanes: ['out'] } : { kind: answer });
      if (answer !== 'requeued') expect(await show(id)).toEqual(before);
      else
        expect((await show(id)).recipients[0]).toMatchObject({
          state: state === 'failed' ? 'queued' : 'retrying',
          outcome: null,
          nextAttemptAt: T0 + 5,
          attempts: 1,
        });
    });

    const accepted = async (change: Partial<AcceptRecord>) => {
      const record = message(change);
      await subject.store.accept([record], at());
      return record;
    };

    it('says what it does not find, and answers in order', async () => {
      const id = await leased();
      await settle(id, [REJECTED]);
      const [missing, found, again] = await subject.store.requeue(
        [message().id, id, id].map((one) => ({ id: one, expiresAt: NEW_EXPIRY })),
        at(),
      );
      expect(missing).toEqual({ kind: 'not_found' });
      expect(found).toEqual({ kind: 'requeued', lanes: ['out'] });
      expect(again).toEqual({ kind: 'nothing_to_retry' });
    });

    it('touches the failed and the retrying recipients of a message, and no other', async () => {
      const id = await mixed();
      const before = (await show(id)).recipients;
      expect(await requeue(id, 5)).toEqual({ kind: 'requeued', lanes: ['out'] });
      const after = (await show(id)).recipients;
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
      const id = await leased(1, { expiresAt: T0 + 50 });
      await settle(id, [DEFERRED], 10);
      expect(await subject.store.expire(9, at(51))).toBe(1);
      await requeue(id, 60);
      expect((await show(id)).message).toMatchObject({
        status: 'queued',
        expiresAt: NEW_EXPIRY,
        finalAt: null,
      });
      expect(await subject.store.expire(9, at(8 * DAY))).toBe(0);
      const [unit] = await claim(subject.store, lease, 1, at(60));
      expect(unit?.deliveries).toMatchObject([{ attempts: 0, expiresAt: NEW_EXPIRY }]);
      await settle(id, [DEFERRED], 60);
      expect((await show(id)).recipients[0]).toMatchObject({ state: 'retrying', attempts: 2 });
      const [next] = await claim(subject.store, lease, 1, at(60_000));
      expect(next?.deliveries).toMatchObject([{ attempts: 1, expiresAt: NEW_EXPIRY }]);
    });

    it('what was retried and not tried again goes back to queued', async () => {
      const id = await leased();
      await settle(id, [REJECTED]);
      await requeue(id);
      const [unit] = await claim(subject.store, lease);
      await subject.store.release([refOf(unit as never)], at(3));
      expect(await statesOf(id)).toEqual(['queued']);
    });

    it('forgets that its cancellation was asked for', async () => {
      const id = await leased();
      await cancel(id);
      await settle(id, [DEFERRED]);
      expect((await show(id)).message.outcome).toBe('cancelled');
      await requeue(id);
      await claim(subject.store, lease);
      await settle(id, [DEFERRED]);
      expect((await show(id)).message).toMatchObject({ status: 'retrying', outcome: null });
    });

    it('leaves only a retry by hand out of what was held', async () => {
      const id = await leased();
      await subject.store.begin([refTo(id, lease)], at());
      const options = { seize: true, policy: { ...POLICY, ambiguous: 'hold' }, dice: 0.5, limit: 9 } as const;
      await subject.store.reclaim(options, at());
      expect((await show(id)).message.outcome).toBe('unknown');
      expect(await requeue(id)).toEqual({ kind: 'requeued', lanes: ['out'] });
      expect((await show(id)).message).toMatchObject({ status: 'queued', possibleDuplicate: true });
    });

    it('refuses what has no contents any more, and changes nothing', async () => {
      const failed = await leased();
      const sent = await leased();
      await settle(failed, [REJECTED]);
      await settle(sent, [DELIVERED]);
      await subject.store.purge(DROP_CONTENTS, 9, at());
      const before = await show(failed);
      expect(await requeue(failed)).toEqual({ kind: 'content_expired' });
      expect(await show(failed)).toEqual(before);
      expect(await requeue(sent)).toEqual({ kind: 'nothing_to_retry' });
    });

    it('waits without a route where there was none', async () => {
      const { id } = await accepted({ deliveries: [recipient({ relay: null, lane: null })] });
      await cancel(id);
      expect(await requeue(id, 5)).toEqual({ kind: 'requeued', lanes: [] });
      expect((await show(id)).recipients[0]).toMatchObject({ state: 'queued', relay: null });
      expect(await subject.store.acquireLanes([], 9, T0 + DAY, at(9))).toEqual([]);
      expect(await subject.views.lanes(9)).toEqual([]);
    });

    it('keeps every figure right through an end, a new beginning and another end', async () => {
      const id = await leased(2, { content: { segment: 7, offset: 0, length: 500 } });
      const figures = async () => {
        const { spool, today, queuedBytes } = await subject.views.figures(T0);
        const { sentBytes, capturedBytes, queues } = await subject.books();
        return { spool, today, queuedBytes, sentBytes, capturedBytes, waiting: queues.get('key_one') ?? 0 };
      };
      await settle(id, [CAPTURED, REJECTED]);
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
      await requeue(id);
      expect(await figures()).toEqual({
        ...ended,
        spool: { incoming: 1, processing: 0, failed: 0 },
        queuedBytes: 500,
        sentBytes: 0,
        waiting: 1,
      });
      expect(await subject.views.lanes(9)).toEqual([{ lane: 'out', waiting: 1, processing: 0 }]);
      expect(await subject.store.purge(DROP_CONTENTS, 9, at(DAY)), 'not final').toMatchObject({
        contents: 0,
      });
      await claim(subject.store, lease);
      await settle(id, [CAPTURED], 0, [1]);
      expect(await figures()).toEqual({
        ...ended,
        spool: { incoming: 0, processing: 0, failed: 0 },
        today: { ...today, delivered: 1 },
        sentBytes: 0,
        capturedBytes: 500,
      });
      expect((await show(id)).message).toMatchObject({
        status: 'delivered',
        outcome: 'captured',
        attempts: 2,
      });
      expect(await subject.store.liveSegments([7])).toEqual(new Map([[7, 1]]));
    });
  });
}

const DROP_CONTENTS = {
  contentAgeMs: 0,
  contentMaxBytes: 0,
  capturedAgeMs: 0,
  capturedMaxBytes: 0,
  recordAgeMs: 90 * DAY,
};
