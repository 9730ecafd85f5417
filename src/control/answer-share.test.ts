import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { AnswerShare } from './answer-share.ts';

test('many who ask cost as much as one, and get nothing from before they asked', async () => {
  const clock = new ManualClock();
  const share = new AnswerShare<number>(clock, 250);
  let happened = 0;
  let works = 0;
  const ask = (key = 'day') =>
    share.ask(key, async () => {
      works++;
      return happened;
    });
  expect(await ask()).toBe(0);
  happened = 1;
  const soon = Promise.all([ask(), ask(), ask()]);
  await clock.advance(249);
  expect(works).toBe(1);
  await clock.advance(1);
  expect(await soon).toEqual([1, 1, 1]);
  expect(works).toBe(2);
  happened = 2;
  expect(await ask('week'), 'another answer waits for nobody').toBe(2);
  await clock.advance(250);
  expect(await ask()).toBe(2);
});

test('slow work is never done twice at a time, and a failure is that of its turn', async () => {
  const clock = new ManualClock();
  const share = new AnswerShare<number>(clock, 250);
  const { promise, reject } = Promise.withResolvers<number>();
  const first = share.ask('day', () => promise);
  let isDone = false;
  const second = share.ask('day', async () => {
    isDone = true;
    return 2;
  });
  await clock.advance(1_000);
  expect(isDone).toBe(false);
  reject(new Error('slow'));
  await expect(first).rejects.toThrow('slow');
  expect(await second).toBe(2);
});
