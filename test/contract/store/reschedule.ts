import { describe, expect, it } from 'vitest';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { actsOver, NEW_EXPIRY } from './acts.ts';
import { expectDerived } from './derived.ts';
import { at, claim, DAY, HOUR, message, type OpenSubject, recipient, T0 } from './fixtures.ts';

/** What `reschedule` promises. */
export function rescheduleContract(open: OpenSubject): void {
  describe('reschedule', () => {
    const acts = actsOver(open);
    const { show } = acts;

    /** A message that waits for an hour, or as said. */
    const waiting = async (change: Partial<AcceptRecord> = {}, recipients = 1) => {
      const sendAt = T0 + HOUR;
      const deliveries = Array.from({ length: recipients }, () => recipient({ dueAt: sendAt }));
      const record = message({ sendAt, deliveries, expiresAt: sendAt + DAY, ...change });
      await acts.subject.store.accept([record], at());
      return record.id;
    };
    const reschedule = async (id: string, sendAt: number, ms = 0) =>
      (await acts.subject.store.reschedule([{ id, sendAt, expiresAt: T0 + ms + DAY }], at(ms)))[0];
    const moved = (dueAt: number) => ({ kind: 'rescheduled', lanes: ['out'], dueAt });
    const derived = (ids: readonly string[], ms: number, failed = 0) =>
      expectDerived(acts.subject, { ids, ended: { delivered: 0, failed } }, T0 + ms);

    it('moves the time of all that waits, later and earlier, with its expiry', async () => {
      const id = await waiting({}, 3);
      for (const sendAt of [T0 + 5 * HOUR, T0 + 7]) {
        expect(await reschedule(id, sendAt, 5)).toEqual(moved(sendAt));
        const { message: record, recipients } = await show(id);
        expect(record).toMatchObject({
          sendAt,
          status: 'queued',
          expiresAt: sendAt + DAY,
          updatedAt: T0 + 5,
          statusAt: T0,
        });
        expect(recipients.map(({ dueAt }) => dueAt)).toEqual([sendAt, sendAt, sendAt]);
        await derived([id], 5);
      }
      expect(await claim(acts.subject.store, acts.lease, 9, at(6))).toEqual([]);
      const [unit] = await claim(acts.subject.store, acts.lease, 9, at(7));
      expect(unit).toMatchObject({ createdAt: T0 + 7, deliveries: [{ expiresAt: T0 + 7 + DAY }, {}, {}] });
    });

    it('takes a past time for now, and keeps what was asked for', async () => {
      const id = await waiting();
      expect(await reschedule(id, T0 - DAY, 5)).toEqual(moved(T0 + 5));
      expect((await show(id)).message).toMatchObject({ sendAt: T0 - DAY, expiresAt: T0 + 5 + DAY });
      expect(await claim(acts.subject.store, acts.lease, 1, at(5))).toHaveLength(1);
    });

    it('leaves alone what is due, has no send time, or is under way', async () => {
      const [due, plain, leased] = [await waiting(), message(), await acts.leased(1, { sendAt: T0 + HOUR })];
      await acts.subject.store.accept([plain], at());
      for (const [id, ms] of [
        [due, HOUR],
        [due, HOUR + 1],
        [plain.id, 0],
        [leased, 0],
      ] as const) {
        const before = await show(id);
        expect(await reschedule(id, T0 + 9 * HOUR, ms)).toEqual({ kind: 'due' });
        expect(await show(id)).toEqual(before);
      }
      expect(await reschedule(due, T0 + 9 * HOUR, HOUR - 1), 'until then').toMatchObject({
        kind: 'rescheduled',
      });
    });

    it('says what it does not find and what has ended, and answers in order', async () => {
      const [id, cancelled] = [await waiting(), await waiting()];
      await acts.cancel(cancelled);
      const [first, second] = [T0 + 2 * HOUR, T0 + 3 * HOUR];
      const answers = await acts.subject.store.reschedule(
        [
          { id: message().id, sendAt: first, expiresAt: NEW_EXPIRY },
          { id: cancelled, sendAt: first, expiresAt: NEW_EXPIRY },
          { id, sendAt: first, expiresAt: NEW_EXPIRY },
          { id, sendAt: second, expiresAt: NEW_EXPIRY },
        ],
        at(),
      );
      expect(answers).toEqual([{ kind: 'not_found' }, { kind: 'final' }, moved(first), moved(second)]);
      expect((await show(id)).message).toMatchObject({ sendAt: second, expiresAt: NEW_EXPIRY + 3 * HOUR });
      await derived([id, cancelled], 0, 1);
    });

    it('that makes it due ends what may be asked', async () => {
      const id = await waiting();
      const answers = await acts.subject.store.reschedule(
        [
          { id, sendAt: T0, expiresAt: NEW_EXPIRY },
          { id, sendAt: T0 + HOUR, expiresAt: NEW_EXPIRY },
        ],
        at(),
      );
      expect(answers).toEqual([moved(T0), { kind: 'due' }]);
    });

    it('lets one of a cancellation, a claim and another move that come at once be the last', async () => {
      const ids = [await waiting(), await waiting()];
      const [first = '', second = ''] = ids;
      const { store } = acts.subject;
      const answers = await Promise.all([
        reschedule(first, T0 + 2 * HOUR),
        reschedule(first, T0 + 3 * HOUR),
        acts.cancel(first),
        reschedule(second, T0 + 5),
        claim(store, acts.lease, 9, at(5)),
        reschedule(second, T0 + 9, 5),
      ]);
      expect(answers[2]).toBe('cancelled');
      expect((await show(first)).message).toMatchObject({ status: 'failed', outcome: 'cancelled' });
      const { message: record, recipients } = await show(second);
      const isClaimed = answers[4].length > 0;
      expect(record).toMatchObject(
        isClaimed ? { status: 'processing', sendAt: T0 + 5 } : { status: 'queued', sendAt: T0 + 5 },
      );
      expect(recipients[0]?.dueAt).toBe(isClaimed ? null : T0 + 5);
      await derived(ids, 5, 1);
    });

    it('gives a message that was cancelled and is retried its new time', async () => {
      const id = await waiting();
      await reschedule(id, T0 + 2 * HOUR);
      await acts.cancel(id);
      await acts.requeue(id, 5);
      expect((await show(id)).recipients[0]).toMatchObject({ state: 'queued', dueAt: T0 + 2 * HOUR });
      expect(await reschedule(id, T0 + HOUR)).toEqual(moved(T0 + HOUR));
    });

    it('moves who has no route, too', async () => {
      const deliveries = [
        recipient({ dueAt: T0 + HOUR }),
        recipient({ dueAt: T0 + HOUR, relay: null, lane: null }),
      ];
      const id = await waiting({ deliveries });
      await reschedule(id, T0 + 2 * HOUR);
      const { message: record, recipients } = await show(id);
      expect([record.sendAt, ...recipients.map(({ dueAt }) => dueAt)]).toEqual(Array(3).fill(T0 + 2 * HOUR));
    });
  });
}
