import { expect, test } from 'vitest';
import type { Submission } from '../../src/domain/message.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import { message } from '../contract/store/fixtures.ts';
import { startNode } from './one-node.ts';
import { SETTINGS, submissionNamed } from './scene.ts';

const LATER = Date.UTC(2027, 0, 1);

async function start(queue: Partial<typeof SETTINGS.queue> = {}, defaultRelay = 'out') {
  const settings = {
    ...SETTINGS,
    queue: { ...SETTINGS.queue, ...queue },
    routing: { version: 1, rules: [], defaultRelay, postmaster: null },
  };
  const node = startNode(() => settings);
  await node.started;
  return node;
}

/** Mail that waits for its time. */
function waiting(token: string, keyId: string | null): Submission {
  return { ...submissionNamed(token, 1), keyId, sendAt: LATER };
}

/** What a node that works over the same store accepts of key_one. */
function recordsOfAnotherNode(count: number): AcceptRecord[] {
  return Array.from({ length: count }, () => message({ keyId: 'key_one' }));
}

async function offer(engine: Engine, ...submissions: readonly Submission[]) {
  const answers = await engine.intake.accept(submissions);
  return answers.map((answer) => (answer.kind === 'suspended' ? answer.suspension.code : answer.kind));
}

test('a key whose queue is full is refused for a moment before it is asked; nobody else is', async () => {
  const { engine, run } = await start({ maxMessagesPerKey: 2 });
  const one = (token: string) => waiting(token, 'key_one');
  expect(await offer(engine, one('a'), one('b'), one('c'), waiting('d', 'key_two'))).toEqual([
    'accepted',
    'accepted',
    'queue_limit',
    'accepted',
  ]);
  const told = engine.intake.suspended('key_one');
  expect(told).toMatchObject({ code: 'queue_limit', retryAfterSeconds: 30 });
  expect(told?.detail).toContain('This sender');
  expect(told?.detail).toContain('limits.max_queued_per_key');
  expect(engine.intake.suspended('key_two')).toBeNull();
  expect(engine.intake.suspended(null)).toBeNull();
  await run(1_001);
  expect(engine.intake.suspended('key_one'), 'the store is asked again').toBeNull();
});

test('room that a cancellation makes is used', async () => {
  const { engine, run } = await start({ maxMessagesPerKey: 1 });
  const [answer] = await engine.intake.accept([waiting('a', 'key_one')]);
  expect(await offer(engine, waiting('b', 'key_one'))).toEqual(['queue_limit']);
  await engine.acts.cancel(answer?.kind === 'accepted' ? answer.id : '');
  await run(1_001);
  expect(await offer(engine, waiting('c', 'key_one'))).toEqual(['accepted']);
});

test('a full queue of everyone refuses everyone, and says which setting holds it', async () => {
  const { engine } = await start({ maxBytes: 3 });
  expect(await offer(engine, waiting('abc', 'key_one'), waiting('d', null))).toEqual([
    'accepted',
    'queue_limit',
  ]);
  const told = engine.intake.suspended('key_two');
  expect(told?.code).toBe('queue_limit');
  expect(told?.detail).toContain('this server');
  expect(told?.detail).toContain('limits.max_queued_bytes');
});

test('a repeat gets its first answer although the queue is full', async () => {
  const { engine } = await start({ maxMessagesPerKey: 1 });
  const submission = { ...waiting('a', 'key_one'), idempotency: { key: 'k', hash: 'h' } };
  expect(await offer(engine, submission)).toEqual(['accepted']);
  expect(await offer(engine, submission, waiting('b', 'key_one'))).toEqual(['replayed', 'queue_limit']);
});

test('of mail that is accepted together, none is while one finds no room, and nobody else is kept out', async () => {
  const { engine, spool } = await start({ maxMessagesPerKey: 4, maxBytes: 4_000 });
  const kinds = async (...submissions: readonly Submission[]) =>
    (await engine.intake.accept(submissions, true)).map((answer) =>
      answer.kind === 'suspended' ? answer.suspension.code : answer.kind,
    );
  const mail = (count: number, keyId = 'key_one') =>
    Array.from({ length: count }, () => waiting('x'.repeat(100), keyId));
  expect(await kinds(...mail(5))).toEqual(Array(5).fill('queue_limit'));
  expect(await kinds(...mail(3), waiting('x'.repeat(3_701), null))).toEqual(Array(4).fill('queue_limit'));
  expect([spool.written(), engine.intake.suspended('key_one'), engine.intake.suspended(null)]).toEqual([
    0,
    null,
    null,
  ]);
  const atOnce = await Promise.all([
    kinds(...mail(3)),
    kinds(...mail(5)),
    kinds(...mail(1)),
    kinds(...mail(2)),
  ]);
  expect(atOnce.map(([kind]) => kind)).toEqual(['accepted', 'queue_limit', 'accepted', 'queue_limit']);
  expect([spool.written(), (await kinds(...mail(2, 'key_two')))[1]]).toEqual([400, 'accepted']);
});

test('what another node was faster to fill is not accepted in part either', async () => {
  const { engine, store, views, life } = await start({ maxMessagesPerKey: 9 });
  expect(await offer(engine, waiting('abc', 'key_one'))).toEqual(['accepted']);
  await store.accept(recordsOfAnotherNode(6), { node: 'b', now: life.wall() });
  const together = await engine.intake.accept(Array(3).fill(waiting('abc', 'key_one')), true);
  expect(together.map(({ kind }) => kind)).toEqual(['suspended', 'suspended', 'suspended']);
  expect(engine.intake.suspended('key_one'), 'fewer may fit').toBeNull();
  expect((await views.figures(life.wall())).spool.incoming).toBe(7);
});

test('what is refused leaves nothing in the spool, a whole batch as little as many at once', async () => {
  const { engine, spool, run } = await start({ maxMessagesPerKey: 4 });
  const flood = (count: number) => Array.from({ length: count }, () => waiting('x'.repeat(100), 'key_one'));
  expect(await offer(engine, ...flood(3))).toHaveLength(3);
  expect(await offer(engine, ...flood(20))).toEqual(['accepted', ...Array(19).fill('queue_limit')]);
  for (let second = 0; second < 5; second++) {
    await run(1_001);
    await offer(engine, ...flood(20));
    await Promise.all(flood(20).map((one) => offer(engine, one)));
  }
  expect(spool.written()).toBe(400);
});

test('what another node was faster to fill is refused by the store, and no more of it is written', async () => {
  const { engine, store, spool, life, run } = await start({ maxMessagesPerKey: 9 });
  expect(await offer(engine, waiting('abc', 'key_one'))).toEqual(['accepted']);
  const at = { node: 'b', now: life.wall() };
  await store.accept(recordsOfAnotherNode(8), at);
  expect(await offer(engine, waiting('abc', 'key_one'))).toEqual(['queue_limit']);
  await run(1_001);
  expect(await offer(engine, waiting('abc', 'key_one'))).toEqual(['queue_limit']);
  expect(spool.written()).toBe(6);
});

test('a full queue of everyone is full until there is room, and then no longer', async () => {
  const { engine, run } = await start({ maxBytes: 2_000 });
  const [answer] = await engine.intake.accept([waiting('x'.repeat(1_900), null)]);
  expect(await offer(engine, waiting('x'.repeat(101), null))).toEqual(['queue_limit']);
  for (let i = 0; i < 30; i++) {
    await run(100);
    expect(engine.intake.suspended(null)?.code).toBe('queue_limit');
  }
  await engine.acts.cancel(answer?.kind === 'accepted' ? answer.id : '');
  await run(1_001);
  expect(engine.intake.suspended(null)).toBeNull();
});

test('a message too large for the room that is left shuts nobody out', async () => {
  const { engine } = await start({ maxBytes: 10_000 });
  await offer(engine, waiting('x'.repeat(5_000), null));
  const big = waiting('x'.repeat(6_000), 'key_one');
  expect(await offer(engine, big, waiting('small', 'key_one'))).toEqual(['queue_limit', 'accepted']);
  expect(engine.intake.suspended('key_one')).toBeNull();
  const [answer] = await engine.intake.accept([waiting('x'.repeat(10_001), null)]);
  expect(answer).toMatchObject({ suspension: { detail: expect.stringContaining('larger than') } });
});

test('messages that no queue would hold together are told so, whether or not there is room now', async () => {
  const { engine } = await start({ maxBytes: 10_000 });
  const half = () => waiting('x'.repeat(5_001), 'key_one');
  const told = { suspension: { detail: expect.stringContaining('larger than') } };
  expect(await engine.intake.accept([half(), half()], true)).toMatchObject([told, told]);
  const repeat = { ...half(), idempotency: { key: 'k', hash: 'h' } };
  expect(await offer(engine, repeat)).toEqual(['accepted']);
  const [answer] = await engine.intake.accept([half(), repeat], true);
  expect(answer, 'a repeat needs no room').toMatchObject({
    suspension: { detail: expect.not.stringContaining('larger than') },
  });
});

test('a plan is what accepting decides, and leaves nothing behind', async () => {
  const { engine, views } = await start();
  const submission = { ...submissionNamed('a', 2), sendAt: LATER };
  expect(await engine.intake.plan(submission)).toEqual([
    { relay: 'out', rule: null, group: [{ relay: 'out', fitness: 'usable' }] },
    { relay: 'out', rule: null, group: [{ relay: 'out', fitness: 'usable' }] },
  ]);
  expect((await views.figures(LATER)).queuedBytes).toBe(0);
  const [answer] = await engine.intake.accept([submission]);
  const detail = await views.message(answer?.kind === 'accepted' ? answer.id : '');
  expect(detail?.recipients.map(({ relay }) => relay)).toEqual(['out', 'out']);
});

test('a plan names the rule of a test key, and says where there is no way', async () => {
  const { engine } = await start({}, 'nowhere');
  expect(await engine.intake.plan(submissionNamed('a', 1))).toEqual([
    { relay: null, rule: null, group: [{ relay: 'nowhere', fitness: 'missing' }] },
  ]);
  expect(await engine.intake.plan({ ...submissionNamed('a', 1), test: true })).toEqual([
    { relay: null, rule: 'test-key', group: [{ relay: 'inbox', fitness: 'missing' }] },
  ]);
});
