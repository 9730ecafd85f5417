import { expect, test } from 'vitest';
import type { HoldKind } from '../../src/domain/lane.ts';
import type { RouteRule } from '../../src/domain/route.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { HEALTHY } from './hop-session.ts';
import { startNode } from './one-node.ts';
import { relayNamed, SETTINGS, submissionNamed } from './scene.ts';

const MINUTE = 60_000;

function ruleTo(name: string, domain: string, ...relays: string[]): RouteRule {
  const match = { recipientDomain: new Set([domain]) };
  return { name, match, via: relays.map((relay) => ({ relay, weight: 1 })), order: 'given' };
}

/** A node with relays `out`, `a` and `b`, whose table and holds the test changes. */
async function start(rules: readonly RouteRule[] = [], defaultRelay = 'out') {
  let routing = { ...SETTINGS.routing, rules, defaultRelay };
  const holds = new Map<string, HoldKind>();
  const node = startNode(() => ({ ...SETTINGS, routing, holds }));
  const { engine, life, hop, views } = node;
  const add = (name: string) => engine.relays.put(relayNamed(name), hop.transportOf(life));
  for (const name of ['a', 'b']) add(name);
  await node.started;
  return {
    ...node,
    add,
    publish: (next: readonly RouteRule[], relay = defaultRelay) => {
      routing = { ...routing, version: routing.version + 1, rules: next, defaultRelay: relay };
      engine.waysChanged();
    },
    hold: (target: string, kind: HoldKind | null) => {
      if (kind === null) holds.delete(target);
      else holds.set(target, kind);
      engine.waysChanged();
    },
    recipients: async (id: string) => {
      const found = await views.message(id);
      return found?.recipients.map(({ relay, state }) => `${relay} ${state}`);
    },
  };
}

async function submit(engine: Engine, domains: readonly string[], sendAt: number | null = null) {
  const base = submissionNamed('t', 1);
  const recipients = domains.map((domain, index) => ({
    address: `r${index}@${domain}`,
    kind: 'to' as const,
    notify: null,
    orcpt: null,
  }));
  const submission = { ...base, envelope: { ...base.envelope, recipients }, sendAt };
  const [answer] = await engine.intake.accept([submission]);
  if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
  return answer.id;
}

test('one message leaves by three relays, each recipient by the rule that matches it', async () => {
  const rules = [ruleTo('to-a', 'a.example', 'a'), ruleTo('to-b', 'b.example', 'b')];
  const { engine, run, recipients } = await start(rules);
  const id = await submit(engine, ['a.example', 'b.example', 'c.example']);
  await run(5_000);
  expect(await recipients(id)).toEqual(['a delivered', 'b delivered', 'out delivered']);
});

test('what waits goes where a published table says, and what went stays gone', async () => {
  const { engine, life, run, recipients, publish, hop } = await start([ruleTo('r', 'a.example', 'a')]);
  const later = await submit(engine, ['a.example'], life.wall() + 30_000);
  const done = await submit(engine, ['a.example']);
  await run(1_000);
  expect(await recipients(later)).toEqual(['a queued']);
  publish([ruleTo('r', 'a.example', 'b')]);
  await run(1_000);
  expect(await recipients(later)).toEqual(['b queued']);
  await run(MINUTE);
  expect(await recipients(later)).toEqual(['b delivered']);
  expect(await recipients(done)).toEqual(['a delivered']);
  expect([...hop.taken.values()].reduce((sum, times) => sum + times, 0)).toBe(2);
});

test('what was under way when a table was published follows it, too', async () => {
  const { engine, run, recipients, publish, hop } = await start([ruleTo('r', 'a.example', 'a')]);
  hop.faults = { ...HEALTHY, defer: 1 };
  const id = await submit(engine, ['a.example']);
  // At once, while it is being attempted.
  publish([ruleTo('r', 'a.example', 'b')]);
  await run(1_000);
  hop.faults = HEALTHY;
  await run(2 * MINUTE);
  expect(await recipients(id)).toEqual(['b delivered']);
});

test('mail of a relay that vanishes is routed anew', async () => {
  const { engine, life, run, recipients, publish } = await start([ruleTo('r', 'a.example', 'a')]);
  const id = await submit(engine, ['a.example'], life.wall() + 20_000);
  publish([]);
  engine.relays.remove('a');
  await run(5_000);
  expect(await recipients(id)).toEqual(['out queued']);
  await run(MINUTE);
  expect(await recipients(id)).toEqual(['out delivered']);
});

test('mail without a route waits, and goes out when there is one', async () => {
  const { engine, run, recipients, add, views } = await start([ruleTo('r', 'a.example', 'gone')]);
  const id = await submit(engine, ['a.example']);
  await run(30_000);
  expect(await recipients(id)).toEqual(['null queued']);
  expect((await views.waiting({ lane: 'none', after: null, limit: 1 })).deliveries).toHaveLength(1);
  add('gone');
  await run(5_000);
  expect(await recipients(id)).toEqual(['gone delivered']);
  expect((await views.waiting({ lane: 'none', after: null, limit: 1 })).deliveries).toEqual([]);
});

test('mail for a paused relay moves within its group, or waits there for the pause to end', async () => {
  const rules = [ruleTo('pair', 'a.example', 'a', 'b'), ruleTo('alone', 'b.example', 'a')];
  const { engine, life, run, recipients, hold } = await start(rules);
  const id = await submit(engine, ['a.example', 'b.example'], life.wall() + 10_000);
  hold('a', 'pause');
  await run(30_000);
  expect(await recipients(id)).toEqual(['b delivered', 'a queued']);
  hold('a', null);
  await run(30_000);
  expect(await recipients(id)).toEqual(['b delivered', 'a delivered']);
});

test('a relay that drains sends what it has, and what is new waits without a route', async () => {
  const { engine, life, run, recipients, hold } = await start([ruleTo('r', 'a.example', 'a')]);
  const old = await submit(engine, ['a.example'], life.wall() + 10_000);
  hold('a', 'drain');
  const fresh = await submit(engine, ['a.example']);
  await run(30_000);
  expect(await recipients(old)).toEqual(['a delivered']);
  expect(await recipients(fresh)).toEqual(['null queued']);
  hold('a', null);
  await run(30_000);
  expect(await recipients(fresh)).toEqual(['a delivered']);
});

test('a walk over more mail than a page holds moves all of it', async () => {
  const { engine, life, run, views, publish } = await start([ruleTo('r', 'a.example', 'a')]);
  const domains = Array.from({ length: 60 }, () => 'a.example');
  for (let n = 0; n < 20; n++) await submit(engine, domains, life.wall() + 10 * MINUTE);
  publish([ruleTo('r', 'a.example', 'b')]);
  await run(5_000);
  const lanes = await views.lanes(null, 10);
  expect(lanes.filter(({ waiting }) => waiting > 0)).toMatchObject([{ lane: 'b', waiting: 1200 }]);
});

test('explain tells of every rule, of the group and of each relay in it', async () => {
  const rules = [ruleTo('to-a', 'a.example', 'a'), ruleTo('to-b', 'b.example', 'gone', 'a', 'b')];
  const { engine, hold } = await start(rules);
  hold('a', 'pause');
  const facts = {
    recipient: 'bob@b.example',
    reversePath: 'ann@example.org',
    tags: [],
    keyId: null,
    keyName: null,
    sourceAddress: null,
    sizeBytes: 1,
    now: 0,
    test: false,
  };
  expect(await engine.intake.explain(facts)).toEqual({
    tableVersion: SETTINGS.routing.version,
    rules: [
      { rule: 'to-a', unmet: 'recipientDomain' },
      { rule: 'to-b', unmet: null },
    ],
    rule: 'to-b',
    weighted: false,
    group: [
      { relay: 'gone', fitness: 'missing' },
      { relay: 'a', fitness: 'paused' },
      { relay: 'b', fitness: 'usable' },
    ],
    relay: 'b',
  });
});
