import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type Log, silentLog } from './log.ts';
import { SharedClock } from './shared-clock.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

/** A machine whose clock is wrong by so much, and one that is right and stands behind a network. */
function world(skewMs: number) {
  const machine = new ManualClock(NOON + skewMs);
  const startedAt = machine.mono();
  const reference = {
    /** What the right clock was set to besides. */
    setBy: 0,
    /** Of the next questions, in ms: there and back. */
    ways: [] as [number, number][],
    answers: true,
    now: () => NOON + machine.mono() - startedAt + reference.setBy,
  };
  const ask = async () => {
    const [there, back] = reference.ways.shift() ?? [0, 0];
    if (there > 0) await machine.sleep(there);
    if (!reference.answers) throw new Error('it does not answer');
    const answer = reference.now();
    if (back > 0) await machine.sleep(back);
    return answer;
  };
  return { machine, reference, ask, clock: new SharedClock(machine) };
}

/** Lets virtual time pass while something is under way. */
async function settled<T>(machine: ManualClock, work: Promise<T>): Promise<T> {
  await machine.advance(5_000);
  return work;
}

test('is the machine’s clock until it follows another', () => {
  const { machine, clock } = world(10 * MINUTE);
  expect(clock.wall()).toBe(machine.wall());
  expect(clock.mono()).toBe(machine.mono());
});

test.for([10 * MINUTE, -10 * MINUTE])(
  'goes by the other clock where the machine’s is off by %d ms',
  async (skew) => {
    const { machine, reference, ask, clock } = world(skew);
    await clock.follow(ask);
    expect(clock.wall()).toBe(reference.now());
    await machine.advance(MINUTE);
    expect(clock.wall()).toBe(reference.now());
  },
);

test('is not moved by what happens to the machine’s wall clock', async () => {
  const { machine, reference, ask, clock } = world(0);
  await clock.follow(ask);
  machine.jump(10 * MINUTE);
  await machine.advance(1);
  expect(clock.wall()).toBe(reference.now());
});

test('believes the quickest of several answers', async () => {
  const { machine, reference, ask, clock } = world(3 * MINUTE);
  reference.ways = [
    [400, 0],
    [0, 300],
    [1, 1],
    [200, 0],
    [0, 90],
  ];
  await settled(machine, clock.follow(ask));
  expect(clock.wall()).toBe(reference.now());
});

test('sets a small error right little by little, and never goes back', async () => {
  const { machine, reference, ask, clock } = world(0);
  await clock.follow(ask);
  reference.setBy = -500;
  expect(await clock.measure()).toBe(0);
  let last = clock.wall();
  for (let passed = 0; passed < 10_000; passed += 100) {
    await machine.advance(100);
    expect(clock.wall() - last).toBe(95);
    last = clock.wall();
  }
  await machine.advance(100);
  expect(clock.wall()).toBe(reference.now());
});

test('takes a jump at once, and tells of it once', async () => {
  const { machine, reference, ask, clock } = world(0);
  await clock.follow(ask);
  const told: unknown[] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void told.push(event, fields) };
  const stop = new AbortController();
  const kept = clock.keep(log, stop.signal);
  reference.setBy = 90_000;
  await machine.advance(60_000);
  expect(clock.wall()).toBe(reference.now());
  expect(told).toEqual(['clock.jumped', { jumpedMs: 90_000 }]);
  stop.abort();
  await kept;
});

test('leaves alone what a slow answer cannot prove to be wrong', async () => {
  const { machine, reference, ask, clock } = world(0);
  await clock.follow(ask);
  reference.ways = Array.from({ length: 3 }, (): [number, number] => [1_500, 0]);
  expect(await settled(machine, clock.measure())).toBe(0);
  expect(clock.wall()).toBe(reference.now());
});

test('goes on by itself while the other does not answer, and starts only with an answer', async () => {
  const { machine, reference, ask, clock } = world(10 * MINUTE);
  reference.answers = false;
  await expect(clock.follow(ask)).rejects.toThrow('it does not answer');
  expect(clock.wall()).toBe(machine.wall());
  reference.answers = true;
  await clock.follow(ask);
  const stop = new AbortController();
  const kept = clock.keep(silentLog, stop.signal);
  reference.answers = false;
  await machine.advance(MINUTE);
  expect(clock.wall()).toBe(reference.now());
  reference.answers = true;
  reference.setBy = -5_000;
  await machine.advance(10_000);
  expect(clock.wall()).toBe(reference.now());
  stop.abort();
  await kept;
});
