import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayOf, type QuotaRefund } from '../../../src/domain/quota.ts';
import type { BeginRequest, UnitRef } from '../../../src/store/leased.ts';
import {
  at,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  MINUTE,
  message,
  type OpenSubject,
  POLICY,
  recipient,
  refOf,
  refTo,
  SETTLED,
  STALE,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

const TODAY = dayOf(T0);
const NOTHING = {
  contentAgeMs: DAY,
  contentMaxBytes: 1e9,
  capturedAgeMs: DAY,
  capturedMaxBytes: 1e9,
  recordAgeMs: 1e12,
  eventAgeMs: 1e12,
  feedbackAgeMs: 1e12,
  maxUnsubscribeLinks: 1000,
};

/** What `begin`, `settle`, `release` and `purge` promise of quotas. */
export function quotaContract(open: OpenSubject): void {
  describe('quotas', () => {
    let subject: Subject;
    let lease: Awaited<ReturnType<typeof takeLane>>;
    beforeEach(async () => {
      subject = await open();
      lease = await takeLane(subject.store);
    });
    afterEach(() => subject.close());

    /** So many units in hand, each of one message. */
    async function inHand(count: number, recipients = 1): Promise<UnitRef[]> {
      const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
      const records = Array.from({ length: count }, () => message({ deliveries }));
      await subject.store.accept(records, at());
      return records.map(({ id }) => refTo(id, lease, [...deliveries.keys()]));
    }
    const wish = (unit: UnitRef, limit: number, recipients = unit.indexes.length): BeginRequest => ({
      ...unit,
      recipients: [],
      quota: { relay: 'out', day: TODAY, recipients, limit },
    });
    const refund = (recipients: number, day = TODAY): QuotaRefund => ({ relay: 'out', day, recipients });
    const used = async (day = TODAY) => Object.fromEntries(await subject.views.quotaUsed(day));
    /** One unit, begun with `recipients` off the quota. */
    async function begun(recipients: number): Promise<UnitRef> {
      const [unit] = await inHand(1);
      if (unit === undefined) throw new Error('nothing in hand');
      expect(await subject.store.begin([wish(unit, 1_000, recipients)], at())).toEqual(['begun']);
      return unit;
    }

    it('are taken as far as they reach, each unit after those before it', async () => {
      const units = await inHand(4, 2);
      const [first, second, third, fourth] = units.map((unit) => wish(unit, 5));
      const small = { ...fourth, quota: { relay: 'out', day: TODAY, recipients: 1, limit: 5 } };
      const batch = [first, second, third, small].map((one) => one as BeginRequest);
      expect(await subject.store.begin(batch, at())).toEqual(['begun', 'begun', 'over_quota', 'begun']);
      expect(await used()).toEqual({ out: 5 });
    });

    it('are each relay’s and each day’s, survive a restart, and are none where there is none', async () => {
      const [first, second, third, fourth] = await inHand(4);
      const quota = { recipients: 1, limit: 1 };
      const batch = [
        { ...first, quota: { relay: 'out', day: TODAY, ...quota } },
        { ...second, quota: { relay: 'away', day: TODAY, ...quota } },
        { ...third, quota: { relay: 'out', day: TODAY + 1, ...quota } },
        { ...fourth, quota: null },
      ].map((one) => ({ ...one, recipients: [] }) as unknown as BeginRequest);
      expect(await subject.store.begin(batch, at())).toEqual(['begun', 'begun', 'begun', 'begun']);
      subject = await subject.reopen();
      expect(await used()).toEqual({ out: 1, away: 1 });
      expect(await used(TODAY + 1)).toEqual({ out: 1 });
      expect(await used(TODAY - 1)).toEqual({});
    });

    it('leave a unit that is over them as it was: leased, not begun, to be given back or begun later', async () => {
      const [first, second] = await inHand(2);
      if (first === undefined || second === undefined) throw new Error('nothing in hand');
      expect(await subject.store.begin([wish(first, 0), wish(second, 0)], at())).toEqual(
        Array(2).fill('over_quota'),
      );
      expect(await subject.store.settle([settlement(first, [DELIVERED])], at())).toEqual([STALE]);
      expect(await subject.store.begin([wish(first, 1)], at())).toEqual(['begun']);
      const answer = await subject.store.reclaim(
        { seize: true, policy: POLICY, dice: 0.5, limit: 9 },
        at(DAY),
      );
      expect(answer, 'only the first had begun').toMatchObject({ released: 1, unknown: 1 });
    });

    it('take nothing for what may not begin, or has ended', async () => {
      const [stale, cancelled, ended] = await inHand(3);
      if (stale === undefined || cancelled === undefined || ended === undefined) throw new Error('none');
      await subject.store.cancel([cancelled.messageId], at());
      await subject.store.release([{ ...ended, refund: null }], at());
      const batch = [wish({ ...stale, fence: stale.fence + 1 }, 9), wish(cancelled, 9), wish(ended, 9)];
      expect(await subject.store.begin(batch, at())).toEqual(Array(3).fill('refused'));
      expect(await subject.store.begin([wish(stale, 9)], at(DAY)), 'the lease has ended').toEqual([
        'refused',
      ]);
      expect(await used()).toEqual({});
    });

    it.each([1, 2])('are taken once for an attempt that is asked for again: %i', async (recipients) => {
      const [unit] = await inHand(1, recipients);
      if (unit === undefined) throw new Error('nothing in hand');
      expect(await subject.store.begin([wish(unit, recipients)], at())).toEqual(['begun']);
      const again = await subject.store.begin([wish(unit, recipients), wish(unit, 0)], at(5));
      expect(again, 'its answer was lost').toEqual(['begun', 'begun']);
      expect(await used()).toEqual({ out: recipients });
      const outcomes = unit.indexes.map(() => DELIVERED);
      expect(await subject.store.settle([settlement(unit, outcomes, at(5))], at(6))).toEqual([SETTLED]);
    });

    it('are taken once for an attempt that is asked for twice in a batch', async () => {
      const [unit] = await inHand(1);
      if (unit === undefined) throw new Error('nothing in hand');
      expect(await subject.store.begin([wish(unit, 1), wish(unit, 1)], at())).toEqual(['begun', 'begun']);
      expect(await used()).toEqual({ out: 1 });
    });

    it('are taken anew by the next attempt', async () => {
      const unit = await begun(1);
      await subject.store.settle([settlement(unit, [DEFERRED])], at());
      const later = at(10 * MINUTE);
      const [again] = await claim(subject.store, lease, 1, later);
      if (again === undefined) throw new Error('nothing is due');
      expect(await subject.store.begin([wish(refOf(again), 1)], later)).toEqual(['over_quota']);
      expect(await subject.store.begin([wish(refOf(again), 2)], later)).toEqual(['begun']);
      expect(await used()).toEqual({ out: 2 });
    });

    it('are given back with a settlement, once', async () => {
      const unit = await begun(8);
      const settled = { ...settlement(unit, [DEFERRED]), refund: refund(5) };
      expect(await subject.store.settle([settled, settled], at())).toEqual([SETTLED, STALE]);
      expect(await subject.store.settle([settled], at())).toEqual([STALE]);
      expect(await used()).toEqual({ out: 3 });
    });

    it('are given back with a release, once, and only what had begun', async () => {
      const unit = await begun(8);
      const given = { ...unit, refund: refund(8) };
      expect(await subject.store.release([{ ...given, fence: unit.fence + 1 }], at())).toEqual([STALE]);
      expect(await used()).toEqual({ out: 8 });
      expect(await subject.store.release([given, given], at())).toEqual([SETTLED, STALE]);
      expect(await used()).toEqual({});
      await begun(4);
      const [idle] = await inHand(1);
      if (idle === undefined) throw new Error('nothing in hand');
      expect(await subject.store.release([{ ...idle, refund: refund(4) }], at())).toEqual([SETTLED]);
      expect(await used(), 'its begin took nothing').toEqual({ out: 4 });
    });

    it('are never given back beyond what was taken', async () => {
      const [first, second] = [await begun(2), await begun(1)];
      const batch = [
        { ...settlement(first, [DEFERRED]), refund: refund(9) },
        { ...settlement(second, [DEFERRED]), refund: refund(9, TODAY - 3) },
      ];
      expect(await subject.store.settle(batch, at())).toEqual([SETTLED, SETTLED]);
      expect([await used(), await used(TODAY - 3)]).toEqual([{}, {}]);
      const [unit] = await inHand(1);
      if (unit === undefined) throw new Error('nothing in hand');
      expect(await subject.store.begin([wish(unit, 1, 2)], at()), 'nor is there credit').toEqual([
        'over_quota',
      ]);
    });

    it('stay taken when what had begun is taken back, whatever becomes of it', async () => {
      const unit = await begun(3);
      await subject.store.reclaim({ seize: true, policy: POLICY, dice: 0.5, limit: 9 }, at());
      const late = { ...settlement(unit, [DEFERRED]), refund: refund(3) };
      expect(await subject.store.settle([late], at())).toEqual([STALE]);
      expect(await used()).toEqual({ out: 3 });
    });

    it('are remembered for forty days, and forgotten a portion at a time', async () => {
      const units = await inHand(4);
      const days = [TODAY - 42, TODAY - 41, TODAY - 40, TODAY];
      const batch = units.map((unit, place) => {
        const day = days[place] ?? TODAY;
        return { ...unit, recipients: [], quota: { relay: 'out', day, recipients: 1, limit: 1 } };
      });
      await subject.store.begin(batch, at());
      const left = async () => {
        const found = await Promise.all(days.map((day) => subject.views.quotaUsed(day)));
        return found.map(({ size }) => size);
      };
      await subject.store.purge(NOTHING, 1, at());
      expect(await left()).toEqual([0, 1, 1, 1]);
      await subject.store.purge(NOTHING, 100, at());
      expect(await left()).toEqual([0, 0, 1, 1]);
    });

    it('are not exceeded, however many begin at once', async () => {
      const units = await inHand(60);
      const batches = Array.from({ length: 12 }, (_, place) => units.slice(place * 5, place * 5 + 5));
      const answers = await Promise.all(
        batches.map((batch) =>
          subject.store.begin(
            batch.map((unit) => wish(unit, 23)),
            at(),
          ),
        ),
      );
      expect(answers.flat().filter((answer) => answer === 'begun')).toHaveLength(23);
      expect(await used()).toEqual({ out: 23 });
    });
  });
}
