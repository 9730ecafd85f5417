import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  at,
  attemptsOf,
  beginAll,
  CAPTURED,
  claim,
  DAY,
  DELIVERED,
  expireAll,
  HOUR,
  MINUTE,
  message,
  type OpenSubject,
  POLICY,
  read,
  recipient,
  refOf,
  refTo,
  STALE,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

const SWEEP = { seize: false, policy: POLICY, dice: 0.5, limit: 100 };

/** What the lane leases and `reclaim` promise. */
export function laneContract(open: OpenSubject): void {
  describe('lanes', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const onLane = (lane: string, dueAt = T0) =>
      message({ deliveries: [recipient({ lane, relay: lane, dueAt })] });
    const lanes = (leases: readonly { readonly lane: string }[]) => leases.map(({ lane }) => lane).sort();

    it('grants lanes with due mail that nobody holds, and those that are wanted', async () => {
      const records = [onLane('a'), onLane('b'), onLane('c', T0 + 1), onLane('d')];
      await subject.store.accept(records, at());
      await takeLane(subject.store, 'd', at(0, 'other'));
      const until = T0 + MINUTE;
      expect(lanes(await subject.store.acquireLanes(['z', 'd'], 10, until, at()))).toEqual(['a', 'b', 'z']);
      expect(await subject.store.acquireLanes(['z'], 10, until, at())).toEqual([]);
      expect(lanes(await subject.store.acquireLanes([], 10, T0 + HOUR, at(1)))).toEqual(['c']);
    });

    it('ends in time what was granted before the clock was set back, unless its holder extends it', async () => {
      await subject.store.accept([onLane('lost'), onLane('held')], at());
      const ahead = at(2 * HOUR, 'other');
      await subject.store.acquireLanes(['lost', 'held'], 0, ahead.now + MINUTE, ahead);
      const mine = await subject.store.acquireLanes(['mine'], 0, T0 + MINUTE, at());
      await subject.store.reclaim({ ...SWEEP, longestLeaseMs: 2 * MINUTE }, at());
      const free = async (ms: number) =>
        lanes(await subject.store.acquireLanes([], 9, T0 + ms + MINUTE, at(ms)));
      expect(await free(2 * MINUTE - 1)).toEqual([]);
      expect(await free(2 * MINUTE)).toEqual(['held', 'lost']);
      expect(await subject.store.renewLanes(mine, T0 + HOUR, at())).toEqual([]);
    });

    it('looks at a lane in time whose holder extended it after the clock was set back', async () => {
      await subject.store.accept([onLane('a')], at());
      const ahead = at(2 * HOUR);
      const leases = await subject.store.acquireLanes(['a'], 0, ahead.now + MINUTE, ahead);
      expect(await subject.store.renewLanes(leases, T0 + MINUTE, at())).toEqual([]);
      expect(lanes(await subject.store.acquireLanes([], 9, T0 + HOUR, at(MINUTE, 'other')))).toEqual(['a']);
    });

    it('discovers at most so many', async () => {
      await subject.store.accept(
        ['a', 'b', 'c'].map((lane) => onLane(lane)),
        at(),
      );
      const first = await subject.store.acquireLanes([], 2, T0 + MINUTE, at());
      const second = await subject.store.acquireLanes([], 2, T0 + MINUTE, at());
      expect(lanes([...first, ...second])).toEqual(['a', 'b', 'c']);
      expect(first).toHaveLength(2);
    });

    it('discovers none that are excepted, by their names or their relays’', async () => {
      const names = ['a', 'b', 'mx/a.example', 'mx/b.example', 'mx-2/a.example', 'other/a.example'];
      await subject.store.accept(
        names.map((lane) => onLane(lane)),
        at(),
      );
      const until = T0 + MINUTE;
      const acquire = (wanted: readonly string[], except: readonly string[]) =>
        subject.store.acquireLanes(wanted, 10, until, at(), except);
      expect(lanes(await acquire([], ['a', 'mx', 'other/a.example', 'nowhere']))).toEqual([
        'b',
        'mx-2/a.example',
      ]);
      expect(lanes(await acquire(['a'], ['a', 'mx', 'other'])), 'named').toEqual(['a']);
      expect(lanes(await acquire([], []))).toEqual(['mx/a.example', 'mx/b.example', 'other/a.example']);
    });

    it('raises the fence with every grant, even of lanes long forgotten', async () => {
      const first = await takeLane(subject.store);
      await subject.store.releaseLanes([first], at());
      const second = await takeLane(subject.store);
      await subject.store.releaseLanes([second], at());
      await subject.store.purge(KEEP_ALL, 10, at(DAY));
      subject = await subject.reopen();
      const third = await takeLane(subject.store);
      expect(second.fence).toBeGreaterThan(first.fence);
      expect(third.fence).toBeGreaterThan(second.fence);
    });

    it('grants a lane once, however many ask', async () => {
      const asked = ['a', 'b', 'c', 'd'].map((node) =>
        subject.store.acquireLanes(['out'], 0, T0 + MINUTE, at(0, node)),
      );
      expect((await Promise.all(asked)).flat()).toHaveLength(1);
    });

    it('renews what is held and names what is lost', async () => {
      const held = await takeLane(subject.store, 'held');
      const stale = { lane: 'held', fence: held.fence - 1 };
      const never = { lane: 'never', fence: 1 };
      expect(await subject.store.renewLanes([held, never], T0 + DAY, at())).toEqual(['never']);
      expect(await subject.store.renewLanes([stale], T0 + DAY, at())).toEqual(['held']);
      expect(await subject.store.renewLanes([held], T0 + DAY, at(0, 'b'))).toEqual(['held']);
      expect(await subject.store.renewLanes([held], T0 + DAY, at(DAY - 1))).toEqual([]);
      expect(
        await subject.store.renewLanes([held], T0 + 2 * DAY, at(DAY)),
        'lapsed, and taken by nobody',
      ).toEqual([]);
      await subject.store.releaseLanes([held], at(DAY));
      expect(await subject.store.renewLanes([held], T0 + 2 * DAY, at(DAY))).toEqual(['held']);
    });

    it('frees a lane at once when it is released, but not by a stale lease', async () => {
      const held = await takeLane(subject.store);
      await subject.store.releaseLanes([{ ...held, fence: held.fence - 1 }], at());
      expect(await subject.store.acquireLanes(['out'], 0, T0 + DAY, at(0, 'b'))).toEqual([]);
      await subject.store.releaseLanes([held], at());
      expect(await subject.store.acquireLanes(['out'], 0, T0 + DAY, at(0, 'b'))).toHaveLength(1);
    });

    it('shows how full lanes are, the fullest first, and since when their longest due delivery waits', async () => {
      await subject.store.accept([onLane('a', T0 + 7), onLane('b'), onLane('b', T0 + 1), onLane('c')], at());
      await subject.store.accept([message({ priority: 'bulk', deliveries: [onB(T0 - 5)] })], at());
      const lease = await takeLane(subject.store, 'b');
      await claim(subject.store, lease, 1);
      expect(await subject.views.lanes(null, 2)).toEqual([
        { lane: 'b', waiting: 2, processing: 1, oldestDueAt: T0 - 5 },
        { lane: 'a', waiting: 1, processing: 0, oldestDueAt: T0 + 7 },
      ]);
      await claim(subject.store, lease, 9, at(9));
      expect(await subject.views.lanes('b', 2)).toEqual([
        { lane: 'b', waiting: 0, processing: 3, oldestDueAt: null },
      ]);
    });
    const onB = (dueAt: number) => recipient({ lane: 'b', relay: 'b', dueAt });

    it('shows the lanes of a relay, and of no relay whose name begins alike', async () => {
      const names = ['mx', 'mx/a.example', 'mx/z.example', 'mx-2', 'mx0', 'mx_/a.example', 'm'];
      await subject.store.accept(
        names.map((lane) => onLane(lane)),
        at(),
      );
      const of = async (relay: string) => lanes(await subject.views.lanes(relay, 9));
      expect(await of('mx')).toEqual(['mx', 'mx/a.example', 'mx/z.example']);
      expect(await of('mx_')).toEqual(['mx_/a.example']);
      expect(await of('x')).toEqual([]);
      expect(await subject.views.lanes('mx', 2)).toHaveLength(2);
    });

    it('finds a lane whenever it is free and something is due, whatever happened to either before', async () => {
      const found = async (ms: number, node = 'b') => {
        const leases = await subject.store.acquireLanes([], 9, T0 + ms + MINUTE, at(ms, node));
        await subject.store.releaseLanes(leases, at(ms, node));
        return lanes(leases);
      };
      await subject.store.accept([onLane('a', T0 + 100)], at());
      expect(await found(99)).toEqual([]);
      expect(await found(100)).toEqual(['a']);
      expect(await found(101), 'released').toEqual(['a']);
      const lease = await takeLane(subject.store, 'a', at(200));
      expect(await found(201)).toEqual([]);
      await subject.store.renewLanes([lease], T0 + 2 * HOUR, at(300));
      expect(await found(HOUR + 250), 'renewed').toEqual([]);
      expect(await found(2 * HOUR), 'lapsed').toEqual(['a']);
      const again = await takeLane(subject.store, 'a', at(3 * HOUR));
      expect(await claim(subject.store, again, 9, at(3 * HOUR))).toHaveLength(1);
      await subject.store.releaseLanes([again], at(3 * HOUR));
      expect(await found(3 * HOUR), 'nothing waits').toEqual([]);
      await subject.store.accept([onLane('a', T0 + 9 * HOUR)], at(3 * HOUR));
      expect(await found(4 * HOUR)).toEqual([]);
      await subject.store.accept([onLane('a', T0 + 8 * HOUR)], at(3 * HOUR));
      expect(await found(8 * HOUR), 'the earlier of two').toEqual(['a']);
    });
  });

  describe('reclaim', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('leaves live leases alone', async () => {
      const lease = await takeLane(subject.store);
      const record = message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at());
      expect(await subject.store.reclaim(SWEEP, at())).toEqual({ released: 0, unknown: 0, more: false });
      expect((await read(subject.views, record.id)).message.status).toBe('processing');
    });

    it('takes back what was claimed under a lease that has ended or was granted anew', async () => {
      const lease = await takeLane(subject.store);
      const record = () => message({ deliveries: [recipient({ fence: lease.fence })] });
      const [one, two] = [record(), record()];
      await subject.store.accept([one, two], at());
      await takeLane(subject.store, 'out', at(2 * HOUR, 'b'));
      const answer = await subject.store.reclaim(SWEEP, at(2 * HOUR, 'b'));
      expect(answer).toEqual({ released: 2, unknown: 0, more: false });
      const { message: kept } = await read(subject.views, one.id);
      expect(kept).toMatchObject({
        status: 'queued',
        waits: [{ dueAt: T0 + 2 * HOUR }],
        possibleDuplicate: false,
      });
    });

    it('seizes all leases at once', async () => {
      const lease = await takeLane(subject.store, 'out', at(0, 'dead'));
      const record = message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record], at(0, 'dead'));
      const answer = await subject.store.reclaim({ ...SWEEP, seize: true }, at());
      expect(answer).toEqual({ released: 1, unknown: 0, more: false });
      expect(await subject.store.acquireLanes(['out'], 0, T0 + HOUR, at())).toHaveLength(1);
    });

    it.each([
      ['retry', { status: 'retrying', outcome: null, waits: [{ dueAt: T0 + DAY + 30_000 }] }],
      ['hold', { status: 'failed', outcome: 'unknown', waits: [] }],
    ] as const)('settles what was begun as unknown: %s', async (ambiguous, expected) => {
      const lease = await takeLane(subject.store);
      const deliveries = [recipient({ fence: lease.fence }), recipient({ fence: lease.fence })];
      const record = message({ deliveries, expiresAt: T0 + 9 * DAY });
      await subject.store.accept([record], at());
      await beginAll(subject.store, [refTo(record.id, lease, [0, 1])], at(4));
      const policy = { ...POLICY, ambiguous };
      const answer = await subject.store.reclaim({ ...SWEEP, policy }, at(DAY));
      expect(answer).toEqual({ released: 0, unknown: 2, more: false });
      const { message: kept } = await read(subject.views, record.id);
      expect(kept).toMatchObject({ ...expected, possibleDuplicate: true, attempts: 1 });
      expect(kept.lastError).toMatchObject({ class: 'unknown' });
      const attempts = await attemptsOf(subject.views, record.id);
      expect(attempts).toHaveLength(1);
      expect(attempts[0]).toMatchObject({ startedAt: T0 + 4, relay: 'out' });
      expect(attempts[0]?.results.map(({ index, outcome }) => [index, outcome.kind])).toEqual([
        [0, 'unknown'],
        [1, 'unknown'],
      ]);
      expect((await subject.views.figures(T0)).possibleDuplicates).toBe(1);
    });

    it('leaves what has expired waiting, due at once, so that it ends with a report', async () => {
      const lease = await takeLane(subject.store);
      const record = message({ deliveries: [recipient({ fence: lease.fence })], expiresAt: T0 + HOUR });
      await subject.store.accept([record], at());
      await beginAll(subject.store, [refTo(record.id, lease)], at(4));
      const answer = await subject.store.reclaim(SWEEP, at(DAY));
      expect(answer).toEqual({ released: 0, unknown: 1, more: false });
      expect((await read(subject.views, record.id)).message).toMatchObject({
        status: 'retrying',
        outcome: null,
        waits: [{ dueAt: T0 + DAY }],
        possibleDuplicate: true,
      });
      expect(await expireAll(subject.store, record.id, at(DAY))).toEqual([true]);
      expect((await read(subject.views, record.id)).message).toMatchObject({ outcome: 'expired' });
    });

    it('stops at the limit and says that there is more', async () => {
      const lease = await takeLane(subject.store);
      const record = () => message({ deliveries: [recipient({ fence: lease.fence })] });
      await subject.store.accept([record(), record(), record()], at());
      const step = { ...SWEEP, limit: 2 };
      expect(await subject.store.reclaim(step, at(DAY))).toEqual({ released: 2, unknown: 0, more: true });
      expect(await subject.store.reclaim(step, at(DAY))).toEqual({ released: 1, unknown: 0, more: false });
    });

    it('looks at every lane and fence', async () => {
      const leases = [];
      for (const lane of ['x', 'y', 'z']) leases.push(await takeLane(subject.store, lane));
      const records = leases.map((lease) =>
        message({ deliveries: [recipient({ lane: lease.lane, fence: lease.fence })] }),
      );
      await subject.store.accept(records, at());
      const [, live] = leases;
      if (live === undefined) throw new Error('no lease');
      await subject.store.renewLanes([live], T0 + 2 * DAY, at());
      expect((await subject.store.reclaim(SWEEP, at(DAY))).released).toBe(2);
    });

    it('a lease whose deliveries were taken back cannot be renewed: no claim comes twice under one fence', async () => {
      const lease = await takeLane(subject.store);
      await subject.store.accept([message()], at());
      const [unit] = await claim(subject.store, lease);
      await subject.store.reclaim(SWEEP, at(DAY));
      expect(await subject.store.renewLanes([lease], T0 + 2 * DAY, at(DAY))).toEqual(['out']);
      expect(await claim(subject.store, lease, 1, at(DAY))).toEqual([]);
      const late = settlement(refOf(unit), [DELIVERED, CAPTURED].slice(0, 1));
      expect(await subject.store.settle([late], at(DAY))).toEqual([STALE]);
    });
  });
}

const KEEP_ALL = {
  contentAgeMs: 9 * DAY,
  contentMaxBytes: 1e9,
  capturedAgeMs: 9 * DAY,
  capturedMaxBytes: 1e9,
  recordAgeMs: 9 * DAY,
  eventAgeMs: 9 * DAY,
  feedbackAgeMs: 9 * DAY,
  maxUnsubscribeLinks: 1000,
};
