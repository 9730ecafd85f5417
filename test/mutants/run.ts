/** `npm run mutants`: makes each bug of the table in a copy of the tree, and sees whether the tests find it. */
import { parseArgs } from 'node:util';
import type { Mutant, Trap } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { Tree } from './tree.ts';
import { spring, springAll, type Verdict } from './trial.ts';

const USAGE = `npm run mutants -- [options]

  --only NAME   only this mutant; may be given again
  --list        tells what there is, and runs nothing

Each mutant is made in a copy of the working tree. Tests named for it must pass without it and fail with it, by what they
see: neither a source that cannot be read nor a test that hangs counts. Ends with 0 when every one is caught.
`;

/** What came of one trap of a mutant. */
interface Trial {
  readonly mutant: Mutant;
  readonly trap: Trap;
  readonly verdict: Verdict;
  readonly seconds: number;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Most often an option that there is not.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return say(USAGE);
  const { only } = values;
  const chosen = only === undefined ? MUTANTS : MUTANTS.filter(({ name }) => only.includes(name));
  if (values.list === true)
    return say(`${chosen.map(({ name, breaks }) => `${name}: ${breaks}`).join('\n')}\n`);
  if (chosen.length === 0 || (only ?? []).some((wanted) => !chosen.some(({ name }) => name === wanted))) {
    process.stderr.write('There is no such mutant; see --list.\n');
    return 2;
  }
  return await tryAll(chosen);
}

async function tryAll(mutants: readonly Mutant[]): Promise<number> {
  const tree = new Tree();
  // What an interrupt ends must not leave a copy behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      tree.remove();
      process.exit(1);
    });
  try {
    const unharmed = await tryUnharmed(mutants, tree);
    const trials: Trial[] = [];
    for (const mutant of mutants) trials.push(...(await tryOne(mutant, tree, unharmed)));
    const caught = mutants.filter((mutant) =>
      trials.every((trial) => trial.mutant !== mutant || trial.verdict.kind === 'caught'),
    );
    say(`\n${tableOf(trials)}\n${caught.length} of ${mutants.length} mutants caught\n`);
    return caught.length === mutants.length ? 0 : 1;
  } finally {
    tree.remove();
  }
}

/** What the traps find in the tree as it is, by what they are: it must be nothing. */
async function tryUnharmed(mutants: readonly Mutant[], tree: Tree): Promise<Map<string, Verdict>> {
  const traps = new Map(
    mutants.flatMap((mutant) => mutant.traps).map((trap) => [JSON.stringify(trap), trap]),
  );
  const startedAt = performance.now();
  const verdicts = await springAll([...traps.values()], tree.root);
  say(`${traps.size} traps without a mutant (${secondsSince(startedAt)} s)\n`);
  return new Map([...traps.keys()].map((name, place) => [name, verdicts[place] ?? { kind: 'empty' }]));
}

/** Springs each trap of a mutant that found nothing without it. */
async function tryOne(mutant: Mutant, tree: Tree, unharmed: ReadonlyMap<string, Verdict>): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const trap of mutant.traps) {
    const before = unharmed.get(JSON.stringify(trap)) ?? { kind: 'empty' };
    const startedAt = performance.now();
    const verdict: Verdict =
      before.kind === 'passed'
        ? await tree.with(mutant.edits, () => spring(trap, tree.root))
        : { kind: 'broken', why: `without the mutant: ${wordsOf(before)}` };
    const seconds = secondsSince(startedAt);
    trials.push({ mutant, trap, verdict, seconds });
    say(`${mutant.name}: ${trap.file}: ${wordsOf(verdict)} (${seconds} s)\n`);
  }
  return trials;
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 100) / 10;
}

function wordsOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'caught':
      return `caught by "${verdict.test}": ${verdict.why}`;
    case 'passed':
      return 'SURVIVED';
    case 'empty':
      return 'NO TEST WAS RUN';
    case 'broken':
      return `NOT TRIED: ${verdict.why}`;
  }
}

function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(({ mutant, trap, verdict, seconds }) => {
    const by = verdict.kind === 'caught' ? `${trap.file}: ${verdict.test}` : wordsOf(verdict);
    return `| ${mutant.name} | ${by.replaceAll('|', '\\|')} | ${seconds} |`;
  });
  return ['| Mutant | Caught by | Seconds |', '|---|---|---|', ...rows].join('\n');
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
