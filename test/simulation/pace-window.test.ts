/** That the pace which a hop bears is found, kept, and found anew. */
import { describe, expect, test } from 'vitest';
import { type Temper, WELL } from './pace-hop.ts';
import { PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

async function worldOf(temper: Partial<Temper>, maxConcurrency = 40) {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency })] });
  const become = (change: Partial<Temper>) =>
    world.hop.tempers.set('out', { ...WELL, takesMs: SECOND, ...change });
  become(temper);
  await world.bear();
  let sent = 0;
  /** There is always more to send than the hop takes. */
  const flood = async (ms: number) => {
    const from = world.hop.starts.length;
    for (const end = world.time.now + ms; world.time.now < end; ) {
      await world.submit(`m${sent++}-`, 200);
      await world.run(5 * SECOND);
    }
    const begun = world.hop.starts.slice(from);
    return {
      begun,
      most: Math.max(...begun.map(({ atOnce }) => atOnce)),
      perSecond: begun.length / (ms / SECOND),
    };
  };
  const tookOf = async (ms: number) => {
    const before = world.hop.taken.size;
    await flood(ms);
    return (world.hop.taken.size - before) / (ms / SECOND);
  };
  return { world, become, flood, tookOf };
}

describe.each([451, 421] as const)('a hop that refuses with %i 4.7.1 what is too much', (refusesWith) => {
  test('is soon used with about what it bears, and not much more', async () => {
    const { flood, tookOf } = await worldOf({ bears: 8, refusesWith });
    await flood(30 * SECOND);
    const { most } = await flood(3 * MINUTE);
    expect(most).toBeGreaterThanOrEqual(6);
    expect(most).toBeLessThanOrEqual(14);
    // It bears eight attempts of a second at once: at least half of that is used, rests and retries included.
    expect(await tookOf(3 * MINUTE)).toBeGreaterThanOrEqual(3);
  });
  test('recovers when it bears more', async () => {
    const { become, flood } = await worldOf({ bears: 2, refusesWith });
    await flood(MINUTE);
    expect((await flood(MINUTE)).most).toBeLessThanOrEqual(6);
    become({ bears: 30, refusesWith });
    await flood(3 * MINUTE);
    expect((await flood(MINUTE)).most).toBeGreaterThanOrEqual(16);
  });
});

test('a hop that refuses everything is still asked, by one at a time', async () => {
  const { world, become, flood } = await worldOf({});
  await flood(30 * SECOND);
  become({ bears: 0 });
  await flood(MINUTE);
  const { begun, most } = await flood(2 * MINUTE);
  expect(begun.length).toBeGreaterThan(0);
  expect(most).toBe(1);
  become({});
  await world.run(60 * MINUTE, () => world.isAllTaken());
  expect(world.missing()).toEqual([]);
  expect(world.doubled()).toEqual([]);
});

test('a hop that bears all is used with all that the relay may have', async () => {
  const { flood } = await worldOf({});
  await flood(MINUTE);
  expect((await flood(30 * SECOND)).most).toBe(40);
});

test('a hop that greylists one recipient in ten costs under 5 % of throughput', async () => {
  const perSecond = async (greylists: number) => {
    // It bears 33 a second, and 40 are handed in.
    const { flood, tookOf } = await worldOf({ takesMs: 300, greylists }, 10);
    await flood(30 * SECOND);
    return await tookOf(2 * MINUTE);
  };
  expect(await perSecond(0.1)).toBeGreaterThan(0.95 * (await perSecond(0)));
});

test('a hop that puts off most recipients at RCPT is given fewer at once', async () => {
  const { become, flood } = await worldOf({ takesMs: 200 }, 20);
  await flood(MINUTE);
  become({ takesMs: 200, greylists: 0.7 });
  await flood(MINUTE);
  expect((await flood(MINUTE)).most).toBeLessThan(20);
});
