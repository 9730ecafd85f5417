import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayOf } from '../../../src/domain/quota.ts';
import type { Suppression } from '../../../src/domain/suppression.ts';
import { createIdSource } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { AcceptDelivery, AcceptRecord } from '../../../src/store/accepting.ts';
import type { BeginRequest, UnitRef } from '../../../src/store/leased.ts';
import {
  at,
  claim,
  DAY,
  DELIVERED,
  message,
  type OpenSubject,
  recipient,
  refOf,
  releaseAll,
  report,
  SETTLED,
  STALE,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';
import { bounceOf, recipientAt, Teller } from './told.ts';

const nextId = createIdSource({ wall: () => T0 }, seededRandom(13), 'sup_');
const TODAY = dayOf(T0);
const ANN = 'ann@example.org';
const BOB = 'bob@example.org';

/** What acceptance, `begin` and `suppress` promise of those whom the suppression list stops. */
export function stoppingContract(open: OpenSubject): void {
  describe('the suppression list', () => {
    let subject: Subject;
    const teller = new Teller(() => subject);
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    async function add(address: string, change: Partial<Suppression> = {}): Promise<string> {
      const entry = {
        id: nextId(),
        address,
        scope: 'global',
        stream: null,
        reason: 'manual',
        source: 'api',
        evidence: null,
        note: '',
        createdAt: T0,
        updatedAt: T0,
        expiresAt: null,
        ...change,
      } as const;
      const rules = { max: 1_000, by: 'hand', now: T0 } as const;
      const [added] = await subject.suppressions.addSuppressions([entry], rules);
      if (added?.kind !== 'added') throw new Error('the entry was not added');
      return added.entry.id;
    }
    const remove = async (id: string) => await subject.suppressions.removeSuppressions([id], true, T0);
    const to = (...addresses: readonly string[]): AcceptDelivery[] => addresses.map(recipientAt);
    const accept = async (change: Partial<AcceptRecord>, ms = 0) => {
      const record = message(change);
      const [answer] = await subject.store.accept([record], at(ms));
      return { record, id: record.id, answer };
    };
    /** Whether a message to `address` is stopped on its acceptance. */
    const stops = async (address: string, change: Partial<AcceptRecord> = {}, ms = 0) => {
      const { answer } = await accept({ deliveries: to(address), ...change }, ms);
      if (answer?.kind !== 'accepted') throw new Error('it was not accepted');
      return answer.suppressed !== undefined;
    };
    /** What begins a unit, with its recipients' addresses. */
    const request = (unit: UnitRef, addresses: readonly string[]): BeginRequest => {
      return { ...unit, recipients: addresses, quota: null };
    };
    /** A message that waits, and the unit that was claimed of it. */
    async function waiting(change: Partial<AcceptRecord> = {}) {
      const deliveries = change.deliveries ?? to(ANN);
      const { id } = await accept({ ...change, deliveries });
      const lease = await takeLane(subject.store);
      const [unit] = await claim(subject.store, lease);
      const addresses = deliveries.map((one) => one.recipient.address);
      return { id, lease, unit: refOf(unit), addresses };
    }

    describe('when claimed', () => {
      it('says whom it stops by then, so that nobody speaks of them to the hop', async () => {
        const { id } = await accept({ deliveries: to(ANN, BOB) });
        const lease = await takeLane(subject.store);
        const entry = await add(ANN);
        const [unit] = await claim(subject.store, lease);
        expect(unit).toMatchObject({ messageId: id, stopped: [{ index: 0, entry, reason: 'manual' }] });
        expect(unit?.deliveries).toHaveLength(2);
      });

      it('says nothing of a unit that it does not stop', async () => {
        await accept({ deliveries: to(BOB) });
        await add(ANN);
        const [unit] = await claim(subject.store, await takeLane(subject.store));
        expect(unit).not.toHaveProperty('stopped');
      });
    });

    describe('on acceptance', () => {
      it('ends those that it stops without an attempt, and says which and why', async () => {
        const entry = await add(ANN, { reason: 'hard_bounce' });
        const { id, answer } = await accept({ deliveries: to(ANN, BOB) });
        expect(answer).toEqual({
          kind: 'accepted',
          leased: [false, false],
          suppressed: [{ index: 0, entry, reason: 'hard_bounce' }],
        });
        const detail = await subject.views.message(id);
        expect(detail?.message).toMatchObject({
          status: 'queued',
          attempts: 0,
          lastError: { code: 'suppressed', class: 'permanent', recipient: ANN, enhancedCode: '5.7.1' },
        });
        expect(detail?.recipients).toMatchObject([
          { state: 'failed', outcome: 'suppressed', attempts: 0, dueAt: null },
          { state: 'queued', outcome: null },
        ]);
        const [event, ...others] = await teller.events(id);
        expect(others).toEqual([]);
        expect(event).toMatchObject({
          type: 'message.suppressed',
          at: T0,
          recipient: { address: ANN },
          attempt: null,
          facts: { outcome: 'suppressed', suppression: entry },
        });
      });

      it('leaves nothing to claim of a message that it stops as a whole, which counts as failed', async () => {
        await add(ANN);
        const { id } = await accept({ deliveries: to(ANN) });
        const detail = await subject.views.message(id);
        expect(detail?.message).toMatchObject({ status: 'failed', outcome: 'suppressed', finalAt: T0 });
        const lease = await takeLane(subject.store);
        expect(await claim(subject.store, lease)).toEqual([]);
        const { relays } = await subject.views.figures(T0);
        expect(relays['out']).toBeUndefined();
        expect((await subject.books()).queues.get('key_one') ?? 0).toBe(0);
        expect((await subject.books()).sentBytes).toBe(1000);
      });

      it('takes the short way with those that it does not stop, alone', async () => {
        await add(ANN);
        const lease = await takeLane(subject.store);
        const deliveries = to(ANN, BOB).map((one) => ({ ...one, fence: lease.fence }));
        const { answer } = await accept({ deliveries });
        expect(answer).toMatchObject({ leased: [false, true], suppressed: [{ index: 0 }] });
      });

      it('looks at each message of a batch by itself', async () => {
        await add(ANN);
        const batch = [ANN, BOB, ANN].map((address) => message({ deliveries: to(address) }));
        const answers = await subject.store.accept(batch, at());
        expect(answers.map((one) => one.kind === 'accepted' && one.suppressed?.length)).toEqual([
          1,
          undefined,
          1,
        ]);
      });

      it('stops whatever address, domain or subdomain an entry names, and nobody else', async () => {
        await add(ANN);
        await add('*@example.com');
        await add('*@*.example.net');
        expect(await stops('ANN@example.org')).toBe(true);
        expect(await stops('ann+x@example.org')).toBe(false);
        expect(await stops('any@example.com')).toBe(true);
        expect(await stops('any@mail.example.com')).toBe(false);
        expect(await stops('any@example.net')).toBe(false);
        expect(await stops('any@a.b.example.net')).toBe(true);
      });

      it('stops only mail of the entry’s scope and stream', async () => {
        await add('k@example.org', { scope: 'key:key_one' });
        await add('d@example.org', { scope: 'domain:example.com' });
        await add('s@example.org', { stream: 'news' });
        const from = (domain: string) => ({ header: { ...message().header, from: `a@${domain}` } });
        expect(await stops('k@example.org')).toBe(true);
        expect(await stops('k@example.org', { keyId: 'key_two' })).toBe(false);
        expect(await stops('k@example.org', { keyId: null })).toBe(false);
        expect(await stops('d@example.org', from('example.com'))).toBe(true);
        expect(await stops('d@example.org', from('example.net'))).toBe(false);
        expect(await stops('s@example.org', { stream: 'news' })).toBe(true);
        expect(await stops('s@example.org', { stream: 'other' })).toBe(false);
        expect(await stops('s@example.org')).toBe(false);
      });

      it('lets test mail pass all but its key’s entries, and who ignores it all but complaints', async () => {
        await add(ANN, { scope: 'key:key_one' });
        await add(BOB);
        await add('cy@example.org', { reason: 'complaint' });
        expect(await stops(ANN, { test: true })).toBe(true);
        expect(await stops(BOB, { test: true })).toBe(false);
        expect(await stops(BOB, { ignoresSuppression: true })).toBe(false);
        expect(await stops('cy@example.org', { ignoresSuppression: true })).toBe(true);
      });

      it('names the strongest of several entries', async () => {
        await add('*@example.org');
        const complaint = await add(ANN, { reason: 'complaint', scope: 'key:key_one' });
        const { answer } = await accept({ deliveries: to(ANN) });
        expect(answer).toMatchObject({ suppressed: [{ entry: complaint, reason: 'complaint' }] });
      });

      it('stops until the entry ends or is removed, also after a restart', async () => {
        const entry = await add(ANN);
        await add(BOB, { expiresAt: T0 + DAY });
        subject = await subject.reopen();
        expect(await stops(ANN)).toBe(true);
        expect(await stops(BOB, {}, DAY - 1)).toBe(true);
        expect(await stops(BOB, {}, DAY)).toBe(false);
        await remove(entry);
        expect(await stops(ANN)).toBe(false);
        await add(ANN);
        expect(await stops(ANN), 'added again').toBe(true);
      });

      it('stops from the moment that a bounce was told', async () => {
        const { id } = await teller.sentTo(ANN);
        expect(await stops(ANN)).toBe(false);
        await teller.tellOne(bounceOf(id));
        expect(await stops(ANN)).toBe(true);
      });

      it('leaves whoever is owed a report to the first attempt, and stops reports themselves', async () => {
        await add(ANN);
        const { id, lease, unit, addresses } = await waiting({ reportable: true });
        expect(await teller.ends(id)).toEqual(['processing/null']);
        const [answer] = await subject.store.begin([request(unit, addresses)], at());
        expect(answer).toMatchObject([{ index: 0, reason: 'manual' }]);
        const about = report({ deliveries: to(ANN) });
        expect(await subject.store.suppress([{ unit, report: about }], at())).toEqual([SETTLED]);
        expect(await teller.ends(about.id)).toEqual(['failed/suppressed']);
        expect(await claim(subject.store, lease)).toEqual([]);
      });

      it('takes the entry’s own words into no address of a pattern', async () => {
        await add('"*"@example.org');
        expect(await stops('*@example.org')).toBe(true);
        expect(await stops(ANN)).toBe(false);
      });
    });

    describe('before an attempt', () => {
      it('stops what waited when the entry came, and begins nothing of the unit', async () => {
        const { id, unit, addresses } = await waiting({ deliveries: to(ANN, BOB) });
        const entry = await add(ANN);
        const [answer] = await subject.store.begin([request(unit, addresses)], at(3));
        expect(answer).toEqual([{ index: 0, entry, reason: 'manual' }]);
        expect(await teller.ends(id), 'nothing has changed').toEqual(['processing/null', 'processing/null']);
        const ended = { unit: { ...unit, indexes: [0] }, report: null };
        expect(await subject.store.suppress([ended], at(4))).toEqual([SETTLED]);
        expect(await teller.ends(id)).toEqual(['failed/suppressed', 'processing/null']);
        expect(await teller.events(id)).toMatchObject([
          { type: 'message.suppressed', at: T0 + 4, attempt: null, facts: { suppression: entry } },
        ]);
        const rest = { ...unit, indexes: [1] };
        expect(await releaseAll(subject.store, [rest])).toEqual([SETTLED]);
        const [left] = await claim(subject.store, { lane: unit.lane, fence: unit.fence });
        expect(await subject.store.begin([request(refOf(left), [BOB])], at(5))).toEqual(['begun']);
        await subject.store.settle([settlement(refOf(left), [DELIVERED], at(5))], at(5));
        expect(await teller.ends(id)).toEqual(['failed/suppressed', 'delivered/accepted']);
        expect((await subject.views.figures(T0)).relays['out']).toEqual({ delivered: 1, failed: 0 });
      });

      it('stops what took the short way before the entry came', async () => {
        const lease = await takeLane(subject.store);
        const [deliveries] = [to(ANN).map((one) => ({ ...one, fence: lease.fence }))];
        const { id } = await accept({ deliveries });
        const { id: other } = await teller.sentTo(ANN);
        await teller.tellOne(bounceOf(other));
        const unit = { messageId: id, ...lease, indexes: [0] };
        const [answer] = await subject.store.begin([request(unit, [ANN])], at());
        expect(answer).toMatchObject([{ index: 0, reason: 'hard_bounce' }]);
      });

      it('looks at each unit of a batch by itself, and begins the others', async () => {
        const lease = await takeLane(subject.store);
        const units: BeginRequest[] = [];
        for (const address of [ANN, BOB]) {
          const deliveries = to(address).map((one) => ({ ...one, fence: lease.fence }));
          const { id } = await accept({ deliveries });
          units.push(request({ messageId: id, ...lease, indexes: [0] }, [address]));
        }
        await add(ANN);
        expect(await subject.store.begin(units, at())).toEqual([
          [expect.objectContaining({ index: 0 })],
          'begun',
        ]);
      });

      it('charges no quota for what it stops', async () => {
        const { unit, addresses } = await waiting();
        await add(ANN);
        const quota = { relay: 'out', day: TODAY, recipients: 1, limit: 1 };
        const [answer] = await subject.store.begin([{ ...request(unit, addresses), quota }], at());
        expect(answer).toMatchObject([{ index: 0 }]);
        expect([...(await subject.views.quotaUsed(TODAY)).values()]).toEqual([]);
      });

      it('lets pass what it no longer stops', async () => {
        const { id, unit, addresses } = await waiting();
        const entry = await add(ANN);
        expect(await subject.store.begin([request(unit, addresses)], at())).toMatchObject([[{ index: 0 }]]);
        await remove(entry);
        expect(await subject.store.suppress([{ unit, report: null }], at())).toEqual([STALE]);
        expect(await teller.ends(id)).toEqual(['processing/null']);
        expect(await subject.store.begin([request(unit, addresses)], at())).toEqual(['begun']);
        await subject.store.settle([settlement(unit, [DELIVERED])], at());
        expect(await teller.ends(id)).toEqual(['delivered/accepted']);
        expect(await teller.story(id)).toEqual([]);
      });

      it('ends nothing that has begun, that is no longer the unit’s, or that is not stopped as a whole', async () => {
        const { id, unit, addresses } = await waiting({ deliveries: to(ANN, BOB) });
        const suppress = async (change: Partial<UnitRef> = {}) =>
          await subject.store.suppress([{ unit: { ...unit, ...change }, report: report() }], at());
        await add(ANN);
        expect(await suppress()).toEqual([STALE]);
        expect(await suppress({ indexes: [0], fence: unit.fence + 1 })).toEqual([STALE]);
        expect(await suppress({ indexes: [0, 2] })).toEqual([STALE]);
        const [answer] = await subject.store.begin([request({ ...unit, indexes: [1] }, [BOB])], at());
        expect(answer).toBe('begun');
        await add(BOB);
        expect(await suppress({ indexes: [1] })).toEqual([STALE]);
        expect(await teller.ends(id)).toEqual(['processing/null', 'processing/null']);
        expect(addresses).toHaveLength(2);
        expect(await suppress({ indexes: [0] })).toEqual([SETTLED]);
        expect(await suppress({ indexes: [0] }), 'again').toEqual([STALE]);
      });

      it('ends and is told of once where a batch names it twice', async () => {
        const { unit, id } = await waiting({ deliveries: [recipient(), ...to(ANN)] });
        await add(ANN, { reason: 'hard_bounce' });
        const ended = { unit: { ...unit, indexes: [1] }, report: null };
        expect(await subject.store.suppress([ended, ended], at())).toEqual([SETTLED, STALE]);
        expect(await teller.story(id)).toEqual([`message.suppressed ${ANN}`]);
      });
    });
  });
}
