import { expect, test } from 'vitest';
import type { Event } from '../../src/observe/events.ts';
import { HEALTHY } from './hop-session.ts';
import { accept, startNode } from './one-node.ts';
import { relayNamed, SETTINGS } from './scene.ts';

const MINUTE = 60_000;

async function start(settings = () => SETTINGS) {
  const node = startNode(settings);
  const acted: Event[] = [];
  node.events.on((event) => {
    if (event.type === 'acted') acted.push(event);
  });
  await node.started;
  await node.run(2_000);
  const show = async (id: string) => {
    const detail = await node.views.message(id);
    if (detail === null) throw new Error(`${id} is missing`);
    return detail.message;
  };
  return { ...node, acted, show };
}

test('what is cancelled before its time never leaves, and whoever waits is told', async () => {
  const { life, engine, hop, run, show, acted } = await start();
  const id = await accept(engine, 'later', life.wall() + MINUTE);
  expect(await engine.acts.cancel(id)).toBe('cancelled');
  expect(await engine.acts.cancel(id)).toBe('final');
  expect(await engine.acts.cancel('msg_00000000000000000000000000')).toBe('not_found');
  await run(3 * MINUTE);
  expect(await show(id)).toMatchObject({ status: 'failed', outcome: 'cancelled' });
  expect(hop.taken.size).toBe(0);
  expect(acted).toEqual([{ type: 'acted', messageId: id, act: 'cancel' }]);
});

test('what is given another time is sent then: sooner, later, and now', async () => {
  const { life, engine, hop, views, run, show, acted } = await start();
  const at = life.wall() + 10 * MINUTE;
  const ids = [
    await accept(engine, 'sooner', at),
    await accept(engine, 'later', at),
    await accept(engine, 'now', at),
  ];
  const [sooner = '', later = '', now = ''] = ids;
  const asked = life.wall();
  const moves = [asked + 5 * MINUTE, asked + 20 * MINUTE, asked - MINUTE];
  for (const [place, id] of ids.entries())
    expect(await engine.acts.reschedule(id, moves[place] ?? 0)).toBe('rescheduled');
  await run(30 * MINUTE);
  for (const [id, dueAt] of [
    [sooner, asked + 5 * MINUTE],
    [later, asked + 20 * MINUTE],
    [now, asked],
  ] as const) {
    expect(await show(id)).toMatchObject({ status: 'delivered', expiresAt: dueAt + SETTINGS.retry.maxAgeMs });
    const { attempts } = await views.attempts(id, { after: 0, limit: 2 });
    expect(attempts).toHaveLength(1);
    const waitedMs = (attempts[0]?.startedAt ?? 0) - dueAt;
    expect(waitedMs).toBeGreaterThanOrEqual(0);
    expect(waitedMs).toBeLessThan(2_000);
  }
  expect(hop.taken.size).toBe(3);
  expect(acted.map((event) => 'act' in event && event.act)).toEqual(Array(3).fill('reschedule'));
  expect(await engine.acts.reschedule(now, asked)).toBe('final');
  expect(await engine.acts.reschedule('msg_00000000000000000000000000', asked)).toBe('not_found');
});

test('what is under way when it is cancelled ends by its attempt: deferred is cancelled, taken is delivered', async () => {
  const { engine, events, hop, run, show } = await start();
  const told: unknown[] = [];
  events.on((event) => {
    if (event.type === 'attempted') told.push(event.results);
  });
  hop.faults = { ...HEALTHY, defer: 1 };
  const deferred = await accept(engine, 'deferred');
  await engine.acts.cancel(deferred);
  await run(5_000);
  expect(told).toMatchObject([[{ state: 'failed', cancelled: true, outcome: { kind: 'deferred' } }]]);
  expect(await show(deferred)).toMatchObject({ status: 'failed', outcome: 'cancelled', attempts: 1 });
  hop.faults = HEALTHY;
  const taken = await accept(engine, 'taken');
  expect(await engine.acts.cancel(taken)).toBe('cancelled');
  await run(5_000);
  expect(await show(taken)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('what is in hand but has not begun when it is cancelled ends at once and never leaves', async () => {
  const { engine, events, hop, run, show } = await start();
  const told: Event[] = [];
  events.on((event) => {
    if (event.type === 'cancelled') told.push(event);
  });
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await accept(engine, `t${i}`));
  // The relay takes four at a time: two wait for a slot.
  for (const id of ids) expect((await show(id)).status).toBe('processing');
  for (const id of ids) expect(await engine.acts.cancel(id)).toBe('cancelled');
  for (const id of ids.slice(4)) expect((await show(id)).status, 'at once').toBe('failed');
  expect(told).toEqual([
    { type: 'cancelled', messageId: ids[4], recipients: ['r0@example.net'] },
    { type: 'cancelled', messageId: ids[5], recipients: ['r0@example.net'] },
  ]);
  await run(10_000);
  const ended = await Promise.all(ids.map(async (id) => (await show(id)).outcome));
  expect(ended).toEqual(['accepted', 'accepted', 'accepted', 'accepted', 'cancelled', 'cancelled']);
  expect(hop.taken.size).toBe(4);
});

test.each(['reject', 'defer'] as const)('after a %s, retrying tries again at once', async (fault) => {
  const { life, engine, hop, views, run, show, acted } = await start();
  hop.faults = { ...HEALTHY, [fault]: 1 };
  const id = await accept(engine, 'again');
  await run(3_000);
  expect((await show(id)).status).toBe(fault === 'reject' ? 'failed' : 'retrying');
  hop.faults = HEALTHY;
  const asked = life.wall();
  expect(await engine.acts.retry(id)).toBe('requeued');
  await run(3_000);
  expect(await show(id)).toMatchObject({ status: 'delivered', expiresAt: asked + SETTINGS.retry.maxAgeMs });
  const { attempts } = await views.attempts(id, { after: 1, limit: 1 });
  expect((attempts[0]?.startedAt ?? 0) - asked).toBeLessThan(10);
  expect(acted).toEqual([{ type: 'acted', messageId: id, act: 'retry' }]);
  expect(await engine.acts.retry(id)).toBe('nothing_to_retry');
  expect(await engine.acts.retry('msg_00000000000000000000000000')).toBe('not_found');
  expect(hop.taken.get('again r0@example.net')).toBe(1);
});

test('after a retry the waiting times begin anew', async () => {
  const { life, engine, hop, run, show } = await start();
  hop.faults = { ...HEALTHY, defer: 1 };
  const id = await accept(engine, 'slow');
  await run(10 * MINUTE);
  expect((await show(id)).attempts).toBeGreaterThan(4);
  const asked = life.wall();
  await engine.acts.retry(id);
  await run(3_000);
  const waitMs = ((await show(id)).waits[0]?.dueAt ?? 0) - asked;
  expect(waitMs).toBeLessThan(SETTINGS.retry.firstMs * 1.2 + 3_000);
});

test('what is retried after its relay has gone takes the way there is now', async () => {
  let defaultRelay = 'old';
  const { life, engine, hop, run, show } = await start(() => ({
    ...SETTINGS,
    routing: { version: 1, rules: [], defaultRelay, postmaster: null },
  }));
  engine.relays.put(relayNamed('old'), hop.transportOf(life));
  hop.faults = { ...HEALTHY, reject: 1 };
  const id = await accept(engine, 'moved');
  await run(5_000);
  expect(await show(id)).toMatchObject({ status: 'failed', relay: 'old' });
  hop.faults = HEALTHY;
  engine.relays.remove('old');
  defaultRelay = 'out';
  expect(await engine.acts.retry(id)).toBe('requeued');
  await run(15_000);
  expect(await show(id)).toMatchObject({ status: 'delivered', relay: 'out' });
});
