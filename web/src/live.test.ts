import { QueryObserver } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { Gathering, gatherMs } from './live.ts';
import { queryClient } from './queries.ts';

test('where hints never end, fetches grow apart up to a bound', () => {
  const paces: number[] = [];
  let pace = 0;
  for (let fetches = 0; fetches < 12; fetches++) {
    pace = gatherMs(pace, pace);
    paces.push(pace);
  }
  expect(paces.slice(0, 3)).toEqual([1000, 1500, 2250]);
  expect(paces.every((ms, at) => ms >= (paces[at - 1] ?? 0))).toBe(true);
  expect(paces.at(-1)).toBe(8000);
});

test('after a quiet time they are close again', () => {
  expect(gatherMs(8000, 16_001)).toBe(1000);
  expect(gatherMs(8000, 15_999)).toBe(8000);
});

test('what is hinted at while an answer is under way is fetched once that has come', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { hidden: false });
  const answers: ((answer: string) => void)[] = [];
  const observer = new QueryObserver(queryClient, {
    queryKey: ['prompt'],
    queryFn: async () => await new Promise<string>((resolve) => answers.push(resolve)),
    meta: { topics: ['queue'], prompt: true },
  });
  const leave = observer.subscribe(() => {});
  const hints = new Gathering(true);
  hints.add(['queue']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(answers).toHaveLength(1);
  answers[0]?.('from before the hint');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answers).toHaveLength(2);
  answers[1]?.('from after it');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(answers).toHaveLength(2);
  hints.stop();
  leave();
  queryClient.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
