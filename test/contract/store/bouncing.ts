import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BounceType } from '../../../src/domain/feedback.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { Suppression } from '../../../src/domain/suppression.ts';
import { idFloor } from '../../../src/lib/id.ts';
import { EVERY_EVENT } from '../../../src/store/events.ts';
import { TELL_RULES } from '../../support/telling.ts';
import {
  at,
  CAPTURED,
  DAY,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  type OpenSubject,
  REJECTED,
  recipient,
  SETTLED,
  STALE,
  type Subject,
  settlement,
  T0,
} from './fixtures.ts';
import { bounceOf, ownBounce, recipientAt, Teller, told } from './told.ts';

const SOFT = { code: 452, enhancedCode: '5.2.2', text: 'Mailbox full' };
const ANN = 'ann@example.org';

/** What bounces mean for the suppression list: those that we are told of, and our own. */
export function bouncingContract(open: OpenSubject): void {
  describe('bounces', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    /** Delivers to `address` at `T0 + ms` and tells of a bounce at once. */
    async function bounces(ms: number, facts = SOFT, address = ANN, softBounces = 5) {
      const { id } = await teller.sentTo(address, { expiresAt: T0 + ms + DAY }, at(ms));
      return await teller.tellOne(bounceOf(id, facts), { rules: { softBounces } }, at(ms));
    }

    /** The same without a delivery in between: none of these was delivered after another bounced. */
    async function bouncesInARow(times: readonly number[], address = ANN, softBounces = 5) {
      const sent = [];
      for (const _ of times) sent.push(await teller.sentTo(address));
      const entries = [];
      for (const [place, ms] of times.entries()) {
        const item = bounceOf(sent[place]?.id ?? '', SOFT);
        entries.push((await teller.tellOne(item, { rules: { softBounces } }, at(ms))).entry);
      }
      return entries.map((entry) => entry?.reason ?? null);
    }

    it.each<[BounceType, string | null, number | null]>([
      ['hard', 'hard_bounce', null],
      ['provider_suppressed', 'provider', T0 + 90 * DAY],
      ['block', null, null],
      ['undetermined', null, null],
      ['soft', null, null],
    ])('of type %s suppress as %s', async (type, reason, expiresAt) => {
      const { id } = await teller.sentTo(ANN);
      const result = await teller.tellOne(bounceOf(id, { type, enhancedCode: null }));
      expect(result).toMatchObject({ bounce: type, changed: true });
      expect(result.entry?.reason ?? null).toBe(reason);
      const entries = await teller.entries(ANN);
      if (reason === null) expect(entries).toEqual([]);
      else
        expect(entries).toEqual([
          {
            id: result.entry?.id,
            address: ANN,
            scope: 'global',
            stream: null,
            reason,
            source: 'dsn',
            evidence: { messageId: id, at: T0, code: 550, enhancedCode: null, text: 'No such user' },
            note: '',
            createdAt: T0,
            updatedAt: T0,
            expiresAt,
          },
        ]);
    });

    it('suppress the normal form of the address, in the scope of the settings', async () => {
      const { id } = await teller.sentTo('Ann+X@example.org');
      const scope = { ...TELL_RULES.scope, hard_bounce: 'key' } as const;
      const { entry } = await teller.tellOne(bounceOf(id), { rules: { scope } });
      expect(entry?.address).toBe('ann+x@example.org');
      expect(await teller.entries('ann+x@example.org')).toMatchObject([{ scope: 'key:key_one' }]);
    });

    it('of test mail suppress for its key alone, and for nobody without one', async () => {
      const keyed = await teller.sentTo(ANN, { test: true });
      await teller.tellOne(bounceOf(keyed.id));
      expect(await teller.entries(ANN)).toMatchObject([{ scope: 'key:key_one' }]);
      const { id, address } = await teller.sent({ test: true, keyId: null });
      expect(await teller.tellOne(bounceOf(id))).toMatchObject({ changed: true, entry: null });
      expect(await teller.entries(address)).toEqual([]);
    });

    it('suppress nobody of a guarded domain, though complaints do', async () => {
      const [first, second] = [await teller.sentTo(ANN), await teller.sentTo(ANN)];
      const rules = { guarded: ['example.org'] };
      expect(await teller.tellOne(bounceOf(first.id), { rules })).toMatchObject({
        bounce: 'hard',
        entry: null,
      });
      expect(await teller.ends(first.id)).toEqual(['failed/bounced']);
      expect(await teller.entries(ANN)).toEqual([]);
      await teller.tellOne(told(second.id, 'complaint'), { rules });
      expect(await teller.reason(ANN)).toBe('complaint');
    });

    it('suppress nobody while the list is full of what never ends, though complaints do', async () => {
      const rules = { maxEntries: 1 };
      const [first, second] = [await teller.sentTo(ANN), await teller.sent()];
      await teller.tellOne(bounceOf(first.id), { rules });
      expect(await teller.tellOne(bounceOf(second.id), { rules })).toMatchObject({
        bounce: 'hard',
        changed: true,
        entry: null,
      });
      const wish = await teller.tellOne(told(second.id, 'complaint'), { rules });
      expect(wish.entry?.reason).toBe('complaint');
    });

    describe('that are soft', () => {
      it('suppress with the fifth in a row, for thirty days, and begin anew then', async () => {
        const reasons = await bouncesInARow([0, 1, 2, 3, 4, 5].map((day) => day * DAY));
        expect(reasons).toEqual([null, null, null, null, 'soft_bounces', null]);
        expect(await teller.entries(ANN)).toMatchObject([{ expiresAt: T0 + 34 * DAY }]);
      });

      it('count for the address, whatever the case of its letters', async () => {
        const sent = [];
        for (const address of [ANN, 'ANN@example.org', 'Ann@example.org'])
          sent.push(await teller.sentTo(address));
        const reasons = [];
        for (const { id } of sent)
          reasons.push((await teller.tellOne(bounceOf(id, SOFT), { rules: { softBounces: 3 } })).entry);
        expect(reasons.map((entry) => entry?.reason)).toEqual([undefined, undefined, 'soft_bounces']);
      });

      it('count in a row although each message was delivered before it came back', async () => {
        const reasons = [];
        for (const day of [0, 1, 2, 3, 4]) reasons.push((await bounces(day * DAY)).entry?.reason ?? null);
        expect(reasons).toEqual([null, null, null, null, 'soft_bounces']);
      });

      it('count for nothing after a delivery that stays, nor the first after thirty days', async () => {
        for (const day of [0, 1, 2, 3]) expect((await bounces(day * DAY)).entry).toBeNull();
        await teller.sentTo(ANN);
        for (const day of [4, 5, 6, 7]) expect((await bounces(day * DAY)).entry).toBeNull();
        expect((await bounces(8 * DAY)).entry?.reason).toBe('soft_bounces');
        const far = 'far@example.org';
        const days = [0, 10, 20, 29, 30].map((day) => day * DAY);
        expect(await bouncesInARow(days, far)).toEqual([null, null, null, null, null]);
        const near = [0, 10, 20, 29, 30].map((day, place) => day * DAY - (place === 4 ? 1 : 0));
        expect((await bouncesInARow(near, 'near@example.org')).at(-1)).toBe('soft_bounces');
      });

      it('count in a row whatever was captured in between, and not for test mail', async () => {
        expect(await bouncesInARow([0, 1], ANN, 3)).toEqual([null, null]);
        const { id } = await teller.sent({ deliveries: [recipientAt(ANN)], test: true }, [CAPTURED]);
        const rules = { softBounces: 3 };
        expect((await teller.tellOne(bounceOf(id, SOFT), { rules })).entry).toBeNull();
        expect(await bouncesInARow([2], ANN, 3)).toEqual(['soft_bounces']);
      });

      it('never suppress where the settings say 0, and are one of one address only', async () => {
        expect(await bouncesInARow([0, 1, 2], ANN, 0)).toEqual([null, null, null]);
        const others = ['a@example.org', 'b@example.org', 'c@example.org'];
        for (const address of others) expect(await bouncesInARow([0, 1], address, 3)).toEqual([null, null]);
      });

      it('count although a clock was ahead when they came', async () => {
        expect(await bouncesInARow([HOUR, 2 * HOUR, 0], ANN, 3)).toEqual([null, null, 'soft_bounces']);
      });

      it('are counted across a restart', async () => {
        expect(await bouncesInARow([0], ANN, 1)).toEqual(['soft_bounces']);
        const sent = [];
        for (const _ of [1, 2]) sent.push(await teller.sentTo('bob@example.org'));
        const rules = { softBounces: 2 };
        await teller.tellOne(bounceOf(sent[0]?.id ?? '', SOFT), { rules });
        subject = await subject.reopen();
        const { entry } = await teller.tellOne(bounceOf(sent[1]?.id ?? '', SOFT), { rules });
        expect(entry?.reason).toBe('soft_bounces');
      });
    });

    describe('of our own attempts', () => {
      const refusal = { ...REJECTED, reply: { ...REJECTED.reply } } satisfies Outcome;

      /** Settles a message that is refused, with what that may mean for the list. */
      async function refused(address: string, type: BounceType = 'hard', rules = TELL_RULES) {
        const { id, unit } = await teller.begun({ deliveries: [recipientAt(address)] });
        const own = { bounces: [ownBounce(address, type)], rules };
        const [answer] = await subject.store.settle([{ ...settlement(unit, [refusal]), own }], at());
        expect(answer).toEqual(SETTLED);
        return id;
      }

      it('suppress their address in the same transaction, and stay rejected', async () => {
        const id = await refused(ANN);
        expect(await teller.ends(id)).toEqual(['failed/rejected']);
        expect(await teller.entries(ANN)).toMatchObject([
          {
            scope: 'global',
            reason: 'hard_bounce',
            source: 'smtp',
            evidence: { messageId: id, at: T0, code: 550, enhancedCode: '5.1.1', text: 'No such user' },
          },
        ]);
        expect(await teller.story(id)).toEqual([`message.failed ${ANN}`]);
        expect(await teller.tellOne(bounceOf(id)), 'told of it as well').toMatchObject({ changed: false });
      });

      it('are soft ones, too: with the fifth, or with those that others tell of', async () => {
        const rules = { ...TELL_RULES, softBounces: 3 };
        const { id } = await teller.sentTo(ANN);
        await teller.tellOne(bounceOf(id, SOFT), { rules });
        await refused(ANN, 'soft', rules);
        expect(await teller.entries(ANN)).toEqual([]);
        await refused(ANN, 'soft', rules);
        expect(await teller.reason(ANN)).toBe('soft_bounces');
      });

      it('of a guarded domain suppress nobody', async () => {
        await refused(ANN, 'hard', { ...TELL_RULES, guarded: ['example.org'] });
        expect(await teller.entries(ANN)).toEqual([]);
      });

      it('suppress only those that failed: not the others of the message', async () => {
        const deliveries = [recipientAt(ANN), recipientAt('bob@example.org'), recipientAt('cy@example.org')];
        const { id, unit } = await teller.begun({ deliveries });
        const bounces = [ANN, 'bob@example.org', 'cy@example.org'].map((address, place) =>
          ownBounce(address, 'hard', place),
        );
        const own = { bounces, rules: TELL_RULES };
        const ends = [DELIVERED, REJECTED, DEFERRED];
        await subject.store.settle([{ ...settlement(unit, ends), own }], at());
        expect(await teller.entries(ANN)).toEqual([]);
        expect(await teller.reason('bob@example.org')).toBe('hard_bounce');
        expect(await teller.entries('cy@example.org')).toEqual([]);
        expect(await teller.ends(id)).toEqual(['delivered/accepted', 'failed/rejected', 'retrying/null']);
      });

      it('are nothing where the work is no longer the unit’s', async () => {
        const { unit } = await teller.begun({ deliveries: [recipientAt(ANN)] });
        const own = { bounces: [ownBounce(ANN)], rules: TELL_RULES };
        const stale = { ...settlement({ ...unit, fence: unit.fence + 1 }, [REJECTED]), own };
        expect(await subject.store.settle([stale], at())).toEqual([STALE]);
        expect(await teller.entries(ANN)).toEqual([]);
      });

      it('are those that expire: soft ones', async () => {
        const { id } = await teller.sent({ deliveries: [recipientAt(ANN), recipient()], expiresAt: T0 + 5 }, [
          DEFERRED,
          DELIVERED,
        ]);
        const rules = { ...TELL_RULES, softBounces: 1 };
        const own = { bounces: [ownBounce(ANN, 'soft')], rules };
        const expiry = { messageId: id, indexes: [0], report: null, own };
        expect(await subject.store.expire([expiry], at(4)), 'not yet').toEqual([false]);
        expect(await teller.entries(ANN)).toEqual([]);
        expect(await subject.store.expire([expiry], at(HOUR))).toEqual([true]);
        expect(await teller.ends(id)).toEqual(['failed/expired', 'delivered/accepted']);
        expect(await teller.entries(ANN)).toMatchObject([{ reason: 'soft_bounces', source: 'smtp' }]);
      });
    });

    describe('of a domain that is not credible', () => {
      it('end soon, those of the last hour, and an event tells of it', async () => {
        const older = await bounces(0, { ...SOFT, enhancedCode: '5.1.1' }, 'old@example.org');
        const half = 30 * MINUTE;
        const now = HOUR + half;
        const fresh = await bounces(now - 1, { ...SOFT, enhancedCode: '5.1.1' }, 'new@example.org');
        const other = await bounces(now - 1, { ...SOFT, enhancedCode: '5.1.1' }, 'new@example.net');
        const wish = await teller.sentTo('wish@example.org', { expiresAt: T0 + DAY }, at(now - 1));
        await teller.tellOne(told(wish.id, 'complaint'), {}, at(now - 1));
        expect([older, fresh, other].every(({ entry }) => entry?.reason === 'hard_bounce')).toBe(true);
        const imported = { ...(await teller.entries('new@example.org'))[0], evidence: null } as Suppression;
        await subject.suppressions.addSuppressions(
          [{ ...imported, id: `${imported.id}i`, address: 'imported@example.org' }],
          { max: 9, by: 'hand', now: T0 + now },
        );
        await subject.store.guard('example.org', idFloor('sup_', now - HOUR), at(now));
        const ends = async (address: string) => (await teller.entries(address))[0]?.expiresAt;
        expect(await ends('old@example.org')).toBeNull();
        expect(await ends('new@example.org')).toBe(T0 + now + DAY);
        expect(await ends('new@example.net')).toBeNull();
        expect(await ends('wish@example.org')).toBeNull();
        expect(await ends('imported@example.org')).toBeNull();
        const query = { ...EVERY_EVENT, types: ['suppression.guarded'] as const };
        const { events } = await subject.views.events({ ...query, from: { after: 0 }, limit: 9 });
        expect(events).toMatchObject([
          { at: T0 + now, message: null, recipient: null, facts: { domain: 'example.org' } },
        ]);
      });
    });
  });
}
