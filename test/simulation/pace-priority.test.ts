/** That what matters most never waits behind the rest, and the rest never for good. */
import { describe, expect, test } from 'vitest';
import { type Temper, WELL } from './pace-hop.ts';
import { direct, PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const BACKLOG = 20_000;
/** Of a slow hop, of which little is played. */
const LARGE_BACKLOG = 100_000;

async function worldOf(temper: Partial<Temper>, maxConcurrency = 10) {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency })] });
  world.hop.tempers.set('out', { ...WELL, ...temper });
  await world.bear();
  /** When the first attempt with a message began, or the one after `after`. */
  const startOf = (token: string, after = Number.NEGATIVE_INFINITY) =>
    world.hop.starts.find((start) => start.token === token && start.at > after)?.at ??
    Number.POSITIVE_INFINITY;
  return { world, startOf };
}

describe('a message that keeps a hop for minutes', () => {
  const LONG = 9 * MINUTE;

  test('keeps no other mail of the relay', async () => {
    const { world, startOf } = await worldOf({ takesMs: LONG });
    await world.submit('slow-', 1, {});
    await world.run(30 * SECOND);
    world.hop.tempers.set('out', { ...WELL, takesMs: 50 });
    const at = world.time.now;
    await world.submit('next-', 5, {});
    await world.run(5 * SECOND);
    expect(startOf('next-0') - at).toBeLessThanOrEqual(SECOND);
    expect(world.hop.taken.size).toBe(5);
  });

  test('is followed by one at a time while the hop says nothing to those either', async () => {
    const { world } = await worldOf({ takesMs: LONG });
    await world.submit('slow-', 1, {});
    await world.run(30 * SECOND);
    await world.submit('next-', 50, {});
    await world.run(MINUTE);
    const starts = world.hop.starts.length;
    expect(starts).toBeGreaterThan(3);
    expect(starts).toBeLessThan(7);
  });
});

describe('while a hop says nothing', () => {
  /** Counts how often the store is asked for work; beyond so often it refuses, since asking without end takes no virtual time. */
  function countClaims({ store }: PaceWorld, most: number): { asked: number } {
    const counted = { asked: 0 };
    const claim = store.claim.bind(store);
    store.claim = async (requests, at) => {
      if (++counted.asked > most) throw new Error('asked again and again');
      return claim(requests, at);
    };
    return counted;
  }

  test('bulk mail that finds no slot is not asked for again and again', async () => {
    const { world } = await worldOf({ takesMs: 9 * MINUTE });
    const most = 400;
    const claims = countClaims(world, most);
    await world.submit('slow-', 60, { priority: 'bulk' });
    await world.run(30 * SECOND);
    await world.submit('more-', 50, { priority: 'bulk' });
    await world.run(40 * SECOND);
    expect(claims.asked).toBeGreaterThan(0);
    expect(claims.asked).toBeLessThan(most);
    expect(world.hop.starts.length).toBe(9);
  });
});

describe.each([
  ['a quick hop', { takesMs: 50 }],
  ['a slow hop', { takesMs: 10 * SECOND }],
])('with very much bulk mail queued for %s', (_, temper) => {
  test('a high message starts within a second of being accepted, again and again', async () => {
    const { world, startOf } = await worldOf(temper);
    const backlog = temper.takesMs > SECOND ? LARGE_BACKLOG : BACKLOG;
    await world.submit('bulk-', backlog, { priority: 'bulk' });
    await world.run(3 * SECOND);
    for (let turn = 0; turn < 8; turn++) {
      // The slot that is kept is free again: what had it last has ended.
      await world.run(temper.takesMs + world.dice.next() * 5 * SECOND);
      const at = world.time.now;
      await world.submit(`high-${turn}-`, 1, { priority: 'high' });
      await world.run(2 * SECOND);
      expect(startOf(`high-${turn}-0`) - at, `turn ${turn}`).toBeLessThanOrEqual(SECOND);
    }
    expect(world.hop.starts.some(({ token }) => token.startsWith('bulk'))).toBe(true);
    // There was more bulk than the hop could take, and it was given what it may have.
    expect(world.hop.taken.size).toBeLessThan(backlog);
    const atOnce = world.hop.starts
      .filter(({ token }) => token.startsWith('bulk'))
      .map((start) => start.atOnce);
    expect(Math.max(...atOnce)).toBe(9);
  });

  test('a high message starts within a second of its time to be tried again', async () => {
    const { world, startOf } = await worldOf({
      ...temper,
      // The first time it is put off.
      verdict: (token) => (token === 'high-0' && startsOf(token) === 1 ? 'deferred' : null),
    });
    const startsOf = (token: string) => world.hop.starts.filter((start) => start.token === token).length;
    await world.submit('bulk-', BACKLOG, { priority: 'bulk' });
    await world.run(3 * SECOND);
    const [id = ''] = await world.submit('high-', 1, { priority: 'high' });
    const before = world.time.now;
    let due: number | null = null;
    for (let tries = 0; due === null && tries < 200; tries++) {
      await world.run(100);
      const shown = (await world.views.message(id))?.message;
      due = shown?.status === 'retrying' ? (shown.waits[0]?.dueAt ?? null) : null;
    }
    const dueAt = world.time.now + (due ?? 0) - world.wall;
    expect(dueAt).toBeGreaterThan(world.time.now);
    await world.run(dueAt - world.time.now + 2 * SECOND);
    const again = startOf('high-0', before + SECOND);
    expect(again).toBeGreaterThanOrEqual(dueAt);
    expect(again - dueAt).toBeLessThanOrEqual(SECOND);
  });

  test('a high message that was to be sent later starts within a second of its time', async () => {
    const { world, startOf } = await worldOf(temper);
    await world.submit('bulk-', BACKLOG, { priority: 'bulk' });
    const at = world.time.now + 30 * SECOND;
    await world.submit('high-', 1, { priority: 'high', sendAt: world.wall + 30 * SECOND });
    await world.run(40 * SECOND);
    expect(startOf('high-0')).toBeGreaterThanOrEqual(at);
    expect(startOf('high-0') - at).toBeLessThanOrEqual(SECOND);
  });
});

describe('a flood of better mail, more than the hop takes', () => {
  test.each(['high', 'normal'] as const)('of %s priority lets bulk mail go on', async (priority) => {
    const { world } = await worldOf({ takesMs: 200, spread: 0.5 }, 4);
    await world.submit('bulk-', 500, { priority: 'bulk' });
    await world.run(SECOND);
    const bulk = () => [...world.hop.taken.keys()].filter((name) => name.startsWith('bulk')).length;
    for (let minute = 0; minute < 4; minute++) {
      const before = bulk();
      // The hop takes 20 a second.
      for (let second = 0; second < 60; second++) {
        await world.submit(`flood-${minute}-${second}-`, 40, { priority });
        await world.run(SECOND);
      }
      const went = bulk() - before;
      expect(went, `minute ${minute}`).toBeGreaterThan(10);
      // What matters more still gets by far the most.
      expect(went, `minute ${minute}`).toBeLessThan(400);
    }
  });
});

test('bulk mail to one domain goes on while better mail to others fills all slots of the relay', async () => {
  const world = new PaceWorld({ relays: [direct('mx', { maxConcurrency: 20 }, { presets: false })] });
  world.hop.tempers.set('mx', { ...WELL, takesMs: SECOND, spread: 0.5 });
  await world.bear();
  await world.submit('bulk-', 300, { priority: 'bulk', domain: 'bulk.example' });
  await world.run(SECOND);
  const bulk = () => [...world.hop.taken.keys()].filter((name) => name.startsWith('bulk')).length;
  for (let minute = 0; minute < 3; minute++) {
    const before = bulk();
    for (let second = 0; second < 60; second++) {
      for (let domain = 0; domain < 8; domain++)
        await world.submit(`flood-${minute}-${second}-${domain}-`, 5, { domain: `d${domain}.example` });
      await world.run(SECOND);
    }
    expect(bulk() - before, `minute ${minute}`).toBeGreaterThan(5);
  }
});

test('all of a backlog goes once, whatever its priorities', async () => {
  const { world } = await worldOf({ takesMs: 10 }, 20);
  for (const priority of ['bulk', 'normal', 'high'] as const)
    await world.submit(`${priority}-`, 1_500, { priority });
  await world.run(10 * MINUTE, () => world.hop.taken.size === 4_500);
  expect([world.missing(), world.doubled()]).toEqual([[], []]);
});
