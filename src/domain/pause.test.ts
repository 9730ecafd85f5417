import { expect, test } from 'vitest';
import { paceOf, pauseAfterFailure, WELL } from './pause.ts';

test('a lane whose hop fails rests 1 s, then longer, at most a minute, and returns one at a time', () => {
  let pause = pauseAfterFailure(WELL, 0, 0);
  expect(pause).toEqual({ failures: 1, until: 1000 });
  expect(pauseAfterFailure(pause, 500, 0), 'failures of one moment count once').toBe(pause);
  expect([0, 999, 1000].map((now) => paceOf(pause, now, 20))).toEqual([0, 0, 1]);
  const rests: number[] = [];
  for (let i = 0; i < 8; i++) {
    const now = pause.until;
    pause = pauseAfterFailure(pause, now, 0);
    rests.push(pause.until - now);
  }
  expect(rests).toEqual([2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
  expect(paceOf(WELL, 0, 20)).toBe(20);
});

test('dice take off up to a fifth', () => {
  expect(pauseAfterFailure(WELL, 0, 0.5).until).toBe(900);
});
