import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TYPES, type Event } from '../../../src/domain/event.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import { EVERY_EVENT, type EventQuery, MAX_EVENTS_EXAMINED } from '../../../src/store/events.ts';
import {
  apiKey,
  at,
  attempt,
  beginAll,
  CAPTURED,
  claim,
  DAY,
  DEFERRED,
  DELIVERED,
  expireAll,
  HOUR,
  MINUTE,
  message,
  type OpenSubject,
  POLICY,
  REJECTED,
  recipient,
  refOf,
  refTo,
  releaseAll,
  report,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

const ALL: EventQuery = {
  ...EVERY_EVENT,
  from: { after: 0 },
  limit: 200,
};
const NEWEST: EventQuery = { ...ALL, from: { before: null } };
const KEEP = {
  contentAgeMs: 7 * DAY,
  contentMaxBytes: 1e9,
  capturedAgeMs: 7 * DAY,
  capturedMaxBytes: 1e9,
  recordAgeMs: 90 * DAY,
  eventAgeMs: 30 * DAY,
  feedbackAgeMs: 30 * DAY,
  maxUnsubscribeLinks: 1000,
};

/** What the log of events promises. */
export function eventContract(open: OpenSubject): void {
  describe('events', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const events = async (query: Partial<EventQuery> = {}): Promise<readonly Event[]> =>
      (await subject.views.events({ ...ALL, ...query })).events;
    const told = async (query: Partial<EventQuery> = {}) =>
      (await events(query)).map(({ type, recipient: to, attempt: number }) => [type, to?.address, number]);

    /** Accepts a message the short way; its recipients have these addresses. */
    async function accepted(change: Partial<AcceptRecord> = {}, recipients = 1) {
      const lease = await takeLane(subject.store);
      const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
      const record = message({ deliveries, ...change });
      await subject.store.accept([record], at());
      const unit = refTo(record.id, lease, [...record.deliveries.keys()]);
      const addresses = record.deliveries.map((one) => one.recipient.address);
      return { record, id: record.id, lease, unit, addresses };
    }

    it('tell of a message that it is queued, and of each recipient how it ended', async () => {
      const { unit, addresses } = await accepted({}, 3);
      await attempt(subject.store, unit, [DELIVERED, CAPTURED, REJECTED], at(7));
      expect(await told()).toEqual([
        ['message.queued', undefined, null],
        ['message.delivered', addresses[0], 1],
        ['message.captured', addresses[1], 1],
        ['message.failed', addresses[2], 1],
      ]);
    });

    it('say what the message was, when it happened, and what the hop answered', async () => {
      await subject.keyring.create(apiKey('key_one', { name: 'shop' }), 'hash');
      const change = { tags: ['welcome', 'x'], metadata: { order: '7' } };
      const { id, unit, addresses } = await accepted(change);
      await attempt(subject.store, unit, [DELIVERED], at(7));
      const [queued, delivered] = await events();
      const about = {
        id,
        messageId: '<1@example.com>',
        from: 'Sender <sender@example.com>',
        subject: 'Grüße',
        ...change,
        stream: null,
        keyId: 'key_one',
        keyName: 'shop',
        source: 'api',
        createdAt: T0,
      };
      const sequence = expect.any(Number);
      expect(queued).toEqual({
        sequence,
        type: 'message.queued',
        at: T0,
        message: about,
        scopeKey: null,
        recipient: null,
        attempt: null,
        facts: {},
      });
      expect(delivered).toEqual({
        sequence,
        type: 'message.delivered',
        at: T0 + 7,
        message: about,
        scopeKey: null,
        recipient: { address: addresses[0], kind: 'to' },
        attempt: 1,
        facts: {
          relay: 'out',
          outcome: 'accepted',
          code: 250,
          enhanced: '2.0.0',
          text: 'Ok: queued as 4BQ',
          providerMessageId: '4BQ',
        },
      });
    });

    it('tell of each deferral when it is tried again, and count attempts', async () => {
      const { unit, lease } = await accepted();
      await attempt(subject.store, unit, [DEFERRED], at());
      const later = at(10 * MINUTE);
      await attempt(
        subject.store,
        refOf((await claim(subject.store, lease, 1, later))[0]),
        [DELIVERED],
        later,
      );
      const [, deferred, delivered] = await events();
      expect(deferred).toMatchObject({
        type: 'message.deferred',
        attempt: 1,
        facts: { code: 451, relay: 'out' },
      });
      expect(deferred?.facts.nextAttemptAt).toBeGreaterThan(T0);
      expect(deferred?.facts.outcome).toBeUndefined();
      expect(delivered).toMatchObject({ type: 'message.delivered', attempt: 2 });
    });

    it('tell of mail that fails while it waits, and of none that is given back', async () => {
      const { id, unit } = await accepted();
      await releaseAll(subject.store, [unit]);
      expect(await told()).toHaveLength(1);
      const other = message();
      await subject.store.accept([other], at());
      await subject.store.cancel([id], at(5));
      await expireAll(subject.store, other.id, at(49 * HOUR));
      const failed = await events({ types: ['message.failed'] });
      expect(
        failed.map(({ at: time, facts, attempt: number }) => [time, facts.outcome, facts.enhanced, number]),
      ).toEqual([
        [T0 + 5, 'cancelled', '5.7.0', null],
        [T0 + 49 * HOUR, 'expired', '5.4.7', null],
      ]);
    });

    it('say what a refusal or an expiry means for the address, and of a cancellation nothing', async () => {
      const { id, unit } = await accepted({}, 2);
      const ofRecipient = { ...DEFERRED, reply: { ...DEFERRED.reply, code: 452, enhanced: '4.2.2' } };
      await attempt(subject.store, unit, [REJECTED, ofRecipient]);
      await expireAll(subject.store, id, at(49 * HOUR));
      const other = message();
      await subject.store.accept([other], at());
      await subject.store.cancel([other.id], at());
      const failed = await events({ types: ['message.failed'] });
      expect(failed.map(({ facts }) => [facts.outcome, facts.bounce])).toEqual([
        ['rejected', 'hard'],
        ['expired', 'soft'],
        ['cancelled', undefined],
      ]);
    });

    it('tell that a cancelled attempt ended so, although it would have waited', async () => {
      const { id, unit } = await accepted();
      await beginAll(subject.store, [unit]);
      await subject.store.cancel([id], at());
      await subject.store.settle([settlement(unit, [DEFERRED])], at());
      expect((await events()).map(({ type, facts }) => [type, facts.outcome])).toEqual([
        ['message.queued', undefined],
        ['message.failed', 'cancelled'],
      ]);
    });

    it('tell of work that was lost with its node', async () => {
      const { unit } = await accepted();
      await beginAll(subject.store, [unit]);
      const policy = { ...POLICY, ambiguous: 'hold' } as const;
      await subject.store.reclaim({ seize: true, policy, dice: 0.5, limit: 9 }, at(9));
      const [, lost] = await events();
      expect(lost).toMatchObject({
        type: 'message.failed',
        at: T0 + 9,
        attempt: 1,
        facts: { outcome: 'unknown' },
      });
    });

    it('tell of reports, too', async () => {
      const { unit } = await accepted();
      await beginAll(subject.store, [unit]);
      const note = report();
      await subject.store.settle([{ ...settlement(unit, [REJECTED]), report: note }], at());
      expect(
        (await events({ message: note.id })).map(({ type, message: about }) => [type, about?.source]),
      ).toEqual([['message.queued', 'report']]);
    });

    it('are not told of what changed nothing', async () => {
      const { record, unit } = await accepted({ idempotency: { key: 'k', hash: 'h' } });
      await subject.store.accept([{ ...record, id: message().id }], at());
      await attempt(subject.store, unit, [DELIVERED]);
      await subject.store.settle([settlement(unit, [DELIVERED])], at());
      await subject.store.cancel([record.id], at());
      expect(await told()).toHaveLength(2);
    });

    it('survive, in their order', async () => {
      const { unit } = await accepted();
      await attempt(subject.store, unit, [DELIVERED]);
      const before = await events();
      subject = await subject.reopen();
      expect(await events()).toEqual(before);
      await subject.store.accept([message()], at());
      const after = await events({ from: { after: before.at(-1)?.sequence ?? 0 } });
      expect(after.map(({ type }) => type)).toEqual(['message.queued']);
    });

    it('come page by page, oldest first, from any place', async () => {
      for (let n = 0; n < 5; n++) await subject.store.accept([message()], at(n));
      const seen: number[] = [];
      let after = 0;
      for (let more = true; more; ) {
        const page = await subject.views.events({ ...ALL, from: { after }, limit: 2 });
        expect(page.events.length).toBeLessThanOrEqual(2);
        seen.push(...page.events.map(({ at: time }) => time - T0));
        expect(page.next).toBe(page.events.at(-1)?.sequence ?? after);
        after = page.next ?? Number.NaN;
        more = page.more;
      }
      expect(seen).toEqual([0, 1, 2, 3, 4]);
      expect(await subject.views.events({ ...ALL, from: { after } })).toEqual({
        events: [],
        next: after,
        more: false,
      });
    });

    it('come page by page, newest first', async () => {
      for (let n = 0; n < 5; n++) await subject.store.accept([message()], at(n));
      const seen: number[] = [];
      let before: number | null = null;
      do {
        const page = await subject.views.events({ ...NEWEST, from: { before }, limit: 2 });
        seen.push(...page.events.map(({ at: time }) => time - T0));
        before = page.more ? page.next : null;
      } while (before !== null);
      expect(seen).toEqual([4, 3, 2, 1, 0]);
    });

    it('are found by key, type, message, recipient and tag', async () => {
      const mine = await accepted({ tags: ['a', 'b'] });
      await attempt(subject.store, mine.unit, [DELIVERED]);
      await subject.store.releaseLanes([mine.lease], at());
      const other = await accepted({ keyId: 'key_two', tags: ['b'] });
      await attempt(subject.store, other.unit, [REJECTED]);
      const ids = async (query: Partial<EventQuery>) => {
        const found = await events(query);
        const down = await events({ ...query, from: { before: null } });
        expect(down.toReversed()).toEqual(found);
        return found.map(({ type, message: about }) => `${type} ${about?.id === mine.id ? 'mine' : 'other'}`);
      };
      expect(await ids({ owner: { keyId: 'key_one' } })).toEqual([
        'message.queued mine',
        'message.delivered mine',
      ]);
      expect(await ids({ types: ['message.failed', 'message.captured'] })).toEqual(['message.failed other']);
      expect(await ids({ message: other.id })).toEqual(['message.queued other', 'message.failed other']);
      expect(await ids({ message: 'msg_none' })).toEqual([]);
      expect(await ids({ recipient: mine.addresses[0]?.toUpperCase() ?? '' })).toEqual([
        'message.delivered mine',
      ]);
      expect(await ids({ tag: 'b', types: ['message.queued'] })).toEqual([
        'message.queued mine',
        'message.queued other',
      ]);
      expect(await ids({ tag: 'a', owner: { keyId: 'key_two' } })).toEqual([]);
    });

    it('are found by time, both ways', async () => {
      for (const hour of [0, 1, 2, 3, 4]) await subject.store.accept([message()], at(hour * HOUR));
      const range = { since: T0 + HOUR, until: T0 + 3 * HOUR };
      const hours = async (query: Partial<EventQuery>) =>
        (await events(query)).map(({ at: time }) => (time - T0) / HOUR);
      expect(await hours(range)).toEqual([1, 2]);
      expect(await hours({ ...range, from: { before: null } })).toEqual([2, 1]);
      expect(await hours({ since: T0 + 4 * HOUR })).toEqual([4]);
      expect(await hours({ until: T0, from: { before: null } })).toEqual([]);
    });

    it('that happened late are found by time, too', async () => {
      await subject.store.accept([message()], at(10 * MINUTE));
      await subject.store.accept([message()], at());
      await subject.store.accept([message()], at(11 * MINUTE));
      const times = async (query: Partial<EventQuery>) =>
        (await events(query)).map(({ at: time }) => (time - T0) / MINUTE);
      expect(await times({ until: T0 + MINUTE })).toEqual([0]);
      expect(await times({ since: T0 + 5 * MINUTE, from: { before: null } })).toEqual([11, 10]);
    });

    it('of a page are so many at most, however few are wanted', async () => {
      const many = Array.from({ length: MAX_EVENTS_EXAMINED + 10 }, () => message());
      await subject.store.accept(many, at());
      const wanted = message({ tags: ['rare'] });
      await subject.store.accept([wanted], at());
      const first = await subject.views.events({ ...ALL, tag: 'rare' });
      expect(first).toMatchObject({ events: [], more: true });
      const second = await subject.views.events({ ...ALL, tag: 'rare', from: { after: first.next ?? 0 } });
      expect(second.events.map(({ message }) => message?.id)).toEqual([wanted.id]);
      expect((await subject.views.events({ ...NEWEST, tag: 'rare', limit: 1 })).events).toHaveLength(1);
    });

    it('go once they are too old, or with the record of their message', async () => {
      const { unit } = await accepted();
      await attempt(subject.store, unit, [DELIVERED]);
      const late = message();
      await subject.store.accept([late], at(20 * DAY));
      await subject.store.purge(KEEP, 9, at(30 * DAY));
      expect(await told()).toHaveLength(3);
      await subject.store.purge(KEEP, 9, at(30 * DAY + 1));
      expect((await events()).map(({ message }) => message?.id)).toEqual([late.id]);
    });

    it('never give a sequence twice, although all of them went', async () => {
      const { unit } = await accepted();
      await attempt(subject.store, unit, [DELIVERED]);
      const last = (await events()).at(-1)?.sequence ?? 0;
      for (let n = 0; n < 3; n++)
        await subject.store.purge({ ...KEEP, contentAgeMs: 0, recordAgeMs: 0 }, 9, at(99 * DAY));
      expect(await events()).toEqual([]);
      subject = await subject.reopen();
      const next = message();
      await subject.store.accept([next], at(99 * DAY));
      const [queued] = await events();
      expect(queued?.message?.id).toBe(next.id);
      expect(queued?.sequence).toBeGreaterThan(last);
    });
  });
}

/** What the setting `events.keep` does. */
export function eventOptionContract(open: OpenSubject): void {
  describe('events, the exceptional ones only', () => {
    it('leave out what goes well', async () => {
      const subject = await open({ eventsKept: 'exceptional' });
      try {
        const lease = await takeLane(subject.store);
        const outcomes: Outcome[] = [DELIVERED, CAPTURED, REJECTED, DEFERRED];
        for (const outcome of outcomes) {
          const record = message({ deliveries: [recipient({ fence: lease.fence })] });
          await subject.store.accept([record], at());
          await attempt(subject.store, refTo(record.id, lease), [outcome]);
        }
        const { events } = await subject.views.events(ALL);
        expect(events.map(({ type }) => type)).toEqual(['message.failed', 'message.deferred']);
        expect(events.every(({ type }) => !EVENT_TYPES[type].isUsual)).toBe(true);
      } finally {
        await subject.close();
      }
    });
  });
}
