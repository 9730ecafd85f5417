import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { premises } from '../../../test/support/premises.ts';
import { CHECK_LIMIT_MS, examine, runChecks } from './examination.ts';
import { ok } from './finding.ts';
import type { Check } from './premises.ts';

const GREETING_MS = 1_000;
/** What the start of a command, and of the answer's way, may take of the five seconds. */
const AROUND_MS = 500;

test('a check that fails, at once or later, leaves the others standing', async () => {
  const checks: Record<string, Check> = {
    good: async () => [ok('good', 'fine')],
    thrown: () => {
      throw new Error('at once');
    },
    rejected: async () => {
      throw new Error('later');
    },
  };
  expect(await runChecks(checks, premises(), 1_000)).toEqual([
    { name: 'good', status: 'ok', found: 'fine', cure: null },
    { name: 'thrown', status: 'skipped', found: 'It could not be checked: Error: at once', cure: null },
    { name: 'rejected', status: 'skipped', found: 'It could not be checked: Error: later', cure: null },
  ]);
});

test('a check that is not done in time is told to end, may say what it knows, and is not waited for', async () => {
  const clock = new ManualClock();
  const checks: Record<string, Check> = {
    hanging: () => new Promise(() => {}),
    heeding: (_premises, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve([ok('heeding', 'half of it')]));
      }),
  };
  const done = runChecks(checks, premises({ clock }), 1_000);
  await clock.advance(1_500);
  expect((await done).map(({ status, found }) => [status, found])).toEqual([
    ['skipped', 'There was no answer within 1 s.'],
    ['ok', 'half of it'],
  ]);
});

test('all of it together takes less than five seconds', async () => {
  const clock = new ManualClock();
  const hanging = { tryPort: () => new Promise<never>(() => {}), space: () => new Promise<never>(() => {}) };
  const done = examine(premises({ clock, machine: hanging }));
  await clock.advance(5_000 - GREETING_MS - AROUND_MS);
  const findings = await done;
  expect(findings.find(({ name }) => name === 'disk')).toMatchObject({ status: 'skipped' });
  expect(CHECK_LIMIT_MS).toBeLessThan(5_000);
});

test('where nothing is wrong nothing fails, and what is wrong comes with its cure', async () => {
  const clock = new ManualClock();
  const done = examine(premises({ clock }));
  await clock.advance(1);
  for (const { status, cure } of await done) {
    expect(status).not.toBe('fail');
    expect(cure === null).toBe(status === 'ok' || status === 'skipped');
  }
});
