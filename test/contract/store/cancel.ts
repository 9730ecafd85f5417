import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { actsOver, STATES } from './acts.ts';
import {
  at,
  beginAll,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  refTo,
  releaseAll,
  T0,
  UNKNOWN,
} from './fixtures.ts';

/** What `cancel` promises. */
export function cancelContract(open: OpenSubject): void {
  describe('cancel', () => {
    const acts = actsOver(open);
    it.each(STATES)('$state: $cancel', async ({ state, outcome, cancel: answer, cancelled }) => {
      const id = state === 'queued' ? await queued() : await acts.leased();
      if (outcome !== null) await acts.attempted(id, [outcome]);
      const before = await acts.show(id);
      expect(await acts.cancel(id, 5)).toBe(answer);
      expect(await acts.statesOf(id)).toEqual([cancelled]);
      if (answer === 'final') expect(await acts.show(id)).toEqual(before);
    });

    const queued = async () => {
      const record = message();
      await acts.subject.store.accept([record], at());
      return record.id;
    };

    it('says what it does not find, answers in order, and may be asked twice', async () => {
      const id = await queued();
      const answers = await acts.subject.store.cancel([message().id, id, id], at());
      expect(answers).toEqual(['not_found', 'cancelled', 'final']);
    });

    it('writes how and when it ended, without an attempt and without blame for the relay', async () => {
      const id = await queued();
      await acts.cancel(id, 7);
      const { message: record, recipients } = await acts.show(id);
      expect(record).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        finalAt: T0 + 7,
        statusAt: T0 + 7,
        waits: [],
        attempts: 0,
        possibleDuplicate: false,
        lastError: { code: 'cancelled', class: 'permanent' },
      });
      expect(recipients[0]).toMatchObject({ lastEnhanced: '5.7.0', dueAt: null, attempts: 0 });
      const figures = await acts.subject.views.figures(T0);
      expect(figures.today).toMatchObject({ received: 1, failed: 1, delivered: 0 });
      expect(figures.spool).toEqual({ incoming: 0, processing: 0, failed: 1 });
      expect(figures.relays).toEqual({});
      expect(await claim(acts.subject.store, acts.lease, 9, at(DAY / 2))).toEqual([]);
    });

    it('takes each recipient by its own state; the message ends when the last one does', async () => {
      const id = await acts.mixed();
      expect(await acts.cancel(id)).toBe('cancelled');
      expect(await acts.statesOf(id)).toEqual(['failed', 'processing', 'failed', 'failed', 'delivered']);
      expect((await acts.show(id)).message).toMatchObject({
        status: 'processing',
        outcome: null,
        finalAt: null,
      });
      await acts.settle(id, [DELIVERED], 3, [1]);
      const ended = await acts.show(id);
      expect(ended.message).toMatchObject({ status: 'failed', outcome: 'partial', finalAt: T0 + 3 });
      expect(ended.recipients.map(({ outcome }) => outcome)).toEqual([
        'cancelled',
        'accepted',
        'cancelled',
        'rejected',
        'accepted',
      ]);
      expect(await acts.cancel(id)).toBe('final');
    });

    it.each<[string, Outcome, object]>([
      ['delivered', DELIVERED, { status: 'delivered', outcome: 'accepted', possibleDuplicate: false }],
      ['rejected', REJECTED, { status: 'failed', outcome: 'rejected', possibleDuplicate: false }],
      ['deferred', DEFERRED, { status: 'failed', outcome: 'cancelled', possibleDuplicate: false }],
      ['unknown', UNKNOWN, { status: 'failed', outcome: 'cancelled', possibleDuplicate: true }],
    ])('lets an attempt under way end: %s', async (_name, outcome, expected) => {
      const id = await acts.leased();
      await acts.begin(id);
      await acts.cancel(id);
      await acts.settle(id, [outcome]);
      expect((await acts.show(id)).message).toMatchObject({ ...expected, attempts: 1, waits: [] });
      const { retried } = (await acts.subject.views.figures(T0)).today;
      expect(retried, 'nothing waits again').toBe(0);
    });

    it.each([1, 2])('what was not begun never begins, and ends when it is given back: %i', async (count) => {
      const id = await acts.leased(count);
      const unit = refTo(id, acts.lease, [0, 1].slice(0, count));
      await acts.cancel(id);
      expect(await beginAll(acts.subject.store, [unit], at())).toEqual(['refused']);
      const released = await releaseAll(acts.subject.store, [unit], at());
      expect(released).toEqual([{ kind: 'settled', cancelled: unit.indexes }]);
      expect((await acts.show(id)).message).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        attempts: 0,
      });
    });

    it.each([
      ['not begun', false, 'retry', { outcome: 'cancelled', possibleDuplicate: false, attempts: 0 }],
      ['begun', true, 'retry', { outcome: 'cancelled', possibleDuplicate: true, attempts: 1 }],
      ['begun, and held', true, 'hold', { outcome: 'unknown', possibleDuplicate: true, attempts: 1 }],
    ] as const)('after a lost lease: %s', async (_name, begun, ambiguous, expected) => {
      const id = await acts.leased();
      if (begun) await acts.begin(id);
      await acts.cancel(id);
      const options = { seize: true, policy: { ...POLICY, ambiguous }, dice: 0.5, limit: 9 };
      await acts.subject.store.reclaim(options, at());
      expect((await acts.show(id)).message).toMatchObject({ status: 'failed', ...expected });
    });
  });
}
