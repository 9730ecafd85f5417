/** That no limit of a relay or of a mailbox provider is exceeded in any interleaving. */
import { describe, expect, test } from 'vitest';
import type { Start } from './pace-hop.ts';
import { WELL } from './pace-hop.ts';
import { direct, PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SEEDS = [1, 2, 3, 4, 5, 6];

/** The shortest times between a start and the one so many places before it, by key. */
function closest(starts: readonly Start[], key: (start: Start) => string, apart: number): number {
  const times = new Map<string, number[]>();
  let least = Number.POSITIVE_INFINITY;
  for (const start of starts) {
    const before = times.get(key(start)) ?? [];
    const earlier = before[before.length - apart];
    if (earlier !== undefined) least = Math.min(least, start.at - earlier);
    before.push(start.at);
    times.set(key(start), before);
  }
  return least;
}

describe('attempts at once, and begun a second', () => {
  test.each(SEEDS)('stay within the relay’s limits while nodes come and go (seed %i)', async (seed) => {
    const limits = { maxConcurrency: 5, maxRatePerSecond: 20 };
    const relays = [direct('first', limits, { maxPerDomain: 2 }), smarthost('second', limits)];
    const world = new PaceWorld({ seed, relays, storeFaults: { before: 0.02, after: 0.01 } });
    for (const skew of [0, 300, -300]) await world.bear(skew);
    for (let round = 0; round < 10; round++) {
      for (let mail = 0; mail < 6; mail++)
        await world.submit(`m${round}-${mail}-`, 20, { domain: `d${mail}.example` });
      for (const relay of ['first', 'second'])
        world.hop.tempers.set(relay, {
          ...WELL,
          takesMs: 20 + world.dice.next() * 2_000,
          verdict: () => (world.dice.next() < 0.3 ? 'deferred' : null),
        });
      await world.run(world.dice.next() * 20 * SECOND);
      const node = world.nodes[Math.floor(world.dice.next() * world.nodes.length)];
      if (node !== undefined && world.dice.next() < 0.3) {
        world.kill(node);
        await world.bear();
      }
    }
    const { starts } = world.hop;
    expect(starts.length).toBeGreaterThan(150);
    expect(new Set(starts.map(({ relay }) => relay)).size).toBe(2);
    expect(Math.max(...starts.map(({ atOnce }) => atOnce))).toBe(5);
    expect(Math.max(...starts.filter(({ relay }) => relay === 'first').map(({ ofDomain }) => ofDomain))).toBe(
      2,
    );
    const perNode = (start: Start) => `${start.node} ${start.relay}`;
    expect(closest(starts, perNode, 1)).toBeGreaterThanOrEqual(49.9);
  });

  test.each(['smtp', 'mx'] as const)(
    'of a relay of type %s that is replaced while it works count on',
    async (type) => {
      const limited = (maxConcurrency: number) => {
        const limits = { maxConcurrency, maxRatePerSecond: 10 };
        return type === 'mx' ? direct('out', limits) : smarthost('out', limits);
      };
      const world = new PaceWorld({ relays: [limited(8)] });
      world.hop.tempers.set('out', { ...WELL, takesMs: 3 * SECOND });
      await world.bear();
      for (let domain = 0; domain < 4; domain++)
        await world.submit(`m${domain}-`, 100, { domain: `d${domain}.example` });
      await world.run(5 * SECOND);
      for (const maxConcurrency of [6, 3, 9, 1, 4, 4, 4, 2]) {
        const from = world.hop.starts.length;
        world.put(limited(maxConcurrency));
        await world.run(5_050);
        const atOnce = world.hop.starts.slice(from).map((start) => start.atOnce);
        expect(Math.max(...atOnce)).toBe(maxConcurrency);
      }
      expect(closest(world.hop.starts, () => '', 1)).toBeGreaterThanOrEqual(99.9);
      world.put(limited(50));
      await world.run(20 * MINUTE, () => world.hop.taken.size === 400);
      expect([world.missing(), world.doubled()]).toEqual([[], []]);
    },
  );

  test('a rate lets go by what it says, not less', async () => {
    const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 50, maxRatePerSecond: 25 })] });
    await world.bear();
    await world.submit('m', 1_500);
    await world.run(MINUTE);
    expect(world.hop.taken.size).toBeGreaterThan(1_400);
    expect(closest(world.hop.starts, () => '', 1)).toBeGreaterThanOrEqual(39.9);
  });
});

describe('the domains of one mailbox provider', () => {
  const google = (starts: readonly Start[]) =>
    starts.filter(({ domain }) => /^g(?:oogle)?mail\.com$/.test(domain));

  /** Mail to two domains of one provider and to one of nobody's; how many were under way at once, and what began. */
  async function send(presets: boolean) {
    const relay = direct('mx', { maxConcurrency: 200 }, { maxPerDomain: 30, presets });
    const world = new PaceWorld({ relays: [relay] });
    world.hop.tempers.set('mx', { ...WELL, takesMs: SECOND });
    await world.bear();
    for (const domain of ['gmail.com', 'googlemail.com', 'other.example'])
      await world.submit(domain, 600, { domain });
    await world.run(MINUTE);
    return { world, most: mostAtOnce(google(world.hop.starts), SECOND) };
  }

  function mostAtOnce(starts: readonly Start[], lastedMs: number): number {
    const counts = starts.map(
      ({ at }) => starts.filter((other) => other.at <= at && other.at + lastedMs > at).length,
    );
    return Math.max(0, ...counts);
  }

  test('share one pace', async () => {
    const { world, most } = await send(true);
    expect(most).toBeGreaterThan(5);
    expect(most).toBeLessThanOrEqual(10);
    expect(closest(google(world.hop.starts), () => '', 1)).toBeGreaterThanOrEqual(19.9);
    const domains = new Set(google(world.hop.starts.slice(0, 300)).map(({ domain }) => domain));
    // Neither waits for the other to be done.
    expect(domains.size).toBe(2);
    // Whoever else is written to is not held back by it.
    const others = world.hop.starts.filter(({ domain }) => domain === 'other.example');
    expect(Math.max(...others.map(({ ofDomain }) => ofDomain))).toBeGreaterThan(10);
  });
  test('share it with its customers’, once their servers were spoken to', async () => {
    const world = new PaceWorld({ relays: [direct('mx', { maxConcurrency: 200 }, { maxPerDomain: 30 })] });
    const hostOf = (domain: string) => `${domain.replace('.', '-')}.mail.protection.outlook.com`;
    world.hop.tempers.set('mx', { ...WELL, takesMs: SECOND, hostOf });
    await world.bear();
    const domains = ['a.example', 'b.example', 'c.example'];
    for (const domain of domains) await world.submit(domain, 1, { domain });
    await world.run(5 * SECOND);
    const from = world.hop.starts.length;
    for (const domain of domains) await world.submit(`more-${domain}`, 300, { domain });
    await world.run(MINUTE);
    const most = mostAtOnce(world.hop.starts.slice(from), SECOND);
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(20);
  });
  test('do not where the presets are switched off', async () => {
    expect((await send(false)).most).toBeGreaterThan(20);
  });
});
