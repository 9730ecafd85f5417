import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Priority } from '../../../src/domain/message.ts';
import type { Unit } from '../../../src/store/store.ts';
import {
  at,
  attempt,
  beginAll,
  claim,
  DAY,
  DEFERRED,
  message,
  type OpenSubject,
  read,
  recipient,
  refOf,
  releaseAll,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What `claim`, `begin` and `release` promise. */
export function claimContract(open: OpenSubject): void {
  describe('claim, begin, release', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('gives what an attempt needs', async () => {
      const deliveries = [recipient({ group: ['out', 'spare'], rule: 'r1' })];
      const record = message({
        ret: 'HDRS',
        envid: 'e1',
        test: true,
        reportable: true,
        tls: 'required',
        tags: ['news', 'orders'],
        deliveries,
      });
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      expect(await claim(subject.store, lease)).toEqual([
        {
          messageId: record.id,
          lane: 'out',
          fence: lease.fence,
          relay: 'out',
          reversePath: 'sender@example.com',
          headerFrom: 'Sender <sender@example.com>',
          keyId: record.keyId,
          tags: record.tags,
          ret: 'HDRS',
          envid: 'e1',
          content: record.content,
          part: null,
          sizeBytes: 1000,
          flags: record.flags,
          tls: 'required',
          priority: 'normal',
          test: true,
          reportable: true,
          createdAt: T0,
          deliveries: [
            {
              index: 0,
              attempts: 0,
              expiresAt: record.expiresAt,
              dueAt: T0,
              group: ['out', 'spare'],
              delayReported: false,
              recipient: record.deliveries[0]?.recipient,
            },
          ],
        },
      ]);
      expect((await read(subject.views, record.id)).message.status).toBe('processing');
    });

    it('gives the time at which it could first be sent, if that came later than it', async () => {
      const group: string[] = [];
      const record = message({ sendAt: T0 + 50, deliveries: [recipient({ dueAt: T0 + 50, group })] });
      await subject.store.accept([record], at());
      const [unit] = await claim(subject.store, await takeLane(subject.store), 1, at(60));
      expect(unit).toMatchObject({ createdAt: T0 + 50, reportable: false });
      expect(unit?.deliveries).toMatchObject([{ dueAt: T0 + 50, group: [] }]);
    });

    it('gives recipients with copies of their own one by one, each with its copy', async () => {
      const names = ['a', 'b', 'c'];
      const deliveries = names.map((name) =>
        recipient({
          recipient: { address: `${name}@example.net`, kind: 'to', notify: null, orcpt: null },
        }),
      );
      const copies = [
        { start: 0, length: 300, checksum: 0xffff_ffff },
        { start: 300, length: 500, checksum: 0 },
        { start: 800, length: 200, checksum: 7 },
      ];
      const record = message({ deliveries, copies });
      await subject.store.accept([record, message()], at());
      const lease = await takeLane(subject.store);
      const first = await claim(subject.store, lease, 2);
      const shown = (unit: Unit | undefined) => [
        unit?.messageId,
        unit?.part,
        unit?.sizeBytes,
        unit?.deliveries.map(({ index }) => index),
      ];
      expect(first.map(shown)).toEqual([
        [record.id, copies[0], 300, [0]],
        [record.id, copies[1], 500, [1]],
      ]);
      const rest = await claim(subject.store, lease, 10);
      expect(rest).toHaveLength(2);
      expect(rest.map(shown)).toContainEqual([record.id, copies[2], 200, [2]]);
      const { message: kept } = await read(subject.views, record.id);
      expect(kept.copies).toEqual(copies);
      expect(kept.sizeBytes).toBe(1000);
    });

    it('takes high before normal before bulk, and the longest due first', async () => {
      const make = (priority: Priority, dueAt: number) =>
        message({ priority, deliveries: [recipient({ dueAt })] });
      const bulk = make('bulk', T0 - 900);
      const late = make('normal', T0 - 10);
      const early = make('normal', T0 - 20);
      const high = make('high', T0);
      const notYet = make('high', T0 + 1);
      await subject.store.accept([bulk, late, early, high, notYet], at());
      const lease = await takeLane(subject.store);
      const [answer] = await subject.store.claim(
        [{ ...lease, limit: 3, maxRecipients: 1, order: 'high_first' as const }],
        at(),
      );
      expect(answer?.units.map((unit) => unit.messageId)).toEqual([high.id, early.id, late.id]);
      expect(answer?.nextDueAt).toBe(T0 - 900);
      const [rest] = await subject.store.claim(
        [{ ...lease, limit: 3, maxRecipients: 1, order: 'high_first' as const }],
        at(),
      );
      expect(rest?.units.map((unit) => unit.messageId)).toEqual([bulk.id]);
      expect(rest?.nextDueAt).toBe(T0 + 1);
      const [last] = await subject.store.claim(
        [{ ...lease, limit: 3, maxRecipients: 1, order: 'high_first' as const }],
        at(1),
      );
      expect(last?.units.map((unit) => unit.messageId)).toEqual([notYet.id]);
      expect(last?.nextDueAt).toBeNull();
    });

    it.each([
      ['high_first', ['high', 'high', 'normal', 'bulk']],
      ['high_only', ['high', 'high']],
      ['bulk_first', ['bulk', 'normal', 'high', 'high']],
    ] as const)('takes by the order asked for: %s', async (order, expected) => {
      const make = (priority: Priority, dueAt: number) =>
        message({ priority, deliveries: [recipient({ dueAt })] });
      const records = [make('normal', T0 - 20), make('high', T0 - 5), make('bulk', T0 - 10)];
      const late = [make('high', T0 - 1), make('bulk', T0 + 7)];
      await subject.store.accept([...records, ...late], at());
      const lease = await takeLane(subject.store);
      const request = { ...lease, order, maxRecipients: 9 };
      const units = [];
      // Two and then the rest: the order holds across the limit.
      for (const limit of [2, 9]) {
        const [answer] = await subject.store.claim([{ ...request, limit }], at());
        units.push(...(answer?.units ?? []));
        if (order === 'high_only') expect(answer?.nextDueAt, 'of all the lane').toBe(T0 - 20);
      }
      expect(units.map(({ priority }) => priority)).toEqual(expected);
      const high = units.filter(({ priority }) => priority === 'high');
      expect(high.map(({ deliveries }) => deliveries[0]?.dueAt)).toEqual([T0 - 5, T0 - 1]);
      const [rest] = await subject.store.claim([{ ...request, order: 'high_first', limit: 9 }], at());
      expect(rest?.units).toHaveLength(4 - expected.length);
      expect(rest?.nextDueAt).toBe(T0 + 7);
    });

    it('makes due siblings of a lane one unit, of at most so many recipients', async () => {
      const there = { relay: 'away', lane: 'away' };
      const deliveries = [
        recipient(),
        recipient(there),
        recipient({ dueAt: T0 - 5 }),
        recipient({ dueAt: T0 + 5 }),
        recipient(),
      ];
      const record = message({ deliveries });
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const units = async (limit: number, maxRecipients: number, ms = 0) => {
        const [answer] = await subject.store.claim(
          [{ ...lease, limit, maxRecipients, order: 'high_first' as const }],
          at(ms),
        );
        return answer?.units.map((unit) => unit.deliveries.map(({ index }) => index));
      };
      expect(await units(1, 2)).toEqual([[0, 2]]);
      expect(await units(9, 9)).toEqual([[4]]);
      expect(await units(9, 9, 5)).toEqual([[3]]);
      expect(await units(9, 9, 5)).toEqual([]);
    });

    it('gives one message with many recipients as many units as the limit allows', async () => {
      const record = message({ deliveries: Array.from({ length: 25 }, () => recipient()) });
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const [answer] = await subject.store.claim(
        [{ ...lease, limit: 2, maxRecipients: 10, order: 'high_first' as const }],
        at(),
      );
      expect(answer?.units.map((unit) => unit.deliveries.length)).toEqual([10, 10]);
      const [rest] = await subject.store.claim(
        [{ ...lease, limit: 2, maxRecipients: 10, order: 'high_first' as const }],
        at(),
      );
      expect(rest?.units.map((unit) => unit.deliveries.length)).toEqual([5]);
    });

    it('gives nothing to a stale fence, a foreign node or an ended lease', async () => {
      await subject.store.accept([message()], at());
      const lease = await takeLane(subject.store);
      expect(await claim(subject.store, { ...lease, fence: lease.fence - 1 })).toEqual([]);
      expect(await claim(subject.store, lease, 1, at(0, 'b'))).toEqual([]);
      expect(await claim(subject.store, lease, 1, at(DAY))).toEqual([]);
      expect(await claim(subject.store, lease)).toHaveLength(1);
    });

    it('never gives a delivery twice, however many claim at once', async () => {
      const records = Array.from({ length: 60 }, () => message());
      await subject.store.accept(records, at());
      const lease = await takeLane(subject.store);
      const claims = Array.from({ length: 20 }, () => claim(subject.store, lease, 5));
      const units = (await Promise.all(claims)).flat();
      expect(new Set(units.map((unit) => unit.messageId)).size).toBe(60);
      expect(units).toHaveLength(60);
    });

    it('begins a unit only under the fence it was claimed under, while the lane is held', async () => {
      await subject.store.accept([message()], at());
      const lease = await takeLane(subject.store);
      const unit = refOf((await claim(subject.store, lease))[0]);
      const stale = { ...unit, fence: unit.fence + 1 };
      const strange = { ...unit, lane: 'away' };
      const wider = { ...unit, indexes: [0, 1] };
      expect(await beginAll(subject.store, [stale, strange, wider], at())).toEqual([
        'refused',
        'refused',
        'refused',
      ]);
      expect(await beginAll(subject.store, [unit], at(DAY))).toEqual(['refused']);
      expect(await beginAll(subject.store, [unit], at(0, 'b'))).toEqual(['refused']);
      expect(await beginAll(subject.store, [unit], at())).toEqual(['begun']);
    });

    it('gives back what was released: to queued, or to retrying if it was tried', async () => {
      const record = message();
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const first = refOf((await claim(subject.store, lease))[0]);
      await releaseAll(subject.store, [first], at(7));
      const fresh = await read(subject.views, record.id);
      expect(fresh.recipients[0]).toMatchObject({ state: 'queued', dueAt: T0 + 7 });
      const [second] = await claim(subject.store, lease, 1, at(7));
      await attempt(subject.store, refOf(second), [DEFERRED], at(7));
      const [third] = await claim(subject.store, lease, 1, at(40_000));
      await releaseAll(subject.store, [refOf(third)], at(40_001));
      const tried = await read(subject.views, record.id);
      expect(tried.recipients[0]).toMatchObject({
        state: 'retrying',
        dueAt: T0 + 40_001,
        attempts: 1,
      });
    });

    it('does not release another claim; releases what was marked as begun when nothing was sent', async () => {
      const record = message();
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const unit = refOf((await claim(subject.store, lease))[0]);
      const stale = { ...unit, fence: unit.fence + 1 };
      expect(await releaseAll(subject.store, [stale], at())).toEqual([{ kind: 'stale' }]);
      expect((await read(subject.views, record.id)).message.status).toBe('processing');
      await beginAll(subject.store, [unit], at());
      expect(await releaseAll(subject.store, [unit], at())).toEqual([{ kind: 'settled', cancelled: [] }]);
      expect((await read(subject.views, record.id)).message.status).toBe('queued');
    });

    it('forgets that what it releases had begun: it is not unknown when its next lease is lost', async () => {
      const record = message();
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const unit = refOf((await claim(subject.store, lease))[0]);
      await beginAll(subject.store, [unit], at());
      await releaseAll(subject.store, [unit], at());
      await claim(subject.store, lease);
      await subject.store.releaseLanes([lease], at());
      const policy = { firstMs: 1, maxMs: 1, maxAgeMs: 1, ambiguous: 'hold' } as const;
      const answer = await subject.store.reclaim({ seize: false, policy, dice: 0, limit: 10 }, at());
      expect(answer).toMatchObject({ unknown: 0, more: false });
      expect((await read(subject.views, record.id)).message).toMatchObject({
        status: 'queued',
        possibleDuplicate: false,
      });
    });

    it('cancels what is released after its cancellation was requested', async () => {
      const record = message();
      await subject.store.accept([record], at());
      const lease = await takeLane(subject.store);
      const unit = refOf((await claim(subject.store, lease))[0]);
      await subject.store.cancel([record.id], at());
      await releaseAll(subject.store, [unit], at());
      expect((await read(subject.views, record.id)).message).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
      });
    });
  });
}
