import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_MESSAGE } from '../../../src/domain/feedback.ts';
import { EARLY_MS, MAX_PLANNED } from '../../../src/store/telling.ts';
import { TELL_RULES } from '../../support/telling.ts';
import {
  at,
  attempt,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  type OpenSubject,
  REJECTED,
  refOf,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';
import { bounceOf, ownBounce, recipientAt, Teller, told } from './told.ts';

/** What `tell` and `retell` promise of what comes before the end of the attempt that it is about. */
export function earlyContract(open: OpenSubject): void {
  describe('what is told too early', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const retell = async (after: string, limit: number, ms: number) =>
      await subject.store.retell(after, limit, TELL_RULES, at(ms));

    it('waits until the attempt is recorded, and counts then', async () => {
      const { id, unit, addresses } = await teller.begun();
      const early = await teller.tellOne(bounceOf(id), { mayBeEarly: true });
      expect(early).toMatchObject({ verdict: 'early', changed: false });
      expect(await retell('', 10, 5)).toMatchObject({ results: [], waits: true, next: null });
      subject = await subject.reopen();
      await subject.store.settle([settlement(unit, [DELIVERED])], at(6));
      expect(await retell('', 10, 7)).toMatchObject({
        results: [{ verdict: 'matched', messageId: id, bounce: 'hard', changed: true }],
        waits: false,
      });
      expect(await teller.ends(id)).toEqual(['failed/bounced']);
      expect(await teller.reason(addresses[0] ?? '')).toBe('hard_bounce');
      expect(await retell('', 10, 8)).toEqual({ results: [], waits: false, nextAt: null, next: null });
      expect(await teller.story(id)).toHaveLength(1);
    });

    it('waits where nothing has that name yet, if it may be early', async () => {
      const { unit, id } = await teller.begun();
      const message = { ...NO_MESSAGE, providerMessageId: '4BQ' };
      const hook = told(id, 'complaint', { message, source: 'webhook:out' });
      expect((await teller.tellOne(hook)).verdict).toBe('unmatched');
      expect((await teller.tellOne(hook, { mayBeEarly: true, onceId: 'e1' })).verdict).toBe('early');
      const repeated = await teller.tellOne(hook, { mayBeEarly: true, onceId: 'e1' });
      expect(repeated.verdict).toBe('repeated');
      await subject.store.settle([settlement(unit, [DELIVERED])], at(6));
      const { results } = await retell('', 10, 7);
      expect(results).toMatchObject([{ kind: 'complaint', verdict: 'matched', changed: true }]);
    });

    it('is dropped when it has waited for ten minutes', async () => {
      const message = { ...NO_MESSAGE, providerMessageId: 'never' };
      await teller.tellOne(told('', 'complaint', { message }), { mayBeEarly: true });
      expect((await retell('', 10, EARLY_MS - 1)).waits).toBe(true);
      const { results, waits } = await retell('', 10, EARLY_MS);
      expect(results).toMatchObject([{ verdict: 'unmatched', changed: false }]);
      expect(waits).toBe(false);
      expect(EARLY_MS).toBe(10 * MINUTE);
    });

    it('counts at last without the end of the attempt, and leaves the state', async () => {
      const { id, unit, addresses } = await teller.begun();
      await teller.tellOne(bounceOf(id));
      const { results } = await retell('', 10, EARLY_MS);
      expect(results).toMatchObject([{ verdict: 'matched', changed: true, bounce: 'hard' }]);
      expect(await teller.ends(id)).toEqual(['processing/null']);
      expect(await teller.reason(addresses[0] ?? '')).toBe('hard_bounce');
      const late = at(EARLY_MS + 1);
      await subject.store.settle([settlement(unit, [DELIVERED], at())], late);
      expect(await teller.ends(id)).toEqual(['delivered/accepted']);
      // Told again, it is so at last.
      expect((await teller.tellOne(bounceOf(id), {}, late)).changed).toBe(true);
      expect(await teller.ends(id)).toEqual(['failed/bounced']);
      expect((await teller.tellOne(bounceOf(id), {}, late)).changed).toBe(false);
    });

    it('is told again page by page, the oldest first', async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      for (const providerMessageId of names)
        await teller.tellOne(told('', 'complaint', { message: { ...NO_MESSAGE, providerMessageId } }), {
          mayBeEarly: true,
        });
      const pages: number[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const page: Awaited<ReturnType<typeof retell>> = await retell(after, 2, EARLY_MS);
        pages.push(page.results.length);
        after = page.next;
      }
      expect(pages).toEqual([2, 2, 1]);
      expect((await retell('', 10, EARLY_MS)).results).toEqual([]);
    });

    it('is nothing but a bounce, where the message is known', async () => {
      const { id } = await teller.begun();
      const kinds = ['confirmation', 'complaint', 'unsubscribe', 'delayed'] as const;
      const results = await teller.tell(
        kinds.map((kind) => told(id, kind)),
        { mayBeEarly: true },
      );
      expect(results.map(({ verdict, changed }) => [verdict, changed])).toEqual(
        kinds.map(() => ['matched', true]),
      );
    });

    it('waits for the end of a retry, too, whatever was known of the first attempt', async () => {
      const { id, unit, addresses } = await teller.begun();
      const own = { bounces: [ownBounce(addresses[0] ?? '', 'block')], rules: TELL_RULES };
      await subject.store.settle([{ ...settlement(unit, [REJECTED]), own }], at());
      await subject.store.requeue([{ id, expiresAt: T0 + DAY }], at(5));
      expect((await teller.tellOne(bounceOf(id), {}, at(6))).verdict).toBe('early');
      const lease = await takeLane(subject.store, unit.lane, at(6 + HOUR));
      const [claimed] = await claim(subject.store, lease, 1, at(6 + HOUR));
      await attempt(subject.store, refOf(claimed), [DELIVERED], at(6 + HOUR));
      expect((await retell('', 10, 7)).results).toMatchObject([{ changed: true, bounce: 'hard' }]);
      expect(await teller.ends(id)).toEqual(['failed/bounced']);
      expect(await teller.story(id)).toEqual(
        ['failed', 'bounced'].map((end) => `message.${end} ${addresses[0]}`),
      );
    });

    it('waits for its time, over a restart, and counts then, once', async () => {
      const { id } = await teller.sent({ deliveries: [recipientAt('ann@example.org')] }, [DELIVERED]);
      const planned = await teller.tellOne(told(id, 'complaint'), { notBefore: T0 + 1000 });
      expect(planned).toMatchObject({ verdict: 'early', changed: false });
      expect(await retell('', 10, 999)).toEqual({
        results: [],
        waits: false,
        nextAt: T0 + 1000,
        next: null,
      });
      subject = await subject.reopen();
      expect(await retell('', 10, 1000)).toMatchObject({
        results: [{ kind: 'complaint', verdict: 'matched', changed: true }],
        nextAt: null,
      });
      expect((await retell('', 10, 1000)).results).toEqual([]);
      // What should have been told before counts at once.
      expect((await teller.tellOne(told(id, 'unsubscribe'), { notBefore: T0 })).verdict).toBe('matched');
    });

    it('is told at once where the clock was set back since', async () => {
      const { id } = await teller.sent({ deliveries: [recipientAt('ann@example.org')] }, [DELIVERED]);
      await teller.tellOne(told(id, 'complaint'), { notBefore: T0 + HOUR });
      expect((await retell('', 10, 0)).results).toMatchObject([{ verdict: 'matched' }]);
    });

    it('is not planned where too much is, and leaves room for what comes early', async () => {
      const { id } = await teller.begun();
      const many = Array.from({ length: MAX_PLANNED + 2 }, () => told(id, 'complaint'));
      const verdicts = (await teller.tell(many, { notBefore: T0 + 1000 })).map(({ verdict }) => verdict);
      expect(verdicts.slice(0, MAX_PLANNED).every((verdict) => verdict === 'early')).toBe(true);
      expect(verdicts.slice(MAX_PLANNED)).toEqual(['unmatched', 'unmatched']);
      expect((await teller.tellOne(bounceOf(id))).verdict).toBe('early');
    });

    it('waits while its recipient waits for the next attempt', async () => {
      const { id } = await teller.sent({ deliveries: [recipientAt('ann@example.org')] }, [DEFERRED]);
      expect((await teller.tellOne(bounceOf(id))).verdict).toBe('early');
      expect(await teller.ends(id)).toEqual(['retrying/null']);
    });
  });
}
