import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { Poll } from './poll.ts';

const EVERY = 1000;
const LIMIT = 2000;

/** A poll whose questions the test answers. */
function world() {
  const clock = new ManualClock();
  const asked: { answer(value: number): void; fail(): void }[] = [];
  const poll = new Poll(
    () =>
      new Promise<number>((resolve, reject) => {
        asked.push({ answer: resolve, fail: () => reject(new Error('no')) });
      }),
    EVERY,
    clock,
  );
  return { clock, asked, poll };
}

test('the start waits for the first answer', async () => {
  const { clock, asked, poll } = world();
  const started = poll.start(LIMIT);
  expect(poll.answersWithin(LIMIT)).toBe(false);
  await clock.advance(30);
  asked[0]?.answer(7);
  await started;
  expect(poll.latest).toBe(7);
  expect(poll.latencyMs).toBe(30);
  expect(poll.answersWithin(LIMIT)).toBe(true);
  poll.stop();
});

test('the start does not wait for ever', async () => {
  const { clock, poll } = world();
  const started = poll.start(LIMIT);
  await clock.advance(LIMIT);
  await started;
  expect(poll.answersWithin(LIMIT)).toBe(false);
  expect(poll.latest).toBeNull();
  poll.stop();
});

test('a question that is not answered is not asked again, and is late once the limit has passed', async () => {
  const { clock, asked, poll } = world();
  void poll.start(LIMIT);
  asked[0]?.answer(1);
  await clock.advance(EVERY);
  expect(asked).toHaveLength(2);
  await clock.advance(LIMIT - 1);
  expect(poll.answersWithin(LIMIT)).toBe(true);
  await clock.advance(1);
  expect(poll.answersWithin(LIMIT)).toBe(false);
  expect(poll.latencyMs).toBe(LIMIT);
  await clock.advance(60_000);
  expect(asked).toHaveLength(2);
  expect(poll.latest).toBe(1);
  asked[1]?.answer(2);
  await clock.advance(0);
  expect(poll.answersWithin(LIMIT)).toBe(true);
  expect(poll.latest).toBe(2);
  poll.stop();
});

test('a question that fails is asked again, and what was known stays', async () => {
  const { clock, asked, poll } = world();
  void poll.start(LIMIT);
  asked[0]?.answer(1);
  await clock.advance(EVERY);
  asked[1]?.fail();
  await clock.advance(0);
  expect(poll.answersWithin(LIMIT)).toBe(false);
  expect(poll.latest).toBe(1);
  await clock.advance(EVERY);
  asked[2]?.answer(3);
  await clock.advance(0);
  expect(poll.answersWithin(LIMIT)).toBe(true);
  poll.stop();
});

test('after the stop nothing more is asked', async () => {
  const { clock, asked, poll } = world();
  void poll.start(LIMIT);
  asked[0]?.answer(1);
  await clock.advance(0);
  poll.stop();
  await clock.advance(60_000);
  expect(asked).toHaveLength(1);
});
