import { expect, test } from 'vitest';
import { backupSteps } from './backup-tab.tsx';

const states = (steps: Parameters<typeof backupSteps>[0], finished = false) =>
  backupSteps(steps, finished).map(({ state, doneBytes }) => [state, doneBytes]);

test('before the first step all phases wait', () => {
  expect(states([])).toEqual([
    ['waiting', 0],
    ['waiting', 0],
    ['waiting', 0],
  ]);
});

test('a phase that another follows is done', () => {
  expect(
    states([
      { phase: 'database', doneBytes: 10, totalBytes: 10 },
      { phase: 'contents', doneBytes: 1, totalBytes: 100 },
      { phase: 'contents', doneBytes: 40, totalBytes: 100 },
    ]),
  ).toEqual([
    ['ok', 10],
    ['running', 40],
    ['waiting', 0],
  ]);
});

test('at the end all is done', () => {
  expect(states([{ phase: 'verify', doneBytes: 5, totalBytes: 5 }], true).map(([state]) => state)).toEqual([
    'ok',
    'ok',
    'ok',
  ]);
});
