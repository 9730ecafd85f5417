/** That hops are left alone for as long as they ask for, or need, and no longer than whoever runs the server wants. */
import { expect, test } from 'vitest';
import { answerBy, NO_FORM, putOff, TAKEN } from './pace-answers.ts';
import { PaceWorld, smarthost } from './pace-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const paused = (world: PaceWorld) =>
  world.events.flatMap((event) => (event.type === 'lane_paused' ? [event.pauseMs] : []));

test('a rest that a hop asks for is kept, though attempts that began before it go well', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 10 })] });
  const attempts = answerBy(world, ({ number }) =>
    number === 3 ? putOff(429, { hopFailed: true, restMs: MINUTE, takesMs: 50 }) : TAKEN,
  );
  await world.bear();
  await world.submit('m-', 100);
  await world.run(20 * SECOND);
  expect(attempts).toHaveLength(10);
  // It is told once, with its whole length.
  expect(paused(world)).toEqual([MINUTE]);
  await world.run(MINUTE, () => attempts.length > 10);
  expect((attempts[10]?.at ?? 0) - (attempts[3]?.at ?? 0)).toBeGreaterThanOrEqual(MINUTE);
  await world.run(MINUTE);
  expect(attempts.length).toBe(101);
});

test('what was not even sent says nothing of the hop: its rest goes on', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 10 })] });
  const attempts = answerBy(world, ({ number }) =>
    number === 0 ? putOff(403, { hopFailed: true, takesMs: 0 }) : number === 1 ? NO_FORM : TAKEN,
  );
  await world.bear();
  await world.submit('m-', 2);
  await world.run(500);
  expect(world.events.map(({ type }) => type)).not.toContain('lane_resumed');
  expect(attempts).toHaveLength(2);
});

test('nor does it make a hop ill', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 50 })] });
  answerBy(world, () => ({ ...putOff(0), unspoken: true }));
  await world.bear();
  await world.submit('m-', 60);
  await world.run(SECOND);
  expect(paused(world)).toEqual([]);
});

test('a hop that says it is well and takes no mail is tried less and less often', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 20 })] });
  const attempts = answerBy(
    world,
    () => putOff(403, { hopFailed: true }),
    () => true,
  );
  await world.bear();
  await world.submit('m-', 1_000);
  await world.run(2 * MINUTE);
  expect(paused(world).length).toBeLessThan(12);
  expect(Math.max(...paused(world))).toBeGreaterThan(20 * SECOND);
  expect(attempts.length).toBeLessThan(300);
});

test('a rest does not outlive the relay that it was learned of', async () => {
  const world = new PaceWorld({ relays: [smarthost('out')] });
  let isMended = false;
  const attempts = answerBy(world, () => (isMended ? TAKEN : putOff(429, { hopFailed: true, restMs: HOUR })));
  await world.bear();
  await world.submit('m-', 1);
  await world.run(5 * SECOND);
  await world.submit('n-', 1);
  await world.run(5 * SECOND);
  expect(attempts).toHaveLength(1);
  isMended = true;
  world.put(smarthost('out'));
  await world.run(5 * SECOND);
  expect(attempts.map(({ token }) => token)).toContain('n-0');
});

test('high mail is tried again after its hop was ill, though all other mail has had its share of the day', async () => {
  const world = new PaceWorld({ relays: [smarthost('out', { maxPerDay: 20, reservePercent: 50 })] });
  let isIll = false;
  const attempts = answerBy(world, () => (isIll ? putOff(421, { hopFailed: true }) : TAKEN));
  await world.bear();
  await world.submit('normal-', 15);
  await world.run(5 * SECOND);
  expect(attempts).toHaveLength(10);
  isIll = true;
  await world.submit('high-', 1, { priority: 'high' });
  await world.run(SECOND);
  isIll = false;
  await world.run(10 * MINUTE, () => attempts.length > 11);
  expect(attempts.slice(10).map(({ token }) => token)).toEqual(['high-0', 'high-0']);
});
