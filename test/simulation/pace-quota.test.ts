/** That a day's quota is exact over restarts, crashes and several nodes, and used to the last. */
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/store/store.ts';
import { WELL } from './pace-hop.ts';
import { DAY, PaceWorld, smarthost, wholeOnly } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAYS = [DAY, DAY + 1, DAY + 2];
const QUOTA = 150;

const limited = (reservePercent = 0) =>
  smarthost('out', { maxConcurrency: 10, maxPerDay: QUOTA, reservePercent });

describe('a daily quota, while more waits than it allows', () => {
  test('is used to the last recipient, every day, and no further', async () => {
    const world = new PaceWorld({ relays: [limited()] });
    await world.bear();
    await world.submit('m', 400);
    await world.run(2 * MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
    world.skipToDay(DAY + 1, -SECOND);
    await world.run(500);
    expect(world.hop.taken.size).toBe(QUOTA);
    // Midnight goes by as any other second.
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY + 1)).toBe(QUOTA);
    world.skipToDay(DAY + 2);
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY + 2)).toBe(100);
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });

  test('is exact with several nodes whose clocks differ a little', async () => {
    const world = new PaceWorld({ seed: 3, relays: [limited()], storeFaults: { before: 0, after: 0 } });
    for (const skew of [0, 400, -400]) await world.bear(skew);
    for (const day of DAYS) {
      if (day > DAY) world.skipToDay(day, 2 * SECOND);
      await world.submit(`d${day}-`, 200);
      await world.run(3 * MINUTE);
      expect(world.hop.tookOn('out', day)).toBe(QUOTA);
    }
    expect(world.doubled()).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is never exceeded by crashes and a store that fails (seed %i)',
    async (seed) => {
      const world = new PaceWorld({ seed, relays: [limited()], storeFaults: { before: 0.05, after: 0.03 } });
      for (let nodes = 0; nodes < 2; nodes++) await world.bear();
      for (const day of DAYS) {
        if (day > DAY) world.skipToDay(day);
        await world.submit(`d${day}-`, 300);
        for (let crash = 0; crash < 4; crash++) {
          await world.run(world.dice.next() * 3 * SECOND);
          const node = world.nodes[0];
          if (node !== undefined) world.kill(node);
          await world.bear();
        }
        await world.run(6 * MINUTE);
        const used = (await world.views.quotaUsed(day)).get('out') ?? 0;
        expect(used).toBeLessThanOrEqual(QUOTA);
        expect(world.hop.tookOn('out', day)).toBeLessThanOrEqual(used);
        // What was begun when a node died may have been taken: it stays used. All else was.
        expect(used).toBe(QUOTA);
        expect(world.hop.tookOn('out', day)).toBeGreaterThan(QUOTA / 2);
      }
    },
  );

  test('gives back what was refused, for use on the same day', async () => {
    const world = new PaceWorld({ relays: [limited()] });
    await world.bear();
    const verdict = (token: string) => (/[02468]$/.test(token) ? ('rejected' as const) : null);
    world.hop.tempers.set('out', { ...WELL, verdict });
    await world.submit('m', 600);
    await world.run(3 * MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
    expect((await world.views.quotaUsed(DAY)).get('out')).toBe(QUOTA);
    expect(world.hop.starts.length).toBeGreaterThan(QUOTA * 1.5);
  });

  test('counts recipients put off once, however often they are tried', async () => {
    const world = new PaceWorld({ relays: [limited()] });
    await world.bear();
    world.hop.tempers.set('out', { ...WELL, verdict: () => (world.dice.next() < 0.5 ? 'deferred' : null) });
    await world.submit('m', 400);
    await world.run(20 * MINUTE, () => world.hop.tookOn('out', DAY) === QUOTA);
    await world.run(5 * MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
  });
});

describe('what is kept of a quota for high priority', () => {
  test('is left by normal and bulk mail, and used by high', async () => {
    const world = new PaceWorld({ relays: [limited(20)] });
    await world.bear();
    await world.submit('normal-', 200);
    await world.submit('bulk-', 200, { priority: 'bulk' });
    await world.run(2 * MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(120);
    await world.submit('high-a-', 20, { priority: 'high' });
    await world.run(5 * SECOND);
    expect(world.hop.tookOn('out', DAY)).toBe(140);
    await world.submit('high-b-', 20, { priority: 'high' });
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
    const high = [...world.hop.taken.keys()].filter((name) => name.startsWith('high'));
    expect(high).toHaveLength(30);
    // The next day begins with what was left over.
    world.skipToDay(DAY + 1);
    await world.run(MINUTE);
    expect(world.missing().filter((name) => name.startsWith('high'))).toEqual([]);
    expect(world.hop.tookOn('out', DAY + 1)).toBe(120);
  });
});

describe('a message with more recipients than are left today, where it goes whole or not at all', () => {
  const nearlySpent = async (...others: Parameters<typeof smarthost>[]): Promise<PaceWorld> => {
    const relays = [wholeOnly('out', { maxPerDay: QUOTA }), ...others.map((other) => smarthost(...other))];
    const world = new PaceWorld({ relays });
    await world.bear();
    await world.submit('m', QUOTA - 5);
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA - 5);
    return world;
  };
  const partsOf = ({ hop: { starts } }: PaceWorld) =>
    starts.flatMap(({ token, relay, recipients }) => (token === 'large-0' ? [{ relay, recipients }] : []));

  test('is never cut, lets others have what is left, and goes the next day', async () => {
    const world = await nearlySpent();
    await world.submit('large-', 1, { recipients: 10 });
    await world.submit('small-', 3);
    await world.run(10 * MINUTE);
    expect(partsOf(world)).toEqual([]);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA - 2);
    const tries = world.events.flatMap((event) =>
      event.type === 'attempted' && event.results.length === 10 ? [event.results[0]?.outcome.reply] : [],
    );
    expect(tries[0]).toMatchObject({ cause: 'quota_too_small', enhanced: '4.7.1' });
    // As often as any other mail that is put off, not as fast as it can be claimed.
    expect(tries.length).toBeLessThan(10);
    world.skipToDay(DAY + 1);
    await world.run(10 * MINUTE);
    expect(partsOf(world)).toEqual([{ relay: 'out', recipients: 10 }]);
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });

  test('goes by the next relay of its group at once', async () => {
    const world = await nearlySpent(['other', { maxRecipients: 50 }]);
    await world.submit('large-', 1, { recipients: 10 });
    await world.run(5 * SECOND);
    expect(partsOf(world)).toEqual([{ relay: 'other', recipients: 10 }]);
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });

  test('shares a day with others of its kind, none of them cut, over several nodes', async () => {
    const world = new PaceWorld({ relays: [wholeOnly('out', { maxPerDay: QUOTA })], cluster: true });
    for (let nodes = 0; nodes < 3; nodes++) await world.bear();
    await world.run(10 * SECOND);
    await world.submit('large-', 40, { recipients: 10 });
    await world.run(10 * MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
    expect(new Set(world.hop.starts.map(({ recipients }) => recipients))).toEqual(new Set([10]));
    for (const day of [DAY + 1, DAY + 2]) {
      world.skipToDay(day);
      await world.run(10 * MINUTE);
    }
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });
});

test('an operator hears before a quota is used up, and when it is, once a day', async () => {
  const world = new PaceWorld({ relays: [limited()] });
  await world.bear();
  for (const day of DAYS) {
    if (day > DAY) world.skipToDay(day);
    world.events.length = 0;
    await world.submit(`d${day}-`, 250);
    await world.run(2 * MINUTE);
    const news = world.events.flatMap((event) => (event.type === 'quota' ? [event] : []));
    expect(news.map((event) => [event.news, event.used])).toEqual([
      ['low', QUOTA * 0.8],
      ['used_up', QUOTA],
    ]);
  }
});

test('a quota that is raised, or lowered, counts from then on', async () => {
  const world = new PaceWorld({ relays: [limited()] });
  await world.bear();
  await world.submit('m', 600);
  await world.run(MINUTE);
  world.put(smarthost('out', { maxConcurrency: 10, maxPerDay: 200 }));
  await world.run(MINUTE);
  expect(world.hop.tookOn('out', DAY)).toBe(200);
  world.put(limited());
  await world.run(MINUTE);
  expect(world.hop.tookOn('out', DAY)).toBe(200);
  world.put(smarthost('out', { maxConcurrency: 10 }));
  await world.run(MINUTE);
  expect([world.missing(), world.doubled()]).toEqual([[], []]);
});

describe('a wall clock that goes ahead for a while', () => {
  const MONTH = 30 * 86_400_000;

  test('leaves the quota of today as it was', async () => {
    const world = new PaceWorld({ relays: [limited()] });
    const node = await world.bear();
    await world.submit('a-', 50);
    await world.run(5 * SECOND);
    node.life.jump(MONTH);
    await world.submit('b-', QUOTA);
    await world.run(10 * SECOND);
    node.life.jump(-MONTH);
    await world.submit('c-', QUOTA);
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(QUOTA);
    expect((await world.views.quotaUsed(DAY)).get('out')).toBe(QUOTA);
    world.skipToDay(DAY + 1);
    await world.run(MINUTE);
    expect([world.missing(), world.doubled()]).toEqual([[], []]);
  });

  test('does not end a warm-up', async () => {
    const warmUp = { startDay: DAY, perDay: [10, 20, 40] };
    const world = new PaceWorld({ relays: [smarthost('out', { warmUp })] });
    const node = await world.bear();
    node.life.jump(MONTH);
    await world.submit('a-', 1);
    await world.run(10 * SECOND);
    node.life.jump(-MONTH);
    await world.submit('b-', 100);
    await world.run(MINUTE);
    expect(world.hop.tookOn('out', DAY)).toBe(10);
  });
});

test('what the hop took, and no more, is used up, though answers of the store are lost', async () => {
  const world = new PaceWorld({ relays: [limited()], storeFaults: { before: 0, after: 0.1 } });
  await world.bear();
  await world.submit('m', 60);
  await world.run(15 * MINUTE, () => world.isAllTaken());
  await world.run(MINUTE);
  expect(world.missing()).toEqual([]);
  expect((await world.views.quotaUsed(DAY)).get('out')).toBe(world.hop.tookOn('out', DAY));
});

test('what was given back counts once, also where it was not known that it was taken', async () => {
  const world = new PaceWorld({ relays: [limited()] });
  const { engine } = await world.bear();
  const left = () => engine.relays.get('out')?.quota.left('high', world.wall);
  await world.submit('a-', 10);
  await world.run(SECOND);
  expect(left()).toBe(QUOTA - 10);
  const begin = world.store.begin.bind(world.store);
  let isLost = false;
  world.store.begin = async (units, stamp) => {
    const answers = await begin(units, stamp);
    if (isLost) return answers;
    isLost = true;
    throw new StoreError('store_unavailable', 'the answer is lost');
  };
  await world.submit('b-', 1);
  await world.run(2 * SECOND);
  expect([world.missing(), isLost]).toEqual([[], true]);
  expect((await world.views.quotaUsed(DAY)).get('out')).toBe(11);
  expect(left()).toBe(QUOTA - 11);
});

test('what a quota leaves no room for is neither taken in hand nor given back at once', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 20, maxPerDay: 100 })] });
  const released: number[] = [];
  const release = world.store.release.bind(world.store);
  world.store.release = (units, stamp) => {
    released.push(units.length);
    return release(units, stamp);
  };
  world.hop.tempers.set('out', { ...WELL, takesMs: 2 * SECOND });
  await world.bear();
  await world.submit('m-', 2_000);
  await world.run(20 * SECOND);
  expect(world.hop.tookOn('out', DAY)).toBe(100);
  expect(released.reduce((sum, count) => sum + count, 0)).toBeLessThan(100);
});

test('what was taken in hand before a quota was set is given back in pieces', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 20 })] });
  const released: number[] = [];
  const release = world.store.release.bind(world.store);
  world.store.release = (units, stamp) => {
    released.push(units.length);
    return release(units, stamp);
  };
  world.hop.tempers.set('out', { ...WELL, takesMs: 2 * SECOND });
  await world.bear();
  await world.submit('m-', 1_300);
  world.put(smarthost('out', { maxConcurrency: 20, maxPerDay: 1 }));
  await world.run(5 * SECOND);
  expect(released.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1_200);
  expect(Math.max(...released)).toBeLessThanOrEqual(500);
});
