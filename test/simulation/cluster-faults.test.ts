/** Nodes over one store that die, stand still, or are cut off: nothing is lost, and nothing is sent twice unflagged. */
import { expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../src/domain/attempt.ts';
import { LANE_LEASE_MS, TRUST_MS } from '../../src/engine/contract.ts';
import type { TransportJob } from '../../src/transport/transport.ts';
import { WELL } from './pace-hop.ts';
import { direct, domainsOf, KNOWN_MS, PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SEEDS = [1, 2, 3, 4];

/** That everything was taken, and what was taken more than once is flagged. */
async function check(world: PaceWorld): Promise<void> {
  expect(world.missing()).toEqual([]);
  for (const name of world.doubled()) {
    const id = world.ids.get(name.slice(0, name.indexOf(' '))) ?? '';
    expect((await world.views.message(id))?.message.possibleDuplicate, name).toBe(true);
  }
}

test.each(SEEDS)(
  'nodes that die, stand still and are cut off from the store lose nothing (seed %i)',
  async (seed) => {
    const limits = { maxConcurrency: 6, maxRatePerSecond: 30 };
    const relays = [direct('first', limits, { maxPerDomain: 2 }), smarthost('second', limits)];
    const world = new PaceWorld({ seed, relays, cluster: true });
    for (const relay of ['first', 'second'])
      world.hop.tempers.set(relay, { ...WELL, takesMs: 600, spread: 0.9 });
    for (const skew of [0, 400, -400]) await world.bear(skew);
    for (let round = 0; round < 8; round++) {
      for (const domain of domainsOf(8))
        await world.submit(`m${round}${domain}-`, 4, { domain, at: await world.well() });
      await world.run(world.dice.next() * 12 * SECOND);
      const node = world.nodes[Math.floor(world.dice.next() * world.nodes.length)];
      if (node === undefined) continue;
      const roll = world.dice.next();
      if (roll < 0.3) {
        world.kill(node);
        await world.bear();
      } else if (roll < 0.6) node.life.freeze(world.dice.next() * 2 * MINUTE);
      else if (roll < 0.9) {
        node.way.isCut = true;
        void world.time.sleep(world.dice.next() * 2 * MINUTE).then(() => {
          node.way.isCut = false;
        });
      }
    }
    for (const { way } of world.nodes) way.isCut = false;
    await world.run(60 * MINUTE, () => world.isAllTaken());
    await check(world);
  },
);

test('the work of a node that was killed comes back within a minute', async () => {
  const world = new PaceWorld({ relays: [smarthost('out'), direct('mx', {})], cluster: true });
  const first = await world.bear();
  await world.bear();
  await world.run(KNOWN_MS);
  world.hop.tempers.set('out', { ...WELL, takesMs: 10 * SECOND });
  await world.submit('m', 40, { at: first });
  await world.run(SECOND);
  world.kill(first);
  world.hop.tempers.set('out', WELL);
  await world.run(MINUTE);
  await check(world);
});

test('so does that of one that was killed while it was alone, once it is there again', async () => {
  const world = new PaceWorld({ relays: [direct('mx', { maxConcurrency: 4 })], cluster: true });
  const first = await world.bear();
  world.hop.tempers.set('mx', { ...WELL, takesMs: 10 * SECOND });
  for (const domain of domainsOf(5)) await world.submit(domain, 4, { domain });
  await world.run(SECOND);
  world.kill(first);
  world.hop.tempers.set('mx', WELL);
  await world.bear();
  await world.run(MINUTE);
  await check(world);
});

test('a node that stood still past its leases is fenced: what it does then counts for nothing', async () => {
  const world = new PaceWorld({ relays: [smarthost('out')], cluster: true });
  const first = await world.bear();
  await world.bear();
  await world.run(KNOWN_MS);
  world.hop.tempers.set('out', { ...WELL, takesMs: 4 * SECOND });
  await world.submit('m', 4, { at: first });
  // Their final dots are sent; nobody will know what came of them.
  await world.run(3 * SECOND);
  first.life.freeze(3 * LANE_LEASE_MS);
  world.hop.tempers.set('out', WELL);
  await world.run(2 * LANE_LEASE_MS);
  for (const id of world.ids.values())
    expect((await world.views.message(id))?.message).toMatchObject({
      status: 'delivered',
      possibleDuplicate: true,
    });
  const before = await attemptsOf(world);
  await world.run(5 * MINUTE);
  expect(await attemptsOf(world)).toBe(before);
  await check(world);
});

async function attemptsOf(world: PaceWorld): Promise<number> {
  let sum = 0;
  for (const id of world.ids.values()) sum += (await world.views.message(id))?.message.attempts ?? 0;
  return sum;
}

test('what is in the middle of DATA when a node is cut off from the store is broken off before another may begin', async () => {
  const world = new PaceWorld({ relays: [smarthost('out')], cluster: true });
  const node = await world.bear();
  const brokenOff: number[] = [];
  const askedAgain: boolean[] = [];
  let gated = 0;
  const deliver = async (job: TransportJob, signal: AbortSignal) => {
    if (await job.gate()) gated++;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    brokenOff.push(world.time.now);
    askedAgain.push(await job.gate());
    const reply = { code: null, enhanced: null, cause: 'aborted', text: '' };
    const outcomes = job.envelope.recipients.map(() => ({ kind: 'deferred' as const, reply }));
    return { outcomes, evidence: NO_EVIDENCE, hopFailed: false, restMs: null };
  };
  node.engine.relays.put(smarthost('out'), { deliver, connections: () => 0, close: async () => {} });
  await world.submit('m', 3);
  await world.run(SECOND);
  expect(gated).toBe(3);
  node.way.isCut = true;
  const cutAt = world.time.now;
  await world.run(LANE_LEASE_MS);
  expect(brokenOff).toHaveLength(3);
  expect(askedAgain, 'whether the final dot may follow').toEqual([false, false, false]);
  expect(Math.max(...brokenOff)).toBeLessThanOrEqual(cutAt + TRUST_MS + SECOND);
  // Nothing new begins either.
  await world.run(MINUTE);
  expect(gated).toBe(3);
  node.way.isCut = false;
  node.engine.relays.put(smarthost('out'), world.hop.transportOf(node.name, node.life, 'out'));
  await world.run(2 * MINUTE);
  await check(world);
  expect(world.doubled()).toEqual([]);
});

test('a node cut off from the hops leaves its lanes to one that is not, and alone it keeps them', async () => {
  const world = new PaceWorld({ relays: [direct('mx', {}), smarthost('out')], cluster: true });
  const first = await world.bear();
  for (const domain of domainsOf(6)) await world.submit(`a${domain}`, 2, { domain });
  await world.run(5 * SECOND);
  expect(world.missing()).toEqual([]);
  world.hop.cutOff.add(first.name);
  for (const domain of domainsOf(6)) await world.submit(`b${domain}`, 2, { domain });
  await world.run(MINUTE);
  expect(first.engine.queue.lanes().filter(({ relay }) => relay === 'mx')).toHaveLength(6);
  const second = await world.bear();
  await world.run(2 * MINUTE, () => world.isAllTaken());
  expect(world.missing()).toEqual([]);
  expect(new Set(world.hop.starts.slice(-12).map(({ node }) => node))).toEqual(new Set([second.name]));
  // What comes now goes by the second at once, or after a vain try of the first.
  for (const domain of domainsOf(6)) await world.submit(`c${domain}`, 2, { domain, at: first });
  await world.run(90 * SECOND, () => world.isAllTaken());
  await check(world);
});
