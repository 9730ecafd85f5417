/** That hops are left alone for as long as they ask for, or need, and no longer than whoever runs the server wants. */
import { expect, test } from 'vitest';
import { localReply, type Reply } from '../../src/domain/outcome.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
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
    () => null,
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

/** Many virtual hours of a whole node. */
const DAY = { timeout: 300_000 };

const DENIED: Reply = { ...localReply('auth_failed', '5.7.8', 'Authentication failed'), code: 535 };

/** A hop that takes no password, from the first attempt on, until `mend`. */
async function deniedWorld() {
  const world = new PaceWorld({ relays: [smarthost('out', { maxConcurrency: 10 })] });
  let isMended = false;
  const denied = { takesMs: 100, hopFailed: true, outcome: { kind: 'deferred', reply: DENIED } } as const;
  const attempts = answerBy(
    world,
    () => (isMended ? TAKEN : denied),
    () => (isMended ? null : DENIED),
  );
  const node = await world.bear();
  await world.submit('m-', 100);
  const probes = () => world.events.filter(({ type }) => type === 'probed');
  const mend = () => {
    isMended = true;
  };
  return { world, attempts, node, probes, mend };
}

test('a password that is not taken is tried less and less often: a dozen times in a day', DAY, async () => {
  const { world, attempts, node, probes } = await deniedWorld();
  await world.run(24 * HOUR);
  // Ten were under way together when it was first refused.
  expect(attempts).toHaveLength(10);
  expect(probes().length).toBeGreaterThan(5);
  expect(probes().length).toBeLessThanOrEqual(14);
  expect(Math.max(...paused(world))).toBeGreaterThan(3 * HOUR);
  expect(node.engine.queue.lanes()).toMatchObject([
    { lane: 'out', state: 'open', restCause: 'auth_failed 535 5.7.8', restReply: { code: 535 } },
  ]);
  expect(node.engine.relays.refusalOf('out')).toBe('auth_failed 535 5.7.8');
});

test('the log of events has when a relay begins to rest, and when it works again: once each', async () => {
  const { world, mend } = await deniedWorld();
  await world.run(HOUR);
  mend();
  await world.run(24 * HOUR, () => world.events.some(({ type }) => type === 'lane_resumed'));
  await world.run(HOUR);
  const { events } = await world.views.events({
    ...EVERY_EVENT,
    types: ['relay.resting', 'relay.recovered'],
    from: { after: 0 },
    limit: 100,
  });
  expect(events).toMatchObject([
    { type: 'relay.resting', message: null, facts: { relay: 'out', code: 535, enhanced: '5.7.8' } },
    { type: 'relay.recovered', message: null, facts: { relay: 'out' } },
  ]);
});

test('every probe of a hop that rests is told, with what it said and when it is asked again', async () => {
  const { world, probes } = await deniedWorld();
  await world.run(2 * MINUTE);
  expect(probes()).toMatchObject([{ relay: 'out', host: 'out', trouble: DENIED }]);
  await world.run(5 * MINUTE);
  expect(probes()).toHaveLength(2);
});

test.each([
  [
    'somebody tested it and found it well',
    ({ node }: Awaited<ReturnType<typeof deniedWorld>>) => node.engine.relays.foundWell('out'),
  ],
  [
    'its secret was changed',
    ({ world }: Awaited<ReturnType<typeof deniedWorld>>) => world.put(smarthost('out')),
  ],
])('a relay whose password was not taken sends again as soon as %s', DAY, async (_why, act) => {
  const denied = await deniedWorld();
  const { world, node, mend } = denied;
  await world.run(2 * HOUR);
  mend();
  act(denied);
  await world.run(10 * SECOND);
  expect(world.events.filter(({ type }) => type === 'attempted').length).toBeGreaterThan(100);
  expect(node.engine.relays.refusalOf('out')).toBeNull();
});
