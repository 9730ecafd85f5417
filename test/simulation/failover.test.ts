/** What happens to mail while relays of its group fail: nothing waits at an ill one, and nothing is sent twice. */
import { afterEach, expect, test } from 'vitest';
import type { RouteRule } from '../../src/domain/route.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import { DEAD, HEALTHY, type HopFaults } from './hop-session.ts';
import { accept, startNode } from './one-node.ts';
import { relayNamed, SETTINGS } from './scene.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const NAMES = ['first', 'second', 'last'] as const;
/** How long a delivery may take that has a healthy relay all the time: a few attempts, and news of an ill one. */
const PROMPT_MS = 8 * SECOND;

const RULES: readonly RouteRule[] = [
  { name: 'all', match: {}, via: NAMES.map((relay) => ({ relay, weight: 1 })), order: 'given' },
];

let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

async function start() {
  const node = startNode(() => ({
    ...SETTINGS,
    routing: { version: 2, rules: RULES, defaultRelay: 'out', postmaster: null },
  }));
  for (const name of NAMES) node.engine.relays.put(relayNamed(name), node.hop.transportOf(node.life, name));
  stop = async () => {
    const now = new AbortController();
    now.abort();
    const stopped = node.engine.stop(now.signal);
    await node.run(MINUTE);
    await stopped;
    await node.store.close();
  };
  await node.run(SECOND);
  await node.started;
  const show = async (id: string) => {
    const detail = await node.views.message(id);
    if (detail === null) throw new Error(`${id} is gone`);
    return detail;
  };
  return { ...node, show };
}

test('mail goes by the next relay of its group when the first cannot be reached', async () => {
  const { engine, hop, run, show } = await start();
  hop.faultsOf.set('first', DEAD);
  const id = await accept(engine, 'one');
  await run(3 * SECOND);
  expect((await show(id)).message).toMatchObject({ status: 'delivered', relay: 'second', attempts: 2 });
});

test('while the first is not well again, new mail does not even try it', async () => {
  const { engine, hop, run, show } = await start();
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  await run(10 * SECOND);
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) {
    ids.push(await accept(engine, `m${i}`));
    await run(2 * SECOND);
  }
  const ends = await Promise.all(ids.map(async (id) => (await show(id)).message));
  expect(ends.map(({ relay, attempts }) => `${relay} ${attempts}`)).toEqual(ids.map(() => 'second 1'));
});

test('what waits at a relay that falls ill moves to one that is well', async () => {
  const { engine, hop, run, show, store, views } = await start();
  const burst = Array.from({ length: 60 }, (_, place) => `m${place}`);
  hop.faultsOf.set('first', DEAD);
  const ids = await Promise.all(burst.map((token) => accept(engine, token)));
  await run(PROMPT_MS + burst.length * SECOND * 0.2);
  for (const id of ids)
    expect((await show(id)).message).toMatchObject({ status: 'delivered', relay: 'second' });
  expect((await views.waiting({ lane: 'all', after: null, limit: 10 })).deliveries).toEqual([]);
  expect(await store.expiring(10, { node: 'a', now: 0 })).toEqual([]);
});

test('a deferral tries every relay of the group before it waits', async () => {
  const { engine, hop, run, show } = await start();
  for (const name of NAMES) hop.faultsOf.set(name, { ...HEALTHY, defer: 1 });
  const id = await accept(engine, 'late');
  await run(4 * SECOND);
  const { message, recipients } = await show(id);
  expect(message).toMatchObject({ status: 'retrying', attempts: 3 });
  expect(recipients[0]).toMatchObject({ relay: 'first' });
});

test('what one relay is too small for goes by the next, and fails when it is too large for all', async () => {
  const { engine, hop, life, run, show } = await start();
  const shrink = (name: string) => {
    const relay = relayNamed(name);
    engine.relays.put(
      { ...relay, limits: { ...relay.limits, maxMessageBytes: 4 } },
      hop.transportOf(life, name),
    );
  };
  shrink('first');
  const some = await accept(engine, 'large');
  await run(3 * SECOND);
  expect((await show(some)).message).toMatchObject({ status: 'delivered', relay: 'second' });
  shrink('second');
  shrink('last');
  const none = await accept(engine, 'larger');
  await run(3 * SECOND);
  expect((await show(none)).message).toMatchObject({ status: 'failed', outcome: 'rejected', attempts: 3 });
});

test('an ambiguous end never goes to another relay', async () => {
  const { engine, hop, run, show, views } = await start();
  hop.faultsOf.set('first', { ...HEALTHY, dropAfterDot: 1 });
  const id = await accept(engine, 'perhaps');
  await run(5 * MINUTE);
  hop.faultsOf.set('first', DEAD);
  await run(10 * MINUTE);
  const { attempts } = await views.attempts(id, { after: 0, limit: 50 });
  expect(attempts.length).toBeGreaterThan(2);
  expect(attempts.map(({ relay }) => relay)).toEqual(attempts.map(() => 'first'));
  expect((await show(id)).message.possibleDuplicate).toBe(true);
});

test('a relay that is well again is found out without mail, and used', async () => {
  const { engine, hop, run, show } = await start();
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  await run(10 * SECOND);
  hop.faultsOf.delete('first');
  await run(MINUTE);
  const id = await accept(engine, 'two');
  await run(2 * SECOND);
  expect((await show(id)).message).toMatchObject({ status: 'delivered', relay: 'first', attempts: 1 });
});

test('a relay is found well again although its last failure took long to record', async () => {
  const { engine, hop, run, show, store, life } = await start();
  const settle = store.settle.bind(store);
  store.settle = async (batch, at) => {
    await life.sleep(10 * SECOND);
    return await settle(batch, at);
  };
  hop.faultsOf.set('first', DEAD);
  await accept(engine, 'one');
  await run(SECOND);
  hop.faultsOf.delete('first');
  await run(MINUTE);
  const id = await accept(engine, 'two');
  await run(20 * SECOND);
  expect((await show(id)).message).toMatchObject({ status: 'delivered', relay: 'first', attempts: 1 });
});

/** Any trouble but a message refused for good, and at least one relay is well. */
function rollFaults(dice: Random): Map<string, HopFaults> {
  const well = Math.floor(dice.next() * NAMES.length);
  return new Map(
    NAMES.map((name, place): [string, HopFaults] => {
      if (place === well) return [name, HEALTHY];
      const roll = dice.next();
      if (roll < 0.4) return [name, DEAD];
      const some = () => (dice.next() < 0.5 ? 0 : dice.next());
      return [
        name,
        { ...HEALTHY, refuseConnection: some(), defer: some(), dropBeforeDot: some(), deferAfterDot: some() },
      ];
    }),
  );
}

const SEEDS = Array.from({ length: 12 }, (_, place) => place + 1);

test.each(SEEDS)(
  'seed %i: with one relay well at any time nothing waits, and nobody gets two copies',
  async (seed) => {
    const dice = seededRandom(seed);
    const { engine, hop, run, show } = await start();
    for (let round = 0; round < 12; round++) {
      for (const [name, faults] of rollFaults(dice)) hop.faultsOf.set(name, faults);
      // A relay that has come back is asked within half a minute, and answers.
      await run(40 * SECOND);
      const count = 1 + Math.floor(dice.next() * 12);
      const tokens = Array.from({ length: count }, (_, place) => `s${seed}r${round}m${place}`);
      const ids = await Promise.all(tokens.map((token) => accept(engine, token)));
      await run(PROMPT_MS + 12 * SECOND);
      for (const id of ids) expect((await show(id)).message.status).toBe('delivered');
    }
    expect(Math.max(...hop.taken.values())).toBe(1);
  },
);
