import { expect, test } from 'vitest';
import type { Submission } from '../../src/domain/message.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { startNode } from './one-node.ts';
import { SETTINGS, submissionNamed } from './world.ts';

const LATER = Date.UTC(2027, 0, 1);

async function start(queue: Partial<typeof SETTINGS.queue> = {}, defaultRelay = 'out') {
  const settings = {
    ...SETTINGS,
    queue: { ...SETTINGS.queue, ...queue },
    routing: { version: 1, defaultRelay },
  };
  const node = startNode(() => settings);
  await node.started;
  return node;
}

/** Mail that waits for its time. */
function waiting(token: string, keyId: string | null): Submission {
  return { ...submissionNamed(token, 1), keyId, sendAt: LATER };
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
  expect(told?.detail).toContain('this API key');
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

test('a plan is what accepting decides, and leaves nothing behind', async () => {
  const { engine, views } = await start();
  const submission = { ...submissionNamed('a', 2), sendAt: LATER };
  expect(engine.intake.plan(submission)).toEqual([
    { relay: 'out', rule: null },
    { relay: 'out', rule: null },
  ]);
  expect((await views.figures(LATER)).queuedBytes).toBe(0);
  const [answer] = await engine.intake.accept([submission]);
  const detail = await views.message(answer?.kind === 'accepted' ? answer.id : '');
  expect(detail?.recipients.map(({ relay }) => relay)).toEqual(['out', 'out']);
});

test('a plan names the rule of a test key, and says where there is no way', async () => {
  const { engine } = await start({}, 'nowhere');
  expect(engine.intake.plan(submissionNamed('a', 1))).toEqual([{ relay: null, rule: null }]);
  expect(engine.intake.plan({ ...submissionNamed('a', 1), test: true })).toEqual([
    { relay: null, rule: 'test-key' },
  ]);
});
