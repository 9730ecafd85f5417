import { expect, test } from 'vitest';
import { silentLog } from '../lib/log.ts';
import type { OverviewRelay } from '../operations/search.ts';
import type { CountRange } from '../store/views.ts';
import { type LiveDeps, liveOperations } from './live.ts';

/** What happens now: paces and relays; `search.test.ts` has the messages. */

const MINUTE = 60_000;

const relay = (name: string, deliveredToday = 0, waiting = 0): OverviewRelay => ({
  name,
  type: 'smtp',
  state: 'usable',
  rest: null,
  inFlight: 0,
  waiting,
  deliveredToday,
  failedToday: 0,
});

/** Over these counts and relays, at a time within a minute. */
function over(counts: ReadonlyMap<string, readonly number[]>, relays: readonly OverviewRelay[], within = 0) {
  const asked: CountRange[] = [];
  const clock = {
    now: 1_000_000,
    wall: () => 100 * MINUTE + within,
    mono: () => clock.now,
    sleep: async () => {},
  };
  let looks = 0;
  const deps = {
    log: silentLog,
    clock,
    keyring: { list: async () => [] },
    views: {
      search: async () => ({ messages: [] }),
      figures: async () => ({ spool: { incoming: 3, processing: 1 } }),
      counts: async (range: CountRange) => {
        asked.push(range);
        return counts;
      },
    },
    queue: { lanes: () => [] },
    resolution: () => ({ config: { relays: [] }, holds: new Map() }),
  } as unknown as LiveDeps;
  const operations = liveOperations(deps, {
    relays: async () => {
      looks++;
      return relays;
    },
  });
  return { operations, asked, clock, looks: () => looks };
}

test('the pace is that of the last sixty seconds: all of this minute, and a part of the one before', async () => {
  const counts = new Map([
    ['received', [40, 10]],
    ['delivered', [20, 8]],
    ['captured', [4, 1]],
    ['failed', [0, 2]],
  ]);
  const { operations } = over(counts, [], 15_000);
  const { pace, waiting, processing } = await operations.live({});
  expect(pace).toEqual({ received: 40, delivered: 19, captured: 4, failed: 2 });
  expect([waiting, processing]).toEqual([3, 1]);
});

test('of many relays the busiest are told of, half an hour of each, and how many are not', async () => {
  const many = Array.from({ length: 20 }, (_, place) => relay(`r${place}`, place));
  const { operations, asked, clock, looks } = over(new Map(), [...many, relay('stuck', 0, 999)]);
  const { relays, moreRelays } = await operations.live({});
  expect(relays.map(({ name }) => name)).toEqual(['stuck', 'r19', 'r18', 'r17', 'r16', 'r15', 'r14', 'r13']);
  expect(moreRelays).toBe(13);
  expect(relays[0]?.delivered).toHaveLength(30);
  expect(asked.filter((range) => range.relay === 'stuck')).toEqual([
    { period: 'minute', from: 71, count: 30, relay: 'stuck' },
  ]);
  await operations.live({});
  expect(looks()).toBe(1);
  clock.now += 1_000;
  await operations.live({});
  expect(looks()).toBe(2);
});
