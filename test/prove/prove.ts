/** `npm run prove`: the long forms of what `npm test` holds in short ones. See `docs/evidence.md` for what came of it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/measure/machine.ts';
import type { Told } from '../support/proof.ts';
import { writePage } from './evidence-page.ts';
import { type Next, planNext } from './plan.ts';
import { doneOf, keepRun, nextOf, type Run, readRuns } from './records.ts';
import { STEPS, type Step } from './steps.ts';

const HELP = `npm run prove -- [options]

  --minutes N    goes on for so long with what is not done yet, all alike (default 60)
  --only NAME    this one alone; may be given more than once
  --count N      with --only: one run, of so many
  --skip N       with --count: leaves so many out, which another does at the same time
  --list         says what there is, and how far it is
  --help         this

Totals are kept in docs/evidence.jsonl and written to docs/evidence.md after each run: it may be broken off at any
time, and goes on where it was. Ends with 1 at the first run that fails, with the command that repeats it,
and with 2 where a program is missing that a step needs: such a run is not kept.
`;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Exit status. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      only: { type: 'string', multiple: true, default: [] },
      count: { type: 'string' },
      skip: { type: 'string', default: '0' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.filter((name) => !STEPS.some((step) => step.name === name));
  const minutes = Number(values.minutes);
  if (values.help) say(HELP);
  if (values.help) return 0;
  const count = Number(values.count ?? 1);
  const skip = Number(values.skip);
  const wrong = [
    ...(unknown.length > 0 ? [`There is no ${unknown.join(', ')}: see --list.`] : []),
    ...(minutes > 0 ? [] : ['--minutes must be a number above 0.']),
    ...(Number.isSafeInteger(count) && count > 0 ? [] : ['--count must be a whole number above 0.']),
    ...(values.count === undefined || values.only.length === 1 ? [] : ['--count needs one --only.']),
    ...(Number.isSafeInteger(skip) && skip >= 0 ? [] : ['--skip must be a whole number.']),
    ...(skip === 0 || values.count !== undefined ? [] : ['--skip needs --count.']),
  ];
  if (wrong.length > 0) {
    say(wrong.join('\n'));
    return 2;
  }
  const steps = values.only.length > 0 ? STEPS.filter(({ name }) => values.only.includes(name)) : STEPS;
  if (values.list) return list(steps);
  const [step] = steps;
  if (values.count !== undefined && step !== undefined)
    return runOnce({ step, count, before: nextOf(step, readRuns()) + skip });
  return proveFor(steps, minutes * 60);
}

async function proveFor(steps: readonly Step[], seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const next = planNext(steps, readRuns(), (until - performance.now()) / 1000);
    if (next === null) break;
    const status = await runOnce(next);
    if (status !== 0) return status;
  }
  return list(steps);
}

/** Runs a step once, and keeps what came of it, but where something that it needs is missing. The exit status. */
async function runOnce({ step, count, before }: Next): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-prove-'));
  const file = join(folder, 'told');
  const environment = step.environment(count, before);
  const command = [
    ...Object.entries(environment).map((pair) => pair.join('=')),
    'npx vitest run',
    ...step.files,
  ].join(' ');
  say(`\n== ${step.name}: ${count} ${step.unit}, after ${before}`);
  const at = new Date();
  const begun = performance.now();
  const skipped = join(folder, 'skipped');
  const passed = await runTests(step.files, {
    ...environment,
    WAYBILL_TOLD: file,
    WAYBILL_SKIPPED: skipped,
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  const [told, missing] = [linesOf(file), linesOf(skipped)];
  rmSync(folder, { recursive: true });
  if (missing.length > 0) {
    say(`Not kept, for not all of it could run. Missing: ${[...new Set(missing)].join(', ')}`);
    return 2;
  }
  const run: Run = {
    at: at.toISOString(),
    step: step.name,
    count,
    before,
    seconds,
    passed,
    machine: describeMachine(),
    command,
    told: told.map((line) => JSON.parse(line) as Told),
  };
  keepRun(run);
  writePage();
  say(passed ? `held, in ${seconds} s` : `FAILED. Again: ${command}`);
  return passed ? 0 : 1;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** Whether they passed. No test has a limit here but its own and patience. */
async function runTests(files: readonly string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const args = [VITEST, 'run', '--testTimeout=86400000', '--hookTimeout=600000', ...files];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  return code === 0;
}

/** How far each is. */
function list(steps: readonly Step[]): number {
  const runs = readRuns();
  for (const step of steps) {
    const done = doneOf(step, runs).toLocaleString('en');
    say(`${step.name.padEnd(22)} ${done} of ${step.target.toLocaleString('en')} ${step.unit}: ${step.holds}`);
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  // Most often an option that there is not.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
