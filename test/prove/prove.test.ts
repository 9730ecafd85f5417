/** What goes on next, and what is written of what was done. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evidencePage, PAGE } from './evidence-page.ts';
import { planNext } from './plan.ts';
import { doneOf, nextOf, type Run, readRuns } from './records.ts';
import { SINCE, STEPS, type Step } from './steps.ts';

const DAY_MS = 86_400_000;
/** Runs count from {@link SINCE} on: these do, and those of the day before do not. */
const AT = new Date(Date.parse(SINCE) + DAY_MS).toISOString();
const BEFORE = new Date(Date.parse(SINCE) - DAY_MS).toISOString();
const [DAY = ''] = AT.split('T');

function step(name: string, more: Partial<Step> = {}): Step {
  return {
    name,
    holds: `${name} holds.`,
    files: [],
    unit: 'times',
    target: 100,
    least: 10,
    environment: () => ({}),
    ...more,
  };
}

function run(name: string, count: number, more: Partial<Run> = {}): Run {
  const machine = { cpu: 'a CPU', cores: 2, node: 'v24', kernel: '6.1', commit: 'abc' };
  const told = [
    { proof: `${name} again`, figures: { kills: count, lost: 0 }, most: { 'MiB at most': count } },
  ];
  return {
    at: AT,
    step: name,
    count,
    before: 0,
    seconds: 60,
    passed: true,
    machine,
    command: `again ${name}`,
    told,
    ...more,
  };
}

describe('the next run', () => {
  const [one, other] = [step('one'), step('other')];

  test('is of what is behind the most, from where it ended', () => {
    const runs = [run('one', 20), run('other', 10)];
    expect(planNext([one, other], runs, 3600)).toMatchObject({ step: other, before: 10 });
    expect(planNext([one, other], [], 3600)).toEqual({ step: one, count: 10, before: 0 });
  });

  test('takes minutes, by how fast it went', () => {
    expect(planNext([one], [run('one', 10, { seconds: 60 })], 3600)).toMatchObject({ count: 40 });
    expect(planNext([one], [run('one', 10, { seconds: 60 })], 100)).toMatchObject({ count: 16 });
    expect(planNext([one], [run('one', 95, { seconds: 60 })], 3600)).toMatchObject({ count: 10 });
  });

  test('is none when all is done, or when no run fits into the time', () => {
    expect(planNext([one], [run('one', 100)], 3600)).toBeNull();
    expect(planNext([one], [run('one', 10, { seconds: 600 })], 500)).toBeNull();
    expect(planNext([one], [], 0)).toBeNull();
  });

  test('does a whole one in one, if there is time, and else another', () => {
    const soak = step('soak', { whole: true, least: 100, seconds: 7000 });
    expect(planNext([soak, one], [], 6999)).toMatchObject({ step: one });
    expect(planNext([soak, one], [], 7000)).toEqual({ step: soak, count: 100, before: 0 });
    const half = run('soak', 50, { seconds: 3600 });
    expect(planNext([soak], [half], 7199)).toBeNull();
    expect(planNext([soak], [half], 7200)).toMatchObject({ step: soak, count: 100 });
    expect(doneOf(soak, [run('soak', 60), run('soak', 50)])).toBe(60);
  });

  test('is behind one that failed, which does not count', () => {
    const runs = [run('one', 30), run('one', 10, { before: 30, passed: false })];
    expect([doneOf(one, runs), nextOf(one, runs)]).toEqual([30, 40]);
  });
});

describe('the page', () => {
  const runs = [
    run('one', 60),
    run('one', 50, { before: 60 }),
    run('one', 10, { before: 110, passed: false }),
  ];

  test('adds up what went well', () => {
    const page = evidencePage(runs, [step('one'), step('other')]);
    expect(page).toContain(`| [one](#one) | 110 times | 100, reached | 2 | 0.0 | ${DAY} |  |\n`);
    expect(page).toContain('| other | 0 times | 100 | 0 | 0.0 | not yet |  |\n');
    expect(page).toContain('- one again: 110 kills, 0 lost, 60 MiB at most\n');
    expect(page).toContain('one holds. So far: 110 of 100 times.\n');
  });

  test('tells what was done before the program changed, and does not count it', () => {
    const old = run('one', 70, { at: BEFORE });
    const page = evidencePage([old, ...runs], [step('one')]);
    expect(page).toContain(`| [one](#one) | 110 times | 100, reached | 2 | 0.0 | ${DAY} | 70 |\n`);
    expect(page).toContain('- one again: 110 kills, 0 lost, 60 MiB at most\n');
    expect(evidencePage([old], [step('one')])).toContain(
      `one holds. Before ${SINCE.slice(0, 10)}: 70 times.\n`,
    );
    expect(planNext([step('one')], [old], 3600)).toMatchObject({ before: 70 });
  });

  test('tells what failed', () => {
    expect(evidencePage(runs, [step('one')])).toContain(
      `- ${AT.slice(0, 16)}Z, one, at abc: \`again one\`\n`,
    );
  });

  test('is what the runs that were kept come to', () => {
    expect(readFileSync(PAGE, 'utf8'), 'run: node test/prove/evidence-page.ts').toBe(
      evidencePage(readRuns()),
    );
  });
});

test('steps can be told apart, and do something', () => {
  expect(new Set(STEPS.map(({ name }) => name)).size).toBe(STEPS.length);
  for (const { least, target } of STEPS) expect(least).toBeLessThanOrEqual(target);
});
