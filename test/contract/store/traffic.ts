import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OTHERS, tagsText } from '../../../src/domain/traffic.ts';
import type { TrafficFound, TrafficQuery } from '../../../src/store/traffic.ts';
import { COUNTED_MINUTE as MINUTE, replyCount, trafficCount } from '../../support/traffic.ts';
import type { OpenSubject, Subject } from './fixtures.ts';

const HOUR = MINUTE / 60;
const DAY = Math.floor(HOUR / 24);
const MOST = 2;

/** What the store of counts of mail promises. */
export function trafficContract(open: OpenSubject): void {
  describe('traffic', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const ask = (more: Partial<TrafficQuery> = {}) =>
      subject.views.traffic({
        period: 'hour',
        from: HOUR,
        count: 1,
        where: {},
        by: 'domain',
        limit: 9,
        ...more,
      });
    const sizes = ({ rows }: TrafficFound) => rows.map(({ name, sums }) => [name, sums.accepted]);

    it('adds up by minute, hour and day, across a restart', async () => {
      await subject.traffic.addTraffic([trafficCount(), trafficCount({}, { failed: 2 })], 9);
      subject = await subject.reopen();
      await subject.traffic.addTraffic(
        [trafficCount({ minute: MINUTE + 59 }), trafficCount({ minute: MINUTE + 60 })],
        9,
      );
      const found = await ask();
      expect(found.steps).toMatchObject([{ start: HOUR, sums: { accepted: 2, delivered: 2, failed: 2 } }]);
      expect(found.steps[0]?.sums.times[4]).toBe(2);
      expect(found.rows).toEqual([{ name: 'example.org', sums: found.steps[0]?.sums, ended: [4] }]);
      expect((await ask({ period: 'day', from: DAY })).steps).toMatchObject([
        { sums: { accepted: 3, delivered: 3 } },
      ]);
      expect((await ask({ period: 'minute', from: MINUTE, count: 60 })).steps).toMatchObject([
        { start: MINUTE, sums: { accepted: 1, failed: 2 } },
        { start: MINUTE + 59, sums: { accepted: 1 } },
      ]);
    });

    it('tells mail apart by each dimension, and narrows it by others', async () => {
      await subject.traffic.addTraffic(
        [
          trafficCount({ tags: tagsText(['news', 'a"b%']) }, { accepted: 3, delivered: 3 }),
          trafficCount(
            { relay: 'mx', provider: 'google', domain: 'gmail.com', keyId: '', tags: '' },
            { accepted: 2, delivered: 2 },
          ),
        ],
        9,
      );
      expect(sizes(await ask({ by: 'relay' }))).toEqual([
        ['out', 3],
        ['mx', 2],
      ]);
      expect(sizes(await ask({ by: 'provider' }))).toEqual([
        ['', 3],
        ['google', 2],
      ]);
      expect(sizes(await ask({ by: 'key' }))).toEqual([
        ['key_shop', 3],
        ['', 2],
      ]);
      expect(sizes(await ask({ by: 'tag' }))).toEqual([
        ['a"b%', 3],
        ['news', 3],
        ['', 2],
      ]);
      expect(sizes(await ask({ where: { relay: 'mx' } }))).toEqual([['gmail.com', 2]]);
      expect(sizes(await ask({ where: { tag: 'a"b%' } }))).toEqual([['example.org', 3]]);
      expect(sizes(await ask({ where: { tag: 'new' } }))).toEqual([]);
      expect(sizes(await ask({ where: { tag: '', key: '' } }))).toEqual([['gmail.com', 2]]);
      const narrow = await ask({ where: { relay: 'mx', domain: 'example.org' } });
      expect([narrow.steps, narrow.rows]).toEqual([[], []]);
      expect(await ask({ limit: 1 })).toMatchObject({ rows: [{ name: 'example.org' }], moreNames: 1 });
    });

    it('tells of each row how much ended over the time, in no more parts than a line has', async () => {
      const [news, both] = [tagsText(['news']), tagsText(['news', 'sale'])];
      await subject.traffic.addTraffic(
        [
          trafficCount({ minute: MINUTE - 60, tags: news }, { delivered: 1, failed: 2, deferred: 9 }),
          trafficCount({ tags: both }, { captured: 4, accepted: 9 }),
          trafficCount({ tags: '' }),
        ],
        9,
      );
      const lines = async (more: Partial<TrafficQuery>) =>
        Object.fromEntries((await ask(more)).rows.map(({ name, ended }) => [name, ended]));
      const hours = { from: HOUR - 2, count: 3 };
      expect(await lines({ ...hours, by: 'tag' })).toEqual({
        news: [0, 3, 4],
        sale: [0, 0, 4],
        '': [0, 0, 1],
      });
      expect(await lines({ ...hours, by: 'tag', where: { tag: 'sale' }, limit: 1 })).toEqual({
        news: [0, 0, 4],
      });
      const long = (await lines({ from: HOUR - 120, count: 121 }))['example.org'];
      expect([long?.length, long?.slice(-2)]).toEqual([41, [3, 5]]);
      const sets = Array.from({ length: 500 }, (_, n) => trafficCount({ tags: tagsText(['news', `n${n}`]) }));
      await subject.traffic.addTraffic(sets, 600);
      expect(await lines({ by: 'tag', where: { tag: 'news' }, limit: 1 })).toEqual({ news: [] });
    });

    it('leaves out what was not asked for besides sums', async () => {
      await subject.traffic.addTraffic([trafficCount({ tags: tagsText(['news']) })], 9);
      await subject.traffic.addReplies([replyCount({})], 9);
      const whole = await ask();
      expect([whole.rows[0]?.ended, whole.replies.length]).toEqual([[1], 1]);
      const [row] = whole.rows;
      expect(await ask({ sumsOnly: true })).toEqual({
        ...whole,
        rows: [{ ...row, ended: [] }],
        replies: [],
      });
    });

    it('counts kinds beyond the bound without what tells them apart', async () => {
      const kinds = ['a', 'b', 'c', 'd'].map((name) => trafficCount({ domain: `${name}.example` }));
      await subject.traffic.addTraffic(kinds, MOST);
      const relays = ['r1', 'r2', 'r3'].map((relay) => trafficCount({ relay }));
      await subject.traffic.addTraffic([...relays, ...kinds], MOST);
      const found = await ask();
      expect(sizes(found)).toEqual([
        ['a.example', 2],
        ['b.example', 2],
      ]);
      expect(found.others).toMatchObject({ accepted: 7, delivered: 7 });
      const byRelay = await ask({ by: 'relay' });
      // One more kind has room without its domain; the rest is in the total alone.
      expect(sizes(byRelay)).toEqual([
        ['out', 8],
        ['r1', 1],
      ]);
      expect(byRelay.others?.accepted).toBe(2);
      expect(found.steps).toMatchObject([{ sums: { accepted: 11 } }]);
    });

    it('counts groups of replies with their newest example, within a bound', async () => {
      const add = (...counts: Parameters<typeof replyCount>[0][]) =>
        subject.traffic.addReplies(counts.map(replyCount), MOST);
      await add(
        {},
        { group: 'full', deferred: 5, failed: 0 },
        { messageId: 'msg_2', domain: 'other.example' },
      );
      expect((await ask()).replies).toMatchObject([
        { group: 'full', deferred: 5, failed: 0 },
        { group: '550 5.1.1 [address] is unknown', failed: 2, messageId: 'msg_2' },
      ]);
      await add({ group: 'new' }, { group: 'newer', bounced: 1, failed: 0 }, { failed: 4 });
      const { replies } = await ask({ period: 'day', from: DAY });
      expect(replies.map(({ group }) => group)).toContain(OTHERS);
      expect(
        replies.reduce((sum, { deferred, failed, bounced }) => sum + deferred + failed + bounced, 0),
      ).toBe(13);
      expect((await ask({ where: { domain: 'example.org' }, limit: 1 })).replies).toEqual([
        expect.objectContaining({ group: '550 5.1.1 [address] is unknown', failed: 5 }),
      ]);
    });

    it('adds up what several nodes write at the same time', async () => {
      const [first, second] = [trafficCount(), trafficCount({ relay: 'mx' })];
      const written = Array.from({ length: 10 }, (_, n) =>
        subject.traffic.addTraffic(n % 2 === 0 ? [first, second] : [second, first], 9),
      );
      await Promise.all(written);
      expect((await ask({ by: 'relay' })).rows).toMatchObject([
        { name: 'mx', sums: { accepted: 10 } },
        { name: 'out', sums: { accepted: 10 } },
      ]);
    });

    it('forgets what is too old, a batch at a time', async () => {
      const counts = [0, 1, 2].map((back) => trafficCount({ minute: MINUTE - back * 24 * 60 }));
      await subject.traffic.addTraffic(counts, 9);
      await subject.traffic.addReplies([replyCount(), replyCount({ hour: HOUR - 48 })], 9);
      const before = { minute: MINUTE, hour: HOUR, day: DAY - 1 };
      expect(await subject.traffic.forgetTraffic(before, 1)).toBe(1);
      expect(await subject.traffic.forgetTraffic(before, 9)).toBe(1);
      expect(await subject.traffic.forgetTraffic(before, 9)).toBe(0);
      const steps = async (more: Partial<TrafficQuery>) => (await ask(more)).steps.length;
      expect(await steps({ period: 'minute', from: 0, count: MINUTE + 1 })).toBe(1);
      expect(await steps({ from: 0, count: HOUR + 1 })).toBe(1);
      expect(await steps({ period: 'day', from: 0, count: DAY + 1 })).toBe(2);
      expect((await ask({ from: 0, count: HOUR + 1 })).replies).toHaveLength(1);
    });
  });
}
