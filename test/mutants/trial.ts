/** Runs the tests that traps name in a copy of the tree, and judges what came of them. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Trap } from './mutant.ts';
import type { Seen } from './witness.ts';

/** A run that takes longer than this is ended, in ms: what hangs is not caught. */
const LIMIT_MS = 30 * 60_000;

/**
 * What came of a trap.
 * - `passed`: its tests ran, and found nothing.
 * - `caught`: one of them failed by what it saw.
 * - `broken`: it failed by something that says nothing of what it holds: the source cannot be read, or a test hung.
 * - `empty`: no test was run, for want of a program or because none has that name.
 */
export type Verdict =
  | { readonly kind: 'passed' | 'empty' }
  | { readonly kind: 'caught'; readonly test: string; readonly why: string }
  | { readonly kind: 'broken'; readonly why: string };

/** Neither a syntax error, nor a slip of the mutant's own, nor that time ran out is a finding. */
const NO_FINDING =
  /^(SyntaxError|ReferenceError|TypeError)\b|timed out in \d+ms|Transform failed|Cannot find module/;

/** Runs a trap in the tree at `root`, up to its first failure. */
export async function spring(trap: Trap, root: string): Promise<Verdict> {
  const { file, test, environment = {} } = trap;
  return judge(await runTests({ files: [file], names: [test], environment, options: ['--bail=1'] }, root));
}

/** Runs traps in the tree at `root`, those with one environment together; their verdicts, in order. */
export async function springAll(traps: readonly Trap[], root: string): Promise<Verdict[]> {
  const verdicts = new Map<Trap, Verdict>();
  const companies = Map.groupBy(traps, ({ environment }) => JSON.stringify(environment));
  for (const company of companies.values()) {
    const files = [...new Set(company.map(({ file }) => file))];
    const names = [...new Set(company.map(({ test }) => test))];
    const run = { files, names, environment: company[0]?.environment ?? {}, options: [] };
    const { ended, seen } = await runTests(run, root);
    for (const trap of company)
      verdicts.set(trap, judge({ ended, seen: seen.filter((one) => isOf(one, trap)) }));
  }
  return traps.map((trap) => verdicts.get(trap) ?? { kind: 'empty' });
}

/** What a run of vitest came to. */
interface Run {
  /** False: it had to be ended. */
  readonly ended: boolean;
  readonly seen: readonly Seen[];
}

/** What its tests say of the tree. */
export function judge({ ended, seen }: Run): Verdict {
  if (!ended) return { kind: 'broken', why: 'it did not come to an end' };
  const failed = seen.filter(({ passed }) => !passed);
  const found = failed.find(
    ({ test, errors }) => test !== null && !errors.some((error) => NO_FINDING.test(error)),
  );
  if (found !== undefined)
    return { kind: 'caught', test: found.test ?? '', why: firstLine(found.errors.at(-1)) };
  const [broken] = failed;
  if (broken !== undefined) return { kind: 'broken', why: firstLine(broken.errors[0]) };
  return { kind: seen.length > 0 ? 'passed' : 'empty' };
}

function isOf(seen: Seen, trap: Trap): boolean {
  return seen.file === trap.file && (seen.test === null || seen.test.includes(trap.test));
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? '';
}

/** What vitest is to run. */
interface Order {
  readonly files: readonly string[];
  /** Parts of the names of tests. */
  readonly names: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly options: readonly string[];
}

async function runTests({ files, names, environment, options }: Order, root: string): Promise<Run> {
  const notes = join(root, '.witness');
  rmSync(notes, { force: true });
  const pattern = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
  const witness = `--reporter=${join(root, 'test/mutants/witness.ts')}`;
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', witness, '--testNamePattern', pattern];
  const child = spawn(process.execPath, [...vitest, ...options, ...files], {
    cwd: root,
    env: { ...process.env, ...environment, WAYBILL_WITNESS: notes },
    stdio: 'ignore',
    timeout: LIMIT_MS,
  });
  const ended = await new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => resolve(status !== null));
  });
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n') : [];
  return { ended, seen: lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Seen) };
}
