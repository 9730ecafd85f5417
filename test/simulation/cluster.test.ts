/** Several nodes over one store that know of each other: who works what, and how much of it. */
import { expect, test } from 'vitest';
import type { HoldKind } from '../../src/domain/lane.ts';
import { type Start, WELL } from './pace-hop.ts';
import { direct, domainsOf, KNOWN_MS, type PaceNode, PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SEEDS = [1, 2, 3];

/** Mail to many domains, so much to each. */
async function mailTo(world: PaceWorld, prefix: string, domains: readonly string[], each: number) {
  for (const domain of domains) await world.submit(`${prefix}${domain}-`, each, { domain });
}

/** The lanes that a node holds. */
function lanesOf({ engine }: PaceNode): string[] {
  return engine.queue
    .lanes()
    .map(({ lane }) => lane)
    .sort();
}

/** The most attempts that began within a second. */
function fastest(starts: readonly Start[]): number {
  const counts = starts.map(({ at }) => starts.filter((one) => one.at <= at && one.at > at - SECOND).length);
  return Math.max(...counts);
}

test.each(SEEDS)('limits hold over all nodes while they join, leave and die (seed %i)', async (seed) => {
  const limits = { maxConcurrency: 5, maxRatePerSecond: 20 };
  const relays = [direct('first', limits, { maxPerDomain: 2 }), smarthost('second', limits)];
  const world = new PaceWorld({ seed, relays, cluster: true });
  for (const relay of ['first', 'second']) {
    const verdict = () => (world.dice.next() < 0.2 ? 'deferred' : null);
    world.hop.tempers.set(relay, { ...WELL, takesMs: 900, spread: 0.9, verdict });
  }
  await world.bear();
  for (let round = 0; round < 8; round++) {
    await mailTo(world, `m${round}-`, domainsOf(14), 4);
    await world.run(world.dice.next() * 15 * SECOND);
    const roll = world.dice.next();
    const node = world.nodes[Math.floor(world.dice.next() * world.nodes.length)];
    if (node === undefined || world.nodes.length < 3 || roll < 0.3) await world.bear();
    else if (roll < 0.6) await world.end(node);
    else world.kill(node);
  }
  await world.run(60 * MINUTE, () => world.isAllTaken());
  expect(world.missing()).toEqual([]);
  const { starts } = world.hop;
  const of = (relay: string) => starts.filter((one) => one.relay === relay);
  expect(Math.max(...of('first').map(({ atOnceOverall }) => atOnceOverall))).toBe(5);
  expect(Math.max(...of('second').map(({ atOnceOverall }) => atOnceOverall))).toBeLessThanOrEqual(5);
  for (const relay of ['first', 'second']) expect(fastest(of(relay))).toBeLessThanOrEqual(20);
  expect(new Set(starts.map(({ node }) => node)).size).toBeGreaterThan(2);
});

test('nodes that begin at the same time, and one that is alone, have all of a limit between them', async () => {
  const world = new PaceWorld({ relays: [direct('out', { maxConcurrency: 6 })], cluster: true });
  world.hop.tempers.set('out', { ...WELL, takesMs: 3 * SECOND });
  await world.bear();
  const share = async (prefix: string) => {
    const from = world.hop.starts.length;
    await mailTo(world, prefix, domainsOf(24), 6);
    await world.run(20 * SECOND);
    const starts = world.hop.starts.slice(from);
    await world.run(10 * MINUTE, () => world.isAllTaken());
    expect(Math.max(...starts.map(({ atOnceOverall }) => atOnceOverall))).toBe(6);
    const most = world.nodes.map(({ name }) =>
      Math.max(0, ...starts.filter(({ node }) => node === name).map(({ atOnce }) => atOnce)),
    );
    return most;
  };
  expect(await share('alone')).toEqual([6]);
  await world.bear();
  await world.bear();
  await world.run(KNOWN_MS);
  expect(await share('three')).toEqual([2, 2, 2]);
  const [first] = world.nodes;
  if (first !== undefined) await world.end(first);
  await world.run(KNOWN_MS);
  expect(await share('two')).toEqual([3, 3]);
});

test('a limit too small for all nodes is used by those that have a part of it, and nothing waits for the others', async () => {
  const world = new PaceWorld({ relays: [direct('out', { maxConcurrency: 1 })], cluster: true });
  for (let count = 0; count < 3; count++) await world.bear();
  await world.run(KNOWN_MS);
  await mailTo(world, 'm', domainsOf(12), 3);
  await world.run(MINUTE, () => world.isAllTaken());
  expect(world.missing()).toEqual([]);
  expect(Math.max(...world.hop.starts.map(({ atOnceOverall }) => atOnceOverall))).toBe(1);
  expect(new Set(world.hop.starts.map(({ node }) => node))).toEqual(new Set(['node-1']));
});

test('so is that of a mailbox provider', async () => {
  const world = new PaceWorld({ relays: [direct('out', { maxConcurrency: 30 })], cluster: true });
  // A provider that bears two at once, and three nodes.
  const domains = ['free.fr', 'aliceadsl.fr', 'libertysurf.fr'];
  for (let count = 0; count < 3; count++) await world.bear();
  await world.run(KNOWN_MS);
  await mailTo(world, 'm', domains, 4);
  await world.run(3 * MINUTE, () => world.isAllTaken());
  expect(world.missing()).toEqual([]);
});

test('who joins gets a part of the lanes, in small steps, and then they stay where they are', async () => {
  const domains = domainsOf(40);
  const world = new PaceWorld({ relays: [direct('out', { maxConcurrency: 40 })], cluster: true });
  const flow = async (prefix: string, rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      await mailTo(world, `${prefix}${round}-`, domains, 1);
      await world.run(4 * SECOND);
    }
  };
  const one = await world.bear();
  await flow('a', 3);
  expect(lanesOf(one)).toHaveLength(40);
  const two = await world.bear();
  await flow('b', 12);
  const [mine, yours] = [lanesOf(one), lanesOf(two)];
  expect(mine.length + yours.length).toBe(40);
  expect(Math.max(mine.length, yours.length)).toBeLessThanOrEqual(24);
  await flow('c', 12);
  expect([lanesOf(one), lanesOf(two)]).toEqual([mine, yours]);
  await world.end(one);
  await flow('d', 3);
  expect(lanesOf(two)).toHaveLength(40);
  await world.run(10 * SECOND);
  expect([world.missing(), world.doubled()]).toEqual([[], []]);
});

test('smarthosts are shared out, each to one node, also to one that comes later', async () => {
  const names = ['one', 'two', 'three'];
  const relays = names.map((name) => smarthost(name));
  const rules = names.map((relay) => ({
    name: relay,
    match: { recipientDomain: new Set([`${relay}.example`]) },
    via: [{ relay, weight: 1 }],
    order: 'given' as const,
  }));
  const routing = { version: 2, rules, defaultRelay: 'one', postmaster: null };
  const world = new PaceWorld({ relays, cluster: true, settings: { routing } });
  const flow = async (prefix: string) => {
    for (let round = 0; round < 10; round++) {
      for (const name of names)
        await world.submit(`${prefix}${round}${name}`, 3, { domain: `${name}.example` });
      await world.run(2 * SECOND);
    }
  };
  await world.bear();
  await flow('a');
  await world.bear();
  await world.bear();
  await flow('b');
  const held = world.nodes.map(lanesOf);
  expect(held.map(({ length }) => length)).toEqual([1, 1, 1]);
  await flow('c');
  expect(world.nodes.map(lanesOf)).toEqual(held);
  expect(world.missing()).toEqual([]);
});

test('what is accepted for a lane of another node begins there at once', async () => {
  const world = new PaceWorld({ relays: [smarthost('out')], cluster: true });
  const holder = await world.bear();
  const other = await world.bear();
  await world.run(KNOWN_MS);
  const delays: number[] = [];
  for (let count = 0; count < 20; count++) {
    const at = world.time.now;
    await world.submit(`m${count}-`, 1, { at: other });
    await world.run(SECOND);
    delays.push((world.hop.starts.at(-1)?.at ?? Number.POSITIVE_INFINITY) - at);
  }
  expect(new Set(world.hop.starts.map(({ node }) => node))).toEqual(new Set([holder.name]));
  expect(Math.max(...delays)).toBeLessThan(200);
});

test('what is retried on any node finds another way where its own is held', async () => {
  const holds = new Map<string, HoldKind>();
  const relays = [smarthost('first'), smarthost('second')];
  const world = new PaceWorld({ relays, cluster: true, settings: { holds } });
  world.hop.tempers.set('first', { ...WELL, verdict: () => 'rejected' });
  await world.bear();
  const later = await world.bear();
  await world.run(KNOWN_MS);
  const [id = ''] = await world.submit('m-', 1);
  await world.run(5 * SECOND);
  holds.set('first', 'pause');
  await world.run(30 * MINUTE);
  const retrying = later.engine.acts.retry(id);
  await world.run(30 * SECOND);
  expect(await retrying).toBe('requeued');
  expect(world.missing()).toEqual([]);
  expect(world.hop.starts.map(({ relay }) => relay)).toEqual(['first', 'second']);
});

test('a node that does not deliver accepts, and others deliver', async () => {
  const world = new PaceWorld({ relays: [smarthost('out'), direct('mx', {})], cluster: true });
  const front = await world.bear(0, ['api']);
  await world.submit('early', 3, { at: front });
  await world.run(MINUTE);
  expect(world.hop.starts).toEqual([]);
  const back = await world.bear();
  await world.submit('late', 3, { at: front });
  await world.run(10 * SECOND);
  expect(world.missing()).toEqual([]);
  expect(new Set(world.hop.starts.map(({ node }) => node))).toEqual(new Set([back.name]));
  expect(lanesOf(front)).toEqual([]);
});
