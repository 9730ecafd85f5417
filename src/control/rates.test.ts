import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COUNTED_MINUTE, trafficCount } from '../../test/support/traffic.ts';
import { NOT_TOLD, tagsText } from '../domain/traffic.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { type RateDeps, rateOperations } from './rates.ts';

const DAY_MINUTES = 24 * 60;
const MOST = 1_000;

let stores: SqliteStores;

beforeEach(() => {
  stores = openSqlite(':memory:');
});
afterEach(() => stores.store.close());

function over(views: RateDeps['views'] = stores.views) {
  const clock = { now: 0, wall: () => COUNTED_MINUTE * 60_000, mono: () => clock.now };
  const config = { relays: [{ name: 'inbox' }, { name: 'out' }] };
  return { clock, ...rateOperations({ views, clock, resolution: () => ({ config }) }) };
}

describe('rates', () => {
  it('are counted by relay, without the inbox', async () => {
    const counts = new Map([
      ['relay_delivered', [1, 9]],
      ['relay_failed', [0, 2]],
      ['relay_bounced', [0, 1]],
    ] as const);
    const traffic = async () => Promise.reject(new Error('not asked'));
    const { rates } = over({ counts: async () => counts, traffic });
    expect(await rates({ by: 'relay', days: 2 })).toEqual({
      by: 'relay',
      from: '2026-11-19T00:00:00.000Z',
      days: 2,
      rows: [{ name: 'out', delivered: [1, 9], failed: [0, 2], bounced: [0, 1], complained: [0, 0] }],
      moreNames: 0,
      total: { delivered: [1, 9], failed: [0, 2], bounced: [0, 1], complained: [0, 0] },
      others: 0,
    });
  });

  it('are counted by recipient domain and by day; what the inbox captured is not delivered', async () => {
    const before = COUNTED_MINUTE - DAY_MINUTES;
    await stores.traffic.addTraffic(
      [
        trafficCount({}, { delivered: 1, failed: 1, bounced: 1 }),
        trafficCount({ relay: 'spare' }, { delivered: 2 }),
        trafficCount({ minute: before }, { delivered: 4, complained: 1 }),
        trafficCount({ minute: before - DAY_MINUTES }, { complained: 9 }),
        trafficCount({ domain: 'example.net' }, { failed: 1 }),
        trafficCount({ domain: 'example.com', relay: 'inbox' }, { captured: 7 }),
      ],
      MOST,
    );
    const { rows, total } = await over().rates({ by: 'domain', days: 2 });
    expect(rows).toEqual([
      { name: 'example.org', delivered: [4, 3], failed: [0, 1], bounced: [0, 1], complained: [1, 0] },
      { name: 'example.net', delivered: [0, 0], failed: [0, 1], bounced: [0, 0], complained: [0, 0] },
    ]);
    expect(total).toEqual({ delivered: [4, 3], failed: [0, 2], bounced: [0, 1], complained: [1, 0] });
  });

  it('are counted by each tag, and without one; in the total a message with two counts once', async () => {
    const tagged = (...tags: string[]) => trafficCount({ tags: tagsText(tags) });
    await stores.traffic.addTraffic([tagged('news', 'may'), tagged('news'), tagged()], MOST);
    const { rows, total } = await over().rates({ by: 'tag', days: 1 });
    expect(rows.map(({ name, delivered }) => [name, ...delivered])).toEqual([
      ['news', 2],
      ['', 1],
      ['may', 1],
    ]);
    expect(total.delivered).toEqual([3]);
  });

  it('tell how many recipients were not told apart', async () => {
    const ends = { delivered: 3, failed: 2, bounced: 1, complained: 1 };
    await stores.traffic.addTraffic([trafficCount(), { ...trafficCount({}, ends), ...NOT_TOLD }], MOST);
    const found = await over().rates({ by: 'domain', days: 1 });
    expect(found).toMatchObject({ rows: [{ delivered: [1] }], total: { delivered: [4] }, others: 4 });
  });

  it('name at most fifty, the most mail first, and say how many there are besides', async () => {
    const domains = Array.from({ length: 57 }, (_, place) => trafficCount({ domain: `d${place}.example` }));
    await stores.traffic.addTraffic([...domains, trafficCount({ domain: 'd7.example' })], MOST);
    const { rows, moreNames, total } = await over().rates({ by: 'domain', days: 1 });
    expect([rows.length, rows[0]?.name, moreNames]).toEqual([50, 'd7.example', 7]);
    expect(total.delivered).toEqual([58]);
  });

  it('put names with the most recipients first; one whose mail came back counts once', async () => {
    await stores.traffic.addTraffic(
      [
        trafficCount({ domain: 'back.example' }, { delivered: 3, failed: 3, bounced: 3, complained: 3 }),
        trafficCount({ domain: 'most.example' }, { delivered: 4 }),
        trafficCount({ domain: 'spam.example' }, { complained: 9 }),
      ],
      MOST,
    );
    const { rows } = await over().rates({ by: 'domain', days: 1 });
    expect(rows.map(({ name }) => name)).toEqual(['most.example', 'back.example', 'spam.example']);
  });

  it('are worked out once for all who ask within half a minute', async () => {
    let asked = 0;
    const traffic: RateDeps['views']['traffic'] = (query) => {
      asked++;
      expect(query.sumsOnly).toBe(true);
      return stores.views.traffic(query);
    };
    const { clock, rates } = over({ counts: stores.views.counts, traffic });
    await Promise.all([rates({ by: 'tag', days: 1 }), rates({ by: 'tag', days: 1 })]);
    clock.now = 29_000;
    await rates({ by: 'tag', days: 1 });
    expect(asked).toBe(1);
    clock.now = 31_000;
    await rates({ by: 'tag', days: 1 });
    expect(asked).toBe(2);
  });
});
